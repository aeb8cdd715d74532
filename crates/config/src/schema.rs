//! The table as a JSON Schema, for editors that complete and check while somebody types.
//!
//! It says what a schema can say: keys, kinds, words, bounds of plain numbers. What the check alone can tell (a reference to
//! an account that is not there) passes it. Every value may be a `${…}` reference, so every kind also admits text that holds
//! one.

use serde_json::{Map, Value, json};

use crate::shape::{Field, Kind, Object, Presence, Support, brief};
use crate::table::ROOT;

/// The JSON Schema (draft 2020-12) of the configuration file.
///
/// A file that [`parse`](crate::parse) accepts is valid under it; a file that is invalid under it is refused.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut root = object(&ROOT, &mut definitions);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Sluicegate configuration");
    root["$defs"] = Value::Object(definitions);
    root
}

fn object(object: &'static Object, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for field in object.fields {
        if !matches!(field.kind, Kind::Later) {
            properties.insert(field.name.to_owned(), property(field, definitions));
        }
    }
    let required: Vec<&str> = object
        .fields
        .iter()
        .filter(|field| matches!(field.presence, Presence::Required))
        .map(|field| field.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "description": object.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if required.is_empty() {
        // Nothing written is an empty mapping.
        schema["type"] = json!(["object", "null"]);
    } else {
        schema["required"] = json!(required);
    }
    schema
}

fn property(field: &'static Field, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = kind(&field.kind, definitions);
    schema["description"] = json!(field.doc);
    if let Presence::Default(text) = field.presence {
        schema["default"] = match text.parse::<Value>() {
            Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
            _ => json!(text),
        };
    }
    schema
}

fn kind(of: &'static Kind, definitions: &mut Map<String, Value>) -> Value {
    match of {
        Kind::Text(_) | Kind::Prose(_) | Kind::Secret | Kind::SecretOrEmpty => {
            json!({ "type": ["string", "number", "boolean"] })
        }
        Kind::Url => text("^https?://[^?#@]+$"),
        Kind::UrlByRegion => text(r"^https?://[^?#@]*\{region\}[^?#@]*$"),
        Kind::Webhook => text("^https?://[^#@]+$"),
        Kind::Address => text(r"^(localhost|[0-9.]+|\[[0-9a-fA-F:.%]+\]):[0-9]{1,5}$"),
        Kind::Count { max } => any_of([
            json!({ "type": "integer", "minimum": 1, "maximum": max }),
            text(r"^[0-9][0-9_]*(\.[0-9_]+)?[kKMG]?$"),
        ]),
        Kind::Number { max } => any_of([
            json!({ "type": "integer", "minimum": 0, "maximum": max }),
            text(r"^[0-9][0-9_]*(\.[0-9_]+)?[kKMG]?$"),
        ]),
        Kind::Weight => any_of([
            json!({ "type": "number", "minimum": 0, "maximum": 1000 }),
            text(r"^[0-9][0-9_]*(\.[0-9_]+)?$"),
        ]),
        Kind::Duration { min, max } => {
            let mut schema = text(r"^([0-9][0-9_]*(\.[0-9_]+)?(ms|s|m|h|d))+$");
            schema["$comment"] = json!(format!("from {} to {}", brief(*min), brief(*max)));
            schema
        }
        Kind::Bytes { max } => any_of([
            json!({ "type": "integer", "minimum": 1, "maximum": max }),
            text(r"^[0-9][0-9_]*(\.[0-9_]+)?\s*(B|KiB|MiB|GiB|kB|MB|GB)?$"),
        ]),
        Kind::Share => any_of([
            json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }),
            text(r"^[0-9]+(\.[0-9]+)?%?$"),
        ]),
        Kind::ShareFromZero => any_of([
            json!({ "type": "number", "minimum": 0, "maximum": 1 }),
            text(r"^[0-9]+(\.[0-9]+)?%?$"),
        ]),
        Kind::Flag => any_of([json!({ "type": "boolean" }), text("^(true|false|yes|no)$")]),
        Kind::Dollars => any_of([
            json!({ "type": "number", "minimum": 0 }),
            text(r"^[0-9][0-9_]*(\.[0-9_]+)?$"),
        ]),
        Kind::Word(words) => {
            let words = words.iter().filter(|word| word.support == Support::Now);
            let mut alternatives: Vec<Value> = words
                .map(|word| json!({ "const": word.name, "description": word.doc }))
                .collect();
            alternatives.push(reference());
            json!({ "anyOf": alternatives })
        }
        Kind::Object(of) => define(of, definitions),
        Kind::Map { of, .. } => json!({
            "type": "object",
            "minProperties": 1,
            "propertyNames": free_names(),
            "additionalProperties": define(of, definitions),
        }),
        Kind::Pairs { of, .. } => json!({
            "type": "object",
            "propertyNames": free_names(),
            "additionalProperties": kind(of, definitions),
        }),
        Kind::List(of) => json!({
            "type": "array",
            "minItems": 1,
            "items": kind(of, definitions),
        }),
        Kind::OneOf(kinds) => {
            let alternatives = kinds.iter().map(|of| kind(of, definitions));
            json!({ "anyOf": alternatives.collect::<Vec<_>>() })
        }
        Kind::Later => json!(false),
    }
}

fn free_names() -> Value {
    json!({ "minLength": 1, "maxLength": 128, "pattern": r"^[^\s]+$" })
}

fn define(of: &'static Object, definitions: &mut Map<String, Value>) -> Value {
    let name = of.name.replace(' ', "-");
    if !definitions.contains_key(&name) {
        // Set before it is filled: objects may lead to each other.
        definitions.insert(name.clone(), Value::Null);
        let schema = object(of, definitions);
        definitions.insert(name.clone(), schema);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn any_of<const N: usize>(alternatives: [Value; N]) -> Value {
    let alternatives = Vec::from(alternatives);
    json!({ "anyOf": alternatives })
}

/// Text of this form, or with a reference in it.
fn text(pattern: &str) -> Value {
    any_of([json!({ "type": "string", "pattern": pattern }), reference()])
}

fn reference() -> Value {
    json!({ "type": "string", "pattern": r"\$\{" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::Problems;
    use crate::tree::{self, Node, NodeData};

    /// Every file beside the integration tests, with its name.
    fn files(folder: &str) -> Vec<(String, Value)> {
        let folder = format!("{}/tests/{folder}", env!("CARGO_MANIFEST_DIR"));
        let paths = std::fs::read_dir(folder).expect("the folder exists");
        let paths = paths.map(|entry| entry.expect("an entry").path());
        let yaml = paths.filter(|path| path.extension().is_some_and(|end| end == "yaml"));
        yaml.map(|path| {
            let text = std::fs::read(&path).expect("the file can be read");
            let text = String::from_utf8(text).expect("the file is UTF-8");
            let mut problems = Problems::default();
            let root = tree::read(&text, &mut problems).expect("the file is YAML");
            (path.display().to_string(), instance(&root))
        })
        .collect()
    }

    /// A node as JSON, numbers and words of JSON as such.
    fn instance(node: &Node) -> Value {
        match &node.data {
            NodeData::Empty => Value::Null,
            NodeData::Scalar(text) => match text.parse::<Value>() {
                Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
                _ => json!(text),
            },
            NodeData::List(items) => items.iter().map(instance).collect(),
            NodeData::Map(entries) => {
                let entries = entries.iter();
                let pairs = entries.map(|entry| (entry.key.clone(), instance(&entry.value)));
                Value::Object(pairs.collect())
            }
        }
    }

    /// Whether `value` is valid, for the words that the schema is made of; any other word fails the test.
    fn valid(value: &Value, schema: &Value, root: &Value) -> bool {
        let Value::Object(words) = schema else {
            return schema == &json!(true);
        };
        words.iter().all(|(word, of)| match word.as_str() {
            "$schema" | "$defs" | "$comment" | "title" | "description" | "default" => true,
            "$ref" => {
                let pointer = of.as_str().expect("text").trim_start_matches('#');
                valid(value, root.pointer(pointer).expect("defined"), root)
            }
            "type" => match of {
                Value::Array(names) => names.iter().any(|name| is_of(value, name)),
                name => is_of(value, name),
            },
            "anyOf" => of
                .as_array()
                .expect("a list")
                .iter()
                .any(|of| valid(value, of, root)),
            "const" => value == of,
            "pattern" => value.as_str().is_none_or(|text| {
                let pattern = of.as_str().expect("text");
                regex_lite::Regex::new(pattern)
                    .expect("a pattern")
                    .is_match(text)
            }),
            "minimum" => value.as_f64().is_none_or(|number| number >= float(of)),
            "exclusiveMinimum" => value.as_f64().is_none_or(|number| number > float(of)),
            "maximum" => value.as_f64().is_none_or(|number| number <= float(of)),
            "minLength" => value
                .as_str()
                .is_none_or(|text| text.chars().count() >= size(of)),
            "maxLength" => value
                .as_str()
                .is_none_or(|text| text.chars().count() <= size(of)),
            "minItems" => value.as_array().is_none_or(|items| items.len() >= size(of)),
            "minProperties" => value.as_object().is_none_or(|map| map.len() >= size(of)),
            "items" => value
                .as_array()
                .is_none_or(|items| items.iter().all(|item| valid(item, of, root))),
            "required" => value.as_object().is_none_or(|map| {
                let mut keys = of.as_array().expect("a list").iter();
                keys.all(|key| map.contains_key(key.as_str().expect("text")))
            }),
            "propertyNames" => value
                .as_object()
                .is_none_or(|map| map.keys().all(|key| valid(&json!(key), of, root))),
            "properties" => value.as_object().is_none_or(|map| {
                map.iter()
                    .all(|(key, value)| of.get(key).is_none_or(|of| valid(value, of, root)))
            }),
            "additionalProperties" => value.as_object().is_none_or(|map| {
                map.iter()
                    .filter(|(key, _)| {
                        words
                            .get("properties")
                            .is_none_or(|known| known.get(key).is_none())
                    })
                    .all(|(_, value)| valid(value, of, root))
            }),
            other => panic!("the test does not know {other}"),
        })
    }

    fn is_of(value: &Value, name: &Value) -> bool {
        match name.as_str().expect("text") {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("no type {other}"),
        }
    }

    fn float(number: &Value) -> f64 {
        number.as_f64().expect("a number")
    }

    fn size(number: &Value) -> usize {
        let size = number.as_u64().expect("a number");
        usize::try_from(size).expect("small")
    }

    #[test]
    fn what_is_right_is_valid() {
        let schema = schema();
        for (name, file) in [
            files("good"),
            files("broken/value"),
            files("broken/meaning"),
        ]
        .concat()
        {
            // An empty mapping of accounts is well formed, and the schema is stricter there.
            if !name.ends_with("accounts-empty.yaml") {
                assert!(valid(&file, &schema, &schema), "{name}");
            }
        }
    }

    #[test]
    fn what_has_the_wrong_form_is_invalid() {
        let schema = schema();
        let files = files("broken/form");
        assert!(files.len() > 40, "only {} files were found", files.len());
        for (name, file) in files {
            assert!(!valid(&file, &schema, &schema), "{name}");
        }
    }
}
