"""A user of the official OpenAI SDK, with its default retries, asks an upstream that always refuses: what is left, and after how
many calls, is told by whoever counts them."""

import openai

import report

MESSAGES = [{"role": "user", "content": "hi"}]


def main() -> None:
    args = report.arguments(__doc__).parse_args()
    outcome = report.Report()
    default_retries = openai.DEFAULT_MAX_RETRIES
    sdk = report.client(args.base_url, args.api_key, args.timeout).with_options(max_retries=default_retries)
    status = None
    try:
        sdk.chat.completions.create(model=args.model, messages=MESSAGES)
    except openai.APIStatusError as raised:
        status = raised.status_code
    outcome.finish(status=status)


if __name__ == "__main__":
    main()
