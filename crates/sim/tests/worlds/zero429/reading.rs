//! What a gateway reads of a provider's answers: the fake's headers and bodies, by the same readers as on the wire.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sluicegate_catalog::Provider;
use sluicegate_dialect::classify;
use sluicegate_dialect::{retry_hint, signals, told_by_refusal};
use sluicegate_sim::mirror::Reader;

/// What the gateway reads of the provider's answers, as it would read them on the wire.
pub(super) fn reader(provider: &'static Provider) -> Box<Reader> {
    Box::new(move |said, wall| {
        let mut headers = HeaderMap::new();
        for (name, value) in said.headers {
            let value = HeaderValue::from_str(value).expect("the fake's headers are text");
            headers.append(HeaderName::from_static(name), value);
        }
        let mut told = signals(provider, &headers, wall);
        let status = StatusCode::from_u16(said.status).expect("the fake's statuses are some");
        if !status.is_success() {
            let error = classify(provider, status, &headers, said.body);
            let hint = retry_hint(provider, status, &headers, said.body, wall);
            told.extend(told_by_refusal(&error, said.body, hint));
        }
        told
    })
}
