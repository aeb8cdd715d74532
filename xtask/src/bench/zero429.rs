//! Three times what the limits allow, over real sockets, for every provider of the catalog: how many 429s the provider
//! answers, and how much of what was possible it gives.
//!
//! The virtual matrix of the simulator asks the same of the decisions alone, in whole minutes; here are the release binary
//! as gateway, the release binary as provider, a load that does not care how fast either is, and all that lies between
//! them. A minute is six seconds here: everything runs ten times as fast, and what would be shorter than a second stays a
//! second with ten times the amount, since a machine that is busy delays a request by tens of milliseconds. Nothing is
//! asserted: a table is made.

mod case;
mod load;
mod outcome;
mod table;
mod wire;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use sluicegate_catalog::providers;

use self::case::{Case, WINDOW};
use self::load::Load;
use self::outcome::{Observed, Outcome};
use self::wire::Wire;
use super::subject::Subject;
use super::{build, free_address, write};
use crate::clock;
use crate::machine::Machine;
use crate::process::Runner;
use crate::workspace::Workspace;

const WARM_UP_WINDOWS: u32 = 2;
const MEASURED_WINDOWS: u32 = 10;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Play this row only
    #[arg(long)]
    row: Option<String>,
    /// Play so many rows at a time
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=64))]
    at_once: u16,
    /// Draws prompts, phases and jitter
    #[arg(long, default_value_t = 429)]
    seed: u64,
    /// Play this `sluicegate` instead of a fresh release build
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Keep table and figures in docs/results/
    #[arg(long)]
    save: bool,
}

/// Builds, plays, prints.
///
/// # Errors
///
/// When a server does not start or does not answer as it should, or no row has the name that was asked for.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::load()?;
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => build(&workspace, &mut Runner::new()?, "sluicegate")?,
    };
    let directory = workspace.target.join("bench/zero429");
    let cases = cases(args.row.as_deref())?;
    let outcomes = play_all(&cases, &binary, &directory, args)?;
    publish(&outcomes, &workspace, &directory, args)?;
    Ok(ExitCode::SUCCESS)
}

fn cases(row: Option<&str>) -> anyhow::Result<Vec<Case>> {
    let wanted = providers()
        .iter()
        .filter(|provider| row.is_none_or(|row| provider.id == row));
    let cases: Vec<Case> = wanted
        .flat_map(|provider| Load::ALL.map(|load| Case::of(provider, load)))
        .flatten()
        .collect();
    if cases.is_empty() {
        let known: Vec<&str> = providers().iter().map(|row| row.id.as_str()).collect();
        bail!("no row of that name: there are {}", known.join(", "));
    }
    Ok(cases)
}

/// Plays some at a time, so that the whole takes minutes: a case waits for its windows most of the time.
fn play_all(
    cases: &[Case],
    binary: &Path,
    directory: &Path,
    args: &Args,
) -> anyhow::Result<Vec<Outcome>> {
    let open = Mutex::new(cases.iter().enumerate());
    let next = || open.lock().ok()?.next();
    let player = || -> anyhow::Result<Vec<(usize, Outcome)>> {
        let mut played = Vec::new();
        while let Some((index, case)) = next() {
            let directory = directory.join(case.name());
            let outcome = play(case, binary, &directory, args.seed)
                .with_context(|| format!("{}; see {}", case.name(), directory.display()))?;
            eprintln!("{}: {outcome}", case.name());
            played.push((index, outcome));
        }
        Ok(played)
    };
    let mut outcomes = thread::scope(|scope| -> anyhow::Result<Vec<_>> {
        let players: Vec<_> = (0..args.at_once).map(|_| scope.spawn(player)).collect();
        let mut outcomes = Vec::new();
        for player in players {
            match player.join() {
                Ok(played) => outcomes.extend(played?),
                Err(_) => bail!("a player panicked"),
            }
        }
        Ok(outcomes)
    })?;
    outcomes.sort_by_key(|(index, _)| *index);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

fn play(case: &Case, binary: &Path, directory: &Path, seed: u64) -> anyhow::Result<Outcome> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    let provider = free_address()?;
    let settings = write(directory, "fake.json", &case.provider_settings(seed)?)?;
    let mut command = Command::new(binary);
    command.arg("fake").arg("--config").arg(settings);
    command.arg("--listen").arg(provider.to_string());
    let provider = Subject::start("provider", &command, None, provider, directory)?;

    let gateway = free_address()?;
    let configuration = case.gateway_configuration(provider.address());
    let configuration = write(directory, "gateway.yaml", &configuration)?;
    let mut command = Command::new(binary);
    command.arg("serve").arg("--config").arg(configuration);
    command.arg("--listen").arg(gateway.to_string());
    let gateway = Subject::start("gateway", &command, None, gateway, directory)?;

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let warm_up = WINDOW * WARM_UP_WINDOWS;
    let measured = WINDOW * MEASURED_WINDOWS;
    runtime.block_on(async {
        let provider = Wire::to(provider.address());
        let gateway = Wire::to(gateway.address());
        let (seen, observed) = tokio::join!(
            case.load().offer(case, gateway, warm_up, measured, seed),
            observe(&provider, warm_up, measured),
        );
        Ok(Outcome::new(case, &seen?, &observed?))
    })
}

/// What the provider says of the measured time.
async fn observe(
    provider: &Wire,
    warm_up: Duration,
    measured: Duration,
) -> anyhow::Result<Observed> {
    tokio::time::sleep(warm_up).await;
    let began = clock::unix_nanos();
    let before = provider.get("/_stats").await?;
    tokio::time::sleep(measured).await;
    let ended = clock::unix_nanos();
    let after = provider
        .get(&format!("/_stats?from={began}&to={ended}"))
        .await?;
    let log = provider.get("/_log").await?;
    Ok(Observed {
        began,
        ended,
        before,
        after,
        log,
    })
}

fn publish(
    outcomes: &[Outcome],
    workspace: &Workspace,
    directory: &Path,
    args: &Args,
) -> anyhow::Result<()> {
    let machine = Machine::look();
    let table = table::markdown(outcomes, &machine, args);
    println!("\n{table}");
    let today = clock::today();
    let figures = format!("{:#}\n", table::json(outcomes, &machine, args));
    let name = format!("zero429-sockets-{today}");
    let json = write(directory, &format!("{name}.json"), &figures)?;
    println!("figures: {}", json.display());
    if args.save {
        let results = workspace.root.join("docs/results");
        std::fs::create_dir_all(&results)?;
        write(&results, &format!("{name}.json"), &figures)?;
        let page = write(&results, &format!("{name}.md"), &table)?;
        println!("table: {}", page.display());
    }
    Ok(())
}
