//! From a routed call to its answer: wait for admission, send, and where the upstream refuses the key, the same with another.
//!
//! A refused key is the operator's to mend and no client's to see while another key works. Each sending reserves anew, since the one
//! before may have been counted.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode, request};
use sluicegate_catalog::{ErrorClass, LanePriority};
use sluicegate_core::{Amounts, TargetId, Timestamp};
use sluicegate_dialect::openai::{Changes, IncludeUsage, Priority};

use super::headers::upstream_headers;
use super::query::upstream_address;
use super::{Failure, UpstreamFailureKind};
use crate::attempt::{Answer, Call};
use crate::driver::{Place, Reservation, Standing};
use crate::gateway::{Gateway, Phase};
use crate::keys::Chosen;
use crate::outgoing::Outgoing;
use crate::snapshot::{Route, Snapshot};
use crate::upstream::Credentials;

/// A call that is read and routed.
pub(super) struct Sending<'a> {
    pub(super) gateway: &'a Arc<Gateway>,
    pub(super) snapshot: &'a Arc<Snapshot>,
    pub(super) route: Route<'a>,
    pub(super) demand: Amounts,
    /// How it waits.
    pub(super) standing: &'a Standing,
    pub(super) call: Call<'a>,
}

/// A call that an upstream has answered.
pub(super) struct Answered {
    pub(super) answer: Answer,
    /// How often it was sent.
    pub(super) attempts: usize,
    /// How long it waited before it was first sent.
    pub(super) waited: Duration,
}

impl Answered {
    /// The same answer where another call for it went before.
    pub(super) fn after(self, before: &Self) -> Self {
        Self {
            attempts: before.attempts + self.attempts,
            waited: before.waited,
            ..self
        }
    }
}

impl Sending<'_> {
    /// Waits, sends and gets the answer, once for each key at most.
    pub(super) async fn answered(&self, client: &request::Parts) -> Result<Answered, Failure> {
        let exchange = self.call.exchange;
        let body = self.body();
        let mut tried = Vec::new();
        let mut reservation = self.admitted().await?;
        let waited = exchange.admitted(self.demand);
        let mut credentials = self.route.upstream.credentials(&tried, self.now());
        loop {
            let outgoing = Outgoing::new(body.clone(), reservation.departure());
            let request = self.request(outgoing, client, credentials.as_ref());
            let failure = match self.call.send(request, reservation).await {
                Ok(answer) => {
                    if let Some(Credentials { key, .. }) = credentials {
                        self.route.upstream.keys().accepted(key);
                    }
                    let attempts = tried.len() + 1;
                    return Ok(Answered {
                        answer,
                        attempts,
                        waited,
                    });
                }
                Err(failure) => failure,
            };
            let (Some(status), Some(Credentials { key, .. })) =
                (key_refused(&failure), credentials)
            else {
                return Err(failure);
            };
            if status == StatusCode::UNAUTHORIZED {
                self.bench(key);
            }
            tried.push(key);
            credentials = self.route.upstream.credentials(&tried, self.now());
            if credentials.is_none() {
                return Err(failure);
            }
            reservation = self.admitted().await?;
            exchange.reserved(self.demand);
        }
    }

    /// Waits for admission. Where limits of the model were learned meanwhile, it is admitted to these too.
    async fn admitted(&self) -> Result<Reservation, Failure> {
        let driver = self.gateway.driver();
        let mut place = Place {
            snapshot: Arc::clone(self.snapshot),
            target: self.route.target,
        };
        loop {
            let admission = driver.admit(place.clone(), self.demand, self.standing);
            let reservation = tokio::select! {
                biased;
                verdict = admission => verdict?,
                () = self.gateway.reached(Phase::Draining) => return Err(Failure::ShuttingDown),
            };
            let snapshot = driver.snapshot();
            if Arc::ptr_eq(&snapshot, &place.snapshot) {
                return Ok(reservation);
            }
            let Some(target) = self.moved(&place, &snapshot) else {
                return Ok(reservation);
            };
            place = Place { snapshot, target };
        }
    }

    /// Where the request is counted by `snapshot`, if that is elsewhere than at `place`.
    fn moved(&self, place: &Place, snapshot: &Snapshot) -> Option<TargetId> {
        let route = snapshot.route(&self.call.envelope.model)?;
        // A deployment that is another by now does not concern a request that began with this one.
        let same = std::ptr::eq(route.upstream, self.route.upstream);
        let name = |snapshot: &Snapshot, target: TargetId| {
            Arc::clone(&snapshot.limits.targets()[target.index()].name)
        };
        let moved = name(snapshot, route.target) != name(&place.snapshot, place.target);
        (same && moved).then_some(route.target)
    }

    fn bench(&self, key: Chosen) {
        let keys = self.route.upstream.keys();
        if let Some(rest) = keys.refused(key, self.now()) {
            tracing::warn!(
                account = &*self.route.account.name,
                key = keys.shown(key),
                "the provider refused a key (401): it rests for {} min while others are used",
                rest.as_secs() / 60
            );
        }
    }

    fn body(&self) -> Bytes {
        let envelope = self.call.envelope;
        let priority = self.route.account.provider.lane_priority.as_ref();
        let priority = priority.map(|priority| Priority {
            field: &priority.field,
            value: LanePriority::of(self.standing.lane),
        });
        envelope.rewrite(&Changes {
            model: self.route.other_model(&envelope.model),
            include_usage: IncludeUsage::Ask,
            output_cap: None,
            priority,
        })
    }

    fn request(
        &self,
        body: Outgoing,
        client: &request::Parts,
        credentials: Option<&Credentials>,
    ) -> http::Request<Outgoing> {
        let header = credentials.map(|credentials| credentials.header.clone());
        let mut request = http::Request::new(body);
        *request.method_mut() = Method::POST;
        *request.uri_mut() = upstream_address(&self.route.upstream.chat, client.uri.query());
        *request.headers_mut() = upstream_headers(&client.headers, header);
        request
    }

    fn now(&self) -> Timestamp {
        self.gateway.clock().mono()
    }
}

/// The status with which an upstream refused the key, if that is how it failed. A 403 may be about this one request: it is worth another
/// key, but says nothing against this one.
fn key_refused(failure: &Failure) -> Option<StatusCode> {
    let Failure::Upstream(failure) = failure else {
        return None;
    };
    match &failure.kind {
        UpstreamFailureKind::Error {
            status: Some(status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)),
            error,
            ..
        } if error.class == ErrorClass::Auth => Some(*status),
        _ => None,
    }
}
