"""What the scripts here share: how an SDK is pointed at a server, how failures are gathered, how a run ends.

A script checks everything and tells every failure, on stderr; its results are one line of JSON on stdout. Exit codes:
0 all as expected, 1 something is not, 2 wrong usage.
"""

import argparse
import json
import sys

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


class Report:
    def __init__(self) -> None:
        self.failures: list[str] = []
        self.checks = 0

    def check(self, holds: bool, what: str) -> None:
        self.checks += 1
        if not holds:
            self.failures.append(what)

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
