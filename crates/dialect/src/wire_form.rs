//! Forms of JSON that wire types of more than one dialect use.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde::{Serialize, Serializer};

use crate::{RequestError, lenient, object_only, wire_mistake};

/// So many names of unknown members are kept.
const UNKNOWN_MAX: usize = 16;

/// A text alone, or a list.
#[derive(Debug)]
pub(crate) enum TextOr<P> {
    Text(String),
    List(Vec<P>),
    /// An object: something that is not translated.
    Other,
}

impl<'de, P: Deserialize<'de>> Deserialize<'de> for TextOr<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrVisitor(PhantomData))
    }
}

impl<P: Serialize> Serialize for TextOr<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::List(list) => list.serialize(serializer),
            Self::Other => serializer.serialize_none(),
        }
    }
}

struct TextOrVisitor<P>(PhantomData<P>);

impl<'de, P: Deserialize<'de>> Visitor<'de> for TextOrVisitor<P> {
    type Value = TextOr<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an array")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(TextOr::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(TextOr::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(TextOr::Other)
    }
}

/// The names of members that a wire type does not know. A null is the same as leaving one out.
#[derive(Debug, Default)]
pub(crate) struct Unknown(Vec<String>);

impl Unknown {
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<'de> Deserialize<'de> for Unknown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UnknownVisitor)
    }
}

struct UnknownVisitor;

impl<'de> Visitor<'de> for UnknownVisitor {
    type Value = Unknown;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("members")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unknown, A::Error> {
        let mut names = Vec::new();
        while let Some((name, value)) = members.next_entry::<String, Option<IgnoredAny>>()? {
            if value.is_some() && names.len() < UNKNOWN_MAX {
                names.push(name);
            }
        }
        Ok(Unknown(names))
    }
}

/// The body of an answer as the wire type that it should be, as far as it can be.
pub(crate) fn parse_answer<T: DeserializeOwned>(body: &[u8]) -> Result<T, RequestError> {
    lenient::from_slice(body).map_err(|error| wire_mistake::told(body, &error))
}

/// The body of a request as the wire type that it should be.
pub(crate) fn parse<'de, T: Deserialize<'de>>(body: &'de [u8]) -> Result<T, RequestError> {
    object_only::from_slice(body).map_err(|error| wire_mistake::told(body, &error))
}

/// The JSON of a wire type.
pub(crate) fn to_json(wire: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(wire).expect("wire types have string keys and finite numbers only")
}
