"""What the scripts here share: how an SDK is pointed at a server, how failures are gathered, how a run ends.

A script checks everything and tells every failure, on stderr; its results are one line of JSON on stdout. Exit codes:
0 all as expected, 1 something is not, 2 wrong usage.
"""

import argparse
import json
import sys
import traceback
from collections.abc import Callable

import openai


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--base-url", required=True, help="the gateway's, ending in /v1")
    parser.add_argument("--api-key", default="any")
    parser.add_argument("--model", default="gpt-5.5")
    parser.add_argument("--timeout", type=float, default=60.0, help="of one call, in seconds")
    return parser


def client(base_url: str, api_key: str, timeout_s: float) -> openai.OpenAI:
    """An SDK client that never retries, so that each call is one request, and never takes a proxy from its environment."""
    return openai.OpenAI(
        base_url=base_url,
        api_key=api_key,
        timeout=timeout_s,
        max_retries=0,
        http_client=openai.DefaultHttpx2Client(trust_env=False),
    )


def run(description: str, jobs: dict[str, Callable], *more: Callable[[argparse.ArgumentParser], object]) -> None:
    """A script that is a list of jobs, functions of (outcome, args) by name. All that are asked for run, whatever becomes of the
    others. Each of `more` adds an argument."""
    parser = arguments(description)
    parser.add_argument("--jobs", type=lambda names: names.split(","), default=list(jobs), help=f"of {', '.join(jobs)}")
    parser.add_argument(
        "--error",
        type=expected_error,
        action="append",
        default=[],
        metavar="MODEL=CLASS:STATUS",
        help="what a call to that model raises",
    )
    parser.add_argument(
        "--ask",
        type=asked_jobs,
        action="append",
        default=[],
        metavar="MODEL=JOBS",
        help="jobs for one model after another, in place of --model and --jobs",
    )
    parser.add_argument(
        "--refused",
        type=refused_job,
        action="append",
        default=[],
        metavar="MODEL:JOB=NAME",
        help="a job that the model refuses with 400 and that name",
    )
    for add in more:
        add(parser)
    args = parser.parse_args()
    plan = args.ask or [(args.model, args.jobs)]
    for name in [*(name for _, names in plan for name in names), *(name for _, name, _ in args.refused)]:
        if name not in jobs:
            parser.error(f"no job {name}; there are {', '.join(jobs)}")
    outcome = Report()
    for args.model, names in plan:
        for name in names:
            outcome.job = f"{args.model}, {name}: " if args.ask else f"{name}: "
            try:
                jobs[name](outcome, args)
            except Exception:
                outcome.check(False, f"raised\n{traceback.format_exc()}")
    for args.model, name, what in args.refused:
        outcome.job = f"{args.model}, {name}: "
        error = raised(lambda: jobs[name](Report(), args))
        outcome.equal(f"status of {error!r}", status_of(error), 400)
        outcome.check(what in str(error), f"{what} is not named: {error}")
    outcome.finish(jobs=[name for _, names in plan for name in names], **outcome.results)


def asked_jobs(text: str) -> tuple[str, list[str]]:
    """Model and jobs of `--ask`."""
    model, _, names = text.partition("=")
    return model, names.split(",")


def refused_job(text: str) -> tuple[str, str, str]:
    """Model, job and name of `--refused`."""
    job, _, what = text.partition("=")
    model, _, name = job.rpartition(":")
    return model, name, what


def expected_error(text: str) -> tuple[str, str, int]:
    """Model, class and status of `--error`."""
    model, _, expected = text.rpartition("=")
    kind, _, status = expected.rpartition(":")
    return model, kind, int(status)


def raised(call: Callable[[], object]) -> Exception | None:
    """What `call` raises; none where it is answered."""
    try:
        call()
    except Exception as error:
        return error
    return None


def check_error(outcome: "Report", what: str, error: Exception | None, kind: str, status: int) -> None:
    """It is of that class, of that status, and says something."""
    ancestors = [ancestor.__name__ for ancestor in type(error).__mro__]
    outcome.check(kind in ancestors, f"{what}: {error!r} is no {kind}")
    outcome.equal(f"{what}, status", status_of(error), status)
    outcome.check(len(str(error)) > 20, f"{what}: says only {error}")


def status_of(error: Exception | None) -> int | None:
    """Where each SDK keeps it."""
    return getattr(error, "status_code", getattr(error, "code", None))


def check_whole(outcome: "Report", what: str, headers) -> None:
    """Nothing of the request was left out."""
    lost = {name.lower(): value for name, value in headers.items()}.get("x-sluicegate-degraded")
    outcome.equal(f"{what}, what was left out", lost, None)


def origin(args) -> str:
    """The gateway's address without a path, for SDKs that put the version there themselves."""
    return args.base_url.removesuffix("/v1")


class Report:
    def __init__(self) -> None:
        self.failures: list[str] = []
        self.checks = 0
        self.job = ""
        # What a job found out, for whoever started the script.
        self.results: dict[str, object] = {}

    def check(self, holds: bool, what: str) -> None:
        self.checks += 1
        if not holds:
            self.failures.append(f"{self.job}{what}")

    def equal(self, what: str, seen: object, expected: object) -> None:
        self.check(seen == expected, f"{what}: {difference(seen, expected)}")

    def finish(self, **results: object) -> None:
        """Prints results and failures, and ends the program."""
        line = {"checks": self.checks, "failures": self.failures, **results}
        print(json.dumps(line, ensure_ascii=False), flush=True)
        for failure in self.failures:
            print(f"FAILED: {failure}", file=sys.stderr)
        sys.exit(1 if self.failures else 0)


def difference(seen: object, expected: object) -> str:
    """Where two values part, with a little of both sides, so that a long body does not fill the screen."""
    left, right = text_of(seen), text_of(expected)
    at = next((i for i, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
    start = max(0, at - 40)
    return f"differs at {at}: got …{left[start:at + 80]!r}, expected …{right[start:at + 80]!r}"


def text_of(value: object) -> object:
    if isinstance(value, (bytes, str)):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
