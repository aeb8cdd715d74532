//! What we say ourselves where a request fails.

use bytes::Bytes;
use serde::Serialize;

/// An error as our callers get it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ErrorOut<'a> {
    /// What happened, which limit, and what would help.
    pub message: &'a str,
    /// The kind, like `rate_limit_error`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The exact reason, like `rate_limit_exceeded`.
    pub code: &'a str,
    /// The member of the request that is at fault.
    pub param: Option<&'a str>,
}

/// The body of an error answer.
///
/// ```
/// use sluicegate_dialect::openai::{ErrorOut, error_body};
/// let error = ErrorOut { message: "slow", kind: "rate_limit_error", code: "overloaded", param: None };
/// assert_eq!(
///     error_body(&error),
///     r#"{"error":{"message":"slow","type":"rate_limit_error","code":"overloaded","param":null}}"#
/// );
/// ```
pub fn error_body(error: &ErrorOut<'_>) -> Bytes {
    #[derive(Serialize)]
    struct Body<'a> {
        error: &'a ErrorOut<'a>,
    }
    let body = serde_json::to_vec(&Body { error });
    Bytes::from(body.expect("strings and a null always have a JSON form"))
}

/// The error event that ends a stream which has already begun, as clients of this dialect read it.
pub fn error_event(error: &ErrorOut<'_>) -> Bytes {
    let body = error_body(error);
    Bytes::from([&b"data: "[..], &body, b"\n\n"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_data_line() {
        let error = ErrorOut {
            message: "a\nb",
            kind: "api_error",
            code: "upstream_error",
            param: None,
        };
        assert_eq!(
            error_event(&error),
            "data: {\"error\":{\"message\":\"a\\nb\",\"type\":\"api_error\",\"code\":\"upstream_error\",\"param\":null}}\n\n"
        );
    }
}
