//! A value that fits a JSON schema, drawn from a seed.
//!
//! Knows types, enums, constants, required and optional properties, arrays and their lengths, bounds of numbers and
//! strings, the usual formats, references within the schema, and the first of alternatives; types also in capitals, as
//! Gemini writes them.

use serde_json::{Map, Value};

use super::text::prose;
use crate::ask::Prompt;
use crate::random::Random;

/// Strings have so many words; nested values so many levels; lists and strings that must be long, so much at most.
const STRING_WORDS: usize = 3;
const LEVELS_MAX: usize = 12;
const ITEMS_MAX: u64 = 64;
const CHARS_MAX: u64 = 4_096;

/// A value for `schema`.
pub(super) fn value_for(random: &mut Random, schema: &Value) -> Value {
    Walk {
        root: schema,
        random,
    }
    .value(schema, LEVELS_MAX)
}

struct Walk<'a> {
    root: &'a Value,
    random: &'a mut Random,
}

impl Walk<'_> {
    fn value(&mut self, schema: &Value, levels: usize) -> Value {
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let choices = schema.get("enum").and_then(Value::as_array);
        if let Some(values) = choices.filter(|values| !values.is_empty()) {
            return values[self.random.below(values.len())].clone();
        }
        if levels == 0 {
            return Value::Null;
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = target
                .strip_prefix('#')
                .and_then(|at| self.root.pointer(at));
            return match target.cloned() {
                Some(target) => self.value(&target, levels - 1),
                None => Value::Null,
            };
        }
        if let Some(all) = schema.get("allOf").and_then(Value::as_array) {
            return self.all(schema, all, levels);
        }
        for any in ["anyOf", "oneOf"] {
            if let Some(first) = schema.get(any).and_then(|variants| variants.get(0)) {
                return self.value(first, levels - 1);
            }
        }
        match kind(schema).as_str() {
            "string" => Value::String(self.string(schema)),
            "integer" | "number" => self.number(schema),
            "boolean" => Value::Bool(self.random.below(2) == 1),
            "null" => Value::Null,
            "array" => self.array(schema, levels),
            _ => self.object(schema, levels),
        }
    }

    /// What all of `parts` say of an object, taken together.
    fn all(&mut self, schema: &Value, parts: &[Value], levels: usize) -> Value {
        let mut rest = schema.clone();
        if let Some(rest) = rest.as_object_mut() {
            rest.remove("allOf");
        }
        let mut whole = Map::new();
        for part in parts.iter().chain([&rest]) {
            match self.value(part, levels - 1) {
                Value::Object(part) => whole.extend(part),
                other if parts.len() == 1 => return other,
                _ => {}
            }
        }
        Value::Object(whole)
    }

    fn object(&mut self, schema: &Value, levels: usize) -> Value {
        let mut object = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        for (name, property) in properties.into_iter().flatten() {
            // Where a schema contains itself, what may be left out ends it.
            if required.contains(&name.as_str()) || levels > LEVELS_MAX / 2 {
                object.insert(name.clone(), self.value(property, levels - 1));
            }
        }
        for name in required {
            if !object.contains_key(name) {
                object.insert(name.to_owned(), Value::String(self.words()));
            }
        }
        Value::Object(object)
    }

    fn array(&mut self, schema: &Value, levels: usize) -> Value {
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let mut items: Vec<Value> = first
            .into_iter()
            .flatten()
            .map(|item| self.value(item, levels - 1))
            .collect();
        let least = bound(schema, "minItems").unwrap_or(1).min(ITEMS_MAX);
        let most = bound(schema, "maxItems").unwrap_or(u64::MAX);
        let item = schema.get("items").unwrap_or(&Value::Null);
        // Deep inside, an empty list is the end of a schema that contains itself.
        let least = match bound(schema, "minItems") {
            None if levels <= LEVELS_MAX / 2 => 0,
            _ => least.min(most),
        };
        while (items.len() as u64) < least && *item != Value::Bool(false) {
            items.push(self.value(item, levels - 1));
        }
        Value::Array(items)
    }

    fn number(&mut self, schema: &Value) -> Value {
        let drawn = self.random.below(100);
        let low = limit(schema, "minimum", "exclusiveMinimum", 1.0);
        let high = limit(schema, "maximum", "exclusiveMaximum", -1.0);
        let drawn = u32::try_from(drawn).map_or(0.0, f64::from);
        let number = match (low, high) {
            (None, None) => drawn,
            (Some(low), None) => drawn.max(low),
            (None, Some(high)) => drawn.min(high),
            (Some(low), Some(high)) => drawn.clamp(low.min(high), high),
        };
        let number = match schema.get("multipleOf").and_then(Value::as_f64) {
            Some(step) if step > 0.0 => (number / step).ceil() * step,
            _ => number,
        };
        let whole = number.ceil();
        let integer = kind(schema) == "integer" || (whole - number).abs() < f64::EPSILON;
        // JSON tells 3 from 3.0, and so do readers of integers.
        match format!("{whole:.0}").parse::<i64>() {
            Ok(whole) if integer => Value::from(whole),
            _ => Value::from(number),
        }
    }

    fn string(&mut self, schema: &Value) -> String {
        let fixed = match schema.get("format").and_then(Value::as_str) {
            Some("date") => "2024-05-17",
            Some("time") => "09:30:00Z",
            Some("date-time") => "2024-05-17T09:30:00Z",
            Some("duration") => "P1D",
            Some("uuid") => "0190f1c2-7d3e-7a41-9c55-3f0e8b6d2a10",
            Some("email") => "keeper@example.com",
            Some("uri" | "url") => "https://example.com/gate",
            Some("hostname") => "example.com",
            Some("ipv4") => "192.0.2.1",
            Some("ipv6") => "2001:db8::1",
            _ => "",
        };
        if !fixed.is_empty() {
            return fixed.to_owned();
        }
        let mut words = self.words();
        let least = bound(schema, "minLength").unwrap_or(0).min(CHARS_MAX);
        while (words.chars().count() as u64) < least {
            words.push(' ');
            words.push_str(&self.words());
        }
        match bound(schema, "maxLength").and_then(|most| usize::try_from(most).ok()) {
            Some(most) => words.chars().take(most).collect(),
            None => words,
        }
    }

    fn words(&mut self) -> String {
        prose(self.random, Prompt::default(), STRING_WORDS).concat()
    }
}

/// The type, in small letters; of several the first that is not `null`. What names none is known by its other words.
fn kind(schema: &Value) -> String {
    let named = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| !kind.eq_ignore_ascii_case("null")),
        _ => None,
    };
    match named {
        Some(kind) => kind.to_ascii_lowercase(),
        None if schema.get("items").is_some() => "array".to_owned(),
        None => "object".to_owned(),
    }
}

/// A bound that may also be written as text, as Gemini has it.
fn bound(schema: &Value, name: &str) -> Option<u64> {
    let value = schema.get(name)?;
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A bound of numbers; one that is excluded is left by a whole step.
fn limit(schema: &Value, included: &str, excluded: &str, step: f64) -> Option<f64> {
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    number(included).or_else(|| number(excluded).map(|bound| bound + step))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn drawn(schema: &Value) -> Value {
        value_for(&mut Random::new(3), schema)
    }

    #[test]
    fn bounds_are_kept() {
        let value = drawn(
            &json!({"type": "OBJECT", "required": ["n", "list", "extra"], "properties": {
                "n": {"type": "INTEGER", "minimum": 200, "maximum": 210},
                "small": {"type": "number", "exclusiveMaximum": 1},
                "list": {"type": "ARRAY", "minItems": "3", "items": {"type": "string", "maxLength": 4}},
                "long": {"type": "string", "minLength": 40},
                "day": {"type": "string", "format": "date"},
                "maybe": {"type": ["null", "boolean"]},
            }}),
        );
        assert_eq!(value["n"], 200);
        assert!(value["small"].as_f64().unwrap() < 1.0);
        assert_eq!(value["list"].as_array().unwrap().len(), 3);
        assert!(value["list"][0].as_str().unwrap().len() <= 4);
        assert!(value["long"].as_str().unwrap().len() >= 40);
        assert_eq!(value["day"], "2024-05-17");
        assert!(value["maybe"].is_boolean() && value["extra"].is_string());
    }

    #[test]
    fn references_are_followed_also_in_circles() {
        let value = drawn(&json!({"$ref": "#/$defs/node", "$defs": {"node": {
            "type": "object", "required": ["name", "kind"],
            "properties": {"name": {"type": "string"}, "kind": {"$ref": "#/$defs/kind"},
                "next": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        }, "kind": {"enum": ["leaf"]}}}));
        assert_eq!(value["kind"], "leaf");
        assert_eq!(value["next"][0]["kind"], "leaf");
        let both = drawn(&json!({"allOf": [
            {"type": "object", "properties": {"a": {"const": 1}}},
            {"type": "object", "properties": {"b": {"const": 2}}}]}));
        assert_eq!(both, json!({"a": 1, "b": 2}));
    }
}
