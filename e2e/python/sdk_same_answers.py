"""The official OpenAI SDK gets the same answers through the gateway as from the upstream itself.

Each request goes to both. Compared are the SDK's own objects, unknown fields included, and the raw bodies byte for byte.
The upstream must answer a request the same way each time, as the fake does.
"""

import http.client
import json
import urllib.parse

import report

QUESTION = [{"role": "user", "content": "What does a sluice gate do when the river rises?"}]
KOREAN = [
    {"role": "system", "content": "짧게 대답하세요."},
    {"role": "user", "content": "강물이 불면 수문은 무엇을 하나요? 🌊👩‍👩‍👧🇰🇷"},
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {"gate": {"type": "string"}, "height_cm": {"type": "integer"}},
                "required": ["gate"],
            },
        },
    }
    for name, description in [("open_gate", "Opens a gate"), ("read_level", "Reads the water's level")]
]
WITH_USAGE = {"stream": True, "stream_options": {"include_usage": True}}

# What is asked, by name. `fake` and `vendor_hint` are fields that no SDK knows: they travel in `extra_body`.
CASES: dict[str, dict] = {
    "plain": {"messages": QUESTION, "max_completion_tokens": 40},
    "streamed with usage": {"messages": QUESTION, "max_completion_tokens": 40, **WITH_USAGE},
    "streamed without usage": {"messages": QUESTION, "max_completion_tokens": 40, "stream": True},
    "Korean and emoji": {"messages": KOREAN, "max_tokens": 60},
    "Korean and emoji, streamed": {"messages": KOREAN, "max_tokens": 60, **WITH_USAGE},
    "tools": {"messages": QUESTION, "tools": TOOLS, "max_tokens": 200},
    "tools, streamed": {"messages": QUESTION, "tools": TOOLS, "max_tokens": 200, **WITH_USAGE},
    "two choices": {"messages": QUESTION, "n": 2, "max_tokens": 20},
    "unknown fields": {
        "messages": QUESTION,
        "max_tokens": 20,
        "extra_body": {"vendor_hint": {"나라": "🇰🇷", "big": 12345678901234567890}, "fake": {"echo": True}},
    },
    "unknown fields, streamed": {
        "messages": QUESTION,
        "max_tokens": 20,
        **WITH_USAGE,
        "extra_body": {"vendor_hint": [1.50, None], "fake": {"echo": True}},
    },
}


def main() -> None:
    parser = report.arguments(__doc__)
    parser.add_argument("--direct-url", required=True, help="the upstream's, ending in /v1")
    args = parser.parse_args()
    outcome = report.Report()
    through = report.client(args.base_url, args.api_key, args.timeout)
    direct = report.client(args.direct_url, args.api_key, args.timeout)
    for name, case in CASES.items():
        request = {"model": args.model, **case}
        expected = ask(direct, request)
        outcome.check(len(expected) > 0, f"{name}: the upstream itself answers nothing")
        outcome.equal(f"{name}, as SDK objects", ask(through, request), expected)
        check_usage(outcome, name, case, expected)
        if name != "streamed without usage":
            same_bytes(outcome, name, args, request)
    hidden_usage(outcome, args)
    outcome.finish(cases=len(CASES))


def ask(sdk, request: dict) -> list[dict]:
    """The answer as the SDK's user sees it: one object, or each chunk of a stream."""
    answer = sdk.chat.completions.create(**request)
    if not request.get("stream"):
        return [answer.model_dump()]
    with answer:
        return [chunk.model_dump() for chunk in answer]


def check_usage(outcome: report.Report, name: str, case: dict, answers: list[dict]) -> None:
    asked = not case.get("stream") or "stream_options" in case
    usages = [answer["usage"] for answer in answers if answer.get("usage")]
    outcome.equal(f"{name}, objects with usage", len(usages), 1 if asked else 0)


def same_bytes(outcome: report.Report, name: str, args, request: dict) -> None:
    through = raw(args.base_url, args, request)
    direct = raw(args.direct_url, args, request)
    outcome.equal(f"{name}, status and content type", through[:2], direct[:2])
    outcome.equal(f"{name}, bytes of the body", through[2], direct[2])


def hidden_usage(outcome: report.Report, args) -> None:
    """A gateway that asks the upstream for usage on its own account keeps it from a client that did not ask."""
    request = {"model": args.model, **CASES["streamed without usage"]}
    _, _, body = raw(args.base_url, args, request)
    blocks = [line[len(b"data: "):] for line in body.splitlines() if line.startswith(b"data: ")]
    outcome.equal("without usage, the last block", blocks[-1:], [b"[DONE]"])
    for block in blocks[:-1]:
        chunk = json.loads(block)
        outcome.check(bool(chunk["choices"]), f"without usage, a chunk without choices: {chunk}")
        outcome.check(not chunk.get("usage"), f"without usage, a chunk with usage: {chunk}")


def raw(base_url: str, args, request: dict) -> tuple[int, str | None, bytes]:
    """Status, content type and body, without an SDK between."""
    url = urllib.parse.urlsplit(base_url)
    request = dict(request)
    request.update(request.pop("extra_body", {}))
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=args.timeout)
    try:
        connection.request(
            "POST",
            f"{url.path}/chat/completions",
            body=json.dumps(request, ensure_ascii=False).encode(),
            headers={"authorization": f"Bearer {args.api_key}", "content-type": "application/json"},
        )
        answer = connection.getresponse()
        return answer.status, answer.getheader("content-type"), answer.read()
    finally:
        connection.close()


if __name__ == "__main__":
    main()
