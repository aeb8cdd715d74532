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
        schema["default"] = match text.parse::<u64>() {
            Ok(number) => json!(number),
            Err(_) => json!(text),
        };
    }
    schema
}

fn kind(of: &'static Kind, definitions: &mut Map<String, Value>) -> Value {
    match of {
        Kind::Text(_) | Kind::Secret => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Url => text("^https?://[^?#@]+$"),
        Kind::Address => text(r"^(localhost|[0-9.]+|\[[0-9a-fA-F:.%]+\]):[0-9]{1,5}$"),
        Kind::Count { max } => any_of([
            json!({ "type": "integer", "minimum": 1, "maximum": max }),
            text(r"^[0-9][0-9_]*(\.[0-9_]+)?[kKMG]?$"),
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
            "propertyNames": { "minLength": 1, "maxLength": 128, "pattern": r"^[^\s]+$" },
            "additionalProperties": define(of, definitions),
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
    json!({ "anyOf": alternatives.to_vec() })
}

/// Text of this form, or with a reference in it.
fn text(pattern: &str) -> Value {
    any_of([json!({ "type": "string", "pattern": pattern }), reference()])
}

fn reference() -> Value {
    json!({ "type": "string", "pattern": r"\$\{" })
}
