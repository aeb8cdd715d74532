//! What we say ourselves where a request fails.

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

/// An error as our callers get it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ErrorOut<'a> {
    /// The kind: one that this dialect knows, as [`error_kind`] gives it.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// What happened, which limit, and what would help.
    pub message: &'a str,
}

/// The kind of error that this dialect has for a status
/// (<https://platform.claude.com/docs/en/api/errors>). SDKs know no others, and have no more exact
/// code.
///
/// ```
/// use http::StatusCode;
/// use sluicegate_dialect::anthropic::error_kind;
/// assert_eq!(error_kind(StatusCode::TOO_MANY_REQUESTS), "rate_limit_error");
/// assert_eq!(error_kind(StatusCode::BAD_GATEWAY), "api_error");
/// ```
pub fn error_kind(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 | 504 => "timeout_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}

/// The body of an error answer.
///
/// ```
/// use sluicegate_dialect::anthropic::{ErrorOut, error_body};
/// assert_eq!(
///     error_body(&ErrorOut { kind: "rate_limit_error", message: "slow" }),
///     r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#
/// );
/// ```
pub fn error_body(error: &ErrorOut<'_>) -> Bytes {
    #[derive(Serialize)]
    struct Body<'a> {
        #[serde(rename = "type")]
        kind: &'static str,
        error: &'a ErrorOut<'a>,
    }
    let kind = "error";
    let body = serde_json::to_vec(&Body { kind, error });
    Bytes::from(body.expect("strings always have a JSON form"))
}

/// The error event that ends a stream which has already begun, as clients of this dialect read it.
pub fn error_event(error: &ErrorOut<'_>) -> Bytes {
    let body = error_body(error);
    Bytes::from([&b"event: error\ndata: "[..], &body, b"\n\n"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_legal_kind() {
        let legal = [
            "invalid_request_error",
            "authentication_error",
            "billing_error",
            "permission_error",
            "not_found_error",
            "rate_limit_error",
            "timeout_error",
            "api_error",
            "overloaded_error",
            "conflict_error",
            "request_too_large",
        ];
        for code in 400..600 {
            let status = StatusCode::from_u16(code).expect("a status");
            assert!(legal.contains(&error_kind(status)), "{code}");
        }
        for code in [400, 422] {
            let status = StatusCode::from_u16(code).expect("a status");
            assert_eq!(error_kind(status), "invalid_request_error", "{code}");
        }
        let too_large = StatusCode::PAYLOAD_TOO_LARGE;
        assert_eq!(error_kind(too_large), "request_too_large");
    }

    #[test]
    fn an_event_has_its_name_and_one_data_line() {
        let error = ErrorOut {
            kind: "api_error",
            message: "a\nb",
        };
        assert_eq!(
            error_event(&error),
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"a\\nb\"}}\n\n"
        );
    }
}
