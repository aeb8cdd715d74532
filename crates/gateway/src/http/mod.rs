//! HTTP towards clients: which path is served by which function.

mod chat;
mod failure;
mod headers;
mod models;
mod operator;
mod query;
mod upstream_failure;
mod wait;
mod web_page;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, post};

pub(crate) use failure::Failure;
pub(crate) use models::example_model;
pub(crate) use upstream_failure::{UpstreamFailure, UpstreamFailureKind};

use crate::gateway::Gateway;

/// What clients reach.
pub(crate) fn client_routes(gateway: &Arc<Gateway>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{model}", get(models::one))
        .layer(middleware::from_fn_with_state(
            Arc::clone(gateway),
            web_page::refuse,
        ))
        .merge(operator::probes())
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .with_state(Arc::clone(gateway))
}

/// What operators reach.
pub(crate) fn admin_routes(gateway: &Arc<Gateway>) -> Router {
    Router::new()
        .merge(operator::pages())
        .merge(operator::probes())
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .with_state(Arc::clone(gateway))
}

/// What both reach where they are one address.
pub(crate) fn all_routes(gateway: &Arc<Gateway>) -> Router {
    client_routes(gateway).merge(operator::pages().with_state(Arc::clone(gateway)))
}

async fn not_found(request: Request) -> Response {
    Failure::NoSuchPath {
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
    }
    .response()
}

async fn wrong_method(request: Request) -> Response {
    Failure::WrongMethod {
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
    }
    .response()
}
