"""A user of the official OpenAI SDK in the middle of a conversation: tools were called, and the answer is to be JSON of a type.

What is checked is what that user sees, whoever answers: the parsed type, the end, the usage, and which headers tell that it was
a fallback.
"""

import json

import openai

import report
from questions import QUESTION, Level

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
FALLBACK, ATTEMPTS, MODEL = "x-sluicegate-fallback", "x-sluicegate-attempts", "x-sluicegate-model"


def main() -> None:
    def more(parser) -> None:
        parser.add_argument("--wish", default="{}", help="what the fake is to do, as the JSON of its wishes")
        parser.add_argument("--fallback", default="provider_5xx", help="the condition that the headers name")
        parser.add_argument("--answers", help="the model that the headers name")
        parser.add_argument("--attempts", type=int, help="the calls that the headers count")
        parser.add_argument("--prompt-tokens", type=int, help="what the usage says")
        parser.add_argument("--cached-tokens", type=int, default=0, help="what the usage says")

    report.run(
        __doc__,
        {
            "parsed": parsed,
            "streamed": streamed,
            "tool_called": tool_called,
            "streamed_tool_call": streamed_tool_call,
            "streamed_wrong": streamed_wrong,
        },
        more,
    )


def chat(args):
    return report.client(args.base_url, args.api_key, args.timeout).chat.completions


def conversation(args, job: str) -> list[dict]:
    """Two calls at once, answered, with the first words of a conversation of its own for each job."""
    question = f"{QUESTION} ({job}) <fake>{args.wish}</fake>"
    calls = [
        {
            "id": f"call_{gate}",
            "type": "function",
            "function": {"name": "read_level", "arguments": json.dumps({"gate": gate})},
        }
        for gate in ["north", "south"]
    ]
    return [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_north", "content": "412 cm"},
        {"role": "tool", "tool_call_id": "call_south", "content": "398 cm"},
    ]


def asked(args, job: str) -> dict:
    return {
        "model": args.model,
        "messages": conversation(args, job),
        "tools": [READ_LEVEL],
        "response_format": Level,
        "max_completion_tokens": 2_000,
    }


def unparsed(args, job: str) -> dict:
    """The same for the part of the SDK that leaves the parsing to its user."""
    schema = {"name": "Level", "schema": Level.model_json_schema()}
    return {**asked(args, job), "response_format": {"type": "json_schema", "json_schema": schema}}


def parsed(outcome: report.Report, args) -> None:
    raw = chat(args).with_raw_response.parse(**asked(args, "parsed"))
    check_headers(outcome, args, raw.headers)
    check_level(outcome, args, raw.parse())


def streamed(outcome: report.Report, args) -> None:
    options = {"include_usage": True}
    with chat(args).stream(**asked(args, "streamed"), stream_options=options) as events:
        headers = events._response.headers  # noqa: SLF001: the SDK has no other way to them
        kinds = [event.type for event in events]
        final = events.get_final_completion()
    check_headers(outcome, args, headers)
    outcome.check("content.delta" in kinds, f"no content in the stream: {set(kinds)}")
    check_level(outcome, args, final)


def tool_called(outcome: report.Report, args) -> None:
    """One more call is demanded: no JSON is due yet."""
    answer = chat(args).parse(**asked(args, "tool called"), tool_choice="required")
    check_call(outcome, answer)


def streamed_tool_call(outcome: report.Report, args) -> None:
    with chat(args).stream(**asked(args, "tool call streamed"), tool_choice="required") as events:
        final = events.get_final_completion()
    check_call(outcome, final)


def streamed_wrong(outcome: report.Report, args) -> None:
    """JSON that turns out to be wrong when most of it was passed on: one error, and no end that looks like one."""
    seen = []

    def read() -> None:
        for chunk in chat(args).create(**unparsed(args, "streamed wrong"), stream=True):
            seen.extend(choice for choice in chunk.choices)

    error = report.raised(read)
    outcome.check(type(error) is openai.APIError, f"raised {error!r}")
    outcome.check("JSON" in str(error), f"says only {error}")
    outcome.check(any(choice.delta.content for choice in seen), "nothing was passed on before")
    outcome.equal("ends", [choice.finish_reason for choice in seen if choice.finish_reason], [])


def check_headers(outcome: report.Report, args, headers) -> None:
    outcome.equal("condition of the fallback", headers.get(FALLBACK), args.fallback or None)
    if args.answers is not None:
        outcome.equal("who answered", headers.get(MODEL), args.answers)
    if args.attempts is not None:
        outcome.equal("attempts", headers.get(ATTEMPTS), str(args.attempts))


def check_level(outcome: report.Report, args, answer) -> None:
    [choice] = answer.choices
    outcome.equal("end", choice.finish_reason, "stop")
    outcome.check(isinstance(choice.message.parsed, Level), f"not as the type says: {choice.message}")
    outcome.equal("calls", choice.message.tool_calls or [], [])
    usage = answer.usage
    outcome.results[f"{outcome.job}output_tokens"] = usage.completion_tokens
    outcome.check(usage.completion_tokens > 0, f"usage {usage}")
    outcome.equal("usage in all", usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
    if args.prompt_tokens is not None:
        outcome.equal("tokens of the prompt", usage.prompt_tokens, args.prompt_tokens)
        details = usage.prompt_tokens_details
        cached = 0 if details is None else details.cached_tokens or 0
        outcome.equal("of them cached", cached, args.cached_tokens)


def check_call(outcome: report.Report, answer) -> None:
    [choice] = answer.choices
    outcome.equal("end", choice.finish_reason, "tool_calls")
    calls = choice.message.tool_calls or []
    outcome.equal("functions called", [call.function.name for call in calls], ["read_level"])
    arguments = json.loads(calls[0].function.arguments)
    outcome.check(isinstance(arguments.get("gate"), str), f"arguments {arguments}")
    outcome.equal("arguments as the SDK parsed them", calls[0].function.parsed_arguments, arguments)


if __name__ == "__main__":
    main()
