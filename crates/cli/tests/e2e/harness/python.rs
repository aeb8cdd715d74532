//! The official SDK, driven by scripts that are also there for people.

use std::path::Path;

use serde_json::Value;
use tokio::process::Command;

use super::process::Output;

/// Runs a script of `e2e/python/`, which must find everything as it should be; gives its results.
pub(crate) async fn python(script: &str, arguments: &[&str]) -> Value {
    let python = std::env::var_os("SLUICEGATE_TEST_PYTHON").unwrap_or_else(|| {
        panic!(
            "there is no Python with the official SDKs: run `cargo xtask test`, which sets it up"
        )
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../e2e/python")
        .join(script);
    let output = Output::of(
        Command::new(python)
            .arg(path)
            .args(arguments)
            .env("PYTHONDONTWRITEBYTECODE", "1"),
    )
    .await;
    assert_eq!(output.code, Some(0), "{script}:\n{}", output.err);
    serde_json::from_str(&output.out).unwrap()
}
