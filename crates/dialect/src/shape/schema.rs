//! A client's JSON Schema, compiled once for its request.

use jsonschema::{PatternOptions, Validator};
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

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(schema: &str) -> Option<Schema> {
        let text = JsonText::parse(schema).expect("JSON");
        Schema::compile(&text).map(|(schema, _)| schema)
    }

    fn nested(levels: usize, leaf: &str) -> Value {
        let text = format!(
            "{}{leaf}{}",
            "{\"next\":".repeat(levels),
            "}".repeat(levels)
        );
        serde_json::from_str(&text).expect("JSON")
    }

    #[test]
    fn a_deep_value_is_held_against_a_schema_that_leads_back_into_itself_on_a_small_stack() {
        let list = r##"{"$ref":"#/$defs/list","$defs":{"list":{"type":"object",
            "properties":{"next":{"anyOf":[{"$ref":"#/$defs/list"},{"type":"null"}]}},"required":["next"]}}}"##;
        let list = compiled(list).expect("a schema");
        assert_eq!(list.problem(&nested(100, "null")), None);
        assert!(list.problem(&nested(100, "1")).is_some());
    }

    #[test]
    fn schemas_of_older_drafts_mean_what_they_meant() {
        let pair = r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"},{"type":"number"}]}"#;
        let pair = compiled(pair).expect("a schema");
        assert_eq!(pair.problem(&serde_json::json!(["a", 1])), None);
        assert!(pair.problem(&serde_json::json!([1, "a"])).is_some());
    }

    #[test]
    fn a_pattern_that_backtracks_elsewhere_takes_linear_time() {
        let pattern = compiled(r#"{"type":"string","pattern":"^(a+)+$"}"#).expect("a schema");
        let text = format!("{}!", "a".repeat(100_000));
        assert!(pattern.problem(&Value::from(text)).is_some());
        assert!(
            compiled(r#"{"pattern":"(?=a)b"}"#).is_none(),
            "no look-around"
        );
    }
}
