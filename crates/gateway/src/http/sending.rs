//! From a routed call to its answer: the next candidate, an attempt there, and after a failure what the core says: there again,
//! another candidate, or the failure as the answer.
//!
//! While a request waits, for room or for its next attempt, it holds nothing; it leaves with its client, and when the process
//! drains. Nothing here decides: it asks with facts and does what it is told. Once an answer goes to the client all of this is over.

mod over;

use std::sync::Arc;
use std::time::Duration;

use http::request;
use sluicegate_core::{
    Asking, Attempts, Candidates, Choice, Elsewhere, FollowUp, Obstacle, Prospect, Reason, Refusal,
    Role, TargetId, Timestamp,
};
use sluicegate_dialect::Envelope;

pub(super) use self::over::Answered;
use super::Failure;
use super::calling::{Called, Ended, Sent};
use super::candidate::{CandidateList, Unsayable};
use super::upstream_failure::Tried;
use crate::attempt::Answer;
use crate::driver::{Refused, Standing};
use crate::exchange::Exchange;
use crate::gateway::{Gateway, Phase};
use crate::random;
use crate::snapshot::Snapshot;

/// A call that is read and routed.
pub(super) struct Sending<'a> {
    pub(super) gateway: &'a Arc<Gateway>,
    pub(super) snapshot: &'a Arc<Snapshot>,
    pub(super) envelope: &'a Envelope,
    pub(super) client: &'a request::Parts,
    pub(super) exchange: &'a mut Exchange,
    pub(super) candidates: &'a CandidateList<'a>,
    /// How it waits.
    pub(super) standing: &'a Standing,
    pub(super) attempts: Attempts,
    /// How often it was sent, keys that were refused included.
    pub(super) calls: usize,
    order: Candidates<'a>,
    asking: Asking,
    /// What the candidate that was named last is to the route.
    role: Role,
    /// Where it was sent last.
    at: Option<usize>,
    /// How long it waited before it was first sent.
    waited: Option<Duration>,
    tried: Vec<Tried>,
    last: Option<Last>,
    /// What is sent next in place of the request, to have its answer mended.
    pub(super) repair: Option<Sent>,
    /// Places that were asked to mend their answer.
    pub(super) repaired: Vec<usize>,
    /// Of the limits that refused it, the one that opens first.
    refused: Option<(Prospect, Refused)>,
    /// The first place that cannot be asked, and why.
    unsayable: Option<(usize, Unsayable)>,
}

/// What a client asked for, and how it waits.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) envelope: &'a Envelope,
    pub(super) client: &'a request::Parts,
    pub(super) standing: &'a Standing,
    pub(super) asking: Asking,
}

/// How the last attempt ended, and why nothing followed, where that is decided.
struct Last {
    ended: Ended,
    reason: Option<Reason>,
}

/// What follows an attempt.
enum Step {
    Answered(Box<Answer>),
    /// Another candidate, if there is one.
    Another,
    /// Nothing.
    Over,
}

impl<'a> Sending<'a> {
    pub(super) fn new(
        asked: Asked<'a>,
        exchange: &'a mut Exchange,
        candidates: &'a CandidateList<'a>,
        route: &'a sluicegate_core::Route,
        attempts: Attempts,
    ) -> Self {
        let Asked {
            envelope,
            client,
            standing,
            asking,
        } = asked;
        Self {
            gateway: candidates.gateway,
            snapshot: candidates.snapshot,
            envelope,
            client,
            exchange,
            candidates,
            standing,
            attempts,
            calls: 0,
            order: Candidates::new(route, asking),
            asking,
            role: Role::Primary,
            at: None,
            waited: None,
            tried: Vec::new(),
            last: None,
            repair: None,
            repaired: Vec::new(),
            refused: None,
            unsayable: None,
        }
    }

    /// Goes from candidate to candidate until there is an answer or nothing is left to try.
    ///
    /// # Errors
    ///
    /// What is left of the last attempt, or what was in the way of the first one.
    pub(super) async fn answered(mut self) -> Result<Answered, Failure> {
        loop {
            // Before the question: what ends between it and the waiting must not be missed.
            let ended = self.gateway.health().ended();
            let step = match self.next() {
                Choice::Try { target, role } => {
                    self.role = role;
                    self.tries(target.index()).await?
                }
                Choice::Wait { until } => {
                    self.waits(until, ended).await?;
                    continue;
                }
                Choice::Nowhere { obstacle, opens } => {
                    match self.nearest(obstacle) {
                        // Only the line itself tells which limit is in the way.
                        Some(place) => match self.tries(place).await? {
                            Step::Answered(answer) => Step::Answered(answer),
                            Step::Another | Step::Over => return self.over(opens),
                        },
                        None => return self.over(opens),
                    }
                }
            };
            match step {
                Step::Answered(answer) => return Ok(self.answer(*answer)),
                Step::Another => {}
                Step::Over => {
                    let now = self.now();
                    let facts = |place| self.candidates.facts(place, &self.attempts, now);
                    let opens = |place| {
                        let facts = facts(place);
                        facts.start.max(facts.passes)
                    };
                    let sayable = |place: &usize| self.candidates.outbound(*place).is_ok();
                    let opens = self.candidates.places().filter(sayable).map(opens).min();
                    return self.over(opens.unwrap_or(Prospect::Never));
                }
            }
        }
    }

    /// Where to go now. After the deadline only what can start at once is of use, and the core knows no later instant than it.
    fn next(&mut self) -> Choice {
        let now = self.now();
        let (candidates, attempts) = (self.candidates, &self.attempts);
        let facts = |target: TargetId| candidates.facts(target.index(), attempts, now);
        self.order.next(facts, now.min(self.asking.deadline))
    }

    /// Attempts at `place` until it answers or there is no use in another one.
    async fn tries(&mut self, place: usize) -> Result<Step, Failure> {
        loop {
            let deadline = self.attempts.deadline();
            let deadline = deadline.map_or(self.asking.deadline, |it| it.min(self.asking.deadline));
            let repairs = self.repair.is_some();
            let called = self.call(place, deadline).await?;
            if repairs {
                self.exchange.repaired(called.repair_outcome());
            }
            let (by, opens) = match called {
                Called::Answered(answer) => return Ok(Step::Answered(Box::new(answer))),
                Called::Failed(ended) if self.mends(place, &ended) => {
                    self.note(place, ended);
                    continue;
                }
                Called::Failed(ended) => match self.follows(place, ended) {
                    FollowUp::SameTarget { not_before } => {
                        self.rests(not_before).await?;
                        continue;
                    }
                    FollowUp::AnotherTarget(_) => {
                        self.fails_for_good();
                        return Ok(Step::Another);
                    }
                    FollowUp::GiveUp(reason) => {
                        if let Some(last) = &mut self.last {
                            last.reason = Some(reason);
                        }
                        return Ok(Step::Over);
                    }
                },
                Called::Refused(refused) => self.refused(refused),
                Called::LeftAlone(opens) => (Obstacle::Breaker, opens),
                Called::Unsayable(unsayable) => {
                    self.unsayable.get_or_insert((place, unsayable));
                    (Obstacle::Dialect, Prospect::Never)
                }
            };
            if self.at == Some(place) {
                self.fails_for_good();
            }
            self.order.refused(by, opens);
            return Ok(Step::Another);
        }
    }

    /// An attempt at `place` begins.
    pub(super) fn begins(&mut self, place: usize) {
        let from = self.at.replace(place);
        let before = from.unwrap_or(0);
        self.exchange.routed(self.candidates.at(place).route);
        if self.waited.is_none() {
            self.waited = Some(self.exchange.admitted());
        }
        if from == Some(place) {
            if let Some(tried) = self.tried.last() {
                self.exchange.retried(tried.kind.name());
            }
            return;
        }
        let failed_for = || Some(self.tried.last()?.kind.opens().first()?.name());
        let reason = match self.role {
            Role::Fallback(condition) => Some(condition.name()),
            Role::Primary => failed_for(),
            Role::Degraded => None,
        };
        if let Some(reason) = reason {
            let provider = &self.candidates.at(before).route.account.provider.id;
            self.exchange.fell_back(provider, reason);
        }
    }

    /// What follows the failure of the attempt at `place`.
    fn follows(&mut self, place: usize, ended: Ended) -> FollowUp {
        let failure = ended.in_core();
        self.note(place, ended);
        let mut order = self.order.clone();
        for condition in failure.kind.opens() {
            order.failed(*condition);
        }
        let whose = self.candidates.at(place).route.whose();
        let now = self.now();
        let elsewhere = self.elsewhere(order, now);
        self.gateway.health().with_budget(whose, |budget| {
            let random = random::number();
            self.attempts.next(&failure, elsewhere, budget, random, now)
        })
    }

    /// Whether `order` leads at once to a place that can be told the request. One that cannot is no other place: what follows a failure
    /// is then what follows it on a route without that place.
    fn elsewhere(&mut self, mut order: Candidates<'_>, now: Timestamp) -> Elsewhere {
        let facts = |target: TargetId| self.candidates.facts(target.index(), &self.attempts, now);
        while let Choice::Try { target, .. } = order.next(facts, now.min(self.asking.deadline)) {
            let place = target.index();
            let Err(unsayable) = self.candidates.outbound(place) else {
                return Elsewhere::Possible;
            };
            self.unsayable.get_or_insert((place, unsayable));
            order.refused(Obstacle::Dialect, Prospect::Never);
        }
        Elsewhere::Impossible
    }

    /// Keeps in mind how the attempt at `place` ended.
    fn note(&mut self, place: usize, ended: Ended) {
        let failure = ended.in_core();
        let whose = self.candidates.at(place).route.whose();
        if let Ended::Failure(failed) = &ended {
            tracing::debug!(
                deployment = %whose,
                kind = failure.kind.name(),
                attempt = self.attempts.made(),
                reason = failed.message(),
                "an attempt failed"
            );
        }
        self.tried.push(Tried {
            deployment: whose.to_string(),
            kind: failure.kind,
        });
        self.last = Some(Last {
            ended,
            reason: None,
        });
    }

    /// Nothing more is tried where the last attempt was: what that opens is open.
    fn fails_for_good(&mut self) {
        if let Some(tried) = self.tried.last() {
            for condition in tried.kind.opens() {
                self.order.failed(*condition);
            }
        }
    }

    /// Keeps in mind what a limit said.
    fn refused(&mut self, refused: Refused) -> (Obstacle, Prospect) {
        let by = match refused.refusal {
            Refusal::Shed { .. } => Obstacle::Shed,
            Refusal::LineFull { .. } => Obstacle::Lane,
            Refusal::TooLarge { .. }
            | Refusal::NotGranted { .. }
            | Refusal::Deadline { .. }
            | Refusal::NoSuchTarget => Obstacle::Ledger,
        };
        let never = matches!(
            refused.refusal,
            Refusal::TooLarge { .. } | Refusal::NotGranted { .. } | Refusal::NoSuchTarget
        );
        let opens = match refused.wait {
            Some(wait) => Prospect::At(self.now().saturating_add(wait)),
            None if never => Prospect::Never,
            None => Prospect::OnRelease,
        };
        if self
            .refused
            .as_ref()
            .is_none_or(|(first, _)| opens < *first)
        {
            self.refused = Some((opens, refused));
        }
        (by, opens)
    }

    /// Where limits alone are in the way and none has been asked: the place where the request could start first.
    fn nearest(&self, obstacle: Option<Obstacle>) -> Option<usize> {
        if obstacle != Some(Obstacle::Ledger) || self.last.is_some() || self.refused.is_some() {
            return None;
        }
        let now = self.now();
        let start = |place: &usize| {
            let facts = self.candidates.facts(*place, &self.attempts, now);
            facts.start.max(facts.passes)
        };
        // One that cannot be told the request is named where there is no other, so that it tells that.
        let unsayable = |place: &usize| self.candidates.outbound(*place).is_err();
        let places = self.candidates.places();
        places.min_by_key(|place| (unsayable(place), start(place)))
    }

    /// Waits until `until`, until a call `ended` where nobody knows the instant, and no longer than the request may.
    async fn waits(
        &mut self,
        until: Prospect,
        ended: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        let until = match until {
            Prospect::At(at) => at.min(self.asking.deadline),
            Prospect::OnRelease | Prospect::Never => self.asking.deadline,
        };
        let since = self.now();
        let waited = tokio::select! {
            rested = self.rests(until) => rested,
            () = ended => Ok(()),
        };
        self.exchange.stood(since);
        waited
    }

    /// Waits until `until`.
    async fn rests(&mut self, until: Timestamp) -> Result<(), Failure> {
        let until = self.gateway.clock().instant(until);
        tokio::select! {
            () = tokio::time::sleep_until(until) => Ok(()),
            () = self.gateway.reached(Phase::Draining) => Err(Failure::ShuttingDown),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.gateway.clock().mono()
    }
}
