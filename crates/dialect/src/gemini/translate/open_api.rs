//! Google's own form of a schema, a part of OpenAPI's, as JSON Schema.
//! (<https://ai.google.dev/api/caching#Schema>)
//!
//! Types are in upper case there, whole numbers may stand in quotes, null is a member of its own, and
//! so is the order of properties. Members are written in the order in which they came.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical::JsonText;

/// So deep a schema is converted; below it is left as it is.
const DEPTH_MAX: u32 = 64;

/// What an object may hold besides the properties that its schema names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Others {
    /// As the schema says.
    AsWritten,
    /// None: a model that is held to a schema of Google's form writes no others.
    Closed,
}

/// The schema as JSON Schema. What is no object is left as it is.
pub(super) fn json_schema(schema: &RawValue, others: Others) -> JsonText {
    let text = converted(schema, others, 0);
    JsonText::parse(&text).unwrap_or_else(|| JsonText::from(schema))
}

fn converted(schema: &RawValue, others: Others, depth: u32) -> String {
    let Ok(Members(members)) = serde_json::from_str(schema.get()) else {
        return schema.get().to_owned();
    };
    if depth >= DEPTH_MAX {
        return schema.get().to_owned();
    }
    let find = |names: [&str; 2]| {
        let mut members = members.iter();
        members.find(|(name, _)| names.contains(&name.as_str()))
    };
    let nullable = find(["nullable", "nullable"]).is_some_and(|(_, value)| value.get() == "true");
    let ordering = find(["propertyOrdering", "property_ordering"]);
    let ordering: Vec<String> = ordering
        .and_then(|(_, value)| serde_json::from_str(value.get()).ok())
        .unwrap_or_default();
    let mut written = Vec::new();
    for (name, value) in &members {
        let name = json_name(name);
        let value = match name {
            "nullable" | "propertyOrdering" => continue,
            "format" if value.get() == "\"enum\"" => continue,
            "type" => match kind(value, nullable) {
                Some(kind) => kind,
                None => continue,
            },
            "enum" if nullable => with_null(value, "null"),
            "anyOf" => {
                let list = each(value, others, depth);
                if nullable {
                    with_null_text(&list, r#"{"type":"null"}"#)
                } else {
                    list
                }
            }
            "items" | "additionalProperties" => converted(value, others, depth + 1),
            "properties" => properties(value, &ordering, others, depth),
            "example" => format!("[{}]", value.get()),
            "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties"
            | "maxProperties" => unquoted(value),
            _ => value.get().to_owned(),
        };
        let name = if name == "example" { "examples" } else { name };
        written.push(format!("{}:{value}", Value::from(name)));
    }
    let closes = others == Others::Closed
        && find(["properties", "properties"]).is_some()
        && find(["additionalProperties", "additional_properties"]).is_none();
    if closes {
        written.push(r#""additionalProperties":false"#.to_owned());
    }
    format!("{{{}}}", written.join(","))
}

/// The name of a member in JSON Schema, whichever spelling it came in.
fn json_name(name: &str) -> &str {
    match name {
        "any_of" => "anyOf",
        "min_items" => "minItems",
        "max_items" => "maxItems",
        "min_length" => "minLength",
        "max_length" => "maxLength",
        "min_properties" => "minProperties",
        "max_properties" => "maxProperties",
        "property_ordering" => "propertyOrdering",
        "additional_properties" => "additionalProperties",
        "defs" => "$defs",
        "ref" => "$ref",
        name => name,
    }
}

/// `None` for a type that is not said.
fn kind(value: &RawValue, nullable: bool) -> Option<String> {
    let kind: String = serde_json::from_str(value.get()).ok()?;
    if kind == "TYPE_UNSPECIFIED" {
        return None;
    }
    let kind = Value::from(kind.to_lowercase()).to_string();
    Some(if nullable && kind != "\"null\"" {
        format!("[{kind},\"null\"]")
    } else {
        kind
    })
}

fn with_null(list: &RawValue, null: &str) -> String {
    let elements: Result<Vec<&RawValue>, _> = serde_json::from_str(list.get());
    match elements {
        Ok(elements) if elements.iter().all(|element| element.get() != null) => {
            with_null_text(list.get(), null)
        }
        _ => list.get().to_owned(),
    }
}

/// The text of a list with one element more.
fn with_null_text(list: &str, null: &str) -> String {
    match list.trim_end().strip_suffix(']') {
        Some(rest) if rest.trim_end().ends_with('[') => format!("{rest}{null}]"),
        Some(rest) => format!("{rest},{null}]"),
        None => list.to_owned(),
    }
}

fn each(list: &RawValue, others: Others, depth: u32) -> String {
    let elements: Result<Vec<&RawValue>, _> = serde_json::from_str(list.get());
    let Ok(elements) = elements else {
        return list.get().to_owned();
    };
    let converted = elements
        .into_iter()
        .map(|element| converted(element, others, depth + 1));
    format!("[{}]", converted.collect::<Vec<_>>().join(","))
}

/// Properties in the order that is asked for, those that it does not name behind them.
fn properties(value: &RawValue, ordering: &[String], others: Others, depth: u32) -> String {
    let Ok(Members(mut properties)) = serde_json::from_str(value.get()) else {
        return value.get().to_owned();
    };
    properties.sort_by_key(|(name, _)| {
        let place = ordering.iter().position(|ordered| ordered == name);
        place.unwrap_or(ordering.len())
    });
    let written = properties.iter().map(|(name, schema)| {
        let schema = converted(schema, others, depth + 1);
        format!("{}:{schema}", Value::from(name.as_str()))
    });
    format!("{{{}}}", written.collect::<Vec<_>>().join(","))
}

fn unquoted(value: &RawValue) -> String {
    let text = value.get();
    let inner = text.trim_matches('"');
    if inner.parse::<u64>().is_ok() {
        inner
    } else {
        text
    }
    .to_owned()
}

/// The members of an object in their order.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Members, A::Error> {
        let mut found = Vec::new();
        while let Some(member) = members.next_entry()? {
            found.push(member);
        }
        Ok(Members(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(schema: &str, others: Others) -> String {
        let raw = RawValue::from_string(schema.to_owned()).expect("JSON");
        json_schema(&raw, others).as_str().to_owned()
    }

    #[test]
    fn every_difference_is_undone() {
        let cases = [
            (
                r#"{"type":"STRING","nullable":true,"format":"enum","enum":["a","b"]}"#,
                r#"{"type":["string","null"],"enum":["a","b",null]}"#,
            ),
            (
                r#"{"type":"OBJECT","properties":{"a":{"type":"INTEGER","format":"int32"},"type":{"type":"STRING","example":"x"}},
                    "propertyOrdering":["type","a"],"required":["a"]}"#,
                r#"{"type":"object","properties":{"type":{"type":"string","examples":["x"]},"a":{"type":"integer","format":"int32"}},"required":["a"]}"#,
            ),
            (
                r#"{"type":"ARRAY","min_items":"2","maxItems":3,"items":{"any_of":[{"type":"NUMBER"},{"type":"BOOLEAN"}],"nullable":true}}"#,
                r#"{"type":"array","minItems":2,"maxItems":3,"items":{"anyOf":[{"type":"number"},{"type":"boolean"},{"type":"null"}]}}"#,
            ),
            (
                r#"{"type":"TYPE_UNSPECIFIED","description":"d"}"#,
                r#"{"description":"d"}"#,
            ),
            (r#"{"type":"object"}"#, r#"{"type":"object"}"#),
            ("true", "true"),
        ];
        for (schema, expected) in cases {
            assert_eq!(said(schema, Others::AsWritten), expected);
        }
    }

    #[test]
    fn an_answers_objects_are_closed() {
        assert_eq!(
            said(
                r#"{"type":"OBJECT","properties":{"a":{"type":"OBJECT","properties":{},"additionalProperties":true}}}"#,
                Others::Closed
            ),
            r#"{"type":"object","properties":{"a":{"type":"object","properties":{},"additionalProperties":true}},"additionalProperties":false}"#
        );
    }

    #[test]
    fn depth_costs_no_stack() {
        let depth = 20_000;
        let bomb = format!("{}1{}", "{\"items\":".repeat(depth), "}".repeat(depth));
        assert_eq!(said(&bomb, Others::Closed).len(), bomb.len());
    }
}
