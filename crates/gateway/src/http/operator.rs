//! What operators and their machines ask: alive, ready, metrics.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::gateway::Gateway;
use crate::metrics;

/// On every address.
pub(super) fn probes() -> Router<Arc<Gateway>> {
    Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
}

/// On the admin address.
pub(super) fn pages() -> Router<Arc<Gateway>> {
    Router::new().route("/metrics", get(metrics_page))
}

async fn alive() -> &'static str {
    "ok\n"
}

async fn ready(State(gateway): State<Arc<Gateway>>) -> Response {
    if gateway.is_stopping() {
        return (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n").into_response();
    }
    "ready\n".into_response()
}

async fn metrics_page(State(gateway): State<Arc<Gateway>>) -> Response {
    let now = gateway.clock().mono();
    let breakers = gateway.health().states(now);
    let view = gateway.driver().view();
    let lengths = gateway.answer_lengths();
    let page = gateway.metrics().render(&view, lengths, breakers, now);
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], page).into_response()
}
