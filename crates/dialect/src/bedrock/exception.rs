//! Exceptions inside a stream.

use sluicegate_catalog::Provider;

use crate::error_text::ErrorText;
use crate::upstream_error::{UpstreamError, with_status};

/// The longest kind that is kept, in characters.
const KIND_CHARS_MAX: usize = 128;

/// Judges an exception, which stands for a status: `body` is what such an answer would hold. `kind` is
/// its name as streams write it, which begins in lower case.
/// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html>)
pub(super) fn exception(provider: &Provider, kind: &str, body: &[u8]) -> UpstreamError {
    let mut text = ErrorText::of_body(body);
    let mut characters = kind.chars().take(KIND_CHARS_MAX);
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    text.kind = first.into_iter().chain(characters).collect();
    let status = match text.kind.as_str() {
        "ThrottlingException" => 429,
        "ValidationException" => 400,
        "ModelStreamErrorException" => 424,
        "ServiceUnavailableException" => 503,
        _ => 500,
    };
    with_status(provider, status, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::{ErrorClass, provider};

    #[test]
    fn an_exception_in_a_stream_stands_for_a_status() {
        let bedrock = provider("bedrock").expect("a row");
        let cases = [
            ("throttlingException", "slow", ErrorClass::Rate),
            (
                "throttlingException",
                "Too many tokens per day",
                ErrorClass::Daily,
            ),
            (
                "validationException",
                "Input is too long for requested model.",
                ErrorClass::Context,
            ),
            ("validationException", "no", ErrorClass::Invalid),
            ("modelStreamErrorException", "", ErrorClass::Server),
            ("modelTimeoutException", "", ErrorClass::Timeout),
            ("serviceUnavailableException", "", ErrorClass::Overload),
            ("internalServerException", "", ErrorClass::Server),
            ("", "", ErrorClass::Server),
        ];
        for (kind, message, class) in cases {
            let body = serde_json::json!({"message": message}).to_string();
            let error = exception(bedrock, kind, body.as_bytes());
            assert_eq!(
                (error.class, error.message.as_str()),
                (class, message),
                "{kind}"
            );
        }
    }
}
