//! What kind of answer an upstream gave, as far as its status, headers and error tell.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use sluicegate_catalog::ErrorClass;
use sluicegate_config::Account;
use sluicegate_dialect::openai::UpstreamError;

/// An error's body without our keys, should the upstream repeat one.
pub(crate) fn redacted(body: Bytes, account: &Account) -> Bytes {
    let mut clean = body;
    for key in &account.api_keys {
        let key = key.expose().as_bytes();
        let finder = memchr::memmem::Finder::new(key);
        while !key.is_empty()
            && let Some(place) = finder.find(&clean)
        {
            clean = [&clean[..place], b"***", &clean[place + key.len()..]]
                .concat()
                .into();
        }
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

pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    media_type_is(headers, "text/event-stream")
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    media_type_is(headers, "application/json")
}

fn media_type_is(headers: &HeaderMap, wanted: &str) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    kind.split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(wanted))
}
