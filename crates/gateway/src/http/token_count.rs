//! How many tokens a request would have, where its provider has no such call: the estimate that it would be charged by, and said to be one.

use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use sluicegate_dialect::{Crossing, Envelope};

use super::call::USAGE;
use crate::gateway::Gateway;
use crate::settlement;
use crate::snapshot::Snapshot;

/// The answer to a token count that no destination of `route` gives itself; `None` for any other request.
pub(super) fn estimated(
    gateway: &Gateway,
    snapshot: &Snapshot,
    route: &sluicegate_config::Route,
    requested: &str,
    envelope: &Envelope,
) -> Option<Response> {
    let operation = envelope.operation();
    let mut ways = route.destinations().map(|to| snapshot.route(to, requested));
    let first = ways.next()?;
    let counts = |provider| Crossing::to(operation, provider).is_some();
    if counts(&first.account.provider) || ways.any(|way| counts(&way.account.provider)) {
        return None;
    }
    let input = settlement::input(first, envelope.facts(), gateway.calibrations());
    let body = operation.token_count_body(input.central)?;
    let mut response = Response::new(Body::from(body));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    let estimate = HeaderValue::from_static("estimate");
    response.headers_mut().insert(USAGE, estimate);
    Some(response)
}
