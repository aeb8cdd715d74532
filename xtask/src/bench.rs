//! What the gateway costs, next to a plain nginx pass-through in the same run.
//!
//! Absolute figures do not carry from one machine to another; the ratio to a program that does nothing but copy bytes
//! does. So both stand on one core, in front of one upstream that shares the other core with the load, and take turns,
//! round by round; medians are compared. The cost is the CPU time that the kernel charged to their processes. Whoever
//! waits for an upstream falls asleep between requests and is charged for waking, the more the slower it is; so what a
//! larger body costs is measured before an upstream that answers it as quickly as a small one.

pub(crate) mod load;
mod report;
mod scene;
mod subject;
mod zero429;

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::clock;
use crate::machine::Machine;
use crate::process::Runner;
use crate::setup;
use crate::workspace::Workspace;

use self::load::Seen;
use self::report::{Measurement, Report};
use self::scene::{Programs, Scene, UPSTREAM_CORE, Upstream};
use self::subject::Subject;

const BUILD_TIME_MAX: Duration = Duration::from_secs(45 * 60);

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,

    /// How often each of the two is measured under each load
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Share of the full load, in percent; small for a first look
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    load: u32,
    /// Measure this `sluicegate` instead of a fresh release build
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Keep the table in docs/results/
    #[arg(long)]
    save: bool,
}

/// What else than the cost can be measured.
#[derive(clap::Subcommand)]
enum Other {
    /// Offer every provider's row three times its limits over real sockets, and count the provider's 429s
    Zero429(zero429::Args),
}

/// One kind of load.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    connections: u32,
    requests: u32,
    prompt_bytes: u32,
    /// Content chunks of each streamed answer; zero for a plain answer.
    events: u32,
    upstream: Upstream,
}

impl Workload {
    /// What CPU time is divided by.
    pub(crate) fn units(&self, seen: &Seen) -> u64 {
        if self.events > 0 {
            seen.events
        } else {
            seen.requests
        }
    }

    /// With more connections than one, latency is how long the queue for the load's own core is.
    pub(crate) fn is_for_latency(&self) -> bool {
        self.connections == 1
    }

    pub(crate) fn unit(&self) -> &'static str {
        if self.events > 0 {
            "stream event"
        } else {
            "request"
        }
    }
}

/// The two whose difference is what 29 KB more of a body cost.
pub(crate) const SMALL_AT_ONCE: &str = "1 KB prompt answered at once";
pub(crate) const LARGE_AT_ONCE: &str = "30 KB prompt answered at once";

pub(crate) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "1 KB prompt",
        connections: 16,
        requests: 40_000,
        prompt_bytes: 1_000,
        events: 0,
        upstream: Upstream::Fake,
    },
    Workload {
        name: "30 KB prompt",
        connections: 16,
        requests: 20_000,
        prompt_bytes: 30_000,
        events: 0,
        upstream: Upstream::Fake,
    },
    Workload {
        name: "streams of 200 events",
        connections: 16,
        requests: 400,
        prompt_bytes: 1_000,
        events: 200,
        upstream: Upstream::Fake,
    },
    Workload {
        name: "one connection",
        connections: 1,
        requests: 2_000,
        prompt_bytes: 1_000,
        events: 0,
        upstream: Upstream::Fake,
    },
    Workload {
        name: SMALL_AT_ONCE,
        connections: 16,
        requests: 40_000,
        prompt_bytes: 1_000,
        events: 0,
        upstream: Upstream::Swift,
    },
    Workload {
        name: LARGE_AT_ONCE,
        connections: 16,
        requests: 40_000,
        prompt_bytes: 30_000,
        events: 0,
        upstream: Upstream::Swift,
    },
];

/// Builds, measures, prints.
///
/// # Errors
///
/// When something that is needed is missing, does not start, or answers anything but success.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.other {
        Some(Other::Zero429(args)) => zero429::run(args),
        None => cost(args),
    }
}

fn cost(args: &Args) -> anyhow::Result<ExitCode> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        bail!("two cores are needed: one for what is measured, one for upstream and load");
    }
    let workspace = Workspace::load()?;
    let mut runner = Runner::new()?;
    let nginx = setup::require_program(&mut runner, "nginx", &["nginx-light"])?;
    setup::require_program(&mut runner, "taskset", &["util-linux"])?;
    let load = build(&workspace, &mut runner, "xtask")?;
    let gateway = match &args.binary {
        Some(binary) => binary.clone(),
        None => build(&workspace, &mut runner, "sluicegate")?,
    };
    let directory = workspace.target.join("bench");
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;

    let programs = Programs {
        nginx: &nginx,
        gateway: &gateway,
        directory: &directory,
    };
    let mut report = Report::new(Machine::look(), args.rounds, args.load);
    for upstream in [Upstream::Fake, Upstream::Swift] {
        let scene = programs.start(upstream)?;
        for subject in scene.subjects() {
            report.idle(subject.name(), subject.memory_kib()?.resident);
        }
        for workload in WORKLOADS.iter().filter(|it| it.upstream == upstream) {
            offer(&load, &scene, workload, args, &mut report)?;
        }
        for subject in scene.subjects() {
            report.peak(subject.name(), subject.memory_kib()?.peak);
        }
    }
    publish(&report, &workspace, &directory, args)?;
    Ok(ExitCode::SUCCESS)
}

/// All rounds of one load, the subjects in turns.
fn offer(
    load: &Path,
    scene: &Scene,
    workload: &Workload,
    args: &Args,
    report: &mut Report,
) -> anyhow::Result<()> {
    for subject in scene.subjects() {
        // Connections to the upstream, caches and the allocator settle; not counted.
        measure(load, subject, workload, args.load.div_ceil(20))?;
    }
    for round in 1..=args.rounds {
        for subject in scene.subjects() {
            let measurement = measure(load, subject, workload, args.load)?;
            eprintln!(
                "{}, round {round}, {}: {measurement}",
                workload.name,
                subject.name()
            );
            report.add(subject.name(), workload, measurement);
        }
    }
    Ok(())
}

/// A program of the workspace as it is released. The load is built so too: a slow one lets what is measured fall asleep
/// between requests, and waking is charged to it.
fn build(workspace: &Workspace, runner: &mut Runner, package: &str) -> anyhow::Result<PathBuf> {
    let mut build = workspace.cargo();
    build.args(["build", "--locked", "--release", "--package", package]);
    if !runner
        .run(&mut build, BUILD_TIME_MAX, &mut |_| {})?
        .is_success()
    {
        bail!("the release build of {package} failed");
    }
    Ok(workspace.target.join("release").join(package))
}

fn measure(
    load: &Path,
    subject: &Subject,
    workload: &Workload,
    percent: u32,
) -> anyhow::Result<Measurement> {
    let requests = (u64::from(workload.requests) * u64::from(percent) / 100)
        .max(u64::from(workload.connections));
    let mut command = Command::new("taskset");
    command
        .args(["--cpu-list", UPSTREAM_CORE])
        .arg(load)
        .arg("load");
    for (name, value) in [
        ("--address", subject.address().to_string()),
        ("--connections", workload.connections.to_string()),
        ("--requests", requests.to_string()),
        ("--prompt-bytes", workload.prompt_bytes.to_string()),
        ("--events", workload.events.to_string()),
    ] {
        command.arg(name).arg(value);
    }
    let before = subject.cpu_ticks()?;
    let output = command.output().context("the load did not start")?;
    let after = subject.cpu_ticks()?;
    if !output.status.success() {
        bail!(
            "{} under `{}`: {}",
            subject.name(),
            workload.name,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let seen: Seen = serde_json::from_slice(&output.stdout)
        .context("the load printed something else than JSON")?;
    Ok(Measurement::new(workload, &seen, after - before))
}

fn publish(
    report: &Report,
    workspace: &Workspace,
    directory: &Path,
    args: &Args,
) -> anyhow::Result<()> {
    let table = report.table();
    println!("\n{table}");
    let today = clock::today();
    let json = write(
        directory,
        &format!("{today}.json"),
        &format!("{:#}\n", report.json()),
    )?;
    println!("figures of every round: {}", json.display());
    if args.save {
        let results = workspace.root.join("docs/results");
        fs::create_dir_all(&results)?;
        let page = format!("# Cost of the gateway, {today}\n\n{table}");
        let page = write(&results, &format!("bench-{today}.md"), &page)?;
        println!("table: {}", page.display());
    }
    Ok(())
}

/// An address that was free a moment ago.
fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on loopback")?;
    Ok(listener.local_addr()?)
}

fn write(directory: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let path = directory.join(name);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
