//! Whether OpenAI takes a JSON Schema as one to be followed to the letter.
//!
//! It does where every object lists all of its properties as required and allows no others
//! (<https://platform.openai.com/docs/guides/structured-outputs>); other dialects ask for less.

use serde_json::Value;

use crate::canonical::JsonText;

/// Whether `schema` can be marked as strict. False where it is nested deeper than 128 levels.
pub(crate) fn fits_strict(schema: &JsonText) -> bool {
    serde_json::from_str(schema.as_str()).is_ok_and(|schema: Value| fits(&schema))
}

/// The depth is bounded by that of parsing.
fn fits(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let is_closed = match members.get("properties") {
                Some(Value::Object(properties)) => {
                    let required = members.get("required").and_then(Value::as_array);
                    let is_required = |name: &String| {
                        required.is_some_and(|names| names.iter().any(|it| it == name))
                    };
                    properties.keys().all(is_required)
                        && members.get("additionalProperties") == Some(&Value::Bool(false))
                }
                _ => true,
            };
            is_closed && members.values().all(fits)
        }
        Value::Array(values) => values.iter().all(fits),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_has_to_be_closed_and_whole() {
        let closed = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;
        let cases = [
            (r#"{"type":"string"}"#.to_owned(), true),
            (closed.to_owned(), true),
            (closed.replace("[\"a\"]", "[]"), false),
            (closed.replace(",\"additionalProperties\":false", ""), false),
            (format!(r#"{{"anyOf":[{closed},{{"type":"null"}}]}}"#), true),
            (
                format!(r#"{{"items":{}}}"#, closed.replace("false", "true")),
                false,
            ),
        ];
        for (schema, expected) in cases {
            let schema = JsonText::parse(&schema).expect("JSON");
            assert_eq!(fits_strict(&schema), expected, "{schema:?}");
        }
    }
}
