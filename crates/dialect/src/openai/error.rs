//! What a provider's failure says, and what we say ourselves.
//!
//! Bodies of failures are the least dependable thing that a provider sends: JSON of several shapes,
//! a proxy's HTML, nothing at all. So reading one cannot fail: what is not found is empty, and then
//! the status decides alone.

use std::fmt::Write as _;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use sluicegate_catalog::{ErrorClass, Provider};

use crate::json::{self, Cursor, Span};

/// The longest code or type that is kept, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// The longest message that is kept, in bytes.
const MESSAGE_BYTES_MAX: usize = 1_024;

/// A provider's failure, read as far as it could be. Strings are bounded and hold no control
/// characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UpstreamError {
    /// What it means.
    pub class: ErrorClass,
    /// The error's `code`, empty where it has none.
    pub code: String,
    /// The error's `type`, empty where it has none.
    pub kind: String,
    /// What the provider says, empty where it says nothing readable.
    pub message: String,
}

/// Reads the body of an answer that is no success, and judges it by `provider`'s table, then by the
/// status.
///
/// Understands `{"error":{…}}`, `{"error":"…"}`, a bare `{"message":…}` and a list of one of these.
/// HTML, other junk and an empty body leave the strings empty.
///
/// ```
/// use http::StatusCode;
/// use sluicegate_catalog::{ErrorClass, provider};
/// use sluicegate_dialect::openai::classify;
/// let openai = provider("openai").expect("a row of that name");
/// let body = br#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":null}}"#;
/// assert_eq!(classify(openai, StatusCode::TOO_MANY_REQUESTS, body).class, ErrorClass::Billing);
/// assert_eq!(classify(openai, StatusCode::TOO_MANY_REQUESTS, b"").class, ErrorClass::Rate);
/// ```
pub fn classify(provider: &Provider, status: StatusCode, body: &[u8]) -> UpstreamError {
    let parts = Parts::of_body(body);
    let class = by_table(provider, Some(status.as_u16()), &parts);
    parts.with(class.unwrap_or_else(|| by_status(status.as_u16())))
}

/// Judges an error inside a stream, where there is no status but sometimes a code that is one. At
/// `at` begins what the `error` member holds, or the whole data of an event that is named `error`.
pub(super) fn in_stream(provider: &Provider, text: &[u8], at: usize) -> UpstreamError {
    let parts = Parts::of_error(Cursor::at(text, at));
    let class = by_table(provider, None, &parts);
    let by_code = || {
        parts
            .code
            .parse()
            .ok()
            .filter(|code| (400..600).contains(code))
            .map(by_status)
    };
    let class = class.or_else(by_code).unwrap_or_else(|| by_name(&parts));
    parts.with(class)
}

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

#[derive(Default)]
struct Parts {
    code: String,
    kind: String,
    message: String,
}

impl Parts {
    fn of_body(body: &[u8]) -> Self {
        let mut cursor = Cursor::new(body);
        if cursor.enter(b'[') && !cursor.next_element() || cursor.peek() != b'{' {
            return Self::default();
        }
        let inner = json::member(body, cursor.position(), "error");
        let outer = Self::of_error(cursor);
        let Some(inner) = inner else { return outer };
        let inner = Self::of_error(Cursor::at(body, inner.start));
        let or = |first: String, second: String| if first.is_empty() { second } else { first };
        Self {
            code: or(inner.code, outer.code),
            kind: or(inner.kind, outer.kind),
            message: or(inner.message, outer.message),
        }
    }

    /// Of the object at hand, or of a string that is the message.
    fn of_error(mut cursor: Cursor<'_>) -> Self {
        let mut parts = Self::default();
        let text = cursor.text();
        if cursor.peek() == b'"' {
            parts.message = bounded(text, cursor.skip(), MESSAGE_BYTES_MAX);
        } else if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                match &*key.name(text) {
                    b"code" => parts.code = bounded(text, cursor.skip(), NAME_BYTES_MAX),
                    b"type" | b"error_type" => {
                        parts.kind = bounded(text, cursor.skip(), NAME_BYTES_MAX);
                    }
                    b"message" => parts.message = bounded(text, cursor.skip(), MESSAGE_BYTES_MAX),
                    _ => {}
                }
            }
        }
        parts
    }

    fn with(self, class: ErrorClass) -> UpstreamError {
        UpstreamError {
            class,
            code: self.code,
            kind: self.kind,
            message: self.message,
        }
    }
}

fn by_table(provider: &Provider, status: Option<u16>, parts: &Parts) -> Option<ErrorClass> {
    let message = parts.message.to_lowercase();
    let mut entries = provider.errors.iter();
    let entry = entries.find(|entry| entry.fits(status, &parts.code, &parts.kind, &message));
    entry.map(|entry| entry.class)
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

/// What an error of a stream means that neither the row nor a status explains.
fn by_name(parts: &Parts) -> ErrorClass {
    let named = |name: &str| parts.kind == name || parts.code == name;
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

/// A string or a number, cut to `bytes_max` at a character, control characters made visible.
fn bounded(text: &[u8], value: Option<Span>, bytes_max: usize) -> String {
    let Some(value) = value else {
        return String::new();
    };
    let shown = match text.get(value.start) {
        Some(b'"') => json::string(text, &value).unwrap_or_default(),
        Some(b'0'..=b'9' | b'-') => String::from_utf8_lossy(&text[value]),
        _ => return String::new(),
    };
    let mut out = String::new();
    for character in shown.chars() {
        if out.len() + character.len_utf8() > bytes_max {
            break;
        }
        if character.is_control() {
            let _ = write!(out, "{}", character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::provider;

    fn class(id: &str, status: u16, body: &str) -> ErrorClass {
        let status = StatusCode::from_u16(status).expect("a status");
        classify(provider(id).expect("a row"), status, body.as_bytes()).class
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
    fn all_shapes_are_read() {
        let openai = provider("openai").expect("a row");
        let read = |body: &str| {
            let error = classify(openai, StatusCode::BAD_REQUEST, body.as_bytes());
            (error.code, error.kind, error.message)
        };
        let parts =
            |code: &str, kind: &str, message: &str| (code.into(), kind.into(), message.into());
        assert_eq!(
            read(r#"{"error":{"code":429,"message":"m"}}"#),
            parts("429", "", "m")
        );
        assert_eq!(
            read(r#"{"code":"c","error":"text"}"#),
            parts("c", "", "text")
        );
        assert_eq!(
            read(r#"{"error":"busy","error_type":"overloaded"}"#),
            parts("", "overloaded", "busy")
        );
        assert_eq!(
            read(r#"{"object":"error","message":"m","type":"t","code":"3505"}"#),
            parts("3505", "t", "m")
        );
        assert_eq!(
            read(r#"[{"error":{"code":400,"message":"m"}}]"#),
            parts("400", "", "m")
        );
        assert_eq!(
            read(r#"{"error":{"code":null,"message":"a\nb"}}"#),
            parts("", "", "a\\nb")
        );
    }

    #[test]
    fn a_message_is_bounded() {
        let openai = provider("openai").expect("a row");
        let body = format!(r#"{{"error":{{"message":"{}"}}}}"#, "한".repeat(5_000));
        let error = classify(openai, StatusCode::BAD_REQUEST, body.as_bytes());
        assert_eq!(error.message, "한".repeat(341));
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
