"""Agent jobs that start together, each a chain of turns with a growing prompt: the load that makes providers answer 429.

A turn's prompt is 1,500 tokens, and 1,000 more each turn, by OpenAI's rule of four bytes a token. A job goes on only when
its turn was answered, and nothing is tried twice: a job that meets a 429 is dead. All of them must finish.
"""

import threading
import time

import openai

import report

FIRST_PROMPT_TOKENS = 1_500
MORE_PER_TURN_TOKENS = 1_000
BYTES_PER_TOKEN = 4


def main() -> None:
    parser = report.arguments(__doc__)
    parser.set_defaults(timeout=600.0)
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--max-tokens", type=int, default=4_096)
    parser.add_argument("--output-tokens", type=int, default=300, help="what the fake answers with")
    args = parser.parse_args()
    outcome = report.Report()
    sdk = report.client(args.base_url, args.api_key, args.timeout)
    start_line = threading.Barrier(args.jobs + 1)
    jobs = [Job(number, args, sdk, start_line) for number in range(args.jobs)]
    for job in jobs:
        job.thread.start()
    start_line.wait()
    for job in jobs:
        job.thread.join()

    calls = [call for job in jobs for call in job.calls]
    for job in jobs:
        outcome.check(job.is_done, f"job {job.number} ended at turn {len(job.calls)}: {job.calls[-1:]}")
    outcome.equal("calls answered", sum(call["status"] == 200 for call in calls), args.jobs * args.turns)
    expected = min(args.output_tokens, args.max_tokens)
    lengths = {call["output_tokens"] for call in calls if call["status"] == 200}
    outcome.check(lengths <= {expected}, f"answers of {lengths} tokens instead of {expected}")
    job_seconds = sorted(job.calls[-1]["end_s"] for job in jobs if job.is_done)
    outcome.finish(
        jobs_done=sum(job.is_done for job in jobs),
        rejected_429=sum(call["status"] == 429 for call in calls),
        job_p50_s=quantile(job_seconds, 50),
        job_p95_s=quantile(job_seconds, 95),
        calls=calls,
    )


class Job:
    def __init__(self, number: int, args, sdk: openai.OpenAI, start_line: threading.Barrier) -> None:
        self.number = number
        self.args = args
        self.sdk = sdk
        self.start_line = start_line
        self.calls: list[dict] = []
        self.is_done = False
        self.thread = threading.Thread(target=self.run, name=f"job {number}")

    def run(self) -> None:
        self.start_line.wait()
        started = time.monotonic()
        for turn in range(self.args.turns):
            start = time.monotonic()
            status, output_tokens, message = self.call(turn)
            call = {
                "job": self.number,
                "turn": turn,
                "start_s": round(start - started, 3),
                "end_s": round(time.monotonic() - started, 3),
                "status": status,
                "output_tokens": output_tokens,
            }
            self.calls.append(call if message is None else {**call, "message": message})
            if status != 200:
                return
        self.is_done = True

    def call(self, turn: int) -> tuple[int, int, str | None]:
        """Status (0 where there was no answer), tokens of the answer, what went wrong."""
        try:
            answer = self.sdk.chat.completions.create(
                model=self.args.model,
                messages=[{"role": "user", "content": prompt(self.number, turn)}],
                max_tokens=self.args.max_tokens,
                extra_body={"fake": {"output_tokens": self.args.output_tokens}},
            )
        except openai.APIStatusError as error:
            return error.status_code, 0, str(error)
        except openai.APIConnectionError as error:
            return 0, 0, repr(error)
        return 200, answer.usage.completion_tokens, None


def prompt(job: int, turn: int) -> str:
    tokens = FIRST_PROMPT_TOKENS + MORE_PER_TURN_TOKENS * turn
    head = f"job {job:03} turn {turn:03} "  # 17 bytes
    return head + "w" * (tokens * BYTES_PER_TOKEN - len(head))


def quantile(ordered: list[float], percent: int) -> float | None:
    """The smallest value that `percent` of all do not exceed."""
    if not ordered:
        return None
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


if __name__ == "__main__":
    main()
