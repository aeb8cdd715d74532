//! The shorter time over which a limit holds too, in proportion: no interval of it holds more than its share.

use core::time::Duration;

use crate::time::duration_nanos;
use crate::window::{Ceiling, Earliest, Sliding};
use crate::{Limit, Now, Timestamp};

use super::Mark;
use super::rate::{MINUTE, Rate};

#[derive(Clone, Debug)]
pub(super) struct Quantum {
    pub(super) length: Duration,
    ceiling: Ceiling,
    count: Sliding,
    rate: Rate,
}

impl Quantum {
    /// `None` where `length` is no part of the limit's window.
    pub(super) fn begin(
        limit: &Limit,
        length: Duration,
        ceiling: Ceiling,
        spread: u64,
        now: Now,
    ) -> Option<Self> {
        limit.window.per()?;
        let nanos = duration_nanos(length).max(1);
        let mut quantum = Self {
            length,
            ceiling,
            count: Sliding::begin(nanos, spread, 0, now),
            rate: Rate::WHOLE,
        };
        quantum.retune(limit, ceiling);
        Some(quantum)
    }

    /// The quantum's share of `ceiling`.
    pub(super) fn retune(&mut self, limit: &Limit, ceiling: Ceiling) {
        let per = limit.window.per().map_or(1, duration_nanos).max(1);
        let length = duration_nanos(self.length);
        let share = u128::from(ceiling.usable) * u128::from(length) / u128::from(per);
        let ceiling = Ceiling {
            usable: u64::try_from(share).unwrap_or(u64::MAX).max(1),
            alone: ceiling.alone,
        };
        if ceiling != self.ceiling {
            // What was refused under another ceiling says nothing of this one.
            self.rate = self.rate.anew();
            self.ceiling = ceiling;
        }
    }

    /// The use stays, but what refusals told was of another rule.
    pub(super) fn forget(&mut self) {
        self.rate = self.rate.anew();
    }

    pub(super) fn earliest(&self, charge: u64, now: Now) -> Earliest {
        let ceiling = Ceiling {
            usable: self.rate.of(self.ceiling.usable),
            ..self.ceiling
        };
        let whole = self.count.earliest(ceiling, charge, now);
        whole.later(Earliest::At(self.rate.next(now.mono)))
    }

    pub(super) fn charge(&mut self, charge: u64, now: Now) {
        self.rate.rises(MINUTE, now.mono);
        let usable = self.rate.of(self.ceiling.usable);
        self.rate
            .goes(charge, usable, duration_nanos(self.length), now.mono);
        self.count.charge(charge, now);
    }

    pub(super) fn give_back(&mut self, amount: u64, charged_at: Timestamp, now: Now) {
        self.count.give_back(amount, charged_at, now);
    }

    pub(super) fn clears(&self, now: Now) -> Timestamp {
        self.count.clears(now)
    }

    pub(super) fn used(&self, now: Now) -> u64 {
        self.count.used(now)
    }

    pub(super) fn set_spread(&mut self, spread: u64, now: Now) {
        self.count.set_spread(spread, now);
    }

    /// The request behind `mark` was refused for it.
    pub(super) fn refused(&mut self, mark: &Mark, now: Now) {
        let (used, usable) = (mark.before_in_quantum, self.ceiling.usable);
        self.rate.full(used, usable, mark.at, now.mono);
    }

    /// How full the request behind `mark` made it, in hundredths of a percent.
    pub(super) fn fullness(&self, mark: &Mark) -> u64 {
        let used = mark.before_in_quantum.saturating_add(mark.charge);
        super::refused::share(used, self.rate.of(self.ceiling.usable))
    }
}
