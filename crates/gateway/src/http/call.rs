//! One request's way through, step by step, whatever its client speaks.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderName, HeaderValue, request, response};
use sluicegate_config::{Origin, Policy, Route};
use sluicegate_core::{Asking, Attempts, Role};
use sluicegate_dialect::gemini::Call;
use sluicegate_dialect::{Envelope, Operation};

use super::Failure;
use super::candidate::CandidateList;
use super::cut;
use super::degraded::Degraded;
use super::failure::ATTEMPTS;
use super::headers::client_headers;
use super::request_body::read;
use super::sending::{Answered, Sending};
use super::token_count;
use super::wait::Wish;
use crate::attempt::AnswerBody;
use crate::driver::Standing;
use crate::exchange::Exchange;
use crate::gateway::{Gateway, RequestId};
use crate::metrics::OTHER_TASK;
use crate::snapshot::Snapshot;

const MODEL: HeaderName = HeaderName::from_static("x-sluicegate-model");
const QUEUE_MS: HeaderName = HeaderName::from_static("x-sluicegate-queue-ms");
/// Why it was not answered by the primary.
const FALLBACK: HeaderName = HeaderName::from_static("x-sluicegate-fallback");
/// Said where the usage in the body is an estimate of ours.
pub(super) const USAGE: HeaderName = HeaderName::from_static("x-sluicegate-usage");
/// Names a route.
const TASK: HeaderName = HeaderName::from_static("x-sluicegate-task");

/// Serves `operation`.
pub(super) fn of(operation: Operation) -> MethodRouter<Arc<Gateway>> {
    post(
        move |State(gateway): State<Arc<Gateway>>,
              Extension(id): Extension<RequestId>,
              request: Request| async move {
            answer(&gateway, id, Asked::of(operation), request).await
        },
    )
}

/// `POST /v1beta/models/{model}:{method}`, where `place` is `{model}:{method}`.
pub(super) async fn content(
    State(gateway): State<Arc<Gateway>>,
    Extension(id): Extension<RequestId>,
    place: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    // A path that is no text leads nowhere.
    let place = place.map_or_else(|_| String::new(), |Path(place)| place);
    let named = place
        .rsplit_once(':')
        .and_then(|(model, method)| Some((model, Call::named(method)?)));
    let Some((model, call)) = named else {
        return super::not_found(request).await;
    };
    let framing = super::query::framing(request.uri().query());
    let asked = Asked {
        operation: Operation::Content(call, framing),
        model: model.to_owned(),
    };
    answer(&gateway, id, asked, request).await
}

/// What the path says.
struct Asked {
    operation: Operation,
    /// Empty where the body names it.
    model: String,
}

impl Asked {
    fn of(operation: Operation) -> Self {
        let model = String::new();
        Self { operation, model }
    }
}

async fn answer(gateway: &Arc<Gateway>, id: RequestId, asked: Asked, request: Request) -> Response {
    let dialect = asked.operation.dialect();
    let mut exchange = Some(Exchange::begin(gateway.metrics(), gateway.clock(), id));
    let mut degraded = Degraded::default();
    let served = serve(gateway, id, &asked, request, &mut exchange, &mut degraded).await;
    let mut response = match served {
        Ok(response) => response,
        Err(failure) => {
            failure.log(id);
            let mut response = failure.response(dialect);
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
    for effect in degraded.effects() {
        gateway.metrics().degraded(effect);
    }
    response
}

async fn serve(
    gateway: &Arc<Gateway>,
    id: RequestId,
    asked: &Asked,
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
    if let Some(encoding) = encoding(&parts.headers) {
        return Err(Failure::Encoded(encoding));
    }
    let wish = Wish::read(&parts.headers)?;
    let envelope = Envelope::decode(asked.operation, &asked.model, &held.body)?;
    let policy = &snapshot.policy;
    let task = parts.headers.get(TASK).map(HeaderValue::as_bytes);
    let task = task.map(String::from_utf8_lossy);
    let model = &envelope.facts().model;
    let requested = task.as_deref().unwrap_or(model);
    let route = resolved(policy, task.as_deref(), model)?;
    if let Some(response) = token_count::estimated(gateway, &snapshot, route, requested, &envelope)
    {
        exchange.ended(response.status());
        return Ok(response);
    }
    let (lane, max_wait) = wish.of(route.lane, &policy.lanes);
    let standing = Standing {
        id,
        lane,
        task: match route.origin {
            Origin::Written => Arc::clone(&route.name),
            Origin::Deployment => OTHER_TASK.into(),
        },
        bytes: u32::try_from(held.body.len()).unwrap_or(u32::MAX),
        deadline: exchange.arrived().saturating_add(max_wait),
    };
    exchange.stands(lane, &standing.task, Some(Arc::clone(&route.name)));
    let level = gateway.driver().load();
    degraded.at(level);
    let effects = policy.load.effects(level);
    let template = degraded.template(gateway, id, route, &envelope, effects);
    if let Some(mut response) = template {
        exchange.ended(response.status());
        told(response.headers_mut(), 0, Duration::ZERO);
        return Ok(response);
    }
    let lowered = degraded.lower(&envelope, effects, route.output_floor)?;
    let sent = lowered.as_ref().unwrap_or(&envelope);
    let asking = Asking {
        lane,
        deadline: standing.deadline,
        simple: route.simple,
        load: level,
        effects,
    };
    let retry = policy.lanes.of(lane).retry;
    let attempts = Attempts::new(retry, policy.retry.backoff);
    let routed = Routed {
        gateway,
        snapshot: &snapshot,
        route,
        requested,
        client: &parts,
        standing: &standing,
    };
    let mut answered = routed.send(sent, asking, attempts, exchange).await?;
    let raised = cut::raised(&envelope, sent, route.raise_cap, &answered.answer);
    if let Some(raised) = raised.filter(|_| answered.left.made() < retry.attempts_max) {
        // Who has an answer, if a short one, does not wait for another.
        let deadline = gateway.clock().mono();
        let at_once = Asking { deadline, ..asking };
        let left = answered.left.clone();
        match routed.send(&raised, at_once, left, exchange).await {
            Ok(longer) => {
                degraded.raised(raised.facts().output_cap);
                answered = longer.after(&answered);
            }
            Err(failure) => failure.log(id),
        }
    }
    if answered.role == Role::Degraded {
        degraded.by_smaller_model();
    }
    degraded.without(&answered.dropped);
    if let AnswerBody::Whole(whole) = &answered.answer.body {
        degraded.answered_without(&whole.lost);
    }
    Ok(respond(answered, slot))
}

/// A call whose route is known.
struct Routed<'a> {
    gateway: &'a Arc<Gateway>,
    snapshot: &'a Arc<Snapshot>,
    route: &'a Route,
    requested: &'a str,
    client: &'a request::Parts,
    standing: &'a Standing,
}

impl Routed<'_> {
    /// Sends `envelope` where the route leads.
    async fn send(
        &self,
        envelope: &Envelope,
        asking: Asking,
        attempts: Attempts,
        exchange: &mut Exchange,
    ) -> Result<Answered, Failure> {
        let candidates = CandidateList::new(
            self.gateway,
            self.snapshot,
            self.route,
            self.requested,
            envelope,
            asking,
        );
        exchange.routed(candidates.at(0).route);
        let in_core = candidates.in_core();
        let asked = super::sending::Asked {
            envelope,
            client: self.client,
            standing: self.standing,
            asking,
        };
        let sending = Sending::new(asked, exchange, &candidates, &in_core, attempts);
        sending.answered().await
    }
}

/// As what a client's body is to be read, where that is not as it is.
fn encoding(headers: &HeaderMap) -> Option<String> {
    let encoding = headers.get(CONTENT_ENCODING)?.as_bytes();
    let plain = encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity");
    (!plain).then(|| String::from_utf8_lossy(encoding).into_owned())
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

fn respond(answered: Answered, slot: &mut Option<Exchange>) -> Response {
    let mut head = ours(&answered);
    let answer = answered.answer;
    match answer.body {
        AnswerBody::Whole(whole) => {
            if whole.estimated {
                head.headers
                    .insert(USAGE, HeaderValue::from_static("estimate"));
            }
            if let Some(exchange) = slot {
                exchange.ended(head.status);
            }
            Response::from_parts(head, Body::from(whole.body))
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
fn ours(answered: &Answered) -> response::Parts {
    let mut head = answered.answer.head.clone();
    head.version = http::Version::default();
    head.extensions = http::Extensions::new();
    head.headers = client_headers(&head.headers);
    if let Ok(name) = HeaderValue::from_str(&answered.name) {
        head.headers.insert(MODEL, name);
    }
    told(&mut head.headers, answered.attempts, answered.waited);
    if let Role::Fallback(because) = answered.role {
        let because = HeaderValue::from_static(because.name());
        head.headers.insert(FALLBACK, because);
    }
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
