"""A user of the official OpenAI SDK under load: answers from a template are whole answers, and headers say what was changed.

The gateway must be at a level of load that answers from templates; `--template-model` has one, `--text`.
"""

import report

MESSAGES = [{"role": "user", "content": "hi"}]


def main() -> None:
    parser = report.arguments(__doc__)
    parser.add_argument("--template-model", required=True, help="a model whose route has a template")
    parser.add_argument("--text", required=True, help="what the template says")
    args = parser.parse_args()
    outcome = report.Report()
    sdk = report.client(args.base_url, args.api_key, args.timeout)
    create = sdk.chat.completions.with_raw_response.create

    raw = create(model=args.template_model, messages=MESSAGES)
    outcome.equal("headers of a whole answer", told(raw.headers), ("critical", "template", "0"))
    answer = raw.parse()
    outcome.equal("text", answer.choices[0].message.content, args.text)
    outcome.equal("end", answer.choices[0].finish_reason, "stop")
    outcome.equal("usage", answer.usage.total_tokens, 0)

    options = {"stream": True, "stream_options": {"include_usage": True}}
    raw = create(model=args.template_model, messages=MESSAGES, **options)
    outcome.equal("headers of a stream", told(raw.headers), ("critical", "template", "0"))
    chunks = list(raw.parse())
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    outcome.equal("text of a stream", text, args.text)
    outcome.equal("usage of a stream", chunks[-1].usage.total_tokens, 0)

    with sdk.chat.completions.stream(model=args.template_model, messages=MESSAGES) as stream:
        final = stream.get_final_completion()
    outcome.equal("text as the SDK gathers it", final.choices[0].message.content, args.text)
    outcome.finish()


def told(headers) -> tuple:
    names = ["x-sluicegate-load", "x-sluicegate-degraded", "x-sluicegate-attempts"]
    return tuple(headers.get(name) for name in names)


if __name__ == "__main__":
    main()
