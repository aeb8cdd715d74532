//! One limit and what is counted on it: the window, the quantum if it has one, the ceiling in force.

use core::ops::RangeInclusive;
use core::time::Duration;

use crate::time::duration_nanos;
use crate::window::{Ceiling, Count, Earliest, Sliding};
use crate::{Authority, Limit, Mode, Now, Signal, Start, Timestamp};

#[derive(Clone, Debug)]
pub(crate) struct Counter {
    pub(crate) limit: Limit,
    ceiling: Ceiling,
    count: Count,
    quantum: Option<Quantum>,
    /// Began empty, and neither a request nor a signal has told how much is really there: the first request passes.
    unknown: bool,
    /// Everything charged so far.
    charged_total: u64,
    /// Charges whose requests may not have reached the provider yet.
    pub(crate) pending: u64,
    /// What open reservations hold.
    pub(crate) held: u64,
    /// The provider takes nothing before that.
    closed_until: Timestamp,
    /// See [`LimitState::drift`](crate::LimitState::drift).
    pub(crate) drift: Option<i64>,
}

#[derive(Clone, Debug)]
struct Quantum {
    ceiling: Ceiling,
    count: Sliding,
}

impl Counter {
    pub(crate) fn begin(limit: &Limit, now: Now) -> Self {
        let ceiling = ceiling(limit);
        Self {
            ceiling,
            count: Count::begin(limit, ceiling, now),
            quantum: quantum(limit, ceiling, now),
            unknown: limit.start == Start::Empty,
            charged_total: 0,
            pending: 0,
            held: 0,
            closed_until: Timestamp::ZERO,
            drift: None,
            limit: limit.clone(),
        }
    }

    /// The same count under an edited limit; `None` where the edit changed how it is counted.
    pub(crate) fn retuned(&self, limit: &Limit, now: Now) -> Option<Self> {
        let same = self.limit.meter == limit.meter
            && self.limit.window == limit.window
            && self.limit.authority == limit.authority;
        if !same {
            return None;
        }
        let mut counter = Self::begin(limit, now);
        counter.count = self.count.clone();
        counter.count.retune(counter.ceiling, now);
        counter.limit.start = self.limit.start;
        counter.unknown = self.unknown;
        counter.charged_total = self.charged_total;
        counter.held = self.held;
        counter.pending = self.pending;
        counter.closed_until = self.closed_until;
        counter.drift = self.drift;
        if let (Some(new), Some(old)) = (&mut counter.quantum, &self.quantum)
            && self.limit.quantum == limit.quantum
        {
            new.count = old.count.clone();
        }
        Some(counter)
    }

    /// Whether no wait will ever make room for `charge`.
    pub(crate) fn never_fits(&self, charge: u64) -> bool {
        self.limit.mode == Mode::Enforce
            && self.limit.authority == Authority::Local
            && charge > self.limit.amount.get()
    }

    pub(crate) fn earliest(&self, charge: u64, now: Now) -> Earliest {
        let free = Earliest::At(now.mono);
        if self.limit.mode == Mode::Shadow
            || self.limit.authority == Authority::Granted
            || self.unknown
            || charge == 0
        {
            return free;
        }
        let start = self.count.earliest(self.ceiling, charge, now);
        let quantum_start = self.quantum.as_ref().map_or(free, |quantum| {
            quantum.count.earliest(quantum.ceiling, charge, now)
        });
        match (start, quantum_start) {
            (Earliest::At(one), Earliest::At(other)) => {
                Earliest::At(one.max(other).max(self.closed_until))
            }
            _ => Earliest::OnRelease,
        }
    }

    pub(crate) fn charge(&mut self, charge: u64, now: Now) {
        if self.limit.authority == Authority::Granted {
            return;
        }
        self.unknown &= charge == 0;
        self.charged_total = self.charged_total.saturating_add(charge);
        self.count.charge(charge, now);
        if let Some(quantum) = &mut self.quantum {
            quantum.count.charge(charge, now);
        }
    }

    /// Gives back `amount` of what was charged at `charged_at`.
    pub(crate) fn give_back(&mut self, amount: u64, charged_at: Timestamp, now: Now) {
        if amount == 0 || self.limit.authority == Authority::Granted {
            return;
        }
        self.count.give_back(amount, charged_at, now);
        if let Some(quantum) = &mut self.quantum {
            quantum.count.give_back(amount, charged_at, now);
        }
    }

    /// Takes back a charge that certainly reached nobody: what it told of the limit is unknown again.
    pub(crate) fn void(&mut self, amount: u64, charged_at: Timestamp, now: Now) {
        self.give_back(amount, charged_at, now);
        let only_one = self.charged_total == amount;
        if self.limit.start == Start::Empty && only_one {
            self.unknown = true;
            self.charged_total = 0;
        }
    }

    /// Corrects the count by what the provider said in its answer to a request of ours.
    ///
    /// A provider that reports more used than we counted serves somebody else too: we follow it up. It may report less only
    /// because our later requests have not arrived, so its word brings the count down only where we knew nothing. A ceiling
    /// below the configured one is a temporary cut: it holds until a later signal tells otherwise.
    pub(crate) fn observe(&mut self, signal: &Signal, now: Now) {
        let amount = self.limit.amount.get();
        let whole = signal.limit.unwrap_or(amount).min(amount);
        let usable = self.limit.headroom.of(whole).max(1);
        if signal.limit.is_some() && usable != self.ceiling.usable {
            self.ceiling.usable = usable;
            self.count.retune(self.ceiling, now);
        }
        let Some(remaining) = signal.remaining else {
            return;
        };
        // The provider's remainder of its limit, as a use of ours.
        let used_there = whole.saturating_sub(remaining);
        let used = self.count.used(now);
        if self.limit.start == Start::Empty {
            self.limit.start = Start::Full;
            self.unknown = false;
            // What has no answer yet, sent before or after, may be missing from the provider's count.
            self.count
                .set_used(used_there.saturating_add(self.pending), now);
            return;
        }
        self.drift = Some(distance(
            used_there,
            used.saturating_sub(self.pending)..=used,
        ));
        if used_there > used {
            self.count.set_used(used_there, now);
        }
    }

    /// The provider refused a request on this meter and wants nothing for `wait`. A longer wait that it asked for before holds.
    pub(crate) fn close(&mut self, wait: Duration, now: Now) {
        self.closed_until = self.closed_until.max(now.mono.saturating_add(wait));
    }

    /// Whether `signal` may speak of this limit. Without a length it may speak of one of another length, whose ceiling is
    /// another; with it, a lower ceiling is this one's, cut.
    pub(crate) fn may_be_told_by(&self, signal: &Signal) -> bool {
        let Some(per) = self.limit.window.per().map(duration_nanos) else {
            return false;
        };
        let amount = self.limit.amount.get();
        let fits = match signal.per.map(duration_nanos) {
            Some(said) => {
                said.abs_diff(per) <= per / 10 && signal.limit.is_none_or(|limit| limit <= amount)
            }
            None => signal.limit.is_none_or(|limit| limit == amount),
        };
        self.limit.meter == signal.meter && fits
    }

    pub(crate) fn used(&self, now: Now) -> u64 {
        self.count.used(now)
    }

    pub(crate) fn usable(&self) -> u64 {
        self.ceiling.usable
    }
}

/// How far `amount` is outside `range`: above it, or as a negative number below.
fn distance(amount: u64, range: RangeInclusive<u64>) -> i64 {
    let signed = |amount| i64::try_from(amount).unwrap_or(i64::MAX);
    let above = amount.saturating_sub(*range.end());
    let below = range.start().saturating_sub(amount);
    signed(above) - signed(below)
}

fn ceiling(limit: &Limit) -> Ceiling {
    let amount = limit.amount.get();
    Ceiling {
        usable: limit.headroom.of(amount).max(1),
        alone: amount,
    }
}

fn quantum(limit: &Limit, ceiling: Ceiling, now: Now) -> Option<Quantum> {
    let length = duration_nanos(limit.quantum?);
    let per = duration_nanos(limit.window.per()?).max(1);
    let share = u128::from(ceiling.usable) * u128::from(length) / u128::from(per);
    let usable = u64::try_from(share).unwrap_or(u64::MAX).max(1);
    let spread = duration_nanos(limit.arrival_spread);
    Some(Quantum {
        ceiling: Ceiling {
            usable,
            alone: ceiling.alone,
        },
        count: Sliding::begin(length.max(1), spread, 0, now),
    })
}
