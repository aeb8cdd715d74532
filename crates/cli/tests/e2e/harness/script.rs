//! The official SDKs, driven by scripts that are also there for people.
//!
//! A script checks everything that it came for, tells failures on stderr and prints its results as one line of JSON, in
//! whichever language it is written (`e2e/python/report.py`, `e2e/node/report.mjs`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::process::Command;

use super::process::Output;

/// Runs a script of `e2e/python/`, which must find everything as it should be; gives its results.
pub(crate) async fn python(script: &str, arguments: &[&str]) -> Value {
    let mut command = Command::new(program("SLUICEGATE_TEST_PYTHON"));
    command
        .arg(scripts("python").join(script))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    results(command, script, arguments).await
}

/// The same for a script of `e2e/node/`.
pub(crate) async fn node(script: &str, arguments: &[&str]) -> Value {
    let node = PathBuf::from(program("SLUICEGATE_TEST_NODE"));
    let directory = node
        .parent()
        .and_then(Path::parent)
        .expect("Node stands in `bin` of the directory with its modules");
    let mut command = Command::new(&node);
    // A script finds its modules from the link by which it is started.
    command
        .args(["--preserve-symlinks", "--preserve-symlinks-main"])
        .arg(directory.join("scripts").join(script));
    results(command, script, arguments).await
}

fn program(variable: &str) -> OsString {
    std::env::var_os(variable).unwrap_or_else(|| {
        panic!("{variable} is not set: run `cargo xtask test`, which sets up what has the official SDKs")
    })
}

fn scripts(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../e2e")
        .join(language)
}

async fn results(mut command: Command, script: &str, arguments: &[&str]) -> Value {
    // SDKs take a proxy from their environment, and would not ask it for what is on this machine.
    for proxy in ["http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(proxy).env_remove(proxy.to_uppercase());
    }
    let output = Output::of(command.args(arguments)).await;
    assert_eq!(output.code, Some(0), "{script}:\n{}", output.err);
    serde_json::from_str(&output.out)
        .unwrap_or_else(|error| panic!("{script} printed no results ({error}): {}", output.out))
}
