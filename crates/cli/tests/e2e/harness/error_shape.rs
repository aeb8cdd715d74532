//! Errors in the form that SDKs know, with what they say about trying again.

use super::client::Answer;

/// What an answer must be.
pub(crate) struct Expected {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) param: Option<&'static str>,
    /// A word that the message holds.
    pub(crate) says: &'static str,
}

/// The caller's own mistake.
pub(crate) const fn invalid(param: Option<&'static str>, says: &'static str) -> Expected {
    Expected {
        status: 400,
        code: "invalid_request",
        kind: "invalid_request_error",
        param,
        says,
    }
}

/// The answer is an error as the OpenAI dialect has it, and says when a retry helps as the contract has it.
pub(crate) fn check(name: &str, answer: &Answer, expected: &Expected) {
    assert_eq!(answer.status, expected.status, "{name}: {}", answer.text());
    assert_eq!(
        answer.header("content-type"),
        Some("application/json"),
        "{name}"
    );
    let body = answer.json();
    let error = &body["error"];
    let keys: Vec<&String> = error.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["code", "message", "param", "type"], "{name}: {body}");
    assert_eq!(body.as_object().unwrap().len(), 1, "{name}: {body}");
    assert_eq!(error["code"], expected.code, "{name}: {body}");
    assert_eq!(error["type"], expected.kind, "{name}: {body}");
    assert_eq!(error["param"].as_str(), expected.param, "{name}: {body}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(expected.says), "{name}: {message}");

    if matches!(expected.status, 429 | 503) {
        let (seconds, millis) = (
            answer.number("retry-after"),
            answer.number("retry-after-ms"),
        );
        assert!(
            seconds >= 1 && seconds == millis.div_ceil(1_000),
            "{name}: {seconds} s, {millis} ms"
        );
    } else {
        assert_eq!(answer.header("retry-after"), None, "{name}");
        assert_eq!(answer.header("retry-after-ms"), None, "{name}");
    }
    let is_useless = matches!(expected.status, 400 | 402 | 404 | 405 | 413 | 415 | 422)
        || ["upstream_auth", "upstream_billing"].contains(&expected.code);
    let should_retry = is_useless.then_some("false");
    assert_eq!(answer.header("x-should-retry"), should_retry, "{name}");
}
