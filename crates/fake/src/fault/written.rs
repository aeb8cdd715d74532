//! Values of a fault that may be written in more than one way: one status or several, a header's text or a number.

use std::fmt;

use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// One status, or one for each call in turn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statuses(pub(super) Vec<u16>);

/// A header's value, which may be written as a number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct Text(String);

/// A header's name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub struct HeaderName(String);

impl Statuses {
    /// Whether none is named.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Text {
    /// As it stands.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl HeaderName {
    /// In lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for HeaderName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        match http::HeaderName::try_from(&name) {
            Ok(checked) => Ok(Self(checked.as_str().to_owned())),
            Err(_) => Err(format!("`{name}` is no header name")),
        }
    }
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Statuses;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a status from 200 to 599, or a list of them")
            }

            fn visit_u64<E: de::Error>(self, status: u64) -> Result<Statuses, E> {
                checked(status).map(|status| Statuses(vec![status]))
            }

            fn visit_i64<E: de::Error>(self, status: i64) -> Result<Statuses, E> {
                self.visit_u64(u64::try_from(status).unwrap_or(0))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Statuses, A::Error> {
                let mut statuses = Vec::new();
                while let Some(status) = list.next_element()? {
                    statuses.push(checked(status)?);
                }
                Ok(Statuses(statuses))
            }
        }

        fn checked<E: de::Error>(status: u64) -> Result<u16, E> {
            u16::try_from(status)
                .ok()
                .filter(|status| (200..600).contains(status))
                .ok_or_else(|| {
                    de::Error::custom(format!("status {status}: expected one from 200 to 599"))
                })
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl Serialize for Statuses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrNumber;
        impl Visitor<'_> for TextOrNumber {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                match http::HeaderValue::try_from(text) {
                    Ok(_) => Ok(Text(text.to_owned())),
                    Err(_) => Err(E::custom("no header can carry this text")),
                }
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Text, E> {
                Ok(Text(number.to_string()))
            }
        }
        deserializer.deserialize_any(TextOrNumber)
    }
}
