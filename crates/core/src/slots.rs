//! How many requests at once an upstream takes that publishes no limit: a bound that follows its latency.
//!
//! Three ways are well known. To grow until something is dropped and then back off (AIMD) needs upstreams that drop; those that
//! publish no limit rather queue, and all that is ever seen is people waiting. To compare each call with the shortest one
//! (Vegas) takes every long prompt for a queue. What remains is to compare rounds of calls with a round that had no
//! queue, and to scale the bound by how much longer they take (gradient): bound * base * 4/3 / latency + root of the bound.
//! It rests at a queue of a third and a little more, which keeps the upstream busy. Drops are heeded all the same.
//!
//! Latency is the lower quartile of a round's times to the first byte, and two rounds in a row must be late before the
//! bound falls: a queue delays every call, a batch of long prompts only its own. A round counts only calls that began under the
//! bound that it judges.
//!
//! The base is measured whenever no more than half of the bound is in use, and when that did not happen for long, half of
//! the bound is taken away for one round: a queue drains then, and what remains is the upstream itself. Without that a base
//! would either creep up with the queue or hold an upstream that has become slower to what it was.
//!
//! What is not in use says nothing: an idle bound does not grow.

use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::time::Duration;

use crate::Timestamp;
use crate::time::duration_nanos;

/// Where a bound begins. It grows by one with each answer from there, until something is late or dropped for the first time.
const FIRST: u64 = 4;
/// Answers of one round: as many as the bound, within these.
const ROUND_MIN: u64 = 8;
const ROUND_MAX: u64 = 64;
/// Rounds in use after which the base is measured anew.
const BASE_ROUNDS: u32 = 32;
/// So many late rounds in a row are a queue.
const LATE_ROUNDS: u32 = 2;

/// A bound of concurrency, at least 1 and at most what it was made for.
///
/// ```
/// use core::num::NonZeroU64;
/// use core::time::Duration;
/// use sluicegate_core::{AdaptiveSlots, Answered, Timestamp};
///
/// let mut slots = AdaptiveSlots::new(NonZeroU64::new(64).unwrap());
/// assert_eq!(slots.bound(), 4);
/// let second = Timestamp::from_nanos(1_000_000_000);
/// slots.answered(Answered::Served(Duration::from_millis(200)), 4, second);
/// assert_eq!(slots.bound(), 5);
/// slots.answered(Answered::Dropped(Duration::from_millis(10)), 5, second);
/// assert_eq!(slots.bound(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct AdaptiveSlots {
    max: u64,
    bound: u64,
    /// Nothing was ever in the way.
    is_new: bool,
    /// Nanoseconds to the first byte where nothing queues; `None` before the first round.
    base: Option<u64>,
    /// Half of the bound is taken away to measure it.
    measures: bool,
    /// Rounds in use since it was measured.
    rounds: u32,
    /// Late rounds in a row.
    late: u32,
    /// At that bound something was dropped lately; beyond it grows in single steps.
    dropped_at: u64,
    round: Round,
}

/// How a call ended, with the time from its start to the first byte, or to the failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answered {
    /// It was answered. A failure that says nothing of load counts as an answer, or is not told.
    Served(Duration),
    /// The upstream would not have it (429, 503), or did not answer in time.
    Dropped(Duration),
}

#[derive(Clone, Debug)]
struct Round {
    /// The bound is as it is since then: calls that began before were under another.
    began: Timestamp,
    /// Nanoseconds to the first byte, each.
    times: Vec<u64>,
    /// The most that were in flight.
    busiest: u64,
}

impl AdaptiveSlots {
    /// A bound that never exceeds `max`.
    pub fn new(max: NonZeroU64) -> Self {
        let max = max.get();
        Self {
            max,
            bound: FIRST.min(max),
            is_new: true,
            base: None,
            measures: false,
            rounds: 0,
            late: 0,
            dropped_at: u64::MAX,
            round: Round::begin(Timestamp::ZERO),
        }
    }

    /// How many may be in flight now.
    pub fn bound(&self) -> u64 {
        if self.measures {
            (self.bound / 2).max(1)
        } else {
            self.bound
        }
    }

    /// A call ended at `now` that had made `in_flight` calls in flight when it began, itself included. Calls may be told in
    /// any order.
    pub fn answered(&mut self, answered: Answered, in_flight: u64, now: Timestamp) {
        match answered {
            Answered::Served(time) => self.served(duration_nanos(time), in_flight, now),
            Answered::Dropped(time) => self.dropped(duration_nanos(time), now),
        }
    }

    /// The same bound for another maximum.
    pub fn retune(&mut self, max: NonZeroU64) {
        self.max = max.get();
        self.bound = self.bound.min(self.max);
    }

    fn served(&mut self, time: u64, in_flight: u64, now: Timestamp) {
        if started(time, now) < self.round.began {
            return;
        }
        // Those that came before the queue had drained.
        if self.measures && in_flight > self.bound() {
            return;
        }
        self.round.times.push(time);
        self.round.busiest = self.round.busiest.max(in_flight);
        if self.is_new && self.is_used(in_flight) {
            self.bound = self.bound.saturating_add(1).min(self.max);
        }
        if self.round.times.len() as u64 >= self.round_length() {
            self.end_round(now);
        }
    }

    /// Takes a quarter away. Of those that were dropped together only the first one counts: the others began under the bound that
    /// it cut.
    fn dropped(&mut self, time: u64, now: Timestamp) {
        if started(time, now) < self.round.began {
            return;
        }
        self.is_new = false;
        self.measures = false;
        self.late = 0;
        self.dropped_at = self.bound;
        self.set_bound(self.bound - self.bound.div_ceil(4), now);
    }

    fn end_round(&mut self, now: Timestamp) {
        let Round { times, busiest, .. } = &mut self.round;
        let busiest = *busiest;
        let time = lower_quartile(times);
        self.round = Round {
            times: core::mem::take(times),
            ..Round::begin(self.round.began)
        };
        self.round.times.clear();
        if self.measures || !self.is_used(busiest) {
            self.measured(time, now);
            return;
        }
        // Nothing is faster than without a queue; half-way, since by chance something always is. One at a time makes none.
        let base = match self.base {
            Some(base) if self.bound > 1 => base.min(u64::midpoint(base, time)),
            _ => time,
        };
        self.base = Some(base);
        self.follow(time, base, now);
        self.rounds += 1;
        if self.rounds >= BASE_ROUNDS && self.bound > 1 {
            self.measures = true;
            self.round = Round::begin(now);
        }
    }

    /// A round without a queue took `time`.
    fn measured(&mut self, time: u64, now: Timestamp) {
        self.base = Some(time);
        self.rounds = 0;
        self.late = 0;
        if core::mem::take(&mut self.measures) {
            // An upstream may have more room by now.
            self.dropped_at = u64::MAX;
            self.round = Round::begin(now);
        }
    }

    /// A round that used the bound took `time`, and would have taken `base` without a queue.
    fn follow(&mut self, time: u64, base: u64, now: Timestamp) {
        let allowed = base.saturating_add(base / 3);
        let step = self.bound.isqrt();
        if time <= allowed {
            self.late = 0;
            if !self.is_new {
                let grown = self.bound.saturating_add(step).min(self.dropped_at);
                self.set_bound(grown.max(self.bound.saturating_add(1)), now);
            }
            return;
        }
        if core::mem::take(&mut self.is_new) {
            // What is on its way came too fast to tell anything.
            self.round = Round::begin(now);
            return;
        }
        self.late += 1;
        if self.late >= LATE_ROUNDS {
            let scaled = u128::from(self.bound) * u128::from(allowed) / u128::from(time);
            let scaled = u64::try_from(scaled).unwrap_or(self.bound);
            self.set_bound(scaled.max(self.bound / 2).saturating_add(step), now);
        }
    }

    /// Short while it grows with each answer, so that it does not grow far beyond what it learns.
    fn round_length(&self) -> u64 {
        if self.is_new {
            ROUND_MIN
        } else {
            self.bound().clamp(ROUND_MIN, ROUND_MAX)
        }
    }

    fn set_bound(&mut self, bound: u64, now: Timestamp) {
        let bound = bound.clamp(1, self.max);
        if bound != self.bound {
            self.bound = bound;
            self.round = Round::begin(now);
        }
    }

    /// Whether so many in flight use the bound.
    fn is_used(&self, in_flight: u64) -> bool {
        in_flight > self.bound / 2
    }
}

impl Round {
    fn begin(now: Timestamp) -> Self {
        Self {
            began: now,
            times: Vec::new(),
            busiest: 0,
        }
    }
}

/// When a call that took `time` until `now` began.
fn started(time: u64, now: Timestamp) -> Timestamp {
    Timestamp::from_nanos(now.as_nanos().saturating_sub(time))
}

/// The time that a quarter of `times` do not exceed; they end in order.
fn lower_quartile(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 4).copied().unwrap_or(0)
}
