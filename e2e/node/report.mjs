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
  ask: { type: "string", multiple: true, default: [] }, // MODEL=JOBS, one model after another, in place of model and jobs
  refused: { type: "string", multiple: true, default: [] }, // MODEL:JOB=NAME, a job that the model refuses with 400 and that name
  error: { type: "string", multiple: true, default: [] }, // MODEL=CLASS:STATUS, what a call to that model raises
};

/** Runs the jobs of a script: functions of (outcome, args), by name. */
export async function run(jobs, more = {}) {
  const args = parsed({ ...ARGUMENTS, ...more });
  const names = args.jobs?.split(",") ?? Object.keys(jobs);
  const plan = args.ask.length > 0 ? asked(args) : [[args.model, names]];
  const refused = refusals(args);
  const unknown = [...plan.flatMap(([, names]) => names), ...refused.map(([, name]) => name)].filter((name) => !(name in jobs));
  if (!args["base-url"] || unknown.length > 0) {
    usage(unknown.length > 0 ? `no job ${unknown}; there are ${Object.keys(jobs)}` : "--base-url is missing");
  }
  const outcome = new Report();
  for (const [model, names] of plan) {
    for (const name of names) {
      outcome.job = args.ask.length > 0 ? `${model}, ${name}` : name;
      try {
        await jobs[name](outcome, { ...args, model });
      } catch (error) {
        outcome.check(false, `raised ${error?.stack ?? error}`);
      }
    }
  }
  for (const [model, name, what] of refused) {
    outcome.job = `${model}, ${name}`;
    const error = await raised(() => jobs[name](new Report(), { ...args, model }));
    outcome.equal("status", error?.statusCode ?? error?.status, 400);
    outcome.check(error?.message.includes(what), `${what} is not named: ${error}`);
  }
  outcome.finish({ jobs: plan.flatMap(([, names]) => names) });
}

/** What `--ask` says: [model, jobs]. */
function asked(args) {
  return args.ask.map((text) => {
    const [, model, names] = /^([^=]+)=(.+)$/.exec(text) ?? usage(`--ask ${text} is not MODEL=JOBS`);
    return [model, names.split(",")];
  });
}

/** What `--refused` says: [model, job, name]. */
function refusals(args) {
  return args.refused.map((text) => {
    const [, model, name, what] =
      /^([^=]+):(\w+)=(.+)$/.exec(text) ?? usage(`--refused ${text} is not MODEL:JOB=NAME`);
    return [model, name, what];
  });
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
