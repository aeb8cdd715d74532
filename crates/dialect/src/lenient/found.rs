//! Whatever stands where a text, a number or a flag should, and what comes nearest to each.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// What stands where a text, a number or a flag should.
pub(super) enum Found {
    /// A null, or a list or object of nothing.
    Nothing,
    Flag(bool),
    Number(String),
    Text(String),
    /// The JSON of a list or object.
    Json(String),
}

impl Found {
    pub(super) fn is_true(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    /// 0 for what is no number.
    pub(super) fn whole(&self) -> u64 {
        let (Self::Number(text) | Self::Text(text)) = self else {
            return 0;
        };
        let text = text.trim();
        let text = text.strip_suffix(".0").unwrap_or(text);
        text.parse().unwrap_or(0)
    }

    pub(super) fn into_text(self) -> String {
        match self {
            Self::Nothing | Self::Flag(_) => String::new(),
            Self::Number(text) | Self::Text(text) | Self::Json(text) => text,
        }
    }
}

impl<'de> Deserialize<'de> for Found {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FoundVisitor)
    }
}

struct FoundVisitor;

impl<'de> Visitor<'de> for FoundVisitor {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::Nothing)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Found, E> {
        Ok(Found::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Found, E> {
        Ok(Found::Number(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Found, E> {
        Ok(Found::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Found, E> {
        Ok(Found::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Found, E> {
        Ok(Found::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Found, E> {
        Ok(Found::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Found, A::Error> {
        let mut list: Vec<Box<RawValue>> = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        let list: Vec<&str> = list.iter().map(|element| element.get()).collect();
        Ok(if list.is_empty() {
            Found::Nothing
        } else {
            Found::Json(format!("[{}]", list.join(",")))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Found, A::Error> {
        let mut json = String::from("{");
        while let Some((name, value)) = members.next_entry::<String, Box<RawValue>>()? {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(&serde_json::Value::from(name).to_string());
            json.push(':');
            json.push_str(value.get());
        }
        json.push('}');
        Ok(if json.len() > 2 {
            Found::Json(json)
        } else {
            Found::Nothing
        })
    }
}
