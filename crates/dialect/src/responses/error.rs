//! The error event that ends a stream which has already begun. A whole answer fails in the same words
//! as a chat completion.

use bytes::Bytes;
use serde::Serialize;

use crate::openai::ErrorOut;
use crate::wire_form::to_json;

/// The error event that ends a stream, after `sequence_number` events before it.
///
/// The documents put the error's members into the event, the provider itself into an `error` member
/// of it, and SDKs are made for either: without the latter Python's hands the event to the program as
/// if nothing had failed.
///
/// ```
/// use sluicegate_dialect::openai::ErrorOut;
/// use sluicegate_dialect::responses::error_event;
/// let error = ErrorOut { message: "slow", kind: "rate_limit_error", code: "overloaded", param: None };
/// let event = error_event(&error, 4);
/// assert!(event.starts_with(b"event: error\ndata: {\"type\":\"error\",\"sequence_number\":4,"));
/// ```
pub fn error_event(error: &ErrorOut<'_>, sequence_number: u64) -> Bytes {
    let body = to_json(&Event {
        kind: "error",
        sequence_number,
        code: error.code,
        message: error.message,
        param: error.param,
        error,
    });
    Bytes::from([&b"event: error\ndata: "[..], &body, b"\n\n"].concat())
}

#[derive(Serialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    sequence_number: u64,
    code: &'a str,
    message: &'a str,
    param: Option<&'a str>,
    error: &'a ErrorOut<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_name_and_one_data_line() {
        let error = ErrorOut {
            message: "a\nb",
            kind: "api_error",
            code: "upstream_error",
            param: None,
        };
        assert_eq!(
            error_event(&error, 2),
            "event: error\ndata: {\"type\":\"error\",\"sequence_number\":2,\"code\":\"upstream_error\",\"message\":\"a\\nb\",\"param\":null,\
             \"error\":{\"message\":\"a\\nb\",\"type\":\"api_error\",\"code\":\"upstream_error\",\"param\":null}}\n\n"
        );
    }
}
