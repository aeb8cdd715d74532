//! Long randomised runs, with a page about what was run and what came of it.
//!
//! First each fuzz target runs for its minutes. Then a round runs every property test with many cases from fresh seeds, and the
//! end-to-end chaos tests with more rounds than in the ordinary test run. A found failure is kept by proptest beside the test, to
//! be committed with the mend.

mod fuzz;
mod zero429;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::clock;
use crate::machine::Machine;
use crate::process::{End, Runner};
use crate::setup;
use crate::tally::Tally;
use crate::test;
use crate::workspace::Workspace;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,

    /// No round is begun after that many minutes
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    /// How many rounds, each from seeds of its own; 0 for the fuzz targets alone
    #[arg(long, default_value_t = 8)]
    seeds: u32,
    /// Cases per property and round
    #[arg(long, default_value_t = 4_096)]
    cases: u32,
    /// Rounds of each end-to-end chaos test
    #[arg(long, default_value_t = 200)]
    chaos_rounds: u32,
    /// Minutes for each fuzz target, before the rounds; 0 for none of them
    #[arg(long, default_value_t = 10)]
    fuzz_minutes: u64,
    /// The seed of the fuzz targets
    #[arg(long, default_value_t = 1)]
    fuzz_seed: u64,
    /// How many fuzz targets run at once
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    fuzz_at_once: u32,
}

/// What else can be run for long.
#[derive(clap::Subcommand)]
enum Other {
    /// Play the virtual matrix of all providers under one seed after the other
    Zero429(zero429::Args),
}

struct Round {
    seed: u32,
    seconds: f64,
    tally: Tally,
    outcome: String,
}

/// Runs the fuzz targets and the rounds and writes a page for each of the two.
///
/// # Errors
///
/// When the set-up is incomplete, cargo cannot start or the page cannot be written.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(Other::Zero429(args)) = &args.other {
        return zero429::run(args);
    }
    let workspace = Workspace::load()?;
    let mut runner = Runner::new()?;
    let is_clean = args.fuzz_minutes == 0 || {
        let plan = fuzz::Plan {
            minutes: args.fuzz_minutes,
            seed: args.fuzz_seed,
            at_once: args.fuzz_at_once,
        };
        fuzz::run(&plan, &workspace, &mut runner)?
    };
    let is_clean = (args.seeds == 0 || all_rounds(args, &workspace, &mut runner)?) && is_clean;
    Ok(if is_clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Whether all of them ended well.
fn all_rounds(args: &Args, workspace: &Workspace, runner: &mut Runner) -> anyhow::Result<bool> {
    let environment = setup::prepare(workspace, runner)?;
    let started = clock::now();
    let time_max = Duration::from_secs(args.minutes.saturating_mul(60));
    let mut rounds = Vec::new();
    for seed in 1..=args.seeds {
        if started.elapsed() >= time_max {
            break;
        }
        println!("==> round {seed} of {}", args.seeds);
        rounds.push(round(seed, args, workspace, runner, &environment)?);
    }
    let page = page(args, &Machine::look(), &rounds);
    let path = keep(workspace, "soak", &page)?;
    println!("\n{page}\nwritten to {}", path.display());
    Ok(rounds.iter().all(|round| round.outcome == "ok"))
}

fn round(
    seed: u32,
    args: &Args,
    workspace: &Workspace,
    runner: &mut Runner,
    environment: &setup::Environment,
) -> anyhow::Result<Round> {
    let mut tests = workspace.cargo();
    tests
        .args([
            "test",
            "--locked",
            "--release",
            "--workspace",
            "--no-fail-fast",
        ])
        .env("PROPTEST_CASES", args.cases.to_string())
        .env("PROPTEST_RNG_SEED", seed.to_string())
        .env("SLUICEGATE_CHAOS_ROUNDS", args.chaos_rounds.to_string())
        .env("SLUICEGATE_CHAOS_SEED", seed.to_string())
        .env("SLUICEGATE_FUZZ_SEED", seed.to_string());
    test::with_environment(&mut tests, environment);
    let started = clock::now();
    let mut tally = Tally::default();
    // A round that was begun may finish: its end is what the soak is for.
    let time_max = Duration::from_secs(args.minutes.max(60) * 120);
    let end = runner.run(&mut tests, time_max, &mut |line| {
        tally += Tally::of_line(line);
    })?;
    let outcome = match end {
        End::Interrupted => bail!("interrupted in round {seed}"),
        End::TimedOut(after) => format!("ended after {} minutes", after.as_secs() / 60),
        End::Exited(status) if status.success() => "ok".to_owned(),
        End::Exited(status) => status.to_string(),
    };
    Ok(Round {
        seed,
        seconds: started.elapsed().as_secs_f64(),
        tally,
        outcome,
    })
}

/// Writes a page of today into `docs/results`.
fn keep(workspace: &Workspace, name: &str, page: &str) -> anyhow::Result<PathBuf> {
    let directory = workspace.root.join("docs/results");
    fs::create_dir_all(&directory)?;
    let path = directory.join(format!("{name}-{}.md", clock::today()));
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

fn page(args: &Args, machine: &Machine, rounds: &[Round]) -> String {
    let Args {
        minutes,
        seeds,
        cases,
        chaos_rounds,
        ..
    } = args;
    let mut page = format!(
        "# Soak of {}\n\n\
         Command: `cargo xtask soak --minutes {minutes} --seeds {seeds} --cases {cases} --chaos-rounds {chaos_rounds} \
         --fuzz-minutes 0`\n\n\
         Machine: {machine}\n\n\
         | seed | seconds | tests passed | failed | outcome |\n|---|---|---|---|---|\n",
        clock::today()
    );
    for round in rounds {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {} | {:.0} | {} | {} | {} |",
            round.seed, round.seconds, round.tally.passed, round.tally.failed, round.outcome
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_command_machine_and_each_round() {
        let args = Args {
            other: None,
            minutes: 1,
            seeds: 2,
            cases: 3,
            chaos_rounds: 4,
            fuzz_minutes: 0,
            fuzz_seed: 1,
            fuzz_at_once: 2,
        };
        let machine = Machine::look();
        let rounds = [Round {
            seed: 1,
            seconds: 59.6,
            tally: Tally {
                passed: 7,
                failed: 1,
            },
            outcome: "exit status: 101".to_owned(),
        }];
        let page = page(&args, &machine, &rounds);
        assert!(page.contains(
            "`cargo xtask soak --minutes 1 --seeds 2 --cases 3 --chaos-rounds 4 --fuzz-minutes 0`"
        ));
        assert!(page.contains(&format!("Machine: {machine}\n")));
        assert!(page.ends_with("| 1 | 60 | 7 | 1 | exit status: 101 |\n"));
    }
}
