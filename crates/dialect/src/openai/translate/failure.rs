//! A provider's failure as this dialect tells it, to clients of chat completions and of responses.
//!
//! SDKs choose the exception by the status, and programs look at `code`: the former is the one that
//! the failure came with, so `type` follows it; the latter says what the failure means.

use bytes::Bytes;
use http::StatusCode;
use sluicegate_catalog::ErrorClass;

use crate::UpstreamError;
use crate::openai::{ErrorOut, error_body};

/// Writes a provider's failure.
pub fn write_error(error: &UpstreamError) -> Bytes {
    error_body(&error_out(error))
}

/// The failure in the words of this dialect; its message, and a code where it has one that is a
/// word, stay the provider's. A code that is a number repeats a status, and is Google's or vLLM's.
pub(crate) fn error_out(error: &UpstreamError) -> ErrorOut<'_> {
    let is_word = error.code.bytes().any(|byte| !byte.is_ascii_digit());
    let code = if is_word && error.class != ErrorClass::Context {
        &error.code
    } else {
        code_of(error)
    };
    let kind = error.status.and_then(kind_at);
    ErrorOut {
        message: error.said(),
        kind: kind.unwrap_or_else(|| kind_of(error.class)),
        code,
        param: None,
    }
}

/// The `type` of an error with that status; `None` where the status is none of an error.
fn kind_at(status: StatusCode) -> Option<&'static str> {
    Some(match status.as_u16() {
        401 | 403 => "authentication_error",
        402 => "billing_error",
        408 | 500.. => "api_error",
        429 => "rate_limit_error",
        400.. => "invalid_request_error",
        _ => return None,
    })
}

/// The `type` of an error of that class.
const fn kind_of(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::Rate | ErrorClass::Daily | ErrorClass::Ramp | ErrorClass::Overload => {
            "rate_limit_error"
        }
        ErrorClass::TooLargeForLimit
        | ErrorClass::Invalid
        | ErrorClass::Context
        | ErrorClass::Policy => "invalid_request_error",
        ErrorClass::Auth => "authentication_error",
        ErrorClass::Billing => "billing_error",
        ErrorClass::Server | ErrorClass::Timeout => "api_error",
    }
}

/// The `code` of an error, as OpenAI's own would have it.
fn code_of(error: &UpstreamError) -> &'static str {
    let status = error.status.map(|status| status.as_u16());
    match error.class {
        ErrorClass::Rate | ErrorClass::Daily | ErrorClass::Ramp => "rate_limit_exceeded",
        ErrorClass::Overload => "overloaded",
        ErrorClass::TooLargeForLimit => "token_limit_exceeded",
        ErrorClass::Invalid => match status {
            Some(404) if names_model(&error.message) => "model_not_found",
            Some(404) => "not_found",
            Some(409) => "conflict",
            Some(413) => "request_too_large",
            _ => "invalid_request",
        },
        ErrorClass::Context => "context_length_exceeded",
        ErrorClass::Policy => "content_filter",
        ErrorClass::Auth if status == Some(403) => "permission_denied",
        ErrorClass::Auth => "invalid_api_key",
        ErrorClass::Billing => "insufficient_quota",
        ErrorClass::Server => "upstream_error",
        ErrorClass::Timeout => "upstream_timeout",
    }
}

/// Whether what was not found is a model: each provider names it in a sentence of its own.
fn names_model(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("model") || message.contains("deployment")
}
