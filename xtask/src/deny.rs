//! Licences, advisories, bans and sources of every dependency, judged by cargo-deny under `deny.toml`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;

use crate::process::Runner;
use crate::workspace::{Workspace, find_on_path};

const TIME_MAX: Duration = Duration::from_secs(10 * 60);

/// # Errors
///
/// When cargo-deny is not installed; the message says how to get it.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    if find_on_path("cargo-deny").is_none() {
        bail!("cargo-deny is missing. Install it with: cargo install --locked cargo-deny");
    }
    let workspace = Workspace::load()?;
    let mut command = workspace.cargo();
    command.args(["deny", "--workspace", "check"]);
    let end = Runner::new()?.run(&mut command, TIME_MAX, &mut |_| {})?;
    Ok(if end.is_success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
