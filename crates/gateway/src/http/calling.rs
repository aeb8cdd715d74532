//! One attempt at one place: wait for admission, pass the breaker, send, and where the upstream refuses the key, the same with
//! another.
//!
//! A refused key is the operator's to mend and no client's to see while another key works; so all keys together are one attempt.
//! Each sending reserves anew, after the one before has given its own back. The breaker is asked last: who waits for room holds no
//! pass, and what it is told is what happened to a call that was made.

use std::sync::Arc;

use http::{Method, StatusCode, Uri, request};
use sluicegate_catalog::ErrorClass;
use sluicegate_core::{Amounts, Attempts, Elsewhere, Prospect, TargetId, Timestamp};
use sluicegate_dialect::{Crossing, Outbound};

use super::candidate::{Candidate, CandidateList, Unsayable};
use super::headers::upstream_headers;
use super::query::upstream_address;
use super::sending::Sending;
use super::{Failure, UpstreamFailure, UpstreamFailureKind};
use crate::attempt::{Answer, Call};
use crate::driver::{Place, Refused, Reservation, Standing};
use crate::gateway::Phase;
use crate::health::Passed;
use crate::keys::Chosen;
use crate::notices::Notice;
use crate::outgoing::Outgoing;
use crate::snapshot::Snapshot;
use crate::upstream::Credentials;

/// What became of an attempt.
pub(super) enum Called {
    /// There is an answer for the client.
    Answered(Answer),
    /// Nothing was sent: a limit was in the way.
    Refused(Refused),
    /// Nothing was sent: the breaker was in the way, until then.
    LeftAlone(Prospect),
    /// Nothing was sent: it cannot be asked there.
    Unsayable(Unsayable),
    /// It was sent and failed.
    Failed(Ended),
}

/// A request as it goes to one place, and what it is charged there.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) outbound: Outbound,
    pub(super) demand: Amounts,
}

/// What became of the wait for room.
enum Admission {
    Admitted(Reservation),
    Refused(Refused),
    /// The deployment is left alone first, until then.
    LeftAlone(Prospect),
}

/// What a failed attempt leaves for the client, should it be the last.
pub(super) enum Ended {
    /// What the caller caused, as the upstream says it.
    Answer(Answer, ErrorClass),
    Failure(UpstreamFailure),
}

impl Ended {
    /// The failure as those see it who decide what follows.
    pub(super) fn in_core(&self) -> sluicegate_core::Failure {
        match self {
            Self::Answer(_, class) => sluicegate_core::Failure::answered(*class),
            Self::Failure(failure) => failure.in_core(),
        }
    }
}

impl Sending<'_> {
    /// Makes an attempt at `place`, which waits until `deadline` at most.
    ///
    /// # Errors
    ///
    /// When it cannot go on anywhere: the process is about to stop.
    pub(super) async fn call(
        &mut self,
        place: usize,
        deadline: Timestamp,
    ) -> Result<Called, Failure> {
        let candidates = self.candidates;
        let candidate = candidates.at(place);
        let outbound = match candidates.outbound(place) {
            Ok(outbound) => outbound,
            Err(unsayable) => return Ok(Called::Unsayable(unsayable)),
        };
        let sent = self.repair.take().unwrap_or_else(|| Sent {
            outbound: outbound.clone(),
            demand: candidate.demand,
        });
        let reservation = match self.admitted(place, sent.demand, deadline).await? {
            Admission::Admitted(reservation) => reservation,
            Admission::Refused(refused) => return Ok(Called::Refused(refused)),
            Admission::LeftAlone(opens) => return Ok(Called::LeftAlone(opens)),
        };
        let pass = match self.passed(place) {
            Ok(pass) => pass,
            Err(opens) => return Ok(Called::LeftAlone(opens)),
        };
        self.begins(place);
        let (health, now) = (self.gateway.health(), self.now());
        health.with_budget(candidate.route.whose(), |budget| {
            self.attempts.begins(TargetId::new(place), budget, now);
        });
        self.sent(place, &sent, reservation, pass, deadline).await
    }

    /// Passes the breaker, or tells when it opens. Where else it could go is looked up only where that matters.
    fn passed(&self, place: usize) -> Result<Passed, Prospect> {
        let now = self.now();
        let whose = self.candidates.at(place).route.whose();
        let health = self.gateway.health();
        let closed = match health.pass(whose, Elsewhere::Possible, now) {
            Ok(passed) => return Ok(passed),
            Err(closed) => closed,
        };
        match self.candidates.elsewhere(place, &self.attempts, now) {
            Elsewhere::Possible => Err(closed),
            Elsewhere::Impossible => health.pass(whose, Elsewhere::Impossible, now),
        }
    }

    /// Waits for admission, but not where the deployment is left alone meanwhile. Where limits of the model were learned meanwhile, it is
    /// admitted to these too.
    async fn admitted(
        &mut self,
        place: usize,
        demand: Amounts,
        deadline: Timestamp,
    ) -> Result<Admission, Failure> {
        let candidate = self.candidates.at(place);
        let left_alone = left_alone(self.candidates, place, &self.attempts);
        tokio::pin!(left_alone);
        let driver = self.gateway.driver();
        let standing = Standing {
            deadline,
            ..self.standing.clone()
        };
        let mut place = Place {
            snapshot: Arc::clone(self.snapshot),
            target: candidate.route.target,
        };
        loop {
            let since = self.now();
            let admission = driver.admit(place.clone(), demand, &standing);
            let verdict = tokio::select! {
                biased;
                verdict = admission => Ok(verdict),
                () = self.gateway.reached(Phase::Draining) => return Err(Failure::ShuttingDown),
                opens = &mut left_alone => Err(opens),
            };
            self.exchange.stood(since);
            let reservation = match verdict {
                Ok(Ok(reservation)) => reservation,
                Ok(Err(refused)) => return Ok(Admission::Refused(refused)),
                Err(opens) => return Ok(Admission::LeftAlone(opens)),
            };
            let snapshot = driver.snapshot();
            let stays = Arc::ptr_eq(&snapshot, &place.snapshot);
            let moved = (!stays).then(|| moved(candidate, &place, &snapshot));
            let Some(target) = moved.flatten() else {
                return Ok(Admission::Admitted(reservation));
            };
            place = Place { snapshot, target };
        }
    }

    /// Sends with each key in turn until one is taken.
    async fn sent(
        &mut self,
        place: usize,
        sent: &Sent,
        mut reservation: Reservation,
        pass: Passed,
        deadline: Timestamp,
    ) -> Result<Called, Failure> {
        let candidates = self.candidates;
        let candidate = candidates.at(place);
        let upstream = candidate.route.upstream;
        let Sent { outbound, demand } = sent;
        let crossing = outbound.crossing;
        let way = candidate
            .crossing
            .expect("what has an outbound body has a way");
        let mut pass = Some(pass);
        let mut tried = Vec::new();
        let mut credentials = upstream.credentials(&tried, self.now());
        loop {
            self.calls += 1;
            self.exchange.reserved(*demand);
            let outgoing = Outgoing::new(outbound.body.clone(), reservation.departure());
            let stream = self.envelope.facts().stream;
            let address = upstream.address(way.endpoint(stream), candidate.route.model);
            let Some(address) = address else {
                return Ok(Called::Unsayable(Unsayable::Operation));
            };
            let mut request = request(
                candidate,
                crossing,
                &address,
                outgoing,
                self.client,
                credentials.as_ref(),
            );
            let wall = self.gateway.clock().now().wall;
            if let Err(error) = upstream.sign(&mut request, &outbound.body, wall) {
                let account = &*candidate.route.account.name;
                tracing::warn!(account, %error, "a request cannot be sent");
                return Ok(Called::Unsayable(Unsayable::Operation));
            }
            let call = Call {
                gateway: self.gateway,
                route: candidate.route,
                envelope: self.envelope,
                crossing,
                shape: outbound.shape.as_ref(),
                id: self.standing.id,
                demand: *demand,
                exchange: self.exchange,
                head_hold: self.snapshot.policy.stream.head_hold,
            };
            let failure = match call.send(request, reservation, &mut pass).await {
                Ok(answer) => {
                    if let Some(Credentials { key, .. }) = credentials {
                        upstream.keys().accepted(key);
                    }
                    return Ok(self.answered_by(answer, pass));
                }
                Err(Failure::Upstream(failure)) => *failure,
                Err(other) => return Err(other),
            };
            let refused = key_refused(&failure);
            let (Some(status), Some(Credentials { key, .. })) = (refused, credentials) else {
                return Ok(self.failed(failure, pass));
            };
            if status == StatusCode::UNAUTHORIZED {
                self.bench(candidate, key);
            }
            tried.push(key);
            credentials = upstream.credentials(&tried, self.now());
            if credentials.is_none() {
                return Ok(self.failed(failure, pass));
            }
            // Who waits holds no pass; what one key was refused for says nothing of the deployment.
            drop(pass.take());
            let Admission::Admitted(again) = self.admitted(place, *demand, deadline).await? else {
                return Ok(self.failed(failure, None));
            };
            let Ok(passed) = self.passed(place) else {
                return Ok(self.failed(failure, None));
            };
            (reservation, pass) = (again, Some(passed));
        }
    }

    fn answered_by(&self, answer: Answer, pass: Option<Passed>) -> Called {
        let Some(class) = answer.fault else {
            return Called::Answered(answer);
        };
        if let Some(pass) = pass {
            pass.failed(&sluicegate_core::Failure::answered(class), self.now());
        }
        Called::Failed(Ended::Answer(answer, class))
    }

    fn failed(&self, failure: UpstreamFailure, pass: Option<Passed>) -> Called {
        match pass {
            Some(pass) if failure.served() => pass.served(self.now()),
            Some(pass) => pass.failed(&failure.for_breaker(), self.now()),
            None => {}
        }
        Called::Failed(Ended::Failure(failure))
    }

    fn bench(&self, candidate: &Candidate<'_>, key: Chosen) {
        let (keys, now) = (candidate.route.upstream.keys(), self.now());
        let Some(rest) = keys.refused(key, now) else {
            return;
        };
        let account = &candidate.route.account.name;
        self.gateway.notices().tell(Notice::KeyBenched {
            account: account.to_string(),
            key: keys.shown(key).to_owned(),
            minutes: rest.as_secs() / 60,
        });
        if keys.all_rest(now) {
            self.gateway.health().bench_account(account, now);
            self.gateway.notices().tell(Notice::AccountBenched {
                account: account.to_string(),
                reason: ErrorClass::Auth.name(),
            });
        }
    }
}

/// Ends when the breaker is in the way of a request that waits for room at `place`.
async fn left_alone(candidates: &CandidateList<'_>, place: usize, attempts: &Attempts) -> Prospect {
    loop {
        // Before the look: what happens after it must not be missed.
        let next = candidates.gateway.health().left_alone();
        let now = candidates.gateway.clock().mono();
        let passes = candidates.passes(place, attempts, now);
        if passes > Prospect::At(now) {
            return passes;
        }
        next.await;
    }
}

/// Where the request is counted by `snapshot`, if that is elsewhere than at `place`. A deployment that is another by now does not
/// concern a request that began with this one.
fn moved(candidate: &Candidate<'_>, place: &Place, snapshot: &Snapshot) -> Option<TargetId> {
    let again = snapshot.again(candidate.route)?;
    let name = |snapshot: &Snapshot, target: TargetId| {
        Arc::clone(&snapshot.limits.targets()[target.index()].name)
    };
    let moved = name(snapshot, again.target) != name(&place.snapshot, place.target);
    moved.then_some(again.target)
}

fn request(
    candidate: &Candidate<'_>,
    crossing: Crossing,
    address: &Uri,
    body: Outgoing,
    client: &request::Parts,
    credentials: Option<&Credentials>,
) -> http::Request<Outgoing> {
    let header = credentials.map(|credentials| credentials.header.clone());
    let mut request = http::Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() = upstream_address(address, client.uri.query());
    let row = &candidate.route.account.provider.headers;
    *request.headers_mut() = upstream_headers(&client.headers, crossing, row, header);
    request
}

/// The status with which an upstream refused the key, if that is how it failed. A 403 may be about this one request: it is worth another
/// key, but says nothing against this one.
fn key_refused(failure: &UpstreamFailure) -> Option<StatusCode> {
    match &failure.kind {
        UpstreamFailureKind::Error {
            status: Some(status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)),
            error,
            ..
        } if error.class == ErrorClass::Auth => Some(*status),
        _ => None,
    }
}
