"""A user of the official OpenAI SDK: embeddings, the older completions, and the list of models."""

import report
from questions import QUESTION


def main() -> None:
    report.run(
        __doc__,
        {
            "embeddings": embeddings,
            "completions": completions,
            "streamed_completions": streamed_completions,
            "models": models,
        },
        lambda parser: parser.add_argument("--embedding-model", default="text-embedding-3-small"),
    )


def client(args):
    return report.client(args.base_url, args.api_key, args.timeout)


def embeddings(outcome: report.Report, args) -> None:
    """The SDK asks for base64 and decodes it, unless it is told otherwise."""
    for how in ({}, {"encoding_format": "float"}):
        answer = client(args).embeddings.create(model=args.embedding_model, input=[QUESTION, "A gate."], **how)
        outcome.equal(f"{how}, order", [embedding.index for embedding in answer.data], [0, 1])
        lengths = {len(embedding.embedding) for embedding in answer.data}
        outcome.check(len(lengths) == 1 and min(lengths) > 0, f"{how}: lengths {lengths}")
        outcome.check(isinstance(answer.data[0].embedding[0], float), f"{how}: no numbers")
        outcome.check(answer.usage.prompt_tokens > 0, f"{how}: usage {answer.usage}")


def completions(outcome: report.Report, args) -> None:
    answer = client(args).completions.create(model=args.model, prompt=QUESTION, max_tokens=200)
    outcome.equal("object", answer.object, "text_completion")
    outcome.check(bool(answer.choices[0].text), f"an empty answer: {answer}")
    outcome.check(answer.usage.prompt_tokens > 0 and answer.usage.completion_tokens > 0, f"usage {answer.usage}")


def streamed_completions(outcome: report.Report, args) -> None:
    chunks = client(args).completions.create(model=args.model, prompt=QUESTION, max_tokens=200, stream=True)
    choices = [choice for chunk in chunks for choice in chunk.choices]
    outcome.check(bool("".join(choice.text for choice in choices)), "an empty stream")
    outcome.equal("ends", [choice.finish_reason for choice in choices if choice.finish_reason], ["stop"])


def models(outcome: report.Report, args) -> None:
    names = [model.id for model in client(args).models.list()]
    outcome.check(args.model in names, f"{args.model} is not among {names}")
    outcome.equal("one model", client(args).models.retrieve(args.model).id, args.model)


if __name__ == "__main__":
    main()
