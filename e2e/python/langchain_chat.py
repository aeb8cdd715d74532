"""A user of LangChain's OpenAI class, over chat completions or, with `--responses`, over the responses interface."""

from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

import report
from questions import PIXEL, QUESTION, Level

MESSAGES = [SystemMessage("Answer briefly."), HumanMessage(QUESTION)]


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
            "errors": errors,
        },
        lambda parser: parser.add_argument("--responses", action="store_true"),
    )


def chat(args, model: str | None = None) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=args.base_url,
        api_key=args.api_key,
        model=model or args.model,
        timeout=args.timeout,
        max_retries=0,
        use_responses_api=args.responses,
        stream_usage=True,
    )


@tool
def read_level(gate: str) -> str:
    """Reads the water's level at a gate."""
    return f"412 cm at {gate}"


def plain(outcome: report.Report, args) -> None:
    answer = chat(args).invoke(MESSAGES)
    outcome.check(len(answer.text) > 0, f"an empty answer: {answer!r}")
    check_usage(outcome, answer)


def stream(outcome: report.Report, args) -> None:
    whole = gathered(chat(args).stream(MESSAGES))
    outcome.check(len(whole.text) > 0, f"an empty stream: {whole!r}")
    check_usage(outcome, whole)


def tools(outcome: report.Report, args) -> None:
    model = chat(args).bind_tools([read_level])
    called = model.invoke(MESSAGES)
    outcome.equal("functions called", [call["name"] for call in called.tool_calls], ["read_level"])
    results = [read_level.invoke(call) for call in called.tool_calls]
    outcome.check(all(isinstance(result, ToolMessage) for result in results), f"no results: {results}")
    concluded = model.invoke([*MESSAGES, called, *results])
    outcome.equal("calls after the result", concluded.tool_calls, [])
    outcome.check(len(concluded.text) > 0, f"no conclusion: {concluded!r}")


def streamed_tools(outcome: report.Report, args) -> None:
    whole = gathered(chat(args).bind_tools([read_level], tool_choice="required").stream(MESSAGES))
    outcome.equal("functions called", [call["name"] for call in whole.tool_calls], ["read_level"])
    outcome.check(isinstance(whole.tool_calls[0]["args"].get("gate"), str), f"arguments {whole.tool_calls}")


def structured(outcome: report.Report, args) -> None:
    for method in ["json_schema", "function_calling"]:
        level = chat(args).with_structured_output(Level, method=method).invoke(MESSAGES)
        outcome.check(isinstance(level, Level), f"{method}: {level!r}")


def images(outcome: report.Report, args) -> None:
    content = [
        {"type": "text", "text": "Is the gate open?"},
        {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
    ]
    answer = chat(args).invoke([HumanMessage(content_blocks=content)])
    outcome.check(len(answer.text) > 0, f"an empty answer: {answer!r}")


def errors(outcome: report.Report, args) -> None:
    """Those of the OpenAI SDK below."""
    for model, kind, status in args.error:
        for how, call in [("", chat(args, model).invoke), (", streamed", lambda ask: list(chat(args, model).stream(ask)))]:
            report.check_error(outcome, f"{model}{how}", report.raised(lambda: call(MESSAGES)), kind, status)


def gathered(chunks) -> AIMessageChunk:
    """The sum of a stream's chunks, as LangChain has it."""
    chunks = list(chunks)
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return whole


def check_usage(outcome: report.Report, answer) -> None:
    usage = answer.usage_metadata or {}
    outcome.check(usage.get("input_tokens", 0) > 0 and usage.get("output_tokens", 0) > 0, f"usage {usage}")


if __name__ == "__main__":
    main()
