//! How far something was from what was expected: a sketch of quotients from which quantiles are read.
//!
//! Quotients are counted in buckets of 1/128 of the expectation, up to twice of it, so that the sketch has one size whatever it
//! sees, and what it says is at most 1/128 too high and never too low. Old ones fade by halving, not by time: it needs no clock. A
//! quantile forgives outliers, which a mean would follow.

/// What is equal, in the sketch's unit.
const WHOLE: u64 = 128;
/// Buckets, from zero to twice [`WHOLE`]: the last one holds all that is twice the expectation or more.
const BUCKETS: usize = 257;
/// What one quotient weighs when it comes.
const WEIGHT: u32 = 1 << 10;
/// After so many, everything that was seen weighs half.
const HALVED_AFTER: u32 = 128;

/// Quotients of what was and what was expected, recent ones most.
///
/// ```
/// use sluicegate_dialect::Ratios;
/// let mut ratios = Ratios::default();
/// for actual in [100, 110, 120] {
///     ratios.record(actual, 100);
/// }
/// assert_eq!(ratios.raise(1_000, 50), 1_102); // 141/128 is the bucket of 1.1
/// assert_eq!(ratios.raise(1_000, 99), 1_204);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ratios {
    buckets: Box<[u32; BUCKETS]>,
    until_halving: u32,
    /// Quotients so far, as far as it matters.
    seen: u32,
}

impl Default for Ratios {
    fn default() -> Self {
        Self {
            buckets: Box::new([0; BUCKETS]),
            until_halving: HALVED_AFTER,
            seen: 0,
        }
    }
}

impl Ratios {
    /// It was `actual` where `expected` was. Nothing is learned where nothing was expected.
    pub fn record(&mut self, actual: u64, expected: u64) {
        if expected == 0 {
            return;
        }
        if self.until_halving == 0 {
            self.until_halving = HALVED_AFTER;
            for bucket in self.buckets.iter_mut() {
                *bucket /= 2;
            }
        }
        self.until_halving -= 1;
        self.seen = self.seen.saturating_add(1);
        let ratio = (u128::from(actual) * u128::from(WHOLE)).div_ceil(u128::from(expected));
        let bucket = usize::try_from(ratio).unwrap_or(BUCKETS).min(BUCKETS - 1);
        // At most twice the quotients between two halvings are held: far from full.
        self.buckets[bucket] = self.buckets[bucket].saturating_add(WEIGHT);
    }

    /// How many were recorded, up to `u32::MAX`.
    pub const fn seen(&self) -> u32 {
        self.seen
    }

    /// What `expected` is to be raised or lowered to, so that `percent` of a hundred are not above it; `expected` itself where
    /// nothing was seen. Rounded up.
    pub fn raise(&self, expected: u64, percent: u64) -> u64 {
        let total: u64 = self.buckets.iter().map(|weight| u64::from(*weight)).sum();
        if total == 0 {
            return expected;
        }
        let enough = (total * percent).div_ceil(100);
        let mut sum = 0;
        let place = self.buckets.iter().position(|weight| {
            sum += u64::from(*weight);
            sum >= enough
        });
        let place = place.unwrap_or(BUCKETS - 1) as u64;
        let raised = (u128::from(expected) * u128::from(place)).div_ceil(u128::from(WHOLE));
        u64::try_from(raised).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_move_no_median_and_the_last_bucket_holds_the_rest() {
        let mut ratios = Ratios::default();
        for _ in 0..97 {
            ratios.record(100, 100);
        }
        for _ in 0..3 {
            ratios.record(u64::MAX, 1);
        }
        ratios.record(7, 0);
        assert_eq!(ratios.seen(), 100);
        assert_eq!(ratios.raise(640, 50), 640);
        assert_eq!(ratios.raise(640, 97), 640);
        assert_eq!(ratios.raise(640, 98), 1_280);
        assert_eq!(ratios.raise(u64::MAX, 98), u64::MAX);
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut ratios = Ratios::default();
        assert_eq!(ratios.raise(10, 99), 10);
        for _ in 0..1_000 {
            ratios.record(200, 100);
        }
        for _ in 0..11 * HALVED_AFTER {
            ratios.record(50, 100);
        }
        assert_eq!(ratios.raise(1_000, 99), 500);
    }
}
