//! When a deployment is left alone, and how it comes back.
//!
//! Two things close the way, and they are kept apart. A *hint* is the provider's own word: nothing passes before it ends, whoever
//! asks. What *we* conclude from failures opens the breaker; that only prefers other deployments, so where there is none the
//! request passes all the same: to fail once more is better than to be refused for a guess.
//!
//! Whatever passes holds a [`Pass`] and gives it back in exactly one way, so that at most one probe is out at any time however
//! often the state changes meanwhile. There is no time after which a probe counts as lost: such a time would let a second one
//! through while the first is slow, which is when it must not.
//!
//! What happened to a call that began before the state changed says nothing about the state that it meets: it opens and closes
//! nothing. So a breaker is never open for longer than it said when it opened. Waits of ours hold no pass and never count.
//!
//! It knows no deployments: there is one value for each, and the caller tells the account's others what concerns them too.

mod passage;
mod verdict;

use core::time::Duration;

use crate::recent::Recent;
use crate::{BasisPoints, Failure, Timestamp};

pub use passage::{BreakerState, Elsewhere, Pass, Passage};
use verdict::Verdict;

/// A hint that wants longer counts as that long.
const HINT_MAX: Duration = Duration::from_secs(86_400);
/// How long an account that cannot pay is left alone where the provider names no time. Nobody pays within less.
const BENCH: Duration = Duration::from_secs(300);

const SERVED: usize = 0;
const FAILED: usize = 1;

/// When a breaker opens and closes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BreakerRule {
    /// Opens when that share of the calls of the last `over` failed.
    pub failure_rate: BasisPoints,
    /// Fewer calls than that tell no rate.
    pub calls_min: u32,
    /// The time over which the rate is taken.
    pub over: Duration,
    /// Opens after so many failures without a success between them; zero never.
    pub consecutive: u32,
    /// How long it stays open before one call may probe.
    pub open_for: Duration,
    /// It closes after so many successful probes, one at a time.
    pub half_open_successes: u32,
}

/// What is known of one deployment's health.
#[derive(Clone, Debug)]
pub struct Breaker {
    rule: BreakerRule,
    state: State,
    /// Counts changes of `state`, so that a pass tells whether it was given in this one.
    era: u64,
    /// A probe is out.
    probing: bool,
    calls: Recent<2>,
    failed_in_row: u32,
    /// The provider's own word.
    held_until: Timestamp,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    /// Half open from `until` on.
    Open {
        until: Timestamp,
        successes: u32,
    },
}

impl Breaker {
    /// A closed one.
    pub fn new(rule: BreakerRule) -> Self {
        Self {
            rule,
            state: State::Closed,
            era: 0,
            probing: false,
            calls: Recent::over(rule.over),
            failed_in_row: 0,
            held_until: Timestamp::ZERO,
        }
    }

    /// Whether a request that could go `elsewhere` may go here. What is given must be given back.
    pub fn ask(&mut self, elsewhere: Elsewhere, now: Timestamp) -> Passage {
        if now < self.held_until {
            return Passage::NotBefore(self.next_passage(elsewhere));
        }
        match (self.state(now), elsewhere) {
            (BreakerState::Closed, _) | (BreakerState::Open, Elsewhere::Impossible) => {
                Passage::Flows(self.pass())
            }
            (BreakerState::Open, Elsewhere::Possible) => {
                Passage::NotBefore(self.next_passage(elsewhere))
            }
            (BreakerState::HalfOpen, _) if !self.probing => {
                self.probing = true;
                Passage::Probe(Pass {
                    probe: true,
                    ..self.pass()
                })
            }
            (BreakerState::HalfOpen, Elsewhere::Impossible) => Passage::Flows(self.pass()),
            (BreakerState::HalfOpen, Elsewhere::Possible) => Passage::AfterProbe,
        }
    }

    /// What [`ask`](Self::ask) would answer, as the instant from which on it would be yes: at most `now` where it would be now,
    /// `None` where a probe's end decides. For whoever compares deployments and takes no pass.
    pub fn passes_from(&self, elsewhere: Elsewhere, now: Timestamp) -> Option<Timestamp> {
        let from = self.next_passage(elsewhere);
        let half_open = self.state(now.max(from)) == BreakerState::HalfOpen;
        let busy = half_open && self.probing && elsewhere == Elsewhere::Possible;
        (!busy).then_some(from)
    }

    /// The first content of the call's stream is there. That is all that a probe was to find out; where it closed the breaker,
    /// how the stream ends counts like that of any other call.
    pub fn answers(&mut self, pass: &mut Pass, now: Timestamp) {
        if pass.probe {
            let probe = core::mem::replace(pass, Pass::SPENT);
            self.served(probe, now);
            if let State::Closed = self.state {
                *pass = self.pass();
            }
        }
    }

    /// The call was answered as it should be, to its end.
    pub fn served(&mut self, pass: Pass, now: Timestamp) {
        if !self.take_back(pass) {
            return;
        }
        self.failed_in_row = 0;
        match &mut self.state {
            State::Closed => self.calls.add(SERVED, now),
            State::Open { successes, .. } => {
                *successes = successes.saturating_add(1);
                if *successes >= self.rule.half_open_successes {
                    self.close();
                }
            }
        }
    }

    /// The call failed.
    ///
    /// A refusal for a rate or for want of capacity that names a time is no failure: the deployment is left alone until then,
    /// and of several times the latest holds. Whoever closes the limit that a refusal names hands the failure over without its
    /// hint, and what that limit does not concern flows on. The fault of a request, or of one key, says nothing. An account out
    /// of money opens the breaker at once, until the hint or for five minutes.
    pub fn failed(&mut self, pass: Pass, failure: &Failure, now: Timestamp) {
        let probe = pass.probe;
        let current = self.take_back(pass);
        match Verdict::of(failure.kind) {
            Verdict::Nothing => {}
            Verdict::Useless => self.bench(failure.wait(), now),
            Verdict::Limits => self.hold(failure.wait(), now),
            Verdict::Short if failure.wait().is_some() => self.hold(failure.wait(), now),
            Verdict::Short | Verdict::Fails => {
                self.hold(failure.wait(), now);
                if current {
                    self.count_failure(probe, now);
                }
            }
        }
    }

    /// The call ended in a way that says nothing about the deployment: never sent, or the client went away.
    pub fn abandoned(&mut self, pass: Pass) {
        self.take_back(pass);
    }

    /// The account as a whole is of no use, as when its last key was refused: other deployments first, for `wait` or five
    /// minutes, and then one probe. What it already waits for holds where that is later.
    pub fn bench(&mut self, wait: Option<Duration>, now: Timestamp) {
        self.open(now.saturating_add(wait.map_or(BENCH, |wait| wait.min(HINT_MAX))));
    }

    /// The state as it is at `now`.
    pub fn state(&self, now: Timestamp) -> BreakerState {
        match self.state {
            State::Closed => BreakerState::Closed,
            State::Open { until, .. } if now < until => BreakerState::Open,
            State::Open { .. } => BreakerState::HalfOpen,
        }
    }

    /// When the provider's own hint ends, where it has not.
    pub fn held_until(&self, now: Timestamp) -> Option<Timestamp> {
        (now < self.held_until).then_some(self.held_until)
    }

    /// Goes on under another rule. What was counted stays, unless it was counted over another time.
    pub fn reconfigure(&mut self, rule: BreakerRule) {
        if rule.over != self.rule.over {
            self.calls = Recent::over(rule.over);
        }
        self.rule = rule;
    }

    fn pass(&self) -> Pass {
        Pass {
            era: self.era,
            probe: false,
        }
    }

    /// Whether the state is the one in which it was given.
    fn take_back(&mut self, pass: Pass) -> bool {
        let (era, probe) = pass.spend();
        if probe {
            self.probing = false;
        }
        era == self.era
    }

    /// The first instant at which neither a hint nor, where the request could go `elsewhere`, the open breaker is in the way.
    fn next_passage(&self, elsewhere: Elsewhere) -> Timestamp {
        match (self.state, elsewhere) {
            (State::Open { until, .. }, Elsewhere::Possible) => until.max(self.held_until),
            (State::Open { .. }, Elsewhere::Impossible) | (State::Closed, _) => self.held_until,
        }
    }

    /// In the open state only a probe's failure says something new.
    fn count_failure(&mut self, probe: bool, now: Timestamp) {
        match self.state {
            State::Open { .. } if !probe => return,
            State::Open { .. } => {}
            State::Closed => {
                self.failed_in_row = self.failed_in_row.saturating_add(1);
                self.calls.add(FAILED, now);
                if !self.is_too_much(now) {
                    return;
                }
            }
        }
        self.open(now.saturating_add(self.rule.open_for));
    }

    fn is_too_much(&mut self, now: Timestamp) -> bool {
        let in_row = self.rule.consecutive > 0 && self.failed_in_row >= self.rule.consecutive;
        let [served, failed] = self.calls.totals(now);
        let calls = served + failed;
        let rate = u64::from(self.rule.failure_rate.points());
        let of_rate = calls >= u64::from(self.rule.calls_min) && failed * 10_000 >= rate * calls;
        in_row || of_rate
    }

    /// A later end that was promised before holds.
    fn open(&mut self, until: Timestamp) {
        let promised = match self.state {
            State::Closed => Timestamp::ZERO,
            State::Open { until, .. } => until,
        };
        let until = until.max(promised);
        self.state = State::Open {
            until,
            successes: 0,
        };
        self.era += 1;
    }

    fn close(&mut self) {
        self.state = State::Closed;
        self.era += 1;
        self.calls = Recent::over(self.rule.over);
        self.failed_in_row = 0;
    }

    fn hold(&mut self, wait: Option<Duration>, now: Timestamp) {
        if let Some(wait) = wait {
            let until = now.saturating_add(wait.min(HINT_MAX));
            self.held_until = self.held_until.max(until);
        }
    }
}

impl Default for BreakerRule {
    /// Half of at least 20 calls within 30 s, or 5 in a row; open for 30 s; one successful probe.
    fn default() -> Self {
        Self {
            failure_rate: BasisPoints::new(5_000).unwrap_or(BasisPoints::WHOLE),
            calls_min: 20,
            over: Duration::from_secs(30),
            consecutive: 5,
            open_for: Duration::from_secs(30),
            half_open_successes: 1,
        }
    }
}
