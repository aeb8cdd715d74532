//! A bucket that refills continuously: the whole amount in `per`, never above it.
//!
//! The level is kept in units times nanoseconds of `per`, so that refill is a multiplication and nothing is ever rounded: a
//! thousand small refills are exactly one large one. It may be negative: an overrun is a debt that the refill pays first.
//!
//! A charge that arrives later than it was sent finds a bucket that stopped refilling, being full, while ours went on. The
//! capacity is therefore smaller by what refills in the spread of arrival.

use core::time::Duration;

use super::{Ceiling, Earliest};
use crate::time::duration_nanos;
use crate::{Now, Timestamp};

#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    per: u64,
    /// What the provider's holds, as the time in which that refills.
    depth: u64,
    spread: u64,
    usable: u64,
    /// In units times `per`.
    level: i128,
    seen: Timestamp,
}

impl Bucket {
    pub(crate) fn begin(per: u64, spread: u64, ceiling: Ceiling, used: u64, now: Now) -> Self {
        let mut bucket = Self::of_depth(per, per, spread, ceiling, now);
        if used > 0 {
            bucket.level = bucket.level_when_used(used);
        }
        bucket
    }

    /// A full one that holds no more than what refills in `depth`.
    pub(super) fn of_depth(per: u64, depth: u64, spread: u64, ceiling: Ceiling, now: Now) -> Self {
        let mut bucket = Self {
            per,
            depth,
            spread: spread.min(depth / 2),
            usable: ceiling.usable,
            level: 0,
            seen: now.mono,
        };
        bucket.level = bucket.capacity();
        bucket
    }

    pub(crate) fn earliest(&self, ceiling: Ceiling, charge: u64, now: Now) -> Earliest {
        let left_free = self.usable.saturating_sub(ceiling.usable);
        let wanted = (self.scaled(charge) + self.scaled(left_free)).min(self.capacity());
        Earliest::At(self.reaches(wanted, now))
    }

    /// When more is left than `ceiling` leaves free, if nothing is charged before.
    pub(super) fn leaves_more_than(&self, ceiling: Ceiling, now: Now) -> Timestamp {
        let left_free = self.usable.saturating_sub(ceiling.usable);
        self.reaches((self.scaled(left_free) + 1).min(self.capacity()), now)
    }

    /// `ceiling`, which says how much is left free of what refills in a period, for what the bucket holds.
    pub(super) fn in_proportion(&self, ceiling: Ceiling) -> Ceiling {
        let left_free = u128::from(self.usable.saturating_sub(ceiling.usable));
        let left_free = left_free * u128::from(self.depth) / u128::from(self.per);
        let left_free = u64::try_from(left_free).unwrap_or(u64::MAX);
        Ceiling {
            usable: self.usable.saturating_sub(left_free),
            ..ceiling
        }
    }

    /// What is used of it when nothing is left, rounded up.
    pub(super) fn holds(&self) -> u64 {
        let holds = (self.capacity() + i128::from(self.per) - 1) / i128::from(self.per);
        u64::try_from(holds).unwrap_or(u64::MAX)
    }

    /// Whether `charge` is within what it holds when it is full.
    pub(super) fn can_hold(&self, charge: u64) -> bool {
        self.scaled(charge) <= self.capacity()
    }

    pub(crate) fn charge(&mut self, charge: u64, now: Now) {
        self.refill(now);
        self.level = self.level.saturating_sub(self.scaled(charge));
    }

    pub(crate) fn give_back(&mut self, amount: u64, now: Now) {
        self.refill(now);
        self.level = (self.level + self.scaled(amount)).min(self.capacity());
    }

    pub(crate) fn used(&self, now: Now) -> u64 {
        self.used_at(self.level_at(now.mono))
    }

    fn used_at(&self, level: i128) -> u64 {
        let per = i128::from(self.per);
        let used = (self.capacity() - level + per - 1) / per;
        u64::try_from(used).unwrap_or(u64::MAX)
    }

    pub(crate) fn set_used(&mut self, used: u64, now: Now) {
        self.refill(now);
        self.level = self.level_when_used(used);
    }

    /// The use stays, but what was within the old ceiling is no debt under a lower one: at worst the bucket is empty.
    pub(crate) fn retune(&mut self, ceiling: Ceiling, now: Now) {
        self.refill(now);
        let used = self.capacity() - self.level;
        let debt = self.level.min(0);
        self.usable = ceiling.usable;
        self.level = (self.capacity() - used).max(debt);
    }

    /// What is used where `charge` fits only after `wait`.
    pub(crate) fn full(&self, charge: u64, wait: Duration) -> u64 {
        let refills = i128::from(duration_nanos(wait)) * i128::from(self.usable);
        let level = self.scaled(charge).min(self.capacity()) - 1 - refills;
        self.used_at(level)
    }

    /// What refills between `from` and `now`, rounded down.
    pub(crate) fn refilled(&self, from: Timestamp, now: Now) -> u64 {
        let elapsed = now.mono.as_nanos().saturating_sub(from.as_nanos());
        let units = u128::from(elapsed) * u128::from(self.usable);
        u64::try_from(units / u128::from(self.per)).unwrap_or(u64::MAX)
    }

    /// The use stays: what is there above it is as much more or less as the capacity is.
    pub(crate) fn set_spread(&mut self, spread: u64, now: Now) {
        self.refill(now);
        let used = self.capacity() - self.level;
        self.spread = spread.min(self.depth / 2);
        self.level = self.capacity() - used;
    }

    /// When the level is at least `wanted`, if nothing is charged before.
    fn reaches(&self, wanted: i128, now: Now) -> Timestamp {
        let missing = wanted - self.level_at(now.mono);
        if missing <= 0 {
            return now.mono;
        }
        if self.usable == 0 {
            return Timestamp::MAX;
        }
        let rate = i128::from(self.usable);
        let wait = (missing + rate - 1) / rate;
        now.mono.plus_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    fn refill(&mut self, now: Now) {
        self.level = self.level_at(now.mono);
        self.seen = self.seen.max(now.mono);
    }

    fn level_at(&self, instant: Timestamp) -> i128 {
        let elapsed = instant.as_nanos().saturating_sub(self.seen.as_nanos());
        (self.level + i128::from(elapsed) * i128::from(self.usable)).min(self.capacity())
    }

    fn level_when_used(&self, used: u64) -> i128 {
        self.capacity() - self.scaled(used)
    }

    fn capacity(&self) -> i128 {
        i128::from(self.usable) * i128::from(self.depth - self.spread)
    }

    fn scaled(&self, amount: u64) -> i128 {
        i128::from(amount) * i128::from(self.per)
    }
}

#[cfg(test)]
mod tests {
    use super::super::at_millis;
    use super::*;

    const MINUTE: u64 = 60_000_000_000;

    fn all(bucket: &Bucket) -> Ceiling {
        Ceiling {
            usable: bucket.usable,
            alone: bucket.usable,
        }
    }

    fn full(amount: u64) -> Bucket {
        Bucket::begin(
            MINUTE,
            0,
            Ceiling {
                usable: amount,
                alone: amount,
            },
            0,
            at_millis(0),
        )
    }

    /// `wait = (used + requested - limit) * period / limit`, as eleven refusals of a provider printed it; the millisecond that
    /// the provider shows is cut off.
    #[test]
    fn the_wait_is_what_providers_print() {
        for (limit, used, requested, wait_micros) in [
            (50_000, 47_949, 3_006, 1_146_000),
            (200_000, 195_869, 4_412, 84_300),
            (30_000, 22_999, 12_528, 11_054_000),
            (30_000, 29_937, 385, 644_000),
            (30_000, 18_928, 11_159, 174_000),
            (30_000, 28_039, 3_906, 3_890_000),
            (10_000, 8_554, 3_082, 9_816_000),
            (3, 3, 1, 20_000_000),
        ] {
            let mut bucket = full(limit);
            bucket.charge(used, at_millis(0));
            let start = Timestamp::from_nanos(wait_micros * 1_000);
            assert_eq!(
                bucket.earliest(all(&bucket), requested, at_millis(0)),
                Earliest::At(start),
                "{limit}"
            );
        }
    }

    #[test]
    fn refill_is_exact_however_often_it_is_looked_at() {
        let mut often = full(7);
        let mut once = full(7);
        often.charge(7, at_millis(0));
        once.charge(7, at_millis(0));
        for millis in 0..59_999 {
            often.refill(at_millis(millis));
        }
        assert_eq!(
            often.earliest(all(&often), 7, at_millis(59_999)),
            once.earliest(all(&once), 7, at_millis(59_999))
        );
        assert_eq!(
            once.earliest(all(&once), 7, at_millis(0)),
            Earliest::At(Timestamp::from_nanos(MINUTE))
        );
    }

    #[test]
    fn an_overrun_is_a_debt_that_is_paid_first() {
        let mut bucket = full(60);
        bucket.charge(90, at_millis(0));
        assert_eq!(bucket.used(at_millis(0)), 90);
        assert_eq!(
            bucket.earliest(all(&bucket), 1, at_millis(0)),
            Earliest::At(at_millis(31_000).mono)
        );
    }

    #[test]
    fn a_charge_larger_than_the_capacity_starts_when_the_bucket_is_full() {
        let mut bucket = Bucket::begin(
            MINUTE,
            600_000_000,
            Ceiling {
                usable: 100,
                alone: 100,
            },
            0,
            at_millis(0),
        );
        bucket.charge(10, at_millis(0));
        assert_eq!(
            bucket.earliest(all(&bucket), 100, at_millis(0)),
            Earliest::At(at_millis(6_000).mono)
        );
    }

    #[test]
    fn a_monotonic_clock_that_runs_backwards_refills_nothing() {
        let mut bucket = full(60);
        bucket.charge(60, at_millis(5_000));
        bucket.charge(0, at_millis(1_000));
        assert_eq!(bucket.used(at_millis(5_000)), 60);
    }
}
