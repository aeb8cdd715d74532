"""A user of the OpenAI Agents SDK: an agent with a tool and an output type, over the model
interface that `--api` names."""

import asyncio

import openai
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)

import report
from questions import QUESTION, Level

# One event loop for all jobs, since connections that one leaves behind are closed in it.
LOOP = asyncio.Runner()
MODELS = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}


def main() -> None:
    # Traces go to another host.
    set_tracing_disabled(True)
    report.run(
        __doc__,
        {"plain": plain, "tools": tools, "streamed_tools": streamed_tools, "output_type": output_type, "errors": errors},
        lambda parser: parser.add_argument("--api", choices=list(MODELS), default="chat"),
    )


def agent(args, model: str | None = None, **more) -> Agent:
    sdk = openai.AsyncOpenAI(base_url=args.base_url, api_key=args.api_key, timeout=args.timeout, max_retries=0)
    served = MODELS[args.api](model=model or args.model, openai_client=sdk)
    settings = ModelSettings(include_usage=True)
    return Agent(name="keeper", instructions="Answer briefly.", model=served, model_settings=settings, **more)


def gauge() -> tuple[list[str], object]:
    """A tool, and the arguments that it was called with."""
    gates: list[str] = []

    @function_tool
    def read_level(gate: str) -> str:
        """Reads the water's level at a gate."""
        gates.append(gate)
        return f"412 cm at {gate}"

    return gates, read_level


def plain(outcome: report.Report, args) -> None:
    result = LOOP.run(Runner.run(agent(args), QUESTION))
    outcome.check(len(result.final_output) > 0, "an empty answer")
    check_usage(outcome, result, 1)


def tools(outcome: report.Report, args) -> None:
    gates, read_level = gauge()
    result = LOOP.run(Runner.run(agent(args, tools=[read_level]), QUESTION, max_turns=4))
    outcome.equal("calls of the tool", len(gates), 1)
    outcome.check(len(result.final_output) > 0, "no conclusion")
    check_usage(outcome, result, 2)


def streamed_tools(outcome: report.Report, args) -> None:
    gates, read_level = gauge()

    async def play():
        result = Runner.run_streamed(agent(args, tools=[read_level]), QUESTION, max_turns=4)
        return result, [event.type async for event in result.stream_events()]

    result, events = LOOP.run(play())
    outcome.equal("calls of the tool", len(gates), 1)
    outcome.check(len(result.final_output) > 0, "no conclusion")
    outcome.check(events.count("raw_response_event") > 2, f"hardly a stream: {events}")
    check_usage(outcome, result, 2)


def output_type(outcome: report.Report, args) -> None:
    gates, read_level = gauge()
    result = LOOP.run(Runner.run(agent(args, tools=[read_level], output_type=Level), QUESTION, max_turns=4))
    outcome.equal("calls of the tool", len(gates), 1)
    outcome.check(isinstance(result.final_output, Level), f"not as the type says: {result.final_output!r}")


def errors(outcome: report.Report, args) -> None:
    """Those of the OpenAI SDK below."""
    for model, kind, status in args.error:
        error = report.raised(lambda: LOOP.run(Runner.run(agent(args, model), QUESTION)))
        report.check_error(outcome, model, error, kind, status)


def check_usage(outcome: report.Report, result, requests: int) -> None:
    usage = result.context_wrapper.usage
    outcome.equal("requests to the model", usage.requests, requests)
    outcome.check(usage.input_tokens > 0 and usage.output_tokens > 0, f"usage {usage}")


if __name__ == "__main__":
    main()
