//! JSON that passes through as text.

use serde_json::value::RawValue;

/// A valid JSON text, as it was written: order of members, numbers and escapes are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonText(String);

impl JsonText {
    /// `text` without the white space around it, where it is valid JSON of any depth.
    ///
    /// ```
    /// use sluicegate_dialect::canonical::JsonText;
    /// assert_eq!(JsonText::parse(r#" {"b":1,"a":0.10} "#).expect("JSON").as_str(), r#"{"b":1,"a":0.10}"#);
    /// assert!(JsonText::parse("{").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        Some(Self(raw.get().to_owned()))
    }

    /// The schema of an object without members of its own.
    pub(crate) fn empty_object() -> Self {
        Self(r#"{"type":"object","properties":{}}"#.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    pub(crate) fn raw(&self) -> Box<RawValue> {
        RawValue::from_string(self.0.clone()).expect("a text is made of valid JSON only")
    }
}

impl From<&RawValue> for JsonText {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().to_owned())
    }
}
