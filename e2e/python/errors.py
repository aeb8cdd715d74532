"""A user of the official OpenAI SDK meets the exception classes that they know, with a message that helps."""

import openai

import report

MESSAGES = [{"role": "user", "content": "hi"}]


def main() -> None:
    parser = report.arguments(__doc__)
    parser.add_argument("--unknown-model", default="no-such-model", help="a model that no deployment serves")
    parser.add_argument("--down-model", required=True, help="a model whose only upstream refuses connections")
    args = parser.parse_args()
    outcome = report.Report()
    sdk = report.client(args.base_url, args.api_key, args.timeout)

    def post(**body: object):
        # Past the SDK's own signature, which knows no wrong request.
        return lambda: sdk.post("/chat/completions", body=body, cast_to=object)

    def create(model: str, **more: object):
        return lambda: sdk.chat.completions.create(model=model, messages=MESSAGES, **more)

    expect(
        outcome,
        "unknown model",
        create(args.unknown_model),
        openai.NotFoundError,
        status={404},
        code={"model_not_found"},
        says=args.unknown_model,
        may_retry=False,
    )
    for name, call, param in [
        ("no model", post(messages=MESSAGES), "model"),
        ("model is a number", post(model=5, messages=MESSAGES), "model"),
        ("negative max_tokens", create(args.model, max_tokens=-1), "max_tokens"),
        ("max_tokens is a text", post(model=args.model, messages=MESSAGES, max_tokens="many"), "max_tokens"),
    ]:
        expect(
            outcome,
            name,
            call,
            openai.BadRequestError,
            status={400},
            code={"invalid_request"},
            says=param,
            param=param,
            may_retry=False,
        )
    for name, more in [("upstream down", {}), ("upstream down, streamed", {"stream": True})]:
        expect(
            outcome,
            name,
            create(args.down_model, **more),
            openai.InternalServerError,
            status={502, 503, 504},
            code={"upstream_error", "upstream_unavailable", "upstream_timeout"},
            says=args.down_model,
        )
    outcome.finish()


def expect(
    outcome: report.Report,
    name: str,
    call,
    kind: type[openai.APIStatusError],
    *,
    status: set[int],
    code: set[str],
    says: str,
    param: str | None = None,
    may_retry: bool = True,
) -> None:
    """The call raises exactly `kind`, with these in it. `says` is a word that its message holds."""
    try:
        call()
    except openai.APIError as raised:
        error = raised
    else:
        return outcome.check(False, f"{name}: was answered")
    if type(error) is not kind or not isinstance(error, openai.APIStatusError):
        return outcome.check(False, f"{name}: raised {error!r} instead of {kind.__name__}")
    outcome.check(error.status_code in status, f"{name}: status {error.status_code}, not in {status}")
    outcome.check(error.code in code, f"{name}: code {error.code!r}, not in {code}")
    outcome.check(says in error.message, f"{name}: the message does not name {says!r}: {error.message}")
    if param is not None:
        outcome.equal(f"{name}, param", error.param, param)
    headers = error.response.headers
    # Absent is the SDK's own judgement, by status.
    expected = "false" if not may_retry else headers.get("x-should-retry", "")
    outcome.equal(f"{name}, x-should-retry", headers.get("x-should-retry"), expected or None)
    if error.status_code in (429, 503):
        seconds = headers.get("retry-after", "")
        outcome.check(seconds.isdigit() and int(seconds) >= 1, f"{name}: retry-after is {seconds!r}")


if __name__ == "__main__":
    main()
