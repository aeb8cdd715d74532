//! A success that is none: what a whole body says before anybody takes it for an answer.
//!
//! Servers that pass on what others answer have sent their 200 before they know how it ends, and responses that failed are answers to
//! the SDK that reads them. Both are failures of the provider: retried, answered by a fallback, told to the breaker. The body is walked
//! once, and held against JSON on the way.

use std::borrow::Cow;
use std::fmt;

use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use sluicegate_catalog::{ErrorClass, Provider};

use crate::cohere::endings::failure_class;
use crate::error_text::ErrorText;
use crate::json::{Cursor, without_mark};
use crate::openai::{CHOICE_FAILED, failed_choice};
use crate::upstream_error::{classify, in_stream, usual_status};
use crate::{Dialect, ProviderDialect, UpstreamError};

/// A whole body that came with a success.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Success {
    /// As far as can be seen without reading it: an answer.
    Answer,
    /// It tells that the provider failed.
    Failure(Box<ToldFailure>),
    /// It is none: what it is instead, for a message.
    Unreadable(&'static str),
}

/// A failure that is told with a success.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToldFailure {
    /// What it says. Its status is the one that it names, else that of such a failure elsewhere.
    pub error: UpstreamError,
    /// The status that it names.
    pub named: Option<StatusCode>,
    /// Whether clients of its dialect read the body as an answer: a response that says of itself that it failed.
    pub is_answer: bool,
}

impl Success {
    /// What `body` is, which `provider` sent in `dialect` with a success and these `headers`.
    pub(crate) fn of(
        dialect: ProviderDialect,
        provider: &Provider,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        let body = without_mark(body);
        let top: Top<'_> = match serde_json::from_slice(body) {
            Ok(top) => top,
            Err(_) if body.trim_ascii().is_empty() => return Self::Unreadable("an empty body"),
            Err(error) if error.classify() == Category::Data => {
                return Self::Unreadable("a body that is no JSON object");
            }
            Err(_) => return Self::Unreadable("a body that is no whole JSON document"),
        };
        let said = top.error.filter(|error| says_something(error));
        let failure = match (top.ending(dialect), said) {
            (None, None) => match of_choice(dialect, provider, headers, body) {
                Some(failure) => failure,
                None => return Self::Answer,
            },
            (None, Some(error)) => named(provider, headers, body, error.get().as_bytes()),
            (Some(ending), error) => ending.failure(provider, error),
        };
        Self::Failure(Box::new(failure))
    }

    /// A failure that is told only in an answer, as `error`.
    pub(crate) fn failed(error: UpstreamError) -> Self {
        Self::Failure(Box::new(ToldFailure {
            error: with_usual_status(error),
            named: None,
            is_answer: false,
        }))
    }
}

/// Whether an `error` member tells one: successes hold a null, and some servers an empty one.
fn says_something(error: &RawValue) -> bool {
    let text = error.get().as_bytes();
    let mut cursor = Cursor::new(text);
    match cursor.peek() {
        b'"' => text.len() > 2,
        _ => cursor.enter(b'{') && cursor.next_key().is_some(),
    }
}

/// An error body that came with the wrong status: it may name the right one as its code.
fn named(provider: &Provider, headers: &HeaderMap, body: &[u8], error: &[u8]) -> ToldFailure {
    let code = ErrorText::of_error(Cursor::new(error)).code.parse().ok();
    let code = code.filter(|code| (400..600).contains(code));
    let named = code.and_then(|code: u16| StatusCode::from_u16(code).ok());
    let error = match named {
        Some(status) => classify(provider, status, headers, body),
        None => with_usual_status(in_stream(provider, error, 0)),
    };
    ToldFailure {
        error,
        named,
        is_answer: false,
    }
}

/// Of a chat completion, the failure of a choice that ended with an error: an error body, but for its place.
fn of_choice(
    dialect: ProviderDialect,
    provider: &Provider,
    headers: &HeaderMap,
    body: &[u8],
) -> Option<ToldFailure> {
    if dialect != ProviderDialect::Shared(Dialect::OpenAiChat) {
        return None;
    }
    let error = failed_choice(body)?;
    let mut failure = named(provider, headers, error, error);
    if failure.error.message.is_empty() {
        CHOICE_FAILED.clone_into(&mut failure.error.message);
    }
    Some(failure)
}

fn with_usual_status(error: UpstreamError) -> UpstreamError {
    UpstreamError {
        status: Some(usual_status(error.class)),
        ..error
    }
}

/// How an answer that failed says so.
struct Ending {
    /// What its name alone means.
    class: Option<ErrorClass>,
    message: String,
    is_answer: bool,
}

impl Ending {
    fn failure(self, provider: &Provider, error: Option<&RawValue>) -> ToldFailure {
        let text = error.map_or("", RawValue::get).as_bytes();
        let mut error = in_stream(provider, text, 0);
        error.class = self.class.unwrap_or(error.class);
        if error.message.is_empty() {
            error.message = self.message;
        }
        ToldFailure {
            error: with_usual_status(error),
            named: None,
            is_answer: self.is_answer,
        }
    }
}

/// The members of a body that tell whether it is an answer.
#[derive(Default)]
struct Top<'b> {
    error: Option<&'b RawValue>,
    status: Option<&'b RawValue>,
    finish_reason: Option<&'b RawValue>,
}

impl Top<'_> {
    /// How an answer of that dialect says that it failed, if it does.
    fn ending(&self, dialect: ProviderDialect) -> Option<Ending> {
        let word = |value: Option<&RawValue>| {
            let word: Option<Cow<'_, str>> = serde_json::from_str(value?.get()).ok();
            word.map(Cow::into_owned)
        };
        match dialect {
            ProviderDialect::Shared(Dialect::OpenAiResponses) => {
                let status = word(self.status)?;
                matches!(&*status, "failed" | "cancelled").then(|| Ending {
                    class: None,
                    message: format!("the response is {status}"),
                    is_answer: true,
                })
            }
            ProviderDialect::Cohere => {
                let reason = word(self.finish_reason)?;
                let class = failure_class(&reason)?;
                Some(Ending {
                    class: (class != ErrorClass::Server).then_some(class),
                    message: format!("the answer ended with {reason}"),
                    is_answer: false,
                })
            }
            ProviderDialect::Shared(_) | ProviderDialect::Bedrock => None,
        }
    }
}

impl<'de> Deserialize<'de> for Top<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Name {
    Error,
    Status,
    FinishReason,
    #[serde(other)]
    Other,
}

struct TopVisitor;

impl<'de> Visitor<'de> for TopVisitor {
    type Value = Top<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Top<'de>, A::Error> {
        let mut top = Top::default();
        while let Some(name) = members.next_key()? {
            let place = match name {
                Name::Error => &mut top.error,
                Name::Status => &mut top.status,
                Name::FinishReason => &mut top.finish_reason,
                Name::Other => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *place = Some(members.next_value()?);
        }
        Ok(top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::provider;

    const CHAT: ProviderDialect = ProviderDialect::Shared(Dialect::OpenAiChat);
    const RESPONSES: ProviderDialect = ProviderDialect::Shared(Dialect::OpenAiResponses);

    fn of(dialect: ProviderDialect, row: &str, body: &str) -> Success {
        let row = provider(row).expect("a row");
        Success::of(dialect, row, &HeaderMap::new(), body.as_bytes())
    }

    fn failure(dialect: ProviderDialect, row: &str, body: &str) -> ToldFailure {
        match of(dialect, row, body) {
            Success::Failure(failure) => *failure,
            other => panic!("{body}: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_object_is_no_answer() {
        for (body, what) in [
            ("", "an empty body"),
            ("\u{feff}", "an empty body"),
            (" \n", "an empty body"),
            ("null", "a body that is no JSON object"),
            ("[]", "a body that is no JSON object"),
            ("\"x\"", "a body that is no JSON object"),
            ("{\"a\":", "a body that is no whole JSON document"),
            ("{}{}", "a body that is no whole JSON document"),
            ("<html>", "a body that is no whole JSON document"),
        ] {
            assert_eq!(
                of(CHAT, "openai", body),
                Success::Unreadable(what),
                "{body}"
            );
        }
    }

    #[test]
    fn an_error_that_tells_nothing_is_none() {
        for error in ["null", "\"\"", "{}", "{ }", "false", "[]", "0"] {
            let body = format!(r#"{{"id":"x","error":{error},"choices":[]}}"#);
            assert_eq!(of(CHAT, "openai", &body), Success::Answer, "{error}");
        }
        let deep = r#"{"choices":[{"error":{"code":500}}],"status":"failed"}"#;
        assert_eq!(of(CHAT, "openai", deep), Success::Answer);
    }

    #[test]
    fn an_error_has_the_status_that_it_names_or_that_its_class_has() {
        for (error, named, status, class) in [
            (
                r#"{"message":"m","code":429}"#,
                Some(429),
                429,
                ErrorClass::Rate,
            ),
            (
                r#"{"message":"m","code":"503"}"#,
                Some(503),
                503,
                ErrorClass::Overload,
            ),
            (
                r#"{"message":"m","code":400}"#,
                Some(400),
                400,
                ErrorClass::Invalid,
            ),
            (
                r#"{"message":"m","code":401}"#,
                Some(401),
                401,
                ErrorClass::Auth,
            ),
            (
                r#"{"message":"m","code":200}"#,
                None,
                502,
                ErrorClass::Server,
            ),
            (
                r#"{"message":"m","code":-429}"#,
                None,
                502,
                ErrorClass::Server,
            ),
            (
                r#"{"message":"m","type":"rate_limit_error"}"#,
                None,
                429,
                ErrorClass::Rate,
            ),
            (
                r#"{"type":"invalid_request_error"}"#,
                None,
                400,
                ErrorClass::Invalid,
            ),
            (r#""it broke""#, None, 502, ErrorClass::Server),
        ] {
            let body = format!(r#"{{"error":{error},"user_id":"u"}}"#);
            for dialect in [CHAT, RESPONSES, ProviderDialect::Cohere] {
                let failure = failure(dialect, "openrouter", &body);
                assert_eq!(failure.named.map(|named| named.as_u16()), named, "{error}");
                let told = failure.error.status.expect("every failure has one");
                assert_eq!(
                    (told.as_u16(), failure.error.class),
                    (status, class),
                    "{error}"
                );
                assert!(!failure.is_answer);
            }
        }
    }

    #[test]
    fn a_response_that_failed_is_judged_by_the_code_of_its_error() {
        for (code, class) in [
            ("server_error", ErrorClass::Server),
            ("rate_limit_exceeded", ErrorClass::Rate),
            ("invalid_prompt", ErrorClass::Policy),
            ("image_content_policy_violation", ErrorClass::Policy),
            ("invalid_image_url", ErrorClass::Invalid),
            ("vector_store_timeout", ErrorClass::Server),
        ] {
            let body = format!(
                r#"{{"id":"r","object":"response","status":"failed","error":{{"code":"{code}","message":"m"}},"output":[]}}"#
            );
            let failure = failure(RESPONSES, "openai", &body);
            assert_eq!(
                (failure.error.class, failure.named),
                (class, None),
                "{code}"
            );
            assert_eq!(failure.error.message, "m");
            assert!(failure.is_answer, "{code}");
        }
        for status in ["failed", "cancelled"] {
            let body = format!(r#"{{"status":"{status}","error":null,"output":[]}}"#);
            let failure = failure(RESPONSES, "openai", &body);
            assert_eq!(failure.error.class, ErrorClass::Server);
            assert!(
                failure.error.message.ends_with(status),
                "{:?}",
                failure.error
            );
        }
        for status in ["completed", "incomplete", "queued", "in_progress"] {
            let body = format!(r#"{{"status":"{status}","error":null,"output":[]}}"#);
            assert_eq!(of(RESPONSES, "openai", &body), Success::Answer, "{status}");
        }
    }

    #[test]
    fn a_choice_that_ended_with_an_error_is_judged_by_it() {
        for (error, named, status, class, said) in [
            (
                r#","error":{"code":502,"message":"Upstream died"}"#,
                Some(502),
                502,
                ErrorClass::Server,
                "Upstream died",
            ),
            (
                r#","error":{"code":429,"message":"slow"}"#,
                Some(429),
                429,
                ErrorClass::Rate,
                "slow",
            ),
            ("", None, 502, ErrorClass::Server, CHOICE_FAILED),
        ] {
            let body = format!(
                r#"{{"choices":[{{"index":0,"message":{{"role":"assistant","content":"part"}},"finish_reason":"error"{error}}}]}}"#
            );
            let failure = failure(CHAT, "openrouter", &body);
            let told = failure.error.status.expect("every failure has one");
            assert_eq!(failure.named.map(|named| named.as_u16()), named);
            assert_eq!((told.as_u16(), failure.error.class), (status, class));
            assert_eq!(failure.error.message, said);
            assert!(!failure.is_answer);
            assert_eq!(of(RESPONSES, "openai", &body), Success::Answer);
        }
        for choice in [
            r#"{"finish_reason":"stop","message":{"content":"error"}}"#,
            r#"{"finish_reason":null,"error":"error"}"#,
            r#""error""#,
        ] {
            let body = format!(r#"{{"choices":[{choice}]}}"#);
            assert_eq!(of(CHAT, "openrouter", &body), Success::Answer, "{choice}");
        }
    }

    #[test]
    fn an_answer_of_coheres_that_failed_is_its_servers_failure() {
        for (reason, class) in [
            ("ERROR", ErrorClass::Server),
            ("TIMEOUT", ErrorClass::Timeout),
            ("USER_CANCEL", ErrorClass::Server),
        ] {
            let body = format!(
                r#"{{"id":"c","finish_reason":"{reason}","message":{{"role":"assistant","content":[]}}}}"#
            );
            let failure = failure(ProviderDialect::Cohere, "cohere", &body);
            assert_eq!(failure.error.class, class, "{reason}");
            assert!(
                failure.error.message.ends_with(reason),
                "{:?}",
                failure.error
            );
            assert_eq!(of(CHAT, "openai", &body), Success::Answer, "{reason}");
        }
        for reason in [
            "COMPLETE",
            "MAX_TOKENS",
            "ERROR_TOXIC",
            "ERROR_LIMIT",
            "NEW",
        ] {
            let body = format!(r#"{{"finish_reason":"{reason}"}}"#);
            assert_eq!(
                of(ProviderDialect::Cohere, "cohere", &body),
                Success::Answer
            );
        }
    }
}
