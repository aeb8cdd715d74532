//! What a provider's failure says. All shapes are read here, since whoever passes failures on mixes
//! them.
//!
//! A body that cannot be read leaves the status to decide alone.

use http::{HeaderMap, StatusCode};
use sluicegate_catalog::{ErrorClass, Provider};

use crate::error_text::{self, ErrorText};
use crate::json::Cursor;
use crate::mistake_words::by_words;
use crate::signal::barred;

/// A provider's failure, read as far as it could be. Strings are bounded and hold no control
/// characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpstreamError {
    /// What it means.
    pub class: ErrorClass,
    /// The status that it came with, and goes on with where its client reads it translated; `None`
    /// inside a stream.
    pub status: Option<StatusCode>,
    /// The error's `code`, empty where it has none.
    pub code: String,
    /// The error's `type`, empty where it has none.
    pub kind: String,
    /// What the provider says, empty where it says nothing readable.
    pub message: String,
}

impl UpstreamError {
    /// What the provider says, or that it says nothing.
    pub(crate) fn said(&self) -> &str {
        if self.message.is_empty() {
            "the provider failed without saying why"
        } else {
            &self.message
        }
    }

    /// An event of a stream that is translated cannot be read. It might have been output: to leave
    /// it out would be to lose it.
    pub(crate) fn not_readable() -> Self {
        Self::of_server("an event of the provider's stream cannot be read")
    }

    /// A stream said that it is over before its answer said why it ended.
    pub(crate) fn unfinished() -> Self {
        Self::of_server("the provider ended its stream before the answer was finished")
    }

    /// The model gave nothing that can be used, for that `reason` of the provider's, which may have `said` more of it.
    pub(crate) fn no_answer(reason: &str, said: Option<&str>) -> Self {
        let mut message = format!("the model gave no usable answer: {reason}");
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            message.push_str(": ");
            message.push_str(said);
        }
        Self::of_server(&message)
    }

    /// A failure that no error of the provider's tells.
    fn of_server(message: &str) -> Self {
        Self {
            class: ErrorClass::Server,
            status: None,
            code: String::new(),
            kind: String::new(),
            message: error_text::message(message),
        }
    }

    /// A stream that is translated held an image or a sound, and nothing that could be told.
    pub(crate) fn media_alone() -> Self {
        Self {
            message: "the model answered with images or sound alone, which a translated stream cannot carry".to_owned(),
            ..Self::not_readable()
        }
    }
}

/// Reads the body of an answer that is no success, and judges it by `provider`'s table, then by the
/// status.
///
/// Understands `{"error":{…}}`, `{"error":"…"}`, a bare `{"message":…}` and a list of one of these.
/// HTML, other junk and an empty body leave the strings empty. Where the body names no type, Amazon's
/// header does. What is refused for its rate while
/// the headers show a limit of zero is too large for it, however long one waits.
///
/// ```
/// use http::{HeaderMap, StatusCode};
/// use sluicegate_catalog::{ErrorClass, provider};
/// use sluicegate_dialect::classify;
/// let openai = provider("openai").expect("a row of that name");
/// let body: &[u8] = br#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":null}}"#;
/// let class = |body| classify(openai, StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new(), body).class;
/// assert_eq!(class(body), ErrorClass::Billing);
/// assert_eq!(class(b""), ErrorClass::Rate);
/// ```
pub fn classify(
    provider: &Provider,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> UpstreamError {
    let mut text = ErrorText::of_body(body);
    if text.kind.is_empty() {
        text.kind = kind_in_header(headers);
    }
    let class = by_table(provider, Some(status.as_u16()), &text);
    let class = class.unwrap_or_else(|| by_status(status.as_u16()));
    let class = match refined(class, Some(status.as_u16()), &text) {
        ErrorClass::Rate if barred(provider, headers).is_some() => ErrorClass::TooLargeForLimit,
        class => class,
    };
    UpstreamError {
        status: Some(status),
        ..judged(text, class)
    }
}

/// Judges an error inside a stream, where there is no status but sometimes a code that is one. At
/// `at` begins what the `error` member holds, or the whole data of an event that is named `error`.
pub(crate) fn in_stream(provider: &Provider, text: &[u8], at: usize) -> UpstreamError {
    let text = ErrorText::of_error(Cursor::at(text, at));
    let class = by_table(provider, None, &text);
    let by_code = || {
        let code = text.code.parse().ok();
        code.filter(|code| (400..600).contains(code)).map(by_status)
    };
    let class = class.or_else(by_code).unwrap_or_else(|| by_name(&text));
    let class = refined(class, None, &text);
    judged(text, class)
}

/// Judges what an answer with that status would say in words that are read already.
pub(crate) fn with_status(provider: &Provider, status: u16, text: ErrorText) -> UpstreamError {
    let class = by_table(provider, Some(status), &text).unwrap_or_else(|| by_status(status));
    let class = refined(class, Some(status), &text);
    judged(text, class)
}

/// The type that Amazon tells in a header, behind which an address may stand.
fn kind_in_header(headers: &HeaderMap) -> String {
    let value = headers.get("x-amzn-errortype");
    let value = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    let kind = value.split(':').next().unwrap_or_default();
    kind.chars().take(KIND_CHARS_MAX).collect()
}

/// The longest type that is kept.
const KIND_CHARS_MAX: usize = 128;

fn judged(text: ErrorText, class: ErrorClass) -> UpstreamError {
    UpstreamError {
        class,
        status: None,
        code: text.code,
        kind: text.kind,
        message: text.message,
    }
}

/// By the row's entries, which seek parts of a message also in the names of an error's details.
fn by_table(provider: &Provider, status: Option<u16>, text: &ErrorText) -> Option<ErrorClass> {
    let haystack = text.haystack();
    let mut entries = provider.errors.iter();
    let entry = entries.find(|entry| entry.fits(status, &text.code, &text.kind, &haystack));
    entry.map(|entry| entry.class)
}

/// A mistake of the caller of which no more is known is what its words say.
fn refined(class: ErrorClass, status: Option<u16>, text: &ErrorText) -> ErrorClass {
    match class {
        ErrorClass::Invalid => by_words(status, text).unwrap_or(class),
        class => class,
    }
}

/// What a status means where nothing more is known. 413 is the body's size here; where it is a
/// limit's, the row says so.
const fn by_status(status: u16) -> ErrorClass {
    match status {
        401 | 403 | 407 => ErrorClass::Auth,
        402 => ErrorClass::Billing,
        408 | 504 | 522 | 524 => ErrorClass::Timeout,
        429 => ErrorClass::Rate,
        503 | 529 => ErrorClass::Overload,
        500.. => ErrorClass::Server,
        _ => ErrorClass::Invalid,
    }
}

/// The status with which a failure of that class mostly comes.
pub(crate) const fn usual_status(class: ErrorClass) -> StatusCode {
    match class {
        ErrorClass::Rate | ErrorClass::Ramp | ErrorClass::Daily => StatusCode::TOO_MANY_REQUESTS,
        ErrorClass::Billing => StatusCode::PAYMENT_REQUIRED,
        ErrorClass::Overload => StatusCode::SERVICE_UNAVAILABLE,
        ErrorClass::Server => StatusCode::BAD_GATEWAY,
        ErrorClass::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorClass::Auth => StatusCode::UNAUTHORIZED,
        ErrorClass::TooLargeForLimit
        | ErrorClass::Context
        | ErrorClass::Policy
        | ErrorClass::Invalid => StatusCode::BAD_REQUEST,
    }
}

/// What an error of a stream means that neither the row nor a status explains.
fn by_name(text: &ErrorText) -> ErrorClass {
    let named = |name: &str| text.kind == name || text.code == name;
    if named("invalid_request_error") {
        ErrorClass::Invalid
    } else if named("rate_limit_error") {
        ErrorClass::Rate
    } else if named("overloaded_error") {
        ErrorClass::Overload
    } else {
        ErrorClass::Server
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::provider;

    fn class(id: &str, status: u16, body: &str) -> ErrorClass {
        let status = StatusCode::from_u16(status).expect("a status");
        let provider = provider(id).expect("a row");
        classify(provider, status, &HeaderMap::new(), body.as_bytes()).class
    }

    #[test]
    fn the_table_decides_before_the_status() {
        let cases = [
            (
                429,
                r#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
                ErrorClass::Rate,
            ),
            (
                429,
                r#"{"error":{"message":"Request too large for gpt-4o: Limit 30000, Requested 31042","type":"tokens","code":"rate_limit_exceeded"}}"#,
                ErrorClass::TooLargeForLimit,
            ),
            (
                429,
                r#"{"error":{"message":"Rate limit reached on requests per day (RPD): Limit 200","type":"requests","code":"rate_limit_exceeded"}}"#,
                ErrorClass::Daily,
            ),
            (429, r#"{"error":{"code":"slow_down"}}"#, ErrorClass::Ramp),
            (
                429,
                r#"{"error":{"type":"insufficient_quota"}}"#,
                ErrorClass::Billing,
            ),
            (
                429,
                r#"{"error":{"code":"billing_hard_limit_reached"}}"#,
                ErrorClass::Billing,
            ),
            (
                503,
                r#"{"error":{"code":"server_is_overloaded"}}"#,
                ErrorClass::Overload,
            ),
            (
                500,
                r#"{"error":{"type":"server_error"}}"#,
                ErrorClass::Server,
            ),
            (
                400,
                r#"{"error":{"code":"context_length_exceeded","type":"invalid_request_error"}}"#,
                ErrorClass::Context,
            ),
            (
                400,
                r#"{"error":{"code":"invalid_prompt"}}"#,
                ErrorClass::Policy,
            ),
            (
                400,
                r#"{"error":{"type":"invalid_request_error","code":"unknown_parameter"}}"#,
                ErrorClass::Invalid,
            ),
            (
                401,
                r#"{"error":{"code":"invalid_api_key"}}"#,
                ErrorClass::Auth,
            ),
            (
                404,
                r#"{"error":{"code":"model_not_found"}}"#,
                ErrorClass::Invalid,
            ),
        ];
        for (status, body, expected) in cases {
            assert_eq!(class("openai", status, body), expected, "{status} {body}");
        }
        let cases = [
            (
                429,
                r#"{"error":{"code":"429","message":"Requests have exceeded token rate limit. Please retry after 7 seconds."}}"#,
                ErrorClass::Rate,
            ),
            (
                429,
                r#"{"error":{"code":"429","message":"… exceeded call rate limit … Please retry after 86400 seconds."}}"#,
                ErrorClass::Daily,
            ),
            (
                429,
                r#"{"error":{"message":"The system is currently experiencing high demand"}}"#,
                ErrorClass::Overload,
            ),
            (
                400,
                r#"{"error":{"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
                ErrorClass::Policy,
            ),
            (
                404,
                r#"{"error":{"code":"DeploymentNotFound","message":"…"}}"#,
                ErrorClass::Invalid,
            ),
            (403, "", ErrorClass::Auth),
            (503, "", ErrorClass::Overload),
        ];
        for (status, body, expected) in cases {
            assert_eq!(class("azure", status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn junk_is_judged_by_its_status() {
        for body in [
            "",
            "<html><h1>429</h1></html>",
            "\"",
            "{",
            "{\"error\":",
            "[]",
            "null",
            "\u{0}",
            "[[[[",
        ] {
            assert_eq!(class("openai", 429, body), ErrorClass::Rate, "{body}");
            assert_eq!(class("openai", 502, body), ErrorClass::Server, "{body}");
            assert_eq!(class("openai", 529, body), ErrorClass::Overload, "{body}");
            assert_eq!(class("openai", 408, body), ErrorClass::Timeout, "{body}");
            assert_eq!(class("openai", 402, body), ErrorClass::Billing, "{body}");
            assert_eq!(class("openai", 413, body), ErrorClass::Invalid, "{body}");
        }
    }

    #[test]
    fn the_names_of_details_are_sought_like_parts_of_a_message() {
        let body = r#"{"error":{"code":429,"message":"no","details":[{"@type":"x","violations":[{"quotaId":"Too-86400 seconds"}]}]}}"#;
        assert_eq!(class("azure", 429, body), ErrorClass::Daily);
    }

    #[test]
    fn a_limit_of_zero_refuses_for_ever() {
        let openai = provider("openai").expect("a row");
        let class = |status, limit| {
            let name = http::HeaderName::from_static("x-ratelimit-limit-tokens");
            let headers = [(name, http::HeaderValue::from_static(limit))];
            classify(openai, status, &headers.into_iter().collect(), b"").class
        };
        let refused = StatusCode::TOO_MANY_REQUESTS;
        assert_eq!(class(refused, "0"), ErrorClass::TooLargeForLimit);
        assert_eq!(class(refused, "1"), ErrorClass::Rate);
        assert_eq!(class(refused, "-1"), ErrorClass::Rate);
        assert_eq!(class(StatusCode::BAD_GATEWAY, "0"), ErrorClass::Server);
    }

    #[test]
    fn a_type_may_stand_in_a_header() {
        let bedrock = provider("bedrock").expect("a row");
        let classified = |status, kind: &'static str, body: &str| {
            let name = http::HeaderName::from_static("x-amzn-errortype");
            let headers = [(name, http::HeaderValue::from_static(kind))];
            let headers = headers.into_iter().collect();
            let status = StatusCode::from_u16(status).expect("a status");
            classify(bedrock, status, &headers, body.as_bytes())
        };
        let quota = "ServiceQuotaExceededException:http://internal.amazon.com/coral/";
        let error = classified(400, quota, r#"{"message":"no"}"#);
        assert_eq!(error.class, ErrorClass::Billing);
        assert_eq!(error.kind, "ServiceQuotaExceededException");
        let error = classified(429, "ModelNotReadyException", "");
        assert_eq!(error.class, ErrorClass::Overload);
        let error = classified(429, "ModelNotReadyException", r#"{"type":"told"}"#);
        assert_eq!(
            (error.class, error.kind.as_str()),
            (ErrorClass::Rate, "told")
        );
    }

    #[test]
    fn an_error_in_a_stream_has_no_status() {
        let openai = provider("openai").expect("a row");
        let class = |text: &str| in_stream(openai, text.as_bytes(), 0).class;
        assert_eq!(
            class(r#"{"code":"rate_limit_exceeded","type":"tokens"}"#),
            ErrorClass::Rate
        );
        assert_eq!(
            class(r#"{"code":503,"message":"busy"}"#),
            ErrorClass::Overload
        );
        assert_eq!(
            class(r#"{"type":"invalid_request_error"}"#),
            ErrorClass::Invalid
        );
        assert_eq!(class(r#""something broke""#), ErrorClass::Server);
        assert_eq!(class(""), ErrorClass::Server);
    }
}
