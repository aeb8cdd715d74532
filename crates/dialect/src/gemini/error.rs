//! What we say ourselves where a request fails.

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

use crate::wire_form::to_json;

/// An error as our callers get it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorOut<'a> {
    /// The number of the HTTP status, also where the answer had begun with another.
    pub code: u16,
    /// What happened, which limit, and what would help.
    pub message: &'a str,
    /// The status as a word, as [`error_status`] gives it.
    pub status: &'a str,
    /// When to come back, in milliseconds; `None` where nobody knows.
    pub retry_after_ms: Option<u64>,
}

/// The word that this dialect has for a status.
/// (<https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto>)
///
/// ```
/// use http::StatusCode;
/// use sluicegate_dialect::gemini::error_status;
/// assert_eq!(error_status(StatusCode::TOO_MANY_REQUESTS), "RESOURCE_EXHAUSTED");
/// assert_eq!(error_status(StatusCode::BAD_GATEWAY), "INTERNAL");
/// ```
pub fn error_status(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "UNAUTHENTICATED",
        402 => "FAILED_PRECONDITION",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        408 | 504 => "DEADLINE_EXCEEDED",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        503 | 529 => "UNAVAILABLE",
        400..=499 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

/// The body of an error answer. When to come back is said as Google says it, in a detail.
///
/// ```
/// use sluicegate_dialect::gemini::{ErrorOut, error_body};
/// let error = ErrorOut { code: 429, message: "slow", status: "RESOURCE_EXHAUSTED", retry_after_ms: None };
/// assert_eq!(
///     error_body(&error),
///     r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}"#
/// );
/// ```
pub fn error_body(error: &ErrorOut<'_>) -> Bytes {
    let details = error.retry_after_ms.map(|ms| {
        [RetryInfo {
            kind: "type.googleapis.com/google.rpc.RetryInfo",
            retry_delay: format!("{}.{:03}s", ms / 1_000, ms % 1_000),
        }]
    });
    Bytes::from(to_json(&Body {
        error: Inner {
            code: error.code,
            message: error.message,
            status: error.status,
            details,
        },
    }))
}

/// The event that ends a stream of events which has already begun, as clients of this dialect read
/// it. Where a client gets an array, [`ContentStream::fail`](super::ContentStream::fail) says it.
pub fn error_event(error: &ErrorOut<'_>) -> Bytes {
    Bytes::from([&b"data: "[..], &error_body(error), b"\n\n"].concat())
}

#[derive(Serialize)]
struct Body<'a> {
    error: Inner<'a>,
}

#[derive(Serialize)]
struct Inner<'a> {
    code: u16,
    message: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<[RetryInfo; 1]>,
}

#[derive(Serialize)]
struct RetryInfo {
    #[serde(rename = "@type")]
    kind: &'static str,
    #[serde(rename = "retryDelay")]
    retry_delay: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_word_of_google() {
        let words = [
            "CANCELLED",
            "INVALID_ARGUMENT",
            "DEADLINE_EXCEEDED",
            "NOT_FOUND",
            "PERMISSION_DENIED",
            "UNAUTHENTICATED",
            "RESOURCE_EXHAUSTED",
            "FAILED_PRECONDITION",
            "ABORTED",
            "UNIMPLEMENTED",
            "INTERNAL",
            "UNAVAILABLE",
        ];
        for code in 400..600 {
            let status = StatusCode::from_u16(code).expect("a status");
            assert!(words.contains(&error_status(status)), "{code}");
        }
    }

    #[test]
    fn an_event_is_one_line_and_says_when_to_come_back() {
        let error = ErrorOut {
            code: 429,
            message: "a\nb",
            status: "RESOURCE_EXHAUSTED",
            retry_after_ms: Some(7_050),
        };
        assert_eq!(
            error_event(&error),
            "data: {\"error\":{\"code\":429,\"message\":\"a\\nb\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"7.050s\"}]}}\n\n"
        );
    }
}
