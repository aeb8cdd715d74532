//! JSON that the words of a prompt ask for, as they do where a provider has no field for it.
//!
//! A real model follows such words; the fake knows two forms: a JSON schema that stands in the text, and the words
//! "JSON object".

use serde_json::{Map, Value};

/// Objects in a text that are tried as a schema at most.
const TRIED_MAX: usize = 64;

/// The JSON that `text` asks for, after a schema if it shows one.
pub(super) fn json(text: &str) -> Option<Option<Value>> {
    let lower = text.to_ascii_lowercase();
    if !lower.contains("json") {
        return None;
    }
    schema(text)
        .map(Some)
        .or_else(|| lower.contains("json object").then_some(None))
}

fn schema(text: &str) -> Option<Value> {
    let mut rest = text;
    for _ in 0..TRIED_MAX {
        rest = &rest[rest.find('{')?..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        match values.next() {
            Some(Ok(found)) if is_schema(&found) => return Some(Value::Object(found)),
            Some(Ok(_)) => rest = &rest[values.byte_offset()..],
            _ => rest = &rest[1..],
        }
    }
    None
}

fn is_schema(object: &Map<String, Value>) -> bool {
    object.get("properties").is_some_and(Value::is_object)
        || object
            .get("type")
            .is_some_and(|kind| kind == "object" || kind == "array")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_in_a_text_is_found_behind_other_braces() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let text =
            format!(r#"Use {{this}} and {{"x": 1}}. Answer only with JSON: {schema} Thanks."#);
        assert_eq!(json(&text), Some(Some(schema)));
        assert_eq!(json("Reply with one JSON object."), Some(None));
        assert_eq!(json("What is JSON?"), None);
        assert_eq!(json(r#"{"type": "object"}"#), None);
    }
}
