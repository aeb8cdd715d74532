//! A client's JSON Schema, compiled once for its request.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use super::bounds::{Cost, Size};
use super::scan::Roots;
use crate::canonical::JsonText;

/// Bytes that one compiled pattern may take. Patterns are matched in linear time.
const PATTERN_BYTES_MAX: usize = 64 * 1024;
/// What is said of one problem, in characters.
const PROBLEM_CHARS_MAX: usize = 300;
/// Problems that are told.
const PROBLEMS_MAX: usize = 3;

/// A schema that answers are held against.
#[derive(Debug)]
pub(super) struct Schema {
    validator: Validator,
    cost: Cost,
}

impl Schema {
    /// `None` where it is none, or too costly: then an answer need be JSON only.
    pub(super) fn compile(text: &JsonText) -> Option<(Self, Roots)> {
        let value: Value = serde_json::from_str(text.as_str()).ok()?;
        let cost = Cost::of(&value, text.as_str())?;
        let patterns = PatternOptions::regex()
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(PATTERN_BYTES_MAX);
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(patterns)
            .should_validate_formats(false)
            .build(&value)
            .ok()?;
        Some((Self { validator, cost }, roots(&value)))
    }

    /// What is wrong with `value`, in a few sentences.
    pub(super) fn problem(&self, value: &Value) -> Option<String> {
        if !self.cost.allows(Size::of(value)) {
            return None;
        }
        let problems = self.validator.iter_errors(value).take(PROBLEMS_MAX);
        let problems: Vec<String> = problems
            .map(|error| {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() {
                    "the whole"
                } else {
                    &place
                };
                let said: String = error.to_string().chars().take(PROBLEM_CHARS_MAX).collect();
                format!("at {place}: {said}")
            })
            .collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }
}

/// What an answer to `schema` can be. Where it does not say, nobody means a scalar.
fn roots(schema: &Value) -> Roots {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ if schema.get("properties").is_some() => vec!["object"],
        _ if schema.get("enum").is_some() || schema.get("const").is_some() => vec!["string"],
        _ => vec!["object", "array"],
    };
    Roots {
        object: names.contains(&"object"),
        array: names.contains(&"array"),
        scalar: names
            .iter()
            .any(|name| !matches!(*name, "object" | "array")),
    }
}
