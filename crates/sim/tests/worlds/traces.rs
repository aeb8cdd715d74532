//! Scenario files and what happens in them, line by line. `UPDATE_EXPECTED=1` rewrites the traces.

use std::path::Path;

use sluicegate_catalog::provider;
use sluicegate_sim::{Scenario, demand};

use crate::run;

#[test]
fn ten_jobs_that_fit() {
    check("ten_jobs_that_fit");
}

#[test]
fn ten_jobs_that_wait() {
    check("ten_jobs_that_wait");
}

/// Plays a scenario as a gateway does that charges by the catalog's rule for Azure, and compares.
fn check(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let scenario = Scenario::from_yaml(&read(&folder.join(format!("{name}.yaml"))))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let azure = provider("azure").expect("the catalog has Azure");
    let happened = run(&scenario, demand::by_rule(azure.charge.default_rule()))
        .trace
        .to_string();
    let expected = folder.join(format!("{name}.trace"));
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&expected, &happened).expect("the trace can be written");
    }
    let wanted = read(&expected);
    let differs = happened
        .lines()
        .zip(wanted.lines())
        .position(|(one, other)| one != other);
    assert!(
        happened == wanted,
        "{name}: the trace differs from line {} on; UPDATE_EXPECTED=1 rewrites it. It is now:\n{happened}",
        differs.map_or(
            happened.lines().count().min(wanted.lines().count()),
            |line| line
        ) + 1,
    );
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; UPDATE_EXPECTED=1 writes traces",
            path.display()
        )
    });
    String::from_utf8(bytes).expect("a text")
}
