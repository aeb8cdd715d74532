// What the scripts here share, as `e2e/python/report.py` has it: arguments, how failures are gathered, how a run ends.
//
// A script is a list of jobs. All that are asked for run, whatever becomes of the others; every failure is told, on stderr; the
// results are one line of JSON on stdout. Exit codes: 0 all as expected, 1 something is not, 2 wrong usage.

import { parseArgs } from "node:util";

const ARGUMENTS = {
  "base-url": { type: "string" }, // the gateway's, ending in /v1
  "api-key": { type: "string", default: "any" },
  model: { type: "string", default: "gpt-5.5" },
  jobs: { type: "string" }, // names, with commas between; all by default
  error: { type: "string", multiple: true, default: [] }, // MODEL=CLASS:STATUS, what a call to that model raises
};

/** Runs the jobs of a script: functions of (outcome, args), by name. */
export async function run(jobs, more = {}) {
  const args = parsed({ ...ARGUMENTS, ...more });
  const names = args.jobs?.split(",") ?? Object.keys(jobs);
  const unknown = names.filter((name) => !(name in jobs));
  if (!args["base-url"] || unknown.length > 0) {
    usage(unknown.length > 0 ? `no job ${unknown}; there are ${Object.keys(jobs)}` : "--base-url is missing");
  }
  const outcome = new Report();
  for (const name of names) {
    outcome.job = name;
    try {
      await jobs[name](outcome, args);
    } catch (error) {
      outcome.check(false, `raised ${error?.stack ?? error}`);
    }
  }
  outcome.finish({ jobs: names });
}

/** What `--error` says: [model, class, status]. */
export function errors(args) {
  return args.error.map((text) => {
    const [, model, kind, status] = /^(.+)=(\w+):(\d+)$/.exec(text) ?? usage(`--error ${text} is not MODEL=CLASS:STATUS`);
    return [model, kind, Number(status)];
  });
}

/** The gateway's address without a path, for SDKs that put the version there themselves. */
export function origin(args) {
  return args["base-url"].replace(/\/v1$/, "");
}

/** What `call` raises; undefined where it is answered. */
export async function raised(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

class Report {
  checks = 0;
  failures = [];
  job = "";

  check(holds, what) {
    this.checks += 1;
    if (!holds) {
      this.failures.push(`${this.job}: ${what}`);
    }
  }

  equal(what, seen, expected) {
    const [left, right] = [JSON.stringify(seen), JSON.stringify(expected)];
    this.check(left === right, `${what}: got ${left?.slice(0, 300)}, expected ${right?.slice(0, 300)}`);
  }

  finish(results) {
    console.log(JSON.stringify({ checks: this.checks, failures: this.failures, ...results }));
    for (const failure of this.failures) {
      console.error(`FAILED: ${failure}`);
    }
    process.exitCode = this.failures.length > 0 ? 1 : 0;
  }
}

function parsed(options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return usage(error.message);
  }
}

function usage(message) {
  console.error(message);
  process.exit(2);
}
