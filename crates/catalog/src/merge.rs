//! A row with another one's words put over it.
//!
//! It works on tables rather than on rows: what a change leaves out is then left alone without an optional twin of each type.

use toml::{Table, Value};

/// Puts `from` over `into`, as [`Provider::from_table`](crate::Provider::from_table) says.
pub(crate) fn merge_row(into: &mut Table, mut from: Table) {
    if let Some(Value::Array(from)) = from.remove("limits") {
        let into = into
            .entry("limits")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(into) = into {
            merge_limits(into, from);
        }
    }
    merge(into, from);
}

/// Limits are known by their short names.
fn merge_limits(into: &mut Vec<Value>, from: Vec<Value>) {
    for limit in from {
        let short = limit.get("short").cloned();
        let same = |other: &&mut Value| short.is_some() && other.get("short") == short.as_ref();
        match (into.iter_mut().find(same), limit) {
            (Some(Value::Table(into)), Value::Table(limit)) => {
                merge(into, limit);
                if let Some(Value::Table(window)) = into.get_mut("window") {
                    drop_foreign(window);
                }
            }
            (_, limit) => into.push(limit),
        }
    }
}

/// What the other kind of window had and this one has not.
fn drop_foreign(window: &mut Table) {
    let own: &[&str] = match window.get("kind").and_then(Value::as_str) {
        Some("day" | "month") => &["zone"],
        Some("concurrent") => &[],
        Some("pacing") => &["per_s", "burst_s"],
        _ => &["per_s"],
    };
    for key in ["per_s", "burst_s", "zone"] {
        if !own.contains(&key) {
            window.remove(key);
        }
    }
}

/// Whether the table under `key` means something as a whole only: what one way to measure the input needs is nothing to another.
fn is_one_thing(key: &str) -> bool {
    matches!(key, "auth" | "input")
}

fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(into)), Value::Table(from)) if !is_one_thing(&key) => {
                merge(into, from);
            }
            (_, Value::Boolean(false)) => {
                into.remove(&key);
            }
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}
