//! A leaky bucket: it drains all the time, and takes a charge of any size while it is not full.
//!
//! It is a [`Bucket`] whose level may be overdrawn: the debt drains before anything else starts, so a charge that no amount
//! could hold passes like any other and is paid afterwards.
//!
//! Two requests that are on their way may arrive in the other order. While all that was charged is within the bucket, any
//! order fits. One that overdraws it would, if it came first, shut out those before it: it starts once they have arrived.

use core::time::Duration;

use super::bucket::Bucket;
use super::{Ceiling, Earliest};
use crate::{Now, Timestamp};

#[derive(Clone, Debug)]
pub(crate) struct Pacing {
    bucket: Bucket,
    spread: u64,
    /// By then everything that was charged has arrived.
    arrived: Timestamp,
}

impl Pacing {
    pub(crate) fn begin(
        per: u64,
        burst: u64,
        spread: u64,
        ceiling: Ceiling,
        used: u64,
        now: Now,
    ) -> Self {
        let mut pacing = Self {
            bucket: Bucket::of_depth(per, burst, spread, ceiling, now),
            spread,
            arrived: Timestamp::ZERO,
        };
        pacing.set_used(used, now);
        pacing
    }

    pub(crate) fn earliest(&self, ceiling: Ceiling, charge: u64, now: Now) -> Earliest {
        // What is to be left free of a whole period's amount is so of the bucket in proportion.
        let ceiling = self.bucket.in_proportion(ceiling);
        let overdrawn = self.bucket.leaves_more_than(ceiling, now).max(self.arrived);
        if !self.bucket.can_hold(charge) {
            return Earliest::At(overdrawn);
        }
        match self.bucket.earliest(ceiling, charge, now) {
            Earliest::At(within) => Earliest::At(within.min(overdrawn)),
            release @ Earliest::OnRelease(_) => release,
        }
    }

    pub(crate) fn charge(&mut self, charge: u64, now: Now) {
        if charge > 0 {
            self.arrived = self.arrived.max(now.mono.plus_nanos(self.spread));
        }
        self.bucket.charge(charge, now);
    }

    pub(crate) fn give_back(&mut self, amount: u64, now: Now) {
        self.bucket.give_back(amount, now);
    }

    pub(crate) fn used(&self, now: Now) -> u64 {
        self.bucket.used(now)
    }

    /// A provider's remainder may be that of the amount and not of the bucket. Its word can therefore fill the bucket, but only
    /// our own charges overdraw it.
    pub(crate) fn set_used(&mut self, used: u64, now: Now) {
        let most = self.bucket.holds().max(self.used(now));
        self.bucket.set_used(used.min(most), now);
    }

    /// What it holds when it is full.
    pub(crate) fn holds(&self) -> u64 {
        self.bucket.holds()
    }

    /// What is used where nothing more is let in for `wait`.
    pub(crate) fn full(&self, wait: Duration) -> u64 {
        self.bucket.full(0, wait)
    }

    pub(crate) fn refilled(&self, from: Timestamp, now: Now) -> u64 {
        self.bucket.refilled(from, now)
    }

    pub(crate) fn set_spread(&mut self, spread: u64, now: Now) {
        self.spread = spread;
        self.bucket.set_spread(spread, now);
    }

    pub(crate) fn retune(&mut self, ceiling: Ceiling, now: Now) {
        self.bucket.retune(ceiling, now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::at_millis;
    use super::*;

    const MINUTE: u64 = 60_000_000_000;
    const SECOND: u64 = 1_000_000_000;
    /// Nothing is left free.
    const ALL: Ceiling = Ceiling {
        usable: u64::MAX,
        alone: u64::MAX,
    };

    fn ceiling(amount: u64) -> Ceiling {
        Ceiling {
            usable: amount,
            alone: amount,
        }
    }

    fn of_a_minute(amount: u64, burst: u64, spread_ms: u64) -> Pacing {
        let spread = spread_ms * 1_000_000;
        Pacing::begin(MINUTE, burst, spread, ceiling(amount), 0, at_millis(0))
    }

    fn at(millis: u64) -> Earliest {
        Earliest::At(at_millis(millis).mono)
    }

    #[test]
    fn any_charge_starts_while_it_is_not_full_and_is_paid_before_the_next() {
        let mut window = of_a_minute(60, MINUTE, 0);
        window.charge(59, at_millis(0));
        assert_eq!(window.earliest(ALL, 500, at_millis(0)), at(0));
        window.charge(500, at_millis(0));
        // 559 are in it: a nanosecond after 499 have drained it is not full.
        assert_eq!(window.earliest(ALL, 1, at_millis(0)), at(499_000).plus(1));
    }

    #[test]
    fn a_burst_is_what_the_depth_drains() {
        // Five a second, and no more than five at once.
        let mut window = of_a_minute(300, SECOND, 0);
        assert_eq!(window.earliest(ALL, 5, at_millis(0)), at(0));
        window.charge(5, at_millis(0));
        assert_eq!(window.used(at_millis(0)), 5);
        assert_eq!(window.earliest(ALL, 1, at_millis(0)), at(0).plus(1));
        window.charge(1, at_millis(1));
        assert_eq!(window.earliest(ALL, 1, at_millis(1)), at(200).plus(1));
    }

    #[test]
    fn what_overdraws_it_waits_until_those_before_have_arrived() {
        // Depth of a second less the spread: 900 of 1,000.
        let mut window = of_a_minute(60_000, SECOND, 100);
        window.charge(800, at_millis(0));
        assert_eq!(window.earliest(ALL, 100, at_millis(0)), at(0));
        assert_eq!(window.earliest(ALL, 140, at_millis(0)), at(40));
        assert_eq!(window.earliest(ALL, 700, at_millis(0)), at(100));
        assert_eq!(window.earliest(ALL, 2_000, at_millis(0)), at(100));
    }

    #[test]
    fn somebody_elses_use_fills_it_but_does_not_overdraw_it() {
        let mut window = of_a_minute(300, SECOND, 0);
        window.set_used(200, at_millis(0));
        assert_eq!(window.used(at_millis(0)), 5);
        window.charge(10, at_millis(0));
        window.set_used(299, at_millis(0));
        assert_eq!(window.used(at_millis(0)), 15);
        window.set_used(3, at_millis(0));
        assert_eq!(window.used(at_millis(0)), 3);
    }

    #[test]
    fn one_that_may_be_full_begins_full_and_not_overdrawn() {
        let window = Pacing::begin(MINUTE, SECOND, 0, ceiling(300), 300, at_millis(0));
        assert_eq!(
            window.earliest(ALL, 2, at_millis(0)),
            Earliest::At(Timestamp::from_nanos(1))
        );
        assert_eq!(window.used(at_millis(600)), 2);
    }

    impl Earliest {
        fn plus(self, nanos: u64) -> Self {
            match self {
                Self::At(start) => Self::At(start.plus_nanos(nanos)),
                Self::OnRelease(_) => self,
            }
        }
    }

    #[test]
    fn what_is_left_free_is_so_of_the_bucket_in_proportion() {
        // 60 a minute, of which 5 may come at once; a fifth of it is to be left free.
        let mut window = of_a_minute(60, 5 * SECOND, 0);
        window.charge(4, at_millis(0));
        assert_eq!(window.earliest(ceiling(60), 1, at_millis(0)), at(0));
        assert_eq!(window.earliest(ceiling(48), 1, at_millis(0)), at(0).plus(1));
    }
}
