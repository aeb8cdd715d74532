//! `POST /v1/chat/completions`: one request's way through, step by step.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderName, HeaderValue, response};
use sluicegate_config::{Pattern, Policy, Route};
use sluicegate_core::{Asking, Lane, LoadEffects, LoadLevel, Role};
use sluicegate_dialect::openai::Envelope;

use super::Failure;
use super::candidate::CandidateList;
use super::failure::ATTEMPTS;
use super::headers::client_headers;
use super::request_body::read;
use super::sending::{Answered, Sending};
use super::wait::max_wait;
use crate::attempt::AnswerBody;
use crate::exchange::Exchange;
use crate::gateway::{Gateway, RequestId};
use crate::snapshot;

const MODEL: HeaderName = HeaderName::from_static("x-sluicegate-model");
const QUEUE_MS: HeaderName = HeaderName::from_static("x-sluicegate-queue-ms");
/// Why it was not answered by the primary.
const FALLBACK: HeaderName = HeaderName::from_static("x-sluicegate-fallback");
const DEGRADED: HeaderName = HeaderName::from_static("x-sluicegate-degraded");
/// Names a route.
const TASK: HeaderName = HeaderName::from_static("x-sluicegate-task");

/// Serves one call.
pub(super) async fn complete(
    State(gateway): State<Arc<Gateway>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let mut exchange = Some(Exchange::begin(gateway.metrics(), gateway.clock(), id));
    match serve(&gateway, request, &mut exchange).await {
        Ok(response) => response,
        Err(failure) => {
            failure.log(id);
            if let Some(exchange) = &mut exchange {
                exchange.ended(failure.status());
            }
            failure.response()
        }
    }
}

async fn serve(
    gateway: &Arc<Gateway>,
    request: Request,
    slot: &mut Option<Exchange>,
) -> Result<Response, Failure> {
    if gateway.is_stopping() {
        return Err(Failure::ShuttingDown);
    }
    let exchange = slot.as_mut().expect("it was put there by the caller");
    let snapshot = gateway.driver().snapshot();
    let (parts, body) = request.into_parts();
    // The body first: an answer before its end would cost the client its connection.
    let max = snapshot.policy.server.body_max;
    let held = read(&parts.headers, body, max, gateway.room()).await?;
    let max_wait = max_wait(&parts.headers, &snapshot.policy.lanes)?;
    let envelope = Envelope::decode(&held.body)?;
    let task = parts.headers.get(TASK).map(HeaderValue::as_bytes);
    let task = task.map(String::from_utf8_lossy);
    let requested = task.as_deref().unwrap_or(&envelope.model);
    let route = resolved(&snapshot.policy, task.as_deref(), &envelope.model)?;
    let asking = Asking {
        lane: Lane::Api,
        deadline: exchange.arrived().saturating_add(max_wait),
        simple: route.simple,
        load: LoadLevel::Normal,
        effects: LoadEffects::NONE,
    };
    let candidates = CandidateList::new(gateway, &snapshot, route, requested, &envelope, asking);
    exchange.routed(candidates.at(0).route);
    let in_core = candidates.in_core();
    let sending = Sending::new(&envelope, &parts, exchange, &candidates, &in_core, asking);
    let answered = sending.answered().await?;
    let name = shown_name(candidates.at(answered.by).route);
    Ok(respond(answered, name, slot))
}

/// The route that `task` names, or else `model`.
fn resolved<'a>(policy: &'a Policy, task: Option<&str>, model: &str) -> Result<&'a Route, Failure> {
    let found = match task {
        Some(task) => policy
            .task(task)
            .ok_or_else(|| Failure::UnknownTask(task.to_owned())),
        None => policy
            .route(model)
            .ok_or_else(|| Failure::UnknownModel(model.to_owned())),
    };
    found.map(|(_, route)| route)
}

/// The deployment as the client is told of it: a wildcard by the name that it stood for.
fn shown_name(route: snapshot::Route<'_>) -> &str {
    match route.deployment.pattern {
        Pattern::Exact(_) => &route.deployment.name,
        Pattern::Prefix(_) => route.model,
    }
}

fn respond(answered: Answered, name: &str, slot: &mut Option<Exchange>) -> Response {
    let head = ours(&answered, name);
    let answer = answered.answer;
    match answer.body {
        AnswerBody::Whole(body) => {
            if let Some(exchange) = slot {
                exchange.ended(head.status);
            }
            Response::from_parts(head, Body::from(body))
        }
        AnswerBody::Streamed(mut streamed) => {
            if let Some(exchange) = slot.take() {
                streamed.carry(exchange);
            }
            Response::from_parts(head, Body::new(*streamed))
        }
    }
}

/// The upstream's head as the client gets it.
fn ours(answered: &Answered, name: &str) -> response::Parts {
    let mut head = answered.answer.head.clone();
    head.version = http::Version::default();
    head.extensions = http::Extensions::new();
    head.headers = client_headers(&head.headers);
    if let Ok(name) = HeaderValue::from_str(name) {
        head.headers.insert(MODEL, name);
    }
    head.headers
        .insert(ATTEMPTS, HeaderValue::from(answered.attempts));
    let millis = u64::try_from(answered.waited.as_millis()).unwrap_or(u64::MAX);
    head.headers.insert(QUEUE_MS, HeaderValue::from(millis));
    match answered.role {
        Role::Primary => {}
        Role::Fallback(because) => {
            let because = HeaderValue::from_static(because.name());
            head.headers.insert(FALLBACK, because);
        }
        Role::Degraded => {
            head.headers
                .insert(DEGRADED, HeaderValue::from_static("model"));
        }
    }
    head
}
