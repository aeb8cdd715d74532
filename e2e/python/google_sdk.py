"""A user of the official Google GenAI SDK: content and embeddings in every way in which programs use them."""

import base64
import functools

from google import genai
from google.genai import types

import report
from questions import PIXEL, QUESTION, Level


def main() -> None:
    report.run(
        __doc__,
        {
            "plain": plain,
            "stream": stream,
            "tools": tools,
            "thinking_with_tools": thinking_with_tools,
            "streamed_tools": streamed_tools,
            "automatic_tools": automatic_tools,
            "structured": structured,
            "images": images,
            "count_tokens": count_tokens,
            "embeddings": embeddings,
            "errors": errors,
        },
        lambda parser: parser.add_argument("--embedding-model", default="text-embedding-3-small"),
    )


def models(args):
    return client(report.origin(args), args.api_key, int(args.timeout * 1_000)).models


@functools.cache
def client(base_url: str, api_key: str, timeout_ms: int) -> genai.Client:
    """Kept, since its connections close when nobody holds it any more."""
    return genai.Client(api_key=api_key, http_options=types.HttpOptions(base_url=base_url, timeout=timeout_ms))


def plain(outcome: report.Report, args) -> None:
    config = types.GenerateContentConfig(system_instruction="Answer briefly.", max_output_tokens=2_000)
    answer = models(args).generate_content(model=args.model, contents=QUESTION, config=config)
    outcome.check(bool(answer.text), f"an empty answer: {answer}")
    outcome.equal("end", answer.candidates[0].finish_reason, types.FinishReason.STOP)
    check_usage(outcome, answer.usage_metadata)


def stream(outcome: report.Report, args) -> None:
    chunks = list(models(args).generate_content_stream(model=args.model, contents=QUESTION))
    outcome.check(bool("".join(chunk.text or "" for chunk in chunks)), "an empty stream")
    ends = [candidate.finish_reason for chunk in chunks for candidate in chunk.candidates or []]
    outcome.equal("ends", [end for end in ends if end], [types.FinishReason.STOP])
    check_usage(outcome, chunks[-1].usage_metadata)


def tools(outcome: report.Report, args) -> None:
    """The model calls, the function answers, the model concludes."""
    config = types.GenerateContentConfig(tools=[declared()])
    asked = types.Content(role="user", parts=[types.Part(text=QUESTION)])
    called = models(args).generate_content(model=args.model, contents=[asked], config=config)
    calls = called.function_calls or []
    outcome.equal("functions called", [call.name for call in calls], ["read_level"])
    outcome.check(isinstance(calls[0].args.get("gate"), str), f"arguments {calls[0].args}")
    result = types.Part(
        function_response=types.FunctionResponse(id=calls[0].id, name="read_level", response={"result": "412 cm"})
    )
    contents = [asked, called.candidates[0].content, types.Content(role="user", parts=[result])]
    concluded = models(args).generate_content(model=args.model, contents=contents, config=config)
    outcome.check(bool(concluded.text), f"no conclusion: {concluded}")


def thinking_with_tools(outcome: report.Report, args) -> None:
    """What was thought before a call goes back with its result, whole or in the pieces of a stream."""
    thinking = types.ThinkingConfig(include_thoughts=True, thinking_budget=1_024)
    config = types.GenerateContentConfig(tools=[declared()], thinking_config=thinking, max_output_tokens=4_000)
    asked = types.Content(role="user", parts=[types.Part(text=QUESTION)])
    plain = [models(args).generate_content(model=args.model, contents=[asked], config=config)]
    streamed = list(models(args).generate_content_stream(model=args.model, contents=[asked], config=config))
    for how, pieces in (("plain", plain), ("streamed", streamed)):
        calls = [call for piece in pieces for call in piece.function_calls or []]
        outcome.equal(f"{how}, functions called", [call.name for call in calls], ["read_level"])
        response = types.FunctionResponse(id=calls[0].id, name="read_level", response={"result": "412 cm"})
        result = types.Content(role="user", parts=[types.Part(function_response=response)])
        said = [piece.candidates[0].content for piece in pieces]
        said = [content for content in said if content is not None and content.parts]
        answer = models(args).generate_content(model=args.model, contents=[asked, *said, result], config=config)
        report.check_whole(outcome, how, answer.sdk_http_response.headers)
        outcome.check(bool(answer.text), f"{how}: no conclusion: {answer}")


def streamed_tools(outcome: report.Report, args) -> None:
    any_function = types.ToolConfig(
        function_calling_config=types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
    )
    config = types.GenerateContentConfig(tools=[declared()], tool_config=any_function)
    chunks = list(models(args).generate_content_stream(model=args.model, contents=QUESTION, config=config))
    calls = [call for chunk in chunks for call in chunk.function_calls or []]
    outcome.equal("functions called", [call.name for call in calls], ["read_level"])
    outcome.check(isinstance(calls[0].args.get("gate"), str), f"arguments {calls}")


def automatic_tools(outcome: report.Report, args) -> None:
    """The SDK declares a function from its signature, calls it, and asks again."""
    gates: list[str] = []

    def read_level(gate: str) -> dict[str, int]:
        """Reads the water's level at a gate."""
        gates.append(gate)
        return {"height_cm": 412}

    config = types.GenerateContentConfig(tools=[read_level])
    answer = models(args).generate_content(model=args.model, contents=QUESTION, config=config)
    outcome.equal("calls of the function", len(gates), 1)
    outcome.check(bool(answer.text), f"no conclusion: {answer}")


def structured(outcome: report.Report, args) -> None:
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Level)
    answer = models(args).generate_content(model=args.model, contents=QUESTION, config=config)
    outcome.check(isinstance(answer.parsed, Level), f"not as the type says: {answer.text}")


def images(outcome: report.Report, args) -> None:
    pixel = types.Part.from_bytes(data=base64.b64decode(PIXEL), mime_type="image/png")
    answer = models(args).generate_content(model=args.model, contents=[pixel, "Is the gate open?"])
    outcome.check(bool(answer.text), f"an empty answer: {answer}")


def count_tokens(outcome: report.Report, args) -> None:
    few = models(args).count_tokens(model=args.model, contents=QUESTION).total_tokens
    many = models(args).count_tokens(model=args.model, contents=QUESTION * 10).total_tokens
    outcome.check(0 < few < many, f"{few} tokens, and {many} for ten times the text")


def embeddings(outcome: report.Report, args) -> None:
    answer = models(args).embed_content(model=args.embedding_model, contents=[QUESTION, "A gate."])
    lengths = {len(embedding.values) for embedding in answer.embeddings}
    outcome.equal("embeddings", len(answer.embeddings), 2)
    outcome.check(len(lengths) == 1 and min(lengths) > 0, f"lengths {lengths}")


def errors(outcome: report.Report, args) -> None:
    """`ClientError` for what the caller can mend or wait for, `ServerError` for the rest."""
    for model, kind, status in args.error:
        for how, call in [
            ("", models(args).generate_content),
            (", streamed", lambda **asked: list(models(args).generate_content_stream(**asked))),
        ]:
            error = report.raised(lambda: call(model=model, contents=QUESTION))
            report.check_error(outcome, f"{model}{how}", error, kind, status)
            outcome.check(bool(getattr(error, "status", None)), f"{model}{how}: no status in words: {error!r}")


def declared() -> types.Tool:
    gate = types.Schema(type=types.Type.STRING)
    parameters = types.Schema(type=types.Type.OBJECT, properties={"gate": gate}, required=["gate"])
    function = types.FunctionDeclaration(
        name="read_level", description="Reads the water's level", parameters=parameters
    )
    return types.Tool(function_declarations=[function])


def check_usage(outcome: report.Report, usage) -> None:
    outcome.check(usage.prompt_token_count > 0 and usage.candidates_token_count > 0, f"usage {usage}")


if __name__ == "__main__":
    main()
