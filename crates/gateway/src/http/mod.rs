//! HTTP towards clients: which path is served by which function.

mod call;
mod calling;
mod candidate;
mod cut;
mod degraded;
mod failure;
mod headers;
mod models;
mod operator;
mod query;
mod repair;
mod request_body;
mod sending;
mod token_count;
mod upstream_failure;
mod wait;
mod web_page;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use http::header::ALLOW;
use http::{HeaderValue, Method};
use sluicegate_dialect::{Dialect, Operation};

pub(crate) use failure::Failure;
pub(crate) use models::example_model;
pub(crate) use request_body::Room;
pub(crate) use upstream_failure::{UpstreamFailure, UpstreamFailureKind};
pub(crate) use web_page::Reach;

use crate::gateway::Gateway;

/// What clients reach on an address within `reach`.
pub(crate) fn client_routes(gateway: &Arc<Gateway>, reach: Reach) -> Router {
    served(gateway, reach, client_pages())
}

/// What operators reach.
pub(crate) fn admin_routes(gateway: &Arc<Gateway>, reach: Reach) -> Router {
    served(gateway, reach, operator::pages())
}

/// What both reach where they are one address.
pub(crate) fn all_routes(gateway: &Arc<Gateway>, reach: Reach) -> Router {
    served(gateway, reach, client_pages().merge(operator::pages()))
}

fn client_pages() -> Router<Arc<Gateway>> {
    Router::new()
        .route("/v1/chat/completions", call::of(Operation::ChatCompletions))
        .route("/v1/responses", call::of(Operation::Responses))
        .route("/v1/completions", call::of(Operation::Completions))
        .route("/v1/embeddings", call::of(Operation::Embeddings))
        .route("/v1/messages", call::of(Operation::Messages))
        .route(
            "/v1/messages/count_tokens",
            call::of(Operation::CountTokens),
        )
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*model}", get(models::one).post(call::content))
        .route("/v1beta/models", get(models::list_google))
        .route(
            "/v1beta/models/{*model}",
            get(models::one_google).post(call::content),
        )
}

/// `pages` with what stands on every address. The probes are behind no guard: who asks them knows an address and no name.
fn served(gateway: &Arc<Gateway>, reach: Reach, pages: Router<Arc<Gateway>>) -> Router {
    pages
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(reach, web_page::refuse))
        .merge(operator::probes().method_not_allowed_fallback(wrong_method))
        .layer(middleware::from_fn_with_state(
            Arc::clone(gateway),
            name_exchange,
        ))
        .with_state(Arc::clone(gateway))
}

/// Gives a request its id, and an answer that has none of its upstream's that of its request.
async fn name_exchange(
    State(gateway): State<Arc<Gateway>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = gateway.next_request_id();
    request.extensions_mut().insert(id);
    let dialect = dialect_of(request.uri().path());
    let mut response = next.run(request).await;
    id.name(response.headers_mut(), dialect);
    response
}

async fn not_found(request: Request) -> Response {
    let (head, body) = request.into_parts();
    request_body::pass_over(body).await;
    let (method, path) = (head.method, head.uri.path().to_owned());
    let dialect = dialect_of(&path);
    Failure::NoSuchPath { method, path }.response(dialect)
}

/// What is asked for at a path where there is something to post only.
fn posted_only(method: Method, path: String) -> Response {
    let dialect = dialect_of(&path);
    let mut response = Failure::WrongMethod { method, path }.response(dialect);
    let post = HeaderValue::from_static("POST");
    response.headers_mut().insert(ALLOW, post);
    response
}

async fn wrong_method(request: Request) -> Response {
    let (head, body) = request.into_parts();
    request_body::pass_over(body).await;
    let (method, path) = (head.method, head.uri.path().to_owned());
    let dialect = dialect_of(&path);
    Failure::WrongMethod { method, path }.response(dialect)
}

/// What whoever calls `path` most likely speaks.
fn dialect_of(path: &str) -> Dialect {
    let names_a_method = path.starts_with("/v1/models/") && path.contains(':');
    if path.starts_with("/v1/messages") {
        Dialect::Anthropic
    } else if path.starts_with("/v1beta/") || names_a_method {
        Dialect::Gemini
    } else {
        Dialect::OpenAiChat
    }
}

#[cfg(test)]
mod tests;
