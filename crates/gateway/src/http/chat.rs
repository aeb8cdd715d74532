//! `POST /v1/chat/completions`: one request's way through, step by step.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, response};
use sluicegate_config::{Origin, Pattern};
use sluicegate_dialect::openai::Envelope;

use super::Failure;
use super::cut;
use super::degraded::Degraded;
use super::headers::client_headers;
use super::request_body::read;
use super::sending::{Answered, Sending};
use super::wait::Wish;
use crate::attempt::{AnswerBody, Call};
use crate::driver::Standing;
use crate::exchange::Exchange;
use crate::gateway::{Gateway, RequestId};
use crate::metrics::OTHER_TASK;
use crate::settlement;
use crate::snapshot::Route;

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
    let mut degraded = Degraded::default();
    let served = serve(&gateway, id, request, &mut exchange, &mut degraded).await;
    let mut response = match served {
        Ok(response) => response,
        Err(failure) => {
            failure.log(id);
            let mut response = failure.response();
            if let Some(exchange) = &mut exchange {
                exchange.ended(failure.status());
                if let Failure::Refused(refused) = &failure {
                    exchange.refused(refused);
                    queued(response.headers_mut(), exchange.waited());
                }
            }
            response
        }
    };
    degraded.tell(response.headers_mut());
    if let Some(effect) = degraded.effect() {
        gateway.metrics().degraded(effect);
    }
    response
}

async fn serve(
    gateway: &Arc<Gateway>,
    id: RequestId,
    request: Request,
    slot: &mut Option<Exchange>,
    degraded: &mut Degraded,
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
    let wish = Wish::read(&parts.headers)?;
    let envelope = Envelope::decode(&held.body)?;
    let route = snapshot
        .route(&envelope.model)
        .ok_or_else(|| Failure::UnknownModel(envelope.model.clone()))?;
    exchange.routed(route);
    let configured = snapshot.policy.route(&envelope.model);
    let configured = configured.map(|(_, configured)| configured);
    let lane = configured.and_then(|configured| configured.lane);
    let (lane, max_wait) = wish.of(lane, &snapshot.policy.lanes);
    let written = configured.filter(|configured| configured.origin == Origin::Written);
    let standing = Standing {
        id,
        lane,
        task: written.map_or_else(|| OTHER_TASK.into(), |written| Arc::clone(&written.name)),
        bytes: u32::try_from(held.body.len()).unwrap_or(u32::MAX),
        deadline: exchange.arrived().saturating_add(max_wait),
    };
    let name = configured.map(|configured| Arc::clone(&configured.name));
    exchange.stands(lane, &standing.task, name);
    let level = gateway.driver().load();
    degraded.at(level);
    let effects = snapshot.policy.load.effects(level);
    let mut lowered = None;
    if let Some(configured) = configured {
        let template = degraded.template(gateway, id, configured, &envelope, effects);
        if let Some(mut response) = template {
            exchange.ended(response.status());
            told(response.headers_mut(), 0, Duration::ZERO);
            return Ok(response);
        }
        lowered = degraded.lower(&envelope, effects, configured.output_floor)?;
    }
    let exchange = &*exchange;
    let send = async |envelope: &Envelope, standing: &Standing| {
        let demand = settlement::demand(route, envelope, gateway.answer_lengths());
        let sending = Sending {
            gateway,
            snapshot: &snapshot,
            route,
            demand,
            standing,
            call: Call {
                gateway,
                route,
                envelope,
                demand,
                exchange,
                head_hold: snapshot.policy.stream.head_hold,
            },
        };
        sending.answered(&parts).await
    };
    let sent = lowered.as_ref().unwrap_or(&envelope);
    let mut answered = send(sent, &standing).await?;
    let raise_cap = configured.and_then(|configured| configured.raise_cap);
    if let Some(raised) = cut::raised(&envelope, sent, raise_cap, &answered.answer) {
        // Who has an answer, if a short one, does not wait for another.
        let at_once = Standing {
            deadline: gateway.clock().mono(),
            ..standing
        };
        match send(&raised, &at_once).await {
            Ok(longer) => {
                degraded.raised(raised.output_cap);
                answered = longer.after(&answered);
            }
            Err(failure) => failure.log(id),
        }
    }
    Ok(respond(answered, shown_name(route, &envelope), slot))
}

/// The deployment as the client is told of it: a wildcard by the name that it stood for.
fn shown_name<'a>(route: Route<'a>, envelope: &'a Envelope) -> &'a str {
    match route.deployment.pattern {
        Pattern::Exact(_) => &route.deployment.name,
        Pattern::Prefix(_) => &envelope.model,
    }
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
    told(&mut head.headers, attempts, waited);
    head
}

fn told(headers: &mut HeaderMap, attempts: usize, waited: Duration) {
    headers.insert(ATTEMPTS, HeaderValue::from(attempts));
    queued(headers, waited);
}

fn queued(headers: &mut HeaderMap, waited: Duration) {
    let millis = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
    headers.insert(QUEUE_MS, HeaderValue::from(millis));
}
