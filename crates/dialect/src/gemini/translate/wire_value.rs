//! What Google's servers take in more than one form: a list or its one element, a number or the same
//! in quotes.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

/// A list, read also where its one element stands alone. A null is an empty one.
#[derive(Debug)]
pub(super) struct Listed<T>(pub(super) Vec<T>);

impl<T> Listed<T> {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Serialize> Serialize for Listed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListedVisitor(PhantomData))
    }
}

struct ListedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListedVisitor<T> {
    type Value = Listed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Listed::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(Listed(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        let element = T::deserialize(MapAccessDeserializer::new(members))?;
        Ok(Listed(vec![element]))
    }
}

/// A number, as it was written but for quotes around it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Number(serde_json::Number);

impl Number {
    /// `None` for one that JSON has no form for.
    pub(super) fn of(number: f64) -> Option<Self> {
        serde_json::Number::from_f64(number).map(Self)
    }

    pub(super) fn value(&self) -> Option<f64> {
        self.0.as_f64()
    }

    /// The number where it is whole, also if it is written with a fraction of zero.
    pub(super) fn whole<N: std::str::FromStr>(&self) -> Option<N> {
        let text = self.0.to_string();
        text.strip_suffix(".0").unwrap_or(&text).parse().ok()
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self(number.into())
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(number.into())
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
        Ok(number.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
        Number::of(number).ok_or_else(|| E::custom("a number that is none"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        serde_json::from_str(text)
            .map(Number)
            .map_err(|_| E::custom("a string that is no number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_be_its_one_element() {
        type Read = Listed<std::collections::BTreeMap<String, u8>>;
        for (text, length) in [
            ("null", 0),
            ("[]", 0),
            (r#"{"a":1}"#, 1),
            (r#"[{"a":1},{}]"#, 2),
        ] {
            let read: Read = serde_json::from_str(text).expect(text);
            assert_eq!(read.0.len(), length, "{text}");
        }
        assert!(serde_json::from_str::<Read>("7").is_err());
    }

    #[test]
    fn a_number_may_stand_in_quotes() {
        for (text, value, whole) in [
            ("40", 40.0, Some(40)),
            ("40.0", 40.0, Some(40)),
            ("\"40\"", 40.0, Some(40)),
            ("-1", -1.0, Some(-1)),
            ("0.5", 0.5, None),
        ] {
            let read: Number = serde_json::from_str(text).expect(text);
            assert_eq!(read.value(), Some(value), "{text}");
            assert_eq!(read.whole::<i64>(), whole, "{text}");
        }
        for text in ["\"many\"", "true", "[1]"] {
            assert!(serde_json::from_str::<Number>(text).is_err(), "{text}");
        }
    }
}
