"""A user of the official OpenAI SDK: the responses interface in every way in which programs use it."""

import json

import report
from questions import PIXEL, QUESTION, Level

READ_LEVEL = {
    "type": "function",
    "name": "read_level",
    "description": "Reads the water's level",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"gate": {"type": "string"}},
        "required": ["gate"],
        "additionalProperties": False,
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
            "images": images,
            "thinking_with_tools": thinking_with_tools,
            "errors": errors,
        },
    )


def responses(args):
    return report.client(args.base_url, args.api_key, args.timeout).responses


def plain(outcome: report.Report, args) -> None:
    answer = responses(args).create(
        model=args.model, instructions="Answer briefly.", input=QUESTION, max_output_tokens=2_000, store=False
    )
    outcome.equal("object and status", (answer.object, answer.status), ("response", "completed"))
    outcome.check(bool(answer.output_text), f"an empty answer: {answer}")
    check_usage(outcome, answer.usage)


def stream(outcome: report.Report, args) -> None:
    with responses(args).stream(model=args.model, input=QUESTION, store=False) as events:
        kinds, pieces = [], []
        for event in events:
            kinds.append(event.type)
            if event.type == "response.output_text.delta":
                pieces.append(event.delta)
        final = events.get_final_response()
    outcome.equal("first event", kinds[0], "response.created")
    outcome.equal("last event", kinds[-1], "response.completed")
    outcome.check(bool("".join(pieces)), "an empty stream")
    outcome.equal("text of the pieces and of the whole", "".join(pieces), final.output_text)
    check_usage(outcome, final.usage)


def tools(outcome: report.Report, args) -> None:
    """The model calls, the function answers, the model concludes; nothing is kept at the provider."""
    asked = [{"role": "user", "content": QUESTION}]
    called = responses(args).create(model=args.model, input=asked, tools=[READ_LEVEL], store=False)
    calls = [item for item in called.output if item.type == "function_call"]
    outcome.equal("functions called", [call.name for call in calls], ["read_level"])
    check_arguments(outcome, calls[0].arguments)
    results = [{"type": "function_call_output", "call_id": call.call_id, "output": "412 cm"} for call in calls]
    concluded = responses(args).create(
        model=args.model, input=[*asked, *called.output, *results], tools=[READ_LEVEL], store=False
    )
    outcome.check(bool(concluded.output_text), f"no conclusion: {concluded}")


def streamed_tools(outcome: report.Report, args) -> None:
    with responses(args).stream(
        model=args.model, input=QUESTION, tools=[READ_LEVEL], tool_choice="required", store=False
    ) as events:
        final = events.get_final_response()
    calls = [item for item in final.output if item.type == "function_call"]
    outcome.equal("functions called", [call.name for call in calls], ["read_level"])
    check_arguments(outcome, calls[0].arguments)


def structured(outcome: report.Report, args) -> None:
    answer = responses(args).parse(model=args.model, input=QUESTION, text_format=Level, store=False)
    outcome.check(isinstance(answer.output_parsed, Level), f"not as the type says: {answer.output_text}")


def images(outcome: report.Report, args) -> None:
    content = [
        {"type": "input_text", "text": "Is the gate open?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"},
    ]
    answer = responses(args).create(model=args.model, input=[{"role": "user", "content": content}], store=False)
    outcome.check(bool(answer.output_text), f"an empty answer: {answer}")


def thinking_with_tools(outcome: report.Report, args) -> None:
    """What was thought before a call goes back with its result, whole or streamed; nothing is kept at the provider."""
    asked = {"model": args.model, "tools": [READ_LEVEL], "reasoning": {"effort": "low"}, "store": False}
    question = [{"role": "user", "content": QUESTION}]
    events = list(responses(args).create(**asked, input=question, stream=True))
    for how, called in (("plain", responses(args).create(**asked, input=question)), ("streamed", events[-1].response)):
        calls = [item for item in called.output if item.type == "function_call"]
        outcome.equal(f"{how}, functions called", [call.name for call in calls], ["read_level"])
        results = [{"type": "function_call_output", "call_id": call.call_id, "output": "412 cm"} for call in calls]
        answer = responses(args).with_raw_response.create(**asked, input=[*question, *called.output, *results])
        report.check_whole(outcome, how, answer.headers)
        outcome.check(bool(answer.parse().output_text), f"{how}: no conclusion")


def errors(outcome: report.Report, args) -> None:
    for model, kind, status in args.error:
        for how in ({}, {"stream": True}):
            error = report.raised(lambda: responses(args).create(model=model, input=QUESTION, store=False, **how))
            report.check_error(outcome, f"{model} {how}", error, kind, status)


def check_arguments(outcome: report.Report, arguments: str) -> None:
    outcome.check(isinstance(json.loads(arguments).get("gate"), str), f"arguments {arguments}")


def check_usage(outcome: report.Report, usage) -> None:
    outcome.check(usage.input_tokens > 0 and usage.output_tokens > 0, f"usage {usage}")
    outcome.equal("usage in all", usage.total_tokens, usage.input_tokens + usage.output_tokens)


if __name__ == "__main__":
    main()
