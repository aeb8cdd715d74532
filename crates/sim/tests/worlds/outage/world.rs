//! Clients, one target with its limit, breaker and retry budget, driven as the gateway drives them.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use sluicegate_core::{
    Amounts, Attempts, Authority, BackoffRule, BasisPoints, Book, Breaker, BreakerRule, Core,
    Decision, Elsewhere, Event, Failure, FailureKind, Failures, FollowUp, Headroom, Lane, Limit,
    LimitId, Meter, Mode, Now, Outcome, Pass, Passage, Policy, ReservationId, RetryBudget,
    RetryBudgetRule, RetryRule, Settlement, Start, Submission, Target, TargetId, TicketId,
    Timestamp, WallTime, Window,
};
use sluicegate_sim::random::{Purpose, Random};

use super::{CLIENTS, LIMIT};
use crate::SECOND;

/// How long every call takes.
const LATENCY: Duration = Duration::from_millis(200);
/// What a client waits after a failure.
const AGAIN: Duration = Duration::from_secs(1);
const RULE: RetryRule = RetryRule {
    attempts_max: 3,
    total_max: Duration::from_secs(8),
};

/// The world, and what it saw.
pub(super) struct World {
    core: Core,
    breaker: Breaker,
    budget: RetryBudget,
    failure: Failure,
    random: Random,
    /// By client, the attempts of its request.
    requests: Vec<Attempts>,
    waiting: BTreeMap<TicketId, usize>,
    happenings: BTreeMap<(Timestamp, usize), Happening>,
    put: usize,
    /// When each call reached the provider.
    pub(super) calls: Vec<Timestamp>,
    pub(super) served: usize,
    pub(super) all_served: Timestamp,
}

enum Happening {
    /// A client asks.
    Asks(usize),
    /// An attempt of its request begins.
    Begins(usize),
    Ends {
        client: usize,
        reservation: ReservationId,
        pass: Pass,
        failure: Option<Failure>,
    },
}

impl World {
    /// All clients ask at once of a provider that fails so while it is down.
    pub(super) fn new(failure: Failure, seed: u64) -> Self {
        let target = Target {
            name: "provider".into(),
            limits: vec![LimitId::new(0)],
        };
        let policy = Policy::new(vec![limit()], vec![target], 1_000, Duration::from_secs(600));
        let mut world = Self {
            core: Core::new(policy.expect("one limit, one target"), at(Timestamp::ZERO)),
            breaker: Breaker::new(BreakerRule::default()),
            budget: RetryBudget::new(RetryBudgetRule::default()),
            failure,
            random: Random::new(seed, Purpose::Answer),
            requests: vec![Attempts::new(RULE, BackoffRule::default()); CLIENTS],
            waiting: BTreeMap::new(),
            happenings: BTreeMap::new(),
            put: 0,
            calls: Vec::new(),
            served: 0,
            all_served: Timestamp::ZERO,
        };
        for client in 0..CLIENTS {
            world.put(Timestamp::ZERO, Happening::Asks(client));
        }
        world
    }

    pub(super) fn run(mut self) -> Self {
        loop {
            let wake = self.core.poll_timeout();
            let next = self.happenings.first_key_value().map(|((at, _), _)| *at);
            // What expires long after everybody was served is no matter.
            if next.is_none() && self.waiting.is_empty() {
                return self;
            }
            let now = wake.into_iter().chain(next).min();
            let now = now.expect("somebody waits, so the core wants to be called");
            if wake == Some(now) {
                self.core.handle_timeout(at(now));
            } else if let Some((_, happening)) = self.happenings.pop_first() {
                self.happen(happening, now);
            }
            self.fetch(now);
        }
    }

    fn put(&mut self, at: Timestamp, happening: Happening) {
        self.happenings.insert((at, self.put), happening);
        self.put += 1;
    }

    fn happen(&mut self, happening: Happening, now: Timestamp) {
        match happening {
            Happening::Asks(client) => {
                self.requests[client] = Attempts::new(RULE, BackoffRule::default());
                self.begin(client, now);
            }
            Happening::Begins(client) => self.begin(client, now),
            Happening::Ends {
                client,
                reservation,
                pass,
                failure,
            } => self.end(client, reservation, pass, failure, now),
        }
    }

    fn begin(&mut self, client: usize, now: Timestamp) {
        let deadline = self.requests[client].deadline();
        let deadline = deadline.unwrap_or(now.saturating_add(RULE.total_max));
        let submission = Submission {
            lane: Lane::Interactive,
            ..Submission::new(TargetId::new(0), Amounts::one_request(), deadline)
        };
        match self.core.submit(submission, at(now)) {
            Decision::Admitted(reservation) => self.call(client, reservation, now),
            Decision::Waiting { ticket, .. } => {
                self.waiting.insert(ticket, client);
            }
            Decision::Refused(_) => self.ask_again(client, now),
        }
    }

    fn fetch(&mut self, now: Timestamp) {
        while let Some(event) = self.core.poll_event() {
            let (Event::Admitted { ticket, .. } | Event::Refused { ticket, .. }) = event else {
                continue;
            };
            let Some(client) = self.waiting.remove(&ticket) else {
                continue;
            };
            match event {
                Event::Admitted { reservation, .. } => self.call(client, reservation, now),
                _ => self.ask_again(client, now),
            }
        }
    }

    /// The way is asked for last, just before sending.
    fn call(&mut self, client: usize, reservation: ReservationId, now: Timestamp) {
        let pass = match self.breaker.ask(Elsewhere::Impossible, now) {
            Passage::Flows(pass) | Passage::Probe(pass) => pass,
            Passage::NotBefore(from) => {
                self.core.settle(reservation, Outcome::Void, at(now));
                return self.put(from, Happening::Begins(client));
            }
            Passage::AfterProbe => unreachable!("there is nowhere else to go"),
        };
        self.requests[client].begins(TargetId::new(0), &mut self.budget, now);
        self.calls.push(now);
        let failure = super::is_down(&now).then_some(self.failure);
        let ends = Happening::Ends {
            client,
            reservation,
            pass,
            failure,
        };
        self.put(now.saturating_add(LATENCY), ends);
    }

    fn end(
        &mut self,
        client: usize,
        reservation: ReservationId,
        pass: Pass,
        failure: Option<Failure>,
        now: Timestamp,
    ) {
        let Some(failure) = failure else {
            self.breaker.served(pass, now);
            self.core
                .settle(reservation, Outcome::Used(Amounts::one_request()), at(now));
            self.served += 1;
            self.all_served = now;
            return;
        };
        self.breaker.failed(pass, &failure, now);
        let outcome = match failure.kind {
            FailureKind::Connect => Outcome::Void,
            _ => Outcome::Failed,
        };
        self.core.settle(reservation, outcome, at(now));
        let random = self.random.between(0, u64::MAX);
        let next = self.requests[client].next(
            &failure,
            Elsewhere::Impossible,
            &mut self.budget,
            random,
            now,
        );
        match next {
            FollowUp::SameTarget { not_before } => self.put(not_before, Happening::Begins(client)),
            FollowUp::AnotherTarget(_) => unreachable!("there is none"),
            FollowUp::GiveUp(_) => self.ask_again(client, now),
        }
    }

    fn ask_again(&mut self, client: usize, now: Timestamp) {
        self.put(now.saturating_add(AGAIN), Happening::Asks(client));
    }
}

fn at(mono: Timestamp) -> Now {
    Now::new(
        mono,
        WallTime::from_unix_nanos(1_800_000_000 * SECOND + mono.as_nanos()),
    )
}

fn limit() -> Limit {
    Limit {
        name: "requests/1s".into(),
        meter: Meter::Requests,
        amount: NonZeroU64::new(LIMIT).expect("above zero"),
        window: Window::Sliding {
            per: Duration::from_secs(1),
        },
        quantum: None,
        headroom: Headroom::Share(BasisPoints::WHOLE),
        start: Start::Full,
        mode: Mode::Enforce,
        settlement: Settlement::Keep,
        failures: Failures::Count,
        arrival_spread: Duration::ZERO,
        authority: Authority::Local,
        book: Book::Mirror,
    }
}
