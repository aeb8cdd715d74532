//! The head of an answer: its headers, and what a fault makes of them.

use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Response};

use crate::fault::{Fault, Text};
use crate::model::{Header, Profile, bedrock_exception};

use super::body::Body;
use super::clock;
use super::error::Failure;
use super::name::name_headers;

/// A failure as the answer named `id`, in the form of a provider with these `manners`.
pub(super) fn respond(
    manners: Profile,
    failure: Failure,
    id: &str,
    mut limits: Vec<Header>,
) -> Response<Body> {
    if matches!(manners, Profile::BedrockRuntime | Profile::BedrockMantle) {
        limits.push((
            "x-amzn-errortype",
            failure
                .exception
                .unwrap_or(bedrock_exception(failure.status))
                .to_owned(),
        ));
    }
    let mut response = Response::new(Body::full(failure.body));
    *response.status_mut() = http::StatusCode::from_u16(failure.status)
        .expect("statuses are checked to lie from 200 to 599 where they are read");
    put_headers(
        response.headers_mut(),
        manners,
        failure.content_type,
        id,
        limits,
    );
    response
}

/// Type, names and limits.
pub(super) fn put_headers(
    headers: &mut HeaderMap,
    manners: Profile,
    content_type: &'static str,
    id: &str,
    limits: Vec<Header>,
) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in name_headers(manners, id).into_iter().chain(limits) {
        // A model's name may hold what no header can.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

/// What a fault puts in place of right headers.
pub(super) fn spoil_headers(headers: &mut HeaderMap, fault: &Fault) {
    let mut put = |name: HeaderName, value: &str| {
        let value = HeaderValue::try_from(value).expect("checked where it was read");
        headers.insert(name, value);
    };
    if let Some(content_type) = &fault.content_type
        && HeaderValue::try_from(content_type).is_ok()
    {
        put(CONTENT_TYPE, content_type);
    }
    if let Some(wait) = fault.retry_after.as_ref().map(Text::as_str) {
        let date = wait
            .strip_prefix("date:")
            .and_then(|seconds| seconds.parse().ok());
        put(
            RETRY_AFTER,
            &date.map_or_else(|| wait.to_owned(), clock::http_date),
        );
    }
    if let Some(wait) = &fault.retry_after_ms {
        put(HeaderName::from_static("retry-after-ms"), wait.as_str());
    }
    for (name, value) in &fault.headers {
        let name = HeaderName::try_from(name.as_str()).expect("checked where it was read");
        put(name, value.as_str());
    }
}
