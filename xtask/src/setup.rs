//! What the tests need besides cargo: a Python and a Node with the official SDKs, in environments of this repository.
//!
//! What is on `PATH` is used first, then wheels, then Debian packages where this program may install them (root, or
//! `CI=true`), and else it stops with the one command to paste. Wheels only: no compiler runs, no project's set-up code.
//! A stamp in each environment names what it was made of; while it matches, nothing is installed and no network is used.

mod node;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::process::{End, Runner};
use crate::workspace::{Workspace, find_on_path};

/// Relative to the root.
pub(crate) const REQUIREMENTS: &str = "e2e/requirements.txt";

const INSTALL_TIME_MAX: Duration = Duration::from_secs(15 * 60);
const PYTHON_MIN: &str = "3.11";

/// What the end-to-end tests run with.
pub(crate) struct Environment {
    /// Absolute, with the SDKs of [`REQUIREMENTS`] installed.
    pub(crate) python: PathBuf,
    /// Absolute. Two levels above it are `node_modules` with the SDKs of `e2e/node`, and `scripts`.
    pub(crate) node: PathBuf,
}

/// Makes the environments, or finds them made.
///
/// # Errors
///
/// When something is missing that may not be installed here; the message ends with the command that installs it.
pub(crate) fn prepare(workspace: &Workspace, runner: &mut Runner) -> anyhow::Result<Environment> {
    // The line that `serve` prints for people is tried as they would.
    require_program(runner, "curl", &["curl"])?;
    let python = prepare_python(workspace, runner)?;
    let node = node::prepare(workspace, runner, &python)?;
    Ok(Environment { python, node })
}

fn prepare_python(workspace: &Workspace, runner: &mut Runner) -> anyhow::Result<PathBuf> {
    let system_python = system_python(runner)?;
    let directory = workspace.target.join("venv");
    let python = directory.join("bin/python");
    let requirements = workspace.root.join(REQUIREMENTS);
    let wheel = workspace.root.join(node::WHEEL);
    let wanted = stamp(&system_python, &[&requirements, &wheel])?;
    let stamp_file = directory.join("made-of");
    let is_made = fs::read_to_string(&stamp_file).is_ok_and(|made_of| made_of == wanted);
    if is_made && answers(&python, &["-c", "import openai"]) {
        return Ok(python);
    }

    println!("making {} from {REQUIREMENTS}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(&directory)
            .with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    make_venv(runner, &system_python, &directory)?;
    pip_install(runner, &python, &requirements)?;
    fs::write(&stamp_file, wanted)
        .with_context(|| format!("cannot write {}", stamp_file.display()))?;
    Ok(python)
}

/// Installs Debian packages where that is allowed, so that `program` is found afterwards.
///
/// # Errors
///
/// When this is no Debian, or not the place to install anything; the message is the command to paste.
pub(crate) fn require_program(
    runner: &mut Runner,
    program: &str,
    packages: &[&str],
) -> anyhow::Result<PathBuf> {
    if let Some(path) = find_on_path(program) {
        return Ok(path);
    }
    install_packages(runner, program, packages)?;
    find_on_path(program)
        .with_context(|| format!("`{program}` is not on PATH though its packages are installed"))
}

fn system_python(runner: &mut Runner) -> anyhow::Result<PathBuf> {
    let python = require_program(runner, "python3", &["python3", "python3-venv"])?;
    let is_recent =
        "import sys; sys.exit(sys.version_info < tuple(map(int, sys.argv[1].split('.'))))";
    if !answers(&python, &["-c", is_recent, PYTHON_MIN]) {
        bail!(
            "{} is older than Python {PYTHON_MIN}, or does not start",
            python.display()
        );
    }
    Ok(python)
}

fn make_venv(runner: &mut Runner, python: &Path, directory: &Path) -> anyhow::Result<()> {
    let mut venv = Command::new(python);
    venv.args(["-m", "venv"]).arg(directory);
    // Debian splits ensurepip off; asking for it first avoids a half-made environment.
    if !answers(python, &["-c", "import ensurepip, venv"]) {
        install_packages(runner, "python3 -m venv", &["python3-venv"])?;
    }
    if !install(runner, &mut venv)? {
        bail!("`python3 -m venv {}` failed", directory.display());
    }
    Ok(())
}

fn pip_install(runner: &mut Runner, python: &Path, requirements: &Path) -> anyhow::Result<()> {
    let mut pip = Command::new(python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ])
    .args(["--no-input", "--only-binary", ":all:", "--requirement"])
    .arg(requirements);
    if !install(runner, &mut pip)? {
        bail!(
            "pip could not install {} (its message stands above)",
            requirements.display()
        );
    }
    Ok(())
}

fn install_packages(runner: &mut Runner, what_for: &str, packages: &[&str]) -> anyhow::Result<()> {
    let names = packages.join(" ");
    let by_hand = format!("sudo apt-get update && sudo apt-get install -y {names}");
    let is_root = rustix::process::geteuid().is_root();
    let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    if find_on_path("apt-get").is_none() {
        bail!("`{what_for}` is missing. Install it; on Debian: {by_hand}");
    }
    if !(is_root || is_ci) {
        bail!("`{what_for}` is missing. Install it with: {by_hand}");
    }
    println!("installing {names} for `{what_for}`");
    let update: &[&str] = &["update", "-q"];
    let mut install_args = vec!["install", "-q", "-y", "--no-install-recommends"];
    install_args.extend(packages);
    for args in [update, &install_args] {
        let mut command = if is_root {
            Command::new("apt-get")
        } else {
            let mut sudo = Command::new("sudo");
            sudo.args(["--non-interactive", "apt-get"]);
            sudo
        };
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        if !install(runner, &mut command)? {
            bail!("`{what_for}` is missing and apt-get failed. By hand: {by_hand}");
        }
    }
    Ok(())
}

fn install(runner: &mut Runner, command: &mut Command) -> anyhow::Result<bool> {
    match runner.run(command, INSTALL_TIME_MAX, &mut |_| {})? {
        End::Interrupted => bail!("interrupted"),
        end => Ok(end.is_success()),
    }
}

/// What the environment is made of: another interpreter or another line of requirements makes it anew.
fn stamp(system_python: &Path, requirements: &[&Path]) -> anyhow::Result<String> {
    let version = Command::new(system_python)
        .args(["-c", "import sys; print(sys.version, sys.base_prefix)"])
        .output()
        .with_context(|| format!("cannot start {}", system_python.display()))?;
    let mut stamp = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    for path in requirements {
        let lines =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        stamp.push('\n');
        stamp.push_str(&lines);
    }
    Ok(stamp)
}

fn answers(program: &Path, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .output()
        .is_ok_and(|output| output.status.success())
}
