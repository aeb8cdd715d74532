//! `POST /v1/chat/completions`: one request's way through, step by step.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderName, HeaderValue, request, response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use sluicegate_config::Pattern;
use sluicegate_dialect::openai::Envelope;

use super::Failure;
use super::headers::client_headers;
use super::sending::{Answered, Sending};
use super::wait::max_wait;
use crate::attempt::{AnswerBody, Call};
use crate::exchange::Exchange;
use crate::gateway::{Gateway, RequestId};
use crate::settlement;
use crate::snapshot::Route;

/// A client that is silent for so long in the middle of its body is given up.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// A body that has not come after that long is given up, however steadily it drips.
const BODY_TIME_MAX: Duration = Duration::from_secs(600);

const MODEL: HeaderName = HeaderName::from_static("x-sluicegate-model");
const ATTEMPTS: HeaderName = HeaderName::from_static("x-sluicegate-attempts");
const QUEUE_MS: HeaderName = HeaderName::from_static("x-sluicegate-queue-ms");

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
            tracing::debug!(%id, reason = failure.message(), "request failed");
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
    let max_wait = max_wait(request.headers(), &snapshot.policy.lanes)?;
    let (parts, body) = request.into_parts();
    let max = snapshot.policy.server.body_max;
    let body = tokio::time::timeout(BODY_TIME_MAX, read(&parts, body, max)).await;
    let body = body.map_err(|_| Failure::BodyBroken("took too long"))??;
    let envelope = Envelope::decode(&body)?;
    let route = snapshot
        .route(&envelope.model)
        .ok_or_else(|| Failure::UnknownModel(envelope.model.clone()))?;
    exchange.routed(route);

    let sending = Sending {
        gateway,
        snapshot: &snapshot,
        route,
        demand: settlement::demand(route, &envelope),
        deadline: exchange.arrived().saturating_add(max_wait),
        call: Call {
            gateway,
            route,
            envelope: &envelope,
            exchange,
            head_hold: snapshot.policy.stream.head_hold,
        },
    };
    let answered = sending.answered(&parts).await?;
    Ok(respond(answered, shown_name(route, &envelope), slot))
}

/// The deployment as the client is told of it: a wildcard by the name that it stood for.
fn shown_name<'a>(route: Route<'a>, envelope: &'a Envelope) -> &'a str {
    match route.deployment.pattern {
        Pattern::Exact(_) => &route.deployment.name,
        Pattern::Prefix(_) => &envelope.model,
    }
}

/// The whole body, if it is not longer than allowed.
async fn read(parts: &request::Parts, body: Body, max: u64) -> Result<Bytes, Failure> {
    let length = parts
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok());
    if length
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| length > max)
    {
        return Err(Failure::BodyTooLarge { max });
    }
    let limit = usize::try_from(max).unwrap_or(usize::MAX);
    let mut body = Limited::new(body, limit);
    // Most bodies come in one piece, and that piece is passed on as it is.
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    loop {
        let frame = tokio::time::timeout(SILENCE_MAX, body.frame()).await;
        let data = match frame.map_err(|_| Failure::BodyBroken("fell silent"))? {
            None => break,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(error)) if error.is::<LengthLimitError>() => {
                return Err(Failure::BodyTooLarge { max });
            }
            Some(Err(_)) => return Err(Failure::BodyBroken("ended")),
        };
        if first.is_empty() && whole.is_empty() {
            first = data;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut first));
            whole.extend_from_slice(&data);
        }
    }
    Ok(if whole.is_empty() {
        first
    } else {
        whole.freeze()
    })
}

fn respond(answered: Answered, name: &str, slot: &mut Option<Exchange>) -> Response {
    let Answered {
        answer,
        attempts,
        waited,
    } = answered;
    let head = ours(answer.head, name, attempts, waited);
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
fn ours(
    mut head: response::Parts,
    name: &str,
    attempts: usize,
    waited: Duration,
) -> response::Parts {
    head.version = http::Version::default();
    head.extensions = http::Extensions::new();
    head.headers = client_headers(&head.headers);
    if let Ok(name) = HeaderValue::from_str(name) {
        head.headers.insert(MODEL, name);
    }
    head.headers.insert(ATTEMPTS, HeaderValue::from(attempts));
    let millis = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    head.headers.insert(QUEUE_MS, HeaderValue::from(millis));
    head
}
