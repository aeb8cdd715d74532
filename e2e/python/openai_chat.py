"""A user of the official OpenAI SDK for Python: chat completions in every way in which programs use them."""

import json

import openai

import report
from questions import PIXEL, QUESTION, Level

MESSAGES = [{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": QUESTION}]
READ_LEVEL = {
    "type": "function",
    "function": {
        "name": "read_level",
        "description": "Reads the water's level",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"gate": {"type": "string"}},
            "required": ["gate"],
            "additionalProperties": False,
        },
    },
}


def main() -> None:
    report.run(
        __doc__,
        {
            "plain": plain,
            "stream": stream,
            "tools": tools,
            "streamed_tools": streamed_tools,
            "structured": structured,
            "streamed_structured": streamed_structured,
            "images": images,
            "thinking_with_tools": thinking_with_tools,
            "errors": errors,
        },
    )


def chat(args):
    return report.client(args.base_url, args.api_key, args.timeout).chat.completions


def plain(outcome: report.Report, args) -> None:
    answer = chat(args).create(model=args.model, messages=MESSAGES, max_completion_tokens=200)
    outcome.equal("object", answer.object, "chat.completion")
    outcome.check(bool(answer.choices[0].message.content), f"an empty answer: {answer}")
    outcome.equal("end", answer.choices[0].finish_reason, "stop")
    check_usage(outcome, answer.usage)


def stream(outcome: report.Report, args) -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    chunks = list(chat(args).create(model=args.model, messages=MESSAGES, max_completion_tokens=200, **options))
    choices = [choice for chunk in chunks for choice in chunk.choices]
    outcome.check(bool("".join(choice.delta.content or "" for choice in choices)), "an empty stream")
    outcome.equal("ends", [choice.finish_reason for choice in choices if choice.finish_reason], ["stop"])
    outcome.equal("chunks with usage", sum(chunk.usage is not None for chunk in chunks), 1)
    check_usage(outcome, chunks[-1].usage)


def tools(outcome: report.Report, args) -> None:
    """The model calls, the function answers, the model concludes."""
    called = chat(args).create(model=args.model, messages=MESSAGES, tools=[READ_LEVEL])
    outcome.equal("end", called.choices[0].finish_reason, "tool_calls")
    message = called.choices[0].message
    outcome.equal("functions called", [call.function.name for call in message.tool_calls], ["read_level"])
    check_arguments(outcome, message.tool_calls[0].function.arguments)
    results = [{"role": "tool", "tool_call_id": call.id, "content": "412 cm"} for call in message.tool_calls]
    concluded = chat(args).create(model=args.model, messages=[*MESSAGES, message, *results], tools=[READ_LEVEL])
    outcome.equal("end after the result", concluded.choices[0].finish_reason, "stop")
    outcome.check(bool(concluded.choices[0].message.content), f"no conclusion: {concluded}")


def streamed_tools(outcome: report.Report, args) -> None:
    with chat(args).stream(
        model=args.model, messages=MESSAGES, tools=[READ_LEVEL], tool_choice="required"
    ) as events:
        final = events.get_final_completion()
    outcome.equal("end", final.choices[0].finish_reason, "tool_calls")
    calls = final.choices[0].message.tool_calls
    outcome.equal("functions called", [call.function.name for call in calls], ["read_level"])
    check_arguments(outcome, calls[0].function.arguments)


def structured(outcome: report.Report, args) -> None:
    answer = chat(args).parse(model=args.model, messages=MESSAGES, response_format=Level)
    parsed = answer.choices[0].message.parsed
    outcome.check(isinstance(parsed, Level), f"not as the type says: {answer.choices[0].message}")


def streamed_structured(outcome: report.Report, args) -> None:
    with chat(args).stream(model=args.model, messages=MESSAGES, response_format=Level) as events:
        final = events.get_final_completion()
    parsed = final.choices[0].message.parsed
    outcome.check(isinstance(parsed, Level), f"not as the type says: {final.choices[0].message}")


def images(outcome: report.Report, args) -> None:
    content = [
        {"type": "text", "text": "Is the gate open?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    ]
    answer = chat(args).create(model=args.model, messages=[{"role": "user", "content": content}])
    outcome.check(bool(answer.choices[0].message.content), f"an empty answer: {answer}")
    check_usage(outcome, answer.usage)


def thinking_with_tools(outcome: report.Report, args) -> None:
    """What was thought before a call goes back with its result, whole or streamed, in members that the SDK does not know."""
    asked = {"model": args.model, "tools": [READ_LEVEL], "reasoning_effort": "low"}
    with chat(args).stream(**asked, messages=MESSAGES) as events:
        streamed = events.get_final_completion()
    for how, called in (("plain", chat(args).create(**asked, messages=MESSAGES)), ("streamed", streamed)):
        outcome.equal(f"{how}, end", called.choices[0].finish_reason, "tool_calls")
        message = said(called.choices[0].message)
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "412 cm"} for call in message["tool_calls"]]
        answer = chat(args).with_raw_response.create(**asked, messages=[*MESSAGES, message, *results])
        report.check_whole(outcome, how, answer.headers)
        outcome.check(bool(answer.parse().choices[0].message.content), f"{how}: no conclusion")


def said(message) -> dict:
    """A message as it came, without what the SDK has parsed in a stream."""
    message = message.model_dump(exclude_none=True, exclude={"parsed"})
    for call in message["tool_calls"]:
        call.pop("index", None)
        call["function"].pop("parsed_arguments", None)
    return message


def errors(outcome: report.Report, args) -> None:
    for model, kind, status in args.error:
        for how in ({}, {"stream": True}):
            error = report.raised(lambda: chat(args).create(model=model, messages=MESSAGES, **how))
            report.check_error(outcome, f"{model} {how}", error, kind, status)
            outcome.check(isinstance(error, openai.APIStatusError) and bool(error.code), f"{model}: no code: {error!r}")


def check_arguments(outcome: report.Report, arguments: str) -> None:
    outcome.check(isinstance(json.loads(arguments).get("gate"), str), f"arguments {arguments}")


def check_usage(outcome: report.Report, usage) -> None:
    outcome.check(usage.prompt_tokens > 0 and usage.completion_tokens > 0, f"usage {usage}")
    outcome.equal("usage in all", usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)


if __name__ == "__main__":
    main()
