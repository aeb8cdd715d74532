//! A client's JSON Schema, compiled once for its request.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::bounds::{Cost, Size, Unfit, too_deep};
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
    /// # Errors
    /// Where it is none, or too costly: then an answer need be JSON only.
    pub(super) fn compile(text: &JsonText) -> Result<(Self, Roots), Unfit> {
        let value: Value = serde_json::from_str(text.as_str()).map_err(|error| unread(&error))?;
        if !matches!(value, Value::Object(_) | Value::Bool(_)) {
            return Err(Unfit::Wrong("it must be an object".to_owned()));
        }
        let cost = Cost::of(&value, text.as_str())?;
        jsonschema::meta::validate(&value).map_err(|error| wrong(&error))?;
        let patterns = PatternOptions::regex()
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(PATTERN_BYTES_MAX);
        // What is in the way of a legal schema is a pattern of another kind or size than is matched here.
        let validator = jsonschema::options()
            .with_pattern_options(patterns)
            .should_validate_formats(false)
            .build(&value)
            .map_err(|_| Unfit::Costly)?;
        Ok((Self { validator, cost }, roots(&value)))
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

/// What is known to be JSON can be nested too deep all the same, or hold half a surrogate pair.
fn unread(error: &serde_json::Error) -> Unfit {
    let said = error.to_string();
    if said.starts_with("recursion limit") {
        return too_deep();
    }
    Unfit::Wrong(format!("it cannot be read: {said}"))
}

fn wrong(error: &ValidationError<'_>) -> Unfit {
    if matches!(error.kind(), ValidationErrorKind::Referencing(_)) {
        return Unfit::Wrong("its `$schema` is none that is known".to_owned());
    }
    let place = error.instance_path().to_string();
    let said: String = error.to_string().chars().take(PROBLEM_CHARS_MAX).collect();
    Unfit::Wrong(if place.is_empty() {
        said
    } else {
        format!("at {place}: {said}")
    })
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

    fn compiled(schema: &str) -> Result<Schema, Unfit> {
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
        let around = compiled(r#"{"pattern":"(?=a)b"}"#).expect_err("no look-around");
        assert_eq!(around, Unfit::Costly);
    }

    #[test]
    fn what_is_no_schema_is_told_with_its_mistake() {
        let nested = |levels| format!("{}{{}}{}", r#"{"not":"#.repeat(levels), "}".repeat(levels));
        let deep = "nested deeper than 128 levels";
        for (schema, why) in [
            ("5", "it must be an object"),
            ("[]", "it must be an object"),
            ("null", "it must be an object"),
            (r#"{"type":"banana"}"#, "at /type: \"banana\" is not"),
            (
                r#"{"properties":{"a":{"type":12}}}"#,
                "at /properties/a/type: 12 is not",
            ),
            (r#"{"required":"a"}"#, "at /required: \"a\" is not"),
            (r#"{"$ref":"file:///schemas/a.json"}"#, "is an address"),
            (
                r#"{"$schema":"https://schemas.example/own"}"#,
                "its `$schema`",
            ),
            (&nested(130), deep),
            (&nested(5_000), deep),
        ] {
            let unfit = compiled(schema).expect_err(schema);
            assert!(
                matches!(&unfit, Unfit::Wrong(said) if said.contains(why)),
                "{unfit:?}"
            );
        }
        assert!(compiled(&nested(40)).is_ok());
    }
}
