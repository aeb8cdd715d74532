//! Wire types are read from objects only.
//!
//! Derived reading takes an array for an object as well, its elements for the members in the order in which a type happens to name
//! them: `"image_url": ["https://…"]` would be an image. Providers refuse that, and no client means it. So the reader stands behind this
//! one, which asks it for an object wherever a type is one; all else goes through as it is, at no cost that can be measured. A mark on every
//! wire type would do the same, and would be forgotten on the next.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess};
use serde::de::{Error, Visitor};

/// All of `json` as a wire type.
///
/// # Errors
/// As `serde_json` tells them; an array where an object is wanted is one of the wrong kind.
pub(crate) fn from_slice<'de, T: Deserialize<'de>>(json: &'de [u8]) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = T::deserialize(ObjectOnly(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// The same of a text.
pub(crate) fn from_str<'de, T: Deserialize<'de>>(json: &'de str) -> serde_json::Result<T> {
    from_slice(json.as_bytes())
}

/// Stands around whatever a value is read from or by, down to the innermost. The variants of an enum hold nothing in a wire type.
struct ObjectOnly<T>(T);

/// Asks for the same kind.
macro_rules! asks {
    ($($method:ident($($name:ident: $kind:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* ObjectOnly(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ObjectOnly<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(ObjectOnly(visitor))
    }

    asks! {
        deserialize_any()
        deserialize_bool()
        deserialize_i8()
        deserialize_i16()
        deserialize_i32()
        deserialize_i64()
        deserialize_u8()
        deserialize_u16()
        deserialize_u32()
        deserialize_u64()
        deserialize_f32()
        deserialize_f64()
        deserialize_char()
        deserialize_str()
        deserialize_string()
        deserialize_bytes()
        deserialize_byte_buf()
        deserialize_option()
        deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_map()
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier()
        deserialize_ignored_any()
    }
}

/// Hands on the same value.
macro_rules! hands_on {
    ($($method:ident($kind:ty))*) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for ObjectOnly<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    hands_on! {
        visit_bool(bool)
        visit_i64(i64)
        visit_u64(u64)
        visit_f64(f64)
        visit_str(&str)
        visit_borrowed_str(&'de str)
        visit_string(String)
        visit_bytes(&[u8])
        visit_borrowed_bytes(&'de [u8])
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(ObjectOnly(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(ObjectOnly(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(ObjectOnly(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(ObjectOnly(members))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(variant)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ObjectOnly<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(ObjectOnly(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ObjectOnly<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(ObjectOnly(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(ObjectOnly(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ObjectOnly<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(ObjectOnly(from))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[derive(serde::Deserialize, Debug)]
    struct Outer<'a> {
        inner: Option<Inner>,
        #[serde(default)]
        list: Vec<Inner>,
        #[serde(borrow)]
        raw: Option<&'a RawValue>,
    }

    #[derive(serde::Deserialize, Debug)]
    struct Inner {
        a: u8,
    }

    #[test]
    fn an_array_is_no_object_at_any_depth() {
        for json in [
            "[null,[],null]",
            r#"{"inner":[1]}"#,
            r#"{"list":[{"a":1},[1]]}"#,
        ] {
            assert!(serde_json::from_str::<Outer<'_>>(json).is_ok(), "{json}");
            let error = from_str::<Outer<'_>>(json).expect_err(json).to_string();
            assert!(
                error.starts_with("invalid type: sequence, expected struct "),
                "{error}"
            );
        }
    }

    #[test]
    fn all_else_is_read_as_it_was() {
        let json = r#"{"inner":{"a":1},"list":[{"a":2}],"raw":[ 1.50 ]}"#;
        let read: Outer<'_> = from_str(json).expect(json);
        assert_eq!(read.inner.map(|inner| inner.a), Some(1));
        assert_eq!(read.list.len(), 1);
        assert_eq!(read.raw.map(RawValue::get), Some("[ 1.50 ]"));
        assert!(from_str::<Inner>(r#"{"a":1} 2"#).is_err());
        assert_eq!(from_str::<Option<u8>>("null").expect("null"), None);
    }
}
