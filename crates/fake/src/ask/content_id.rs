//! Names what a request asks, whatever its model and its way of delivery.
//!
//! A gateway may rename the model and ask for usage in streams; the answer must not change with that, so only what is asked
//! is hashed, with the keys of objects in order.

use serde_json::{Map, Value};

/// A number that depends on the fields with these names, but not on the order of keys.
pub(super) fn content_id(body: &Map<String, Value>, names: &[&str]) -> u64 {
    let mut hash = Fnv::default();
    for name in names {
        hash.value(body.get(*name).unwrap_or(&Value::Null));
    }
    hash.0
}

/// A number that depends on this text.
pub(crate) fn text_id(text: &str) -> u64 {
    let mut hash = Fnv::default();
    hash.bytes(text.as_bytes());
    hash.0
}

/// FNV-1a, 64 bits: the same everywhere and for ever.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.0 = (self.0 ^ 0xff).wrapping_mul(0x0100_0000_01b3);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.value(value)),
            Value::Object(fields) => {
                let mut names: Vec<&String> = fields.keys().collect();
                names.sort_unstable();
                for name in names {
                    self.bytes(name.as_bytes());
                    self.value(&fields[name]);
                }
            }
            Value::String(text) => self.bytes(text.as_bytes()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.bytes(value.to_string().as_bytes());
            }
        }
    }
}
