"""A user of the official Anthropic SDK: messages in every way in which programs use them."""

import anthropic

import report
from questions import PIXEL, QUESTION, Level

MESSAGES = [{"role": "user", "content": QUESTION}]
READ_LEVEL = {
    "name": "read_level",
    "description": "Reads the water's level",
    "input_schema": {"type": "object", "properties": {"gate": {"type": "string"}}, "required": ["gate"]},
}
MAX_TOKENS = 2_000


def main() -> None:
    report.run(
        __doc__,
        {
            "plain": plain,
            "stream": stream,
            "tools": tools,
            "streamed_tools": streamed_tools,
            "structured": structured,
            "thinking": thinking,
            "thinking_with_tools": thinking_with_tools,
            "images": images,
            "count_tokens": count_tokens,
            "errors": errors,
        },
    )


def client(args) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        base_url=report.origin(args), api_key=args.api_key, timeout=args.timeout, max_retries=0
    )


def plain(outcome: report.Report, args) -> None:
    answer = client(args).messages.create(
        model=args.model, max_tokens=MAX_TOKENS, system="Answer briefly.", messages=MESSAGES
    )
    outcome.equal("kind and role", (answer.type, answer.role), ("message", "assistant"))
    outcome.check(bool(text(answer)), f"an empty answer: {answer}")
    outcome.equal("end", answer.stop_reason, "end_turn")
    check_usage(outcome, answer.usage)


def stream(outcome: report.Report, args) -> None:
    with client(args).messages.stream(model=args.model, max_tokens=MAX_TOKENS, messages=MESSAGES) as events:
        pieces = list(events.text_stream)
        final = events.get_final_message()
    outcome.check(bool("".join(pieces)), "an empty stream")
    outcome.equal("text of the pieces and of the whole", "".join(pieces), text(final))
    outcome.equal("end", final.stop_reason, "end_turn")
    check_usage(outcome, final.usage)


def tools(outcome: report.Report, args) -> None:
    """The model calls, the function answers, the model concludes."""
    messages = client(args).messages
    asked = {"model": args.model, "max_tokens": MAX_TOKENS, "tools": [READ_LEVEL]}
    called = messages.create(**asked, messages=MESSAGES)
    outcome.equal("end", called.stop_reason, "tool_use")
    calls = [block for block in called.content if block.type == "tool_use"]
    outcome.equal("functions called", [call.name for call in calls], ["read_level"])
    outcome.check(isinstance(calls[0].input.get("gate"), str), f"input {calls[0].input}")
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "412 cm"} for call in calls]
    concluded = messages.create(
        **asked,
        messages=[
            *MESSAGES,
            {"role": "assistant", "content": called.content},
            {"role": "user", "content": results},
        ],
    )
    outcome.equal("end after the result", concluded.stop_reason, "end_turn")
    outcome.check(bool(text(concluded)), f"no conclusion: {concluded}")


def streamed_tools(outcome: report.Report, args) -> None:
    with client(args).messages.stream(
        model=args.model, max_tokens=MAX_TOKENS, messages=MESSAGES, tools=[READ_LEVEL], tool_choice={"type": "any"}
    ) as events:
        final = events.get_final_message()
    outcome.equal("end", final.stop_reason, "tool_use")
    calls = [block for block in final.content if block.type == "tool_use"]
    outcome.equal("functions called", [call.name for call in calls], ["read_level"])
    outcome.check(isinstance(calls[0].input.get("gate"), str), f"input {calls[0].input}")


def structured(outcome: report.Report, args) -> None:
    answer = client(args).messages.parse(
        model=args.model, max_tokens=MAX_TOKENS, messages=MESSAGES, output_format=Level
    )
    outcome.check(isinstance(answer.parsed_output, Level), f"not as the type says: {answer.content}")


def thinking(outcome: report.Report, args) -> None:
    """Thoughts come before the answer, and go back unchanged with the next turn."""
    messages = client(args).messages
    asked = {
        "model": args.model,
        "max_tokens": 4_000,
        "thinking": {"type": "enabled", "budget_tokens": 1_024},
    }
    answer = messages.create(**asked, messages=MESSAGES)
    outcome.equal("first block", answer.content[0].type, "thinking")
    outcome.check(bool(answer.content[0].thinking), "an empty thought")
    outcome.check(bool(text(answer)), "thoughts without an answer")
    turns = [{"role": "assistant", "content": answer.content}, {"role": "user", "content": "And when it falls?"}]
    outcome.check(bool(text(messages.create(**asked, messages=[*MESSAGES, *turns]))), "no second answer")
    with messages.stream(**asked, messages=MESSAGES) as events:
        thoughts = "".join(event.thinking for event in events if event.type == "thinking")
        final = events.get_final_message()
    outcome.check(bool(thoughts), "no thought in the stream")
    outcome.equal("thoughts of the stream and of the whole", thoughts, final.content[0].thinking)


def thinking_with_tools(outcome: report.Report, args) -> None:
    """What was thought before a call goes back with its result, whole or streamed."""
    messages = client(args).messages
    asked = {
        "model": args.model,
        "max_tokens": 4_000,
        "thinking": {"type": "enabled", "budget_tokens": 1_024},
        "tools": [READ_LEVEL],
    }
    with messages.stream(**asked, messages=MESSAGES) as events:
        streamed = events.get_final_message()
    for how, called in (("plain", messages.create(**asked, messages=MESSAGES)), ("streamed", streamed)):
        outcome.equal(f"{how}, end", called.stop_reason, "tool_use")
        calls = [block for block in called.content if block.type == "tool_use"]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "412 cm"} for call in calls]
        turns = [{"role": "assistant", "content": called.content}, {"role": "user", "content": results}]
        answer = messages.with_raw_response.create(**asked, messages=[*MESSAGES, *turns])
        report.check_whole(outcome, how, answer.headers)
        outcome.check(bool(text(answer.parse())), f"{how}: no conclusion")


def images(outcome: report.Report, args) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "Is the gate open?"}]
    answer = client(args).messages.create(
        model=args.model, max_tokens=MAX_TOKENS, messages=[{"role": "user", "content": content}]
    )
    outcome.check(bool(text(answer)), f"an empty answer: {answer}")


def count_tokens(outcome: report.Report, args) -> None:
    messages = client(args).messages
    few = messages.count_tokens(model=args.model, messages=MESSAGES).input_tokens
    many = messages.count_tokens(model=args.model, messages=[{"role": "user", "content": QUESTION * 10}]).input_tokens
    outcome.check(0 < few < many, f"{few} tokens, and {many} for ten times the text")


def errors(outcome: report.Report, args) -> None:
    for model, kind, status in args.error:
        asked = {"model": model, "max_tokens": MAX_TOKENS, "messages": MESSAGES}
        for how in ({}, {"stream": True}):
            error = report.raised(lambda: client(args).messages.create(**asked, **how))
            report.check_error(outcome, f"{model} {how}", error, kind, status)
            body = getattr(error, "body", None) or {}
            outcome.equal(f"{model} {how}, type of the body", body.get("type"), "error")
            outcome.check(bool(body.get("error", {}).get("type")), f"{model} {how}: no type of the error in {body}")


def text(message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def check_usage(outcome: report.Report, usage) -> None:
    outcome.check(usage.input_tokens > 0 and usage.output_tokens > 0, f"usage {usage}")


if __name__ == "__main__":
    main()
