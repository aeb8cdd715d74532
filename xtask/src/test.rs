//! The test command: set-up, then every check and every test, each step announced and timed.
//!
//! A failed step does not stop the ones after it, so that one run tells everything there is to mend. The last line has
//! the form `N passed, N failed`; a failed step in which no test failed counts as one failure.

use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::bail;

use crate::clock;
use crate::process::{End, Runner};
use crate::setup::{self, Environment};
use crate::tally::Tally;
use crate::tidy;
use crate::workspace::{Workspace, find_on_path};

/// Of one step; a build of everything on two slow cores takes a third of it.
const STEP_TIME_MAX: Duration = Duration::from_secs(45 * 60);

/// Of each fuzz target; `soak` gives them minutes.
const FUZZ_SECONDS: u64 = 10;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Leave out the API documentation
    #[arg(long)]
    fast: bool,
}

struct Report {
    step: &'static str,
    seconds: f64,
    tally: Tally,
    /// Why it failed, if it did.
    failure: Option<String>,
}

/// Runs all steps.
///
/// # Errors
///
/// When the set-up is incomplete or a step cannot even start.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut runner = Runner::new()?;
    let workspace = Workspace::load()?;
    let started = clock::now();
    println!("==> set-up");
    require_components(&workspace)?;
    let environment = setup::prepare(&workspace, &mut runner)?;
    println!("    set-up: {:.1} s", started.elapsed().as_secs_f64());

    let mut reports = vec![
        cargo_step(
            &mut runner,
            "format",
            workspace.cargo().args(["fmt", "--all", "--check"]),
        )?,
        cargo_step(
            &mut runner,
            "lints",
            workspace
                .cargo()
                .args(["clippy", "--locked", "--workspace", "--all-targets"])
                .args(["--", "--deny", "warnings"]),
        )?,
        tidy_step(&workspace)?,
    ];
    if !args.fast {
        let mut docs = workspace.cargo();
        docs.args([
            "doc",
            "--locked",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ])
        .env("RUSTDOCFLAGS", "--deny warnings");
        reports.push(cargo_step(&mut runner, "docs", &mut docs)?);
    }
    for (step, mut command) in test_commands(&workspace) {
        with_environment(&mut command, &environment);
        command.env("SLUICEGATE_FUZZ_SECONDS", FUZZ_SECONDS.to_string());
        reports.push(cargo_step(&mut runner, step, &mut command)?);
    }
    Ok(summarise(&reports))
}

/// Gives a test run what the set-up made.
pub(crate) fn with_environment(command: &mut Command, environment: &Environment) {
    command
        .env("SLUICEGATE_TEST_PYTHON", &environment.python)
        .env("SLUICEGATE_TEST_NODE", &environment.node);
}

/// nextest runs each test in a process of its own and is faster; cargo's own harness is always there.
fn test_commands(workspace: &Workspace) -> Vec<(&'static str, Command)> {
    if find_on_path("cargo-nextest").is_none() {
        let mut tests = workspace.cargo();
        tests.args(["test", "--locked", "--workspace", "--no-fail-fast"]);
        return vec![("tests", tests)];
    }
    let mut tests = workspace.cargo();
    tests
        .args([
            "nextest",
            "run",
            "--locked",
            "--workspace",
            "--no-fail-fast",
        ])
        .args(["--status-level", "slow", "--final-status-level", "fail"]);
    let mut doc_tests = workspace.cargo();
    doc_tests.args(["test", "--locked", "--workspace", "--doc", "--no-fail-fast"]);
    vec![("tests", tests), ("doc tests", doc_tests)]
}

fn require_components(workspace: &Workspace) -> anyhow::Result<()> {
    for component in ["fmt", "clippy"] {
        let is_there = workspace
            .cargo()
            .args([component, "--version"])
            .output()
            .is_ok_and(|output| output.status.success());
        if !is_there {
            bail!(
                "`cargo {component}` is missing. Install it with: rustup component add rustfmt clippy"
            );
        }
    }
    Ok(())
}

fn cargo_step(
    runner: &mut Runner,
    step: &'static str,
    command: &mut Command,
) -> anyhow::Result<Report> {
    println!("==> {step}");
    let started = clock::now();
    let mut tally = Tally::default();
    let end = runner.run(command, STEP_TIME_MAX, &mut |line| {
        tally += Tally::of_line(line);
    })?;
    let failure = match end {
        End::Interrupted => bail!("interrupted during {step}"),
        End::TimedOut(after) => Some(format!("ended after {} minutes", after.as_secs() / 60)),
        End::Exited(status) if !status.success() => Some(status.to_string()),
        End::Exited(_) if tally.failed > 0 => Some("tests failed".to_owned()),
        End::Exited(_) => None,
    };
    Ok(finish(step, started.elapsed(), tally, failure))
}

fn tidy_step(workspace: &Workspace) -> anyhow::Result<Report> {
    println!("==> tidy");
    let started = clock::now();
    let is_clean = tidy::check(workspace)?;
    let failure = (!is_clean).then(|| "rules broken".to_owned());
    Ok(finish("tidy", started.elapsed(), Tally::default(), failure))
}

fn finish(step: &'static str, elapsed: Duration, tally: Tally, failure: Option<String>) -> Report {
    let seconds = elapsed.as_secs_f64();
    println!(
        "    {step}: {} in {seconds:.1} s",
        failure.as_deref().unwrap_or("ok")
    );
    Report {
        step,
        seconds,
        tally,
        failure,
    }
}

fn summarise(reports: &[Report]) -> ExitCode {
    println!(
        "\n{:<10} {:>9} {:>7} {:>7}  outcome",
        "step", "seconds", "passed", "failed"
    );
    for report in reports {
        let Report {
            step,
            seconds,
            tally,
            failure,
        } = report;
        println!(
            "{step:<10} {seconds:>9.1} {:>7} {:>7}  {}",
            tally.passed,
            tally.failed,
            failure.as_deref().unwrap_or("ok")
        );
    }
    let total = total(reports);
    println!("\n{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn total(reports: &[Report]) -> Tally {
    let mut total = Tally::default();
    for report in reports {
        total += report.tally;
        if report.failure.is_some() && report.tally.failed == 0 {
            total.failed += 1;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(passed: u64, failed: u64, failure: Option<&str>) -> Report {
        Report {
            step: "step",
            seconds: 0.0,
            tally: Tally { passed, failed },
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn a_failed_step_without_failed_tests_counts_as_one_failure() {
        let reports = [
            report(0, 0, None),
            report(0, 0, Some("exit status: 1")),
            report(5, 2, Some("exit status: 100")),
            report(3, 0, None),
        ];
        assert_eq!(
            total(&reports),
            Tally {
                passed: 8,
                failed: 3
            }
        );
    }
}
