//! Ten minutes of each fuzz target, or as many as are asked for, with a page of how far each came.
//!
//! The targets are tests of `dialect`: built once, optimised and with all checks, then each is a process of its own, so that the
//! most memory that it had is its own too. The targets see to the bound; what they print of themselves is kept.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use super::keep;
use crate::clock;
use crate::machine::Machine;
use crate::process::{End, Runner};
use crate::workspace::Workspace;

const BUILD_TIME_MAX: Duration = Duration::from_secs(45 * 60);
/// Beyond its time, for the round that it is in: more is a hang.
const GRACE: Duration = Duration::from_secs(120);
/// Where the targets are, and with what their names begin.
const TEST: [&str; 4] = ["-p", "sluicegate-dialect", "--test", "translate"];
const TARGETS: &str = "fuzz::";
/// With this a target begins the line for the page: its rounds, and the most memory that it had, in KiB.
const LINE: &str = "fuzz | ";

pub(super) struct Plan {
    /// Of each target.
    pub(super) minutes: u64,
    pub(super) seed: u64,
    /// How many targets run at once.
    pub(super) at_once: u32,
}

#[derive(Debug)]
struct Fuzzed {
    target: String,
    rounds: u64,
    peak_kib: u64,
    outcome: String,
}

/// Runs all targets and writes the page. Whether all of them ended well.
///
/// # Errors
///
/// When the targets cannot be built or started, or the page cannot be written.
pub(super) fn run(plan: &Plan, workspace: &Workspace, runner: &mut Runner) -> anyhow::Result<bool> {
    let binary = build(workspace, runner)?;
    let targets = listed(&binary)?;
    let waiting = Mutex::new(targets.iter().cloned().collect::<VecDeque<_>>());
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    };
    let one_line_of_targets = || -> anyhow::Result<Vec<Fuzzed>> {
        let mut runner = Runner::new()?;
        let mut fuzzed = Vec::new();
        while let Some(target) = next() {
            println!("==> {target}");
            match fuzz(target, &binary, plan, &mut runner)? {
                Some(one) => fuzzed.push(one),
                None => break,
            }
        }
        Ok(fuzzed)
    };
    let lines = thread::scope(|scope| {
        let lines: Vec<_> = (0..plan.at_once)
            .map(|_| scope.spawn(one_line_of_targets))
            .collect();
        let joined = lines.into_iter().map(thread::ScopedJoinHandle::join);
        joined.collect::<Vec<_>>()
    });
    let mut fuzzed = Vec::new();
    for line in lines {
        let Ok(line) = line else {
            bail!("a line of targets failed");
        };
        fuzzed.extend(line?);
    }
    fuzzed.sort_by(|one, other| one.target.cmp(&other.target));
    let page = page(plan, &Machine::look(), &fuzzed);
    let path = keep(workspace, "fuzz", &page)?;
    println!("\n{page}\nwritten to {}", path.display());
    let is_clean = fuzzed.iter().all(|one| one.outcome == "ok");
    Ok(is_clean && fuzzed.len() == targets.len())
}

/// The program that holds the targets.
fn build(workspace: &Workspace, runner: &mut Runner) -> anyhow::Result<PathBuf> {
    let build = || {
        let mut build = workspace.cargo();
        build
            .args(["test", "--locked", "--profile", "fuzz", "--no-run"])
            .args(TEST);
        build
    };
    if !runner
        .run(&mut build(), BUILD_TIME_MAX, &mut |_| {})?
        .is_success()
    {
        bail!("the targets cannot be built");
    }
    let told = build()
        .arg("--message-format=json")
        .output()
        .context("cannot start cargo")?;
    let told = String::from_utf8_lossy(&told.stdout);
    let messages = told
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let binary = messages
        .filter_map(|message: Value| Some(PathBuf::from(message.get("executable")?.as_str()?)))
        .next_back();
    binary.context("cargo does not say where the targets are")
}

fn listed(binary: &PathBuf) -> anyhow::Result<Vec<String>> {
    let output = Command::new(binary)
        .args(["--list", TARGETS])
        .output()
        .context("the targets cannot be listed")?;
    let list = String::from_utf8_lossy(&output.stdout);
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let targets: Vec<String> = tests.map(str::to_owned).collect();
    ensure!(!targets.is_empty(), "there are no targets");
    Ok(targets)
}

/// `None` where the developer ended it.
fn fuzz(
    target: String,
    binary: &PathBuf,
    plan: &Plan,
    runner: &mut Runner,
) -> anyhow::Result<Option<Fuzzed>> {
    let seconds = plan.minutes.saturating_mul(60);
    let mut command = Command::new(binary);
    command
        .args(["--exact", &target, "--nocapture"])
        .env("SLUICEGATE_FUZZ_SECONDS", seconds.to_string())
        .env("SLUICEGATE_FUZZ_SEED", plan.seed.to_string());
    let mut told = None;
    let time_max = Duration::from_secs(seconds) + GRACE;
    let end = runner.run(&mut command, time_max, &mut |line| {
        told = told_in(line).or(told);
    })?;
    let (rounds, peak_kib) = told.unwrap_or_default();
    let outcome = match end {
        End::Interrupted => return Ok(None),
        End::TimedOut(_) => "hangs".to_owned(),
        End::Exited(status) if !status.success() => "failed".to_owned(),
        End::Exited(_) if rounds == 0 => "said nothing of itself".to_owned(),
        End::Exited(_) => "ok".to_owned(),
    };
    Ok(Some(Fuzzed {
        target,
        rounds,
        peak_kib,
        outcome,
    }))
}

/// Rounds and memory, where a line tells them.
fn told_in(line: &str) -> Option<(u64, u64)> {
    // The harness may have begun the line.
    let (_, figures) = line.split_once(LINE)?;
    let (rounds, peak_kib) = figures.split_once(" | ")?;
    Some((rounds.parse().ok()?, peak_kib.trim().parse().ok()?))
}

fn page(plan: &Plan, machine: &Machine, fuzzed: &[Fuzzed]) -> String {
    let Plan {
        minutes,
        seed,
        at_once,
    } = plan;
    let mut page = format!(
        "# The fuzz targets, {}\n\n\
         Command: `cargo xtask soak --seeds 0 --fuzz-minutes {minutes} --fuzz-seed {seed} --fuzz-at-once {at_once}`\n\n\
         Machine: {machine}\n\n\
         Each target for {minutes} minutes from seed {seed}, in a process of its own, optimised and with debug assertions and \
         overflow checks. What a round is, and what must hold, stands with the targets.\n\n\
         | target | rounds | most memory, MiB | outcome |\n|---|--:|--:|---|\n",
        clock::today()
    );
    for one in fuzzed {
        let target = one.target.strip_prefix(TARGETS).unwrap_or(&one.target);
        let mib = one.peak_kib.div_ceil(1_024);
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| `{target}` | {} | {mib} | {} |",
            one.rounds, one.outcome
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_target_says_of_itself_is_read_wherever_it_stands() {
        for (line, told) in [
            ("fuzz | 1500 | 18432", Some((1_500, 18_432))),
            ("test fuzz::watchers::events ... fuzz | 7 | 9", Some((7, 9))),
            ("test fuzz::watchers::events ... ok", None),
            ("fuzz | many | 9", None),
            ("", None),
        ] {
            assert_eq!(told_in(line), told, "{line}");
        }
    }

    #[test]
    fn the_page_names_the_command_and_each_target() {
        let plan = Plan {
            minutes: 10,
            seed: 3,
            at_once: 2,
        };
        let fuzzed = [Fuzzed {
            target: "fuzz::watchers::events".to_owned(),
            rounds: 900,
            peak_kib: 10_241,
            outcome: "ok".to_owned(),
        }];
        let page = page(&plan, &Machine::look(), &fuzzed);
        let command =
            "`cargo xtask soak --seeds 0 --fuzz-minutes 10 --fuzz-seed 3 --fuzz-at-once 2`";
        assert!(page.contains(command), "{page}");
        assert!(
            page.ends_with("| `watchers::events` | 900 | 11 | ok |\n"),
            "{page}"
        );
    }
}
