//! Saying what is wrong with a request: what, where, and how to mend it.

use std::borrow::Cow;
use std::fmt;

use crate::json::Cursor;

/// Digits of a number that are shown.
const NUMBER_BYTES_MAX: usize = 24;

/// A request that cannot be understood. The caller's fault: no retry will help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestError {
    /// The member at fault; `None` where it is the body itself.
    pub param: Option<&'static str>,
    /// What is wrong, where, and how to mend it.
    pub message: String,
}

/// The value at hand, that of `param`, is not what was expected.
pub(crate) fn wrong(param: &'static str, expected: &str, value: &Cursor<'_>) -> RequestError {
    wrong_at(param, param, expected, value)
}

/// The same for a value further inside of `param`.
pub(crate) fn wrong_at(
    param: &'static str,
    place: &str,
    expected: &str,
    value: &Cursor<'_>,
) -> RequestError {
    RequestError {
        param: Some(param),
        message: mistaken(place, expected, value),
    }
}

/// What is wrong with the value at hand, which stands at `place`.
pub(crate) fn mistaken(place: &str, expected: &str, value: &Cursor<'_>) -> String {
    let found = match value.peek() {
        b'"' => Cow::Borrowed("a string"),
        b'{' => Cow::Borrowed("an object"),
        b'[' => Cow::Borrowed("an array"),
        b'n' => Cow::Borrowed("null"),
        b't' | b'f' => Cow::Borrowed("a boolean"),
        // What was written helps most. One of absurd length is cut.
        _ => {
            let number = value.clone().skip().unwrap_or_default();
            let shown = number.start..number.end.min(number.start + NUMBER_BYTES_MAX);
            String::from_utf8_lossy(&value.text()[shown])
        }
    };
    format!("`{place}` must be {expected}, not {found}")
}

pub(crate) fn twice(param: &'static str) -> RequestError {
    RequestError {
        param: Some(param),
        message: format!(
            "`{param}` is written twice: which one counts is not defined, so leave one out"
        ),
    }
}

impl RequestError {
    pub(crate) fn of(param: &'static str, message: &str) -> Self {
        Self {
            param: Some(param),
            message: message.to_owned(),
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RequestError {}
