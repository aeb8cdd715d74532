//! Files on disk: those that are right and what they mean, those that are wrong and what is said about them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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

/// One way to break a file each; `.txt` beside it holds the errors. `UPDATE_EXPECTED=1` rewrites them.
#[test]
fn every_broken_file_says_what_is_wrong() {
    let mut wrong = String::new();
    let mut files = 0;
    for folder in ["text", "form", "meaning"] {
        for path in yaml_files(&format!("broken/{folder}")) {
            files += 1;
            let name = path.file_name().expect("a file").to_string_lossy();
            let said = match parse(&name, &read(&path), &env) {
                Ok(_) => "nothing is wrong".to_owned(),
                Err(errors) => {
                    assert!(!format!("{errors:?}").contains(SECRET), "{name}: in Debug");
                    errors.to_string()
                }
            };
            assert!(!said.contains(SECRET), "{name}: a secret is printed");
            check(&path.with_extension("txt"), &said, &mut wrong);
        }
    }
    assert!(files > 60, "only {files} files were found");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Compares with the file at `expected`, or rewrites it.
fn check(expected: &Path, said: &str, wrong: &mut String) {
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(expected, format!("{said}\n")).expect("the expected text can be written");
        return;
    }
    let wanted = std::fs::read_to_string(expected).unwrap_or_default();
    if wanted.trim_end() != said {
        let name = expected.display();
        let _ = write!(wrong, "\n{name}\n--- expected\n{wanted}+++ said\n{said}\n");
    }
}

fn good(name: &str) -> Policy {
    let path = folder("good").join(name);
    parse(name, &read(&path), &env).unwrap_or_else(|errors| panic!("{errors}"))
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
