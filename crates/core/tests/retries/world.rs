//! Targets, requests and a driver between them, in virtual time. How many calls reach a target is counted by the target.

use std::collections::BTreeMap;
use std::time::Duration;

use sluicegate_core::{
    Attempts, BackoffRule, Breaker, BreakerRule, Elsewhere, Failure, FollowUp, Pass, Reason,
    RetryBudget, RetryBudgetRule, RetryRule, TargetId, Timestamp,
};

/// How long every call takes.
pub(crate) const LATENCY: Duration = Duration::from_millis(400);
/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// What a target answers; `None` serves.
pub(crate) type Answers = Box<dyn FnMut(&mut Random, Timestamp) -> Option<Failure>>;

pub(crate) struct Target {
    pub(crate) breaker: Breaker,
    budget: RetryBudget,
    answers: Answers,
    /// When each call reached it.
    pub(crate) calls: Vec<Timestamp>,
}

pub(crate) struct Request {
    pub(crate) attempts: Attempts,
    /// What became of it, and when.
    pub(crate) end: Option<(End, Timestamp)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum End {
    Served {
        by: usize,
    },
    Failed(Reason),
    /// No target was free; the earliest that will be.
    Refused(Option<Timestamp>),
}

#[derive(Debug)]
enum Event {
    Begins {
        request: usize,
        target: usize,
    },
    Ends {
        request: usize,
        target: usize,
        pass: Pass,
        failure: Option<Failure>,
    },
}

/// Targets in the order of a route's, every fallback open for whatever a failure opens.
pub(crate) struct World {
    pub(crate) targets: Vec<Target>,
    pub(crate) requests: Vec<Request>,
    pub(crate) random: Random,
    events: BTreeMap<(Timestamp, usize), Event>,
    scheduled: usize,
}

impl World {
    pub(crate) fn new(budget: RetryBudgetRule, targets: Vec<Answers>) -> Self {
        let target = |answers| Target {
            breaker: Breaker::new(BreakerRule::default()),
            budget: RetryBudget::new(budget),
            answers,
            calls: Vec::new(),
        };
        Self {
            targets: targets.into_iter().map(target).collect(),
            requests: Vec::new(),
            random: Random(1),
            events: BTreeMap::new(),
            scheduled: 0,
        }
    }

    /// A request that arrives at `now`.
    pub(crate) fn arrives(&mut self, rule: RetryRule, now: Timestamp) {
        self.requests.push(Request {
            attempts: Attempts::new(rule, BackoffRule::default()),
            end: None,
        });
        let request = self.requests.len() - 1;
        self.schedule(now, Event::Begins { request, target: 0 });
    }

    /// One request after the other has ended.
    pub(crate) fn serve(&mut self, rule: RetryRule, now: Timestamp) -> (End, Timestamp) {
        self.arrives(rule, now);
        self.run();
        let last = self.requests.last().expect("it arrived");
        last.end.expect("every request ends")
    }

    pub(crate) fn run(&mut self) {
        while let Some(((now, _), event)) = self.events.pop_first() {
            match event {
                Event::Begins { request, target } => self.begins(request, target, now),
                Event::Ends {
                    request,
                    target,
                    pass,
                    failure,
                } => {
                    self.ends(request, target, pass, failure, now);
                }
            }
        }
    }

    fn schedule(&mut self, at: Timestamp, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    /// At `preferred`, or where that is left alone at the next one that was not tried.
    fn begins(&mut self, request: usize, preferred: usize, now: Timestamp) {
        let attempts = &mut self.requests[request].attempts;
        let untried = |target: &usize| !attempts.has_tried(TargetId::new(*target));
        let others = (0..self.targets.len()).filter(|target| *target != preferred);
        let mut candidates: Vec<usize> = others.filter(untried).collect();
        candidates.insert(0, preferred);
        for (index, &candidate) in candidates.iter().enumerate() {
            let target = &mut self.targets[candidate];
            let elsewhere = elsewhere(index + 1 < candidates.len());
            let Some(pass) = target.breaker.ask(elsewhere, now).into_pass() else {
                continue;
            };
            attempts.begins(TargetId::new(candidate), &mut target.budget, now);
            target.calls.push(now);
            let failure = (target.answers)(&mut self.random, now);
            let target = candidate;
            let ends = Event::Ends {
                request,
                target,
                pass,
                failure,
            };
            return self.schedule(now.saturating_add(LATENCY), ends);
        }
        let free = |target: &usize| {
            let breaker = &self.targets[*target].breaker;
            breaker.passes_from(Elsewhere::Impossible, now)
        };
        let earliest = candidates.iter().filter_map(free).min();
        self.requests[request].end = Some((End::Refused(earliest), now));
    }

    fn ends(
        &mut self,
        request: usize,
        target: usize,
        pass: Pass,
        failure: Option<Failure>,
        now: Timestamp,
    ) {
        let there = &mut self.targets[target];
        let Some(failure) = failure else {
            there.breaker.served(pass, now);
            self.requests[request].end = Some((End::Served { by: target }, now));
            return;
        };
        there.breaker.failed(pass, &failure, now);
        let random = self.random.draw();
        let attempts = &self.requests[request].attempts;
        let untried = |target: &usize| !attempts.has_tried(TargetId::new(*target));
        let other = (0..self.targets.len()).find(untried);
        let budget = &mut self.targets[target].budget;
        match attempts.next(&failure, elsewhere(other.is_some()), budget, random, now) {
            FollowUp::SameTarget { not_before } => {
                self.schedule(not_before, Event::Begins { request, target });
            }
            FollowUp::AnotherTarget(reason) => {
                let Some(target) = other else {
                    panic!("another target where there is none: {reason:?}");
                };
                self.schedule(now, Event::Begins { request, target });
            }
            FollowUp::GiveUp(reason) => {
                self.requests[request].end = Some((End::Failed(reason), now));
            }
        }
    }

    pub(crate) fn calls(&self) -> Vec<usize> {
        let calls = |target: &Target| target.calls.len();
        self.targets.iter().map(calls).collect()
    }
}

fn elsewhere(possible: bool) -> Elsewhere {
    match possible {
        true => Elsewhere::Possible,
        false => Elsewhere::Impossible,
    }
}

pub(crate) fn always(failure: Failure) -> Answers {
    Box::new(move |_, _| Some(failure))
}

pub(crate) fn healthy() -> Answers {
    Box::new(|_, _| None)
}

/// `failures`, one a call, and healthy from then on.
pub(crate) fn first(failures: impl IntoIterator<Item = Failure, IntoIter: 'static>) -> Answers {
    let mut failures = failures.into_iter();
    Box::new(move |_, _| failures.next())
}
