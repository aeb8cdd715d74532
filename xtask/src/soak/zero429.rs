//! The virtual matrix of all providers under many seeds, with a page of what each seed gave.
//!
//! The matrix is a test of the simulator, which knows rows, bounds and checkers; here it is built once in release, run once a
//! seed, and what it prints of itself is kept. A seed beyond the test's bounds is an outcome of that page, not the end of it.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;

use super::keep;
use crate::clock;
use crate::machine::Machine;
use crate::process::{End, Runner};
use crate::workspace::Workspace;

/// Of one seed, the build before the first one included.
const SEED_TIME_MAX: Duration = Duration::from_secs(45 * 60);
/// With this the test begins each line for the page: one for each trouble.
const LINE: &str = "zero429 | ";

#[derive(clap::Args)]
pub(super) struct Args {
    /// How many seeds
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// The first of them; the others follow it
    #[arg(long, default_value_t = 1)]
    from: u64,
}

struct Played {
    seed: u64,
    lines: Vec<String>,
    outcome: String,
}

/// Plays the seeds and writes the page.
///
/// # Errors
///
/// When cargo cannot start, a seed prints nothing or the page cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load()?;
    let mut runner = Runner::new()?;
    let mut played = Vec::new();
    for seed in args.from..args.from.saturating_add(args.seeds) {
        println!("==> seed {seed}");
        let Some(one) = play(seed, &workspace, &mut runner)? else {
            println!("interrupted: the page tells of the seeds before");
            break;
        };
        played.push(one);
    }
    let page = page(args, &Machine::look(), &played);
    let path = keep(&workspace, "zero429-seeds", &page)?;
    println!("\n{page}\nwritten to {}", path.display());
    let is_clean = played.iter().all(|one| one.outcome == "ok");
    Ok(if is_clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// `None` where the developer ended it.
fn play(seed: u64, workspace: &Workspace, runner: &mut Runner) -> anyhow::Result<Option<Played>> {
    let mut test = workspace.cargo();
    test.args(["test", "--locked", "--release", "-p", "sluicegate-sim"])
        .args(["--test", "worlds", "zero429::", "--", "--nocapture"])
        .env("ZERO429_SEED", seed.to_string());
    let mut lines = Vec::new();
    let end = runner.run(&mut test, SEED_TIME_MAX, &mut |line| {
        lines.extend(line.split_once(LINE).map(|(_, rest)| rest.to_owned()));
    })?;
    let outcome = match end {
        End::Interrupted => return Ok(None),
        End::TimedOut(after) => format!("ended after {} minutes", after.as_secs() / 60),
        End::Exited(status) if status.success() => "ok".to_owned(),
        End::Exited(_) => "beyond its bounds".to_owned(),
    };
    if lines.is_empty() {
        bail!("seed {seed}: the matrix said nothing of itself");
    }
    Ok(Some(Played {
        seed,
        lines,
        outcome,
    }))
}

fn page(args: &Args, machine: &Machine, played: &[Played]) -> String {
    let Args { seeds, from } = args;
    let mut page = format!(
        "# The virtual matrix under many seeds, {}\n\n\
         Command: `cargo xtask soak zero429 --seeds {seeds} --from {from}`\n\n\
         Machine: {machine}\n\n\
         Seeds played: {}. What the troubles are, and what counts, stands in [the matrix](zero429-virtual.md). Together and \
         Vertex adapt to what they are sent and are counted apart.\n\n\
         | seed | trouble | calls | 429s | of Together and Vertex | most 429s | least served | outcome |\n\
         |--:|---|--:|--:|--:|---|---|---|\n",
        clock::today(),
        played.len(),
    );
    for one in played {
        for line in &one.lines {
            // Writing to a string cannot fail.
            let _ = writeln!(page, "| {} | {line} | {} |", one.seed, one.outcome);
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_line_for_each_trouble_of_a_seed() {
        let args = Args { seeds: 2, from: 7 };
        let machine = Machine::look();
        let played = [Played {
            seed: 7,
            lines: vec!["dear | 90".to_owned(), "cheap | 91".to_owned()],
            outcome: "ok".to_owned(),
        }];
        let page = page(&args, &machine, &played);
        assert!(page.contains("`cargo xtask soak zero429 --seeds 2 --from 7`"));
        assert!(page.contains("Seeds played: 1."));
        assert!(page.ends_with("| 7 | dear | 90 | ok |\n| 7 | cheap | 91 | ok |\n"));
    }
}
