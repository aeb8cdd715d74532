//! Answers are read by what is wanted of them, whatever their servers put elsewhere.
//!
//! A wire type names the members of all kinds of events and parts together, and servers that imitate a provider write some of them
//! in another kind of JSON: an index in quotes, arguments as the object that they are, a null for a list. A member of which nobody wants
//! anything must not cost the answer, and one that can be understood must be read. So this reader stands before every wire type of an
//! answer and gives it what comes nearest: of a null nothing, of a number in quotes the number, of an object for a text its JSON. A mark
//! on every member would do the same, and would be forgotten on the next. Only where a list should stand and a scalar does, is it no answer.
//!
//! Requests are read strictly ([`object_only`](crate::object_only)): their clients can be told what is wrong.

mod found;
mod kinds;

use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor,
};

use crate::json;
use found::Found;
use kinds::{Anything, List, Maybe, Object};

/// An answer, or an event of one that is streamed, as the wire type that it should be. A byte order mark before it is skipped, and
/// half of a surrogate pair is the replacement character.
///
/// # Errors
/// As `serde_json` tells them, where it is no JSON or something else stands for a list.
pub(crate) fn from_slice<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    let json = json::mended(json);
    let mut reader = serde_json::Deserializer::from_slice(&json);
    let value = T::deserialize(Lenient(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// Stands around whatever a value is read from, down to the innermost.
struct Lenient<T>(T);

/// Asks for the same kind.
macro_rules! asks {
    ($($method:ident($($name:ident: $kind:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Lenient<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Anything(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Maybe(visitor))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_bool(Found::deserialize(self.0)?.is_true())
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let whole = Found::deserialize(self.0)?.whole();
        visitor.visit_u32(u32::try_from(whole).unwrap_or(u32::MAX))
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_u64(Found::deserialize(self.0)?.whole())
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_string(Found::deserialize(self.0)?.into_text())
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(List(visitor))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Object(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_map(visitor)
    }

    asks! {
        deserialize_i8()
        deserialize_i16()
        deserialize_i32()
        deserialize_i64()
        deserialize_u8()
        deserialize_u16()
        deserialize_f32()
        deserialize_f64()
        deserialize_char()
        deserialize_bytes()
        deserialize_byte_buf()
        deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier()
        deserialize_ignored_any()
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Lenient<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Lenient(seed))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Lenient<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Lenient(seed))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Lenient<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Lenient(from))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;
    use serde_json::value::RawValue;

    use super::*;
    use crate::wire_form::TextOr;

    #[derive(serde::Deserialize, Debug, Default)]
    #[serde(default)]
    struct Wire {
        id: Option<String>,
        text: String,
        index: u64,
        small: Option<u32>,
        flag: bool,
        inner: Option<Box<Wire>>,
        list: Vec<Wire>,
        either: Option<TextOr<IgnoredAny>>,
        raw: Option<Box<RawValue>>,
    }

    fn read(json: &str) -> Wire {
        from_slice(json.as_bytes()).expect(json)
    }

    #[test]
    fn a_text_is_made_of_what_stands_there() {
        for (json, text) in [
            (r#""a""#, "a"),
            ("7", "7"),
            ("null", ""),
            ("true", ""),
            ("{}", ""),
            ("[]", ""),
            (
                r#"{"b":1.50,"a":{"c":[ "\"" ]}}"#,
                r#"{"b":1.50,"a":{"c":[ "\"" ]}}"#,
            ),
            (r#"[1,{"a":2}]"#, r#"[1,{"a":2}]"#),
        ] {
            assert_eq!(read(&format!(r#"{{"text":{json}}}"#)).text, text, "{json}");
        }
        assert_eq!(read(r#"{"id":7}"#).id.as_deref(), Some("7"));
        assert_eq!(read(r#"{"id":null}"#).id, None);
    }

    #[test]
    fn a_number_is_read_in_quotes_and_with_a_fraction_of_zero() {
        for (json, index) in [
            ("3", 3),
            ("3.0", 3),
            (r#""3""#, 3),
            (r#""3.0""#, 3),
            (r#""x""#, 0),
            ("-1", 0),
            ("null", 0),
            ("[3]", 0),
            ("4294967296", 4_294_967_296),
        ] {
            let told = read(&format!(r#"{{"index":{json},"small":{json}}}"#));
            assert_eq!(told.index, index, "{json}");
            let small = (json != "null").then(|| u32::try_from(index).unwrap_or(u32::MAX));
            assert_eq!(told.small, small, "{json}");
        }
        assert!(read(r#"{"flag":true}"#).flag);
        assert!(!read(r#"{"flag":"no"}"#).flag);
    }

    #[test]
    fn objects_and_lists_stand_for_each_other() {
        for json in ["null", "7", "true", r#""x""#, "[]", "[7,8]"] {
            let told = read(&format!(r#"{{"inner":{json},"index":1}}"#));
            assert_eq!(told.inner.map_or(0, |inner| inner.index), 0, "{json}");
            assert_eq!(told.index, 1, "{json}");
        }
        let first = read(r#"{"inner":[{"index":2},{"index":3}]}"#);
        assert_eq!(first.inner.expect("an element").index, 2);
        assert_eq!(read(r#"{"list":null}"#).list.len(), 0);
        let alone = read(r#"{"list":{"text":"a","list":{"text":"b"}}}"#);
        assert_eq!(alone.list[0].list[0].text, "b");
        for json in ["7", r#""x""#] {
            let scalar = format!(r#"{{"list":{json}}}"#);
            assert!(from_slice::<Wire>(scalar.as_bytes()).is_err(), "{json}");
        }
        for json in ["7", "false", "{}"] {
            let told = read(&format!(r#"{{"either":{json}}}"#)).either;
            assert!(matches!(told, Some(TextOr::Other)), "{json}");
        }
        let raw = read(r#"{"raw":[ 1.50 ]}"#).raw.expect("it is there");
        assert_eq!(raw.get(), "[ 1.50 ]");
    }

    #[test]
    fn what_is_no_json_is_an_error_at_any_depth() {
        let deep = format!("{}{}", r#"{"list":["#.repeat(500), "]}".repeat(500));
        let nested = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for json in ["", "{", r#"{"text":{"a":}}"#, "{} 2", &deep, &nested] {
            assert!(from_slice::<Wire>(json.as_bytes()).is_err(), "{json}");
        }
    }
}
