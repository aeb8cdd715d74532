"""A user of the official OpenAI SDK, with its default retries, reads a stream: how often it began, and what it raised."""

import openai

import report

MESSAGES = [{"role": "user", "content": "hi"}]


def main() -> None:
    args = report.arguments(__doc__).parse_args()
    outcome = report.Report()
    default_retries = openai.DEFAULT_MAX_RETRIES
    sdk = report.client(args.base_url, args.api_key, args.timeout).with_options(max_retries=default_retries)
    starts = 0
    raised = None
    try:
        for chunk in sdk.chat.completions.create(model=args.model, messages=MESSAGES, stream=True):
            starts += sum(choice.delta.role == "assistant" for choice in chunk.choices)
    except openai.APIError as error:
        raised = type(error).__name__
    outcome.finish(starts=starts, raised=raised)


if __name__ == "__main__":
    main()
