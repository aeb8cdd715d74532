//! What kind of answer an upstream gave, as far as its status, headers and error tell.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use memchr::memmem;
use sluicegate_catalog::ErrorClass;
use sluicegate_config::Account;
use sluicegate_dialect::UpstreamError;

/// An error's body without our keys, should the upstream repeat one.
pub(crate) fn redacted(body: Bytes, account: &Account) -> Bytes {
    let mut clean = body;
    for key in &account.api_keys {
        let key = key.expose().as_bytes();
        if key.is_empty() || memmem::find(&clean, key).is_none() {
            continue;
        }
        let mut without = Vec::with_capacity(clean.len());
        let mut copied = 0;
        for place in memmem::find_iter(&clean, key) {
            without.extend_from_slice(&clean[copied..place]);
            without.extend_from_slice(b"***");
            copied = place + key.len();
        }
        without.extend_from_slice(&clean[copied..]);
        clean = without.into();
    }
    clean
}

pub(crate) fn is_encoded(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_ENCODING)
        .is_some_and(|encoding| encoding != "identity")
}

/// Whether an error is the caller's to see as it is: the caller caused it, and only the caller can mend it.
pub(crate) fn is_callers_fault(status: StatusCode, error: &UpstreamError) -> bool {
    let class = matches!(
        error.class,
        ErrorClass::Context | ErrorClass::Policy | ErrorClass::Invalid
    );
    class && status.is_client_error()
}

/// Which limit a refusal is about, as far as it says.
pub(crate) fn limit_type(error: &UpstreamError) -> &'static str {
    match error.kind.as_str() {
        "tokens" => "tokens",
        "requests" => "requests",
        _ => "other",
    }
}

/// What an answer's body is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A stream of events.
    Stream,
    /// One JSON document.
    Json,
    /// Something else, or nobody says what.
    Other,
}

pub(crate) fn answer_form(headers: &HeaderMap) -> Form {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is = |wanted: &str| kind.eq_ignore_ascii_case(wanted);
    if is("text/event-stream") || is("application/vnd.amazon.eventstream") {
        Form::Stream
    } else if is("application/json") {
        Form::Json
    } else {
        Form::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_an_upstream_repeats_goes_no_further() {
        let config = "accounts: { a: { provider: openai, api_keys: [sk-one, '*'] } }\n\
                      deployments: { m: { account: a } }";
        let policy = sluicegate_config::parse("test", config, &|_| None).expect("it is valid");
        let said = Bytes::from_static(b"{\"error\":\"no such key: Bearer sk-one (sk-one)*\"}");
        let clean = redacted(said, &policy.accounts[0]);
        assert_eq!(
            clean,
            "{\"error\":\"no such key: Bearer ********* (*********)***\"}"
        );
    }
}
