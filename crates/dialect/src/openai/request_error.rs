//! Saying what is wrong with a request: what, where, and how to mend it.

use std::fmt;

use crate::json::Span;

/// A request that cannot be understood. The caller's fault: no retry will help.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestError {
    /// The member at fault; `None` where it is the body itself.
    pub param: Option<&'static str>,
    /// What is wrong, where, and how to mend it.
    pub message: String,
}

pub(super) fn wrong(
    param: &'static str,
    expected: &str,
    body: &[u8],
    value: &Span,
) -> RequestError {
    wrong_at(param, param, expected, body, value)
}

pub(super) fn wrong_at(
    param: &'static str,
    place: &str,
    expected: &str,
    body: &[u8],
    value: &Span,
) -> RequestError {
    let found = match body[value.start] {
        b'"' => "a string",
        b'{' => "an object",
        b'[' => "an array",
        b'n' => "null",
        b't' | b'f' => "a boolean",
        // Numbers are short; what was written helps most. One of absurd length is cut.
        _ => {
            let digits =
                String::from_utf8_lossy(&body[value.start..value.end.min(value.start + 24)]);
            let message = format!("`{place}` must be {expected}, not {digits}");
            return RequestError {
                param: Some(param),
                message,
            };
        }
    };
    RequestError {
        param: Some(param),
        message: format!("`{place}` must be {expected}, not {found}"),
    }
}

pub(super) fn twice(param: &'static str) -> RequestError {
    RequestError {
        param: Some(param),
        message: format!(
            "`{param}` is written twice: which one counts is not defined, so leave one out"
        ),
    }
}

impl RequestError {
    pub(super) fn of(param: &'static str, message: &str) -> Self {
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
