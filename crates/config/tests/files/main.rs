//! Files on disk: those that are right and what they mean, those that are wrong and what is said about them.

mod broken;
mod lanes;
mod limits;
mod providers;
mod routes;
mod whole;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sluicegate_config::{Policy, parse};

/// What the environment of every file holds; the value of a secret must not appear anywhere.
fn env(name: &str) -> Option<String> {
    match name {
        "OPENAI_API_KEY" | "OTHER_KEY" | "WRONG_PLACE" => Some(format!("{SECRET}-{name}")),
        "BROKEN_KEY" => Some(format!("{SECRET}\n")),
        "EMPTY" => Some(String::new()),
        "NUMBER" => Some(format!("12{SECRET}")),
        "RPM" => Some("500".to_owned()),
        _ => None,
    }
}

const SECRET: &str = "hunter2";

fn good(name: &str) -> Policy {
    let path = folder("good").join(name);
    parse(name, &read(&path), &env).expect("the file is right")
}

/// Everything about limits that is worth asserting, one line each.
fn limits(policy: &Policy) -> Vec<String> {
    let ledgers = policy.ledgers();
    let lines = ledgers.limits.iter().map(|limit| {
        let mut line = format!("{}: {} {:?}", limit.name, limit.amount, limit.window);
        if let Some(quantum) = limit.quantum {
            let _ = write!(line, " quantum {quantum:?}");
        }
        let _ = write!(line, " {:?} {:?}", limit.start, limit.settlement);
        line
    });
    lines.collect()
}

fn targets(policy: &Policy) -> BTreeMap<&str, Vec<usize>> {
    let targets = policy.ledgers().targets;
    let names = policy
        .deployments
        .iter()
        .map(|deployment| deployment.name.as_str());
    names.zip(targets).collect()
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

fn yaml_files(name: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder(name))
        .expect("the folder exists")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    files
}

#[expect(clippy::disallowed_methods, reason = "a test has no runtime to block")]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("the file can be read")
}
