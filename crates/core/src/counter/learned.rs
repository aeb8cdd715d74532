//! What a mirror learns from being corrected: by how much the provider charges more or less than our rule does, and how far
//! its count may run ahead of ours between two of its answers.
//!
//! A provider estimates prompts in its own way, and somebody else may use the same account: both show as corrections of the
//! count. What is steady in them becomes a factor on every charge, what is not becomes a margin that is left free. Both are
//! bounded, and both fade when the corrections stop.

use crate::{Headroom, Meter};

/// A factor of one.
const WHOLE: u64 = 10_000;
/// The factor stays within these, whatever is told.
const FACTOR_MIN: u64 = 5_000;
const FACTOR_MAX: u64 = 15_000;
/// A factor up to that may be an estimate's error, which stays; what is above comes from a cut or from others, which end.
const KEPT: u64 = 11_250;
/// The margin is at most that share of what may be used.
const MARGIN_MAX: u64 = 34;
/// Of a meter that is estimated at least that share is left free.
const MARGIN_MIN: u64 = 80;
/// What a provider calls full is near the limit where it lacks no more than that share.
const NEAR: u64 = 5;
/// A correction by more than that share is no error of an estimate: a window has begun, or somebody took much at once.
const LEAP: u64 = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Learned {
    factor: u64,
    margin: u64,
    /// What was not charged yet, in parts of a unit.
    carried: u64,
    /// The share of what may be used that is left free at least, as a divisor.
    margin_min: Option<u64>,
    /// Since the factor was set: what was charged, and by how much the count was corrected up and down.
    charged: u64,
    up: u64,
    down: u64,
}

impl Learned {
    /// Nothing yet, of a limit on `meter` that is used so far.
    pub(crate) const fn nothing(headroom: Headroom, meter: Meter) -> Self {
        let margin_min = match (headroom, meter) {
            (Headroom::Share(_), _) | (_, Meter::Requests | Meter::Concurrent | Meter::Spend) => {
                None
            }
            (Headroom::Auto, Meter::Tokens | Meter::InputTokens | Meter::OutputTokens) => {
                Some(MARGIN_MIN)
            }
        };
        Self {
            factor: WHOLE,
            margin: 0,
            carried: 0,
            margin_min,
            charged: 0,
            up: 0,
            down: 0,
        }
    }

    /// What a charge by our rule is likely to be there, rounded up.
    pub(crate) fn scaled(&self, charge: u64) -> u64 {
        if self.factor == WHOLE {
            return charge;
        }
        let scaled = (u128::from(charge) * u128::from(self.factor)).div_ceil(u128::from(WHOLE));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// The same for a charge that is made. What is less than a unit is charged with the next one.
    pub(crate) fn scale_next(&mut self, charge: u64) -> u64 {
        if self.factor == WHOLE || charge == 0 {
            return charge;
        }
        let scaled = u128::from(charge) * u128::from(self.factor) + u128::from(self.carried);
        self.carried = u64::try_from(scaled % u128::from(WHOLE)).unwrap_or(0);
        u64::try_from(scaled / u128::from(WHOLE)).unwrap_or(u64::MAX)
    }

    /// What is left free of `usable`: the least, and what was learned beside it.
    pub(crate) fn margin(&self, usable: u64) -> u64 {
        let least = self.margin_min.map_or(0, |share| usable / share);
        (self.margin + least).min(usable / MARGIN_MAX)
    }

    /// So much was charged, as it was scaled.
    pub(crate) fn charged(&mut self, counted: u64, usable: u64) {
        self.charged = self.charged.saturating_add(counted);
        if self.charged >= usable {
            self.settle();
        }
    }

    /// The provider counts `more` than we did.
    pub(crate) fn told_more(&mut self, more: u64, usable: u64) {
        if !Self::is_leap(more, usable) {
            self.up = self.up.saturating_add(more);
            self.margin = self.margin.max(more);
        }
    }

    /// Whether charges are estimates, so that a factor may be theirs.
    pub(crate) fn is_estimated(&self) -> bool {
        self.margin_min.is_some()
    }

    /// Whether more than our rule says is charged.
    pub(crate) fn charges_more(&self) -> bool {
        self.factor > WHOLE
    }

    /// The provider counts `less` than we did, and no window has begun or refilled meanwhile.
    pub(crate) fn told_less(&mut self, less: u64) {
        self.down = self.down.saturating_add(less);
    }

    /// Whether a correction by `amount` is too much for an error of estimates.
    pub(crate) fn is_leap(amount: u64, usable: u64) -> bool {
        amount > usable / LEAP
    }

    /// What is no estimate is never less than we count.
    fn factor_min(&self) -> u64 {
        match self.margin_min {
            Some(_) => FACTOR_MIN,
            None => WHOLE,
        }
    }

    /// The provider calls `used` of `usable` full. True where that is an estimate's error; it is all learned at once, and a
    /// little more, since no two requests are estimated alike.
    pub(crate) fn told_full(&mut self, used: u64, usable: u64) -> bool {
        let near = used >= usable - usable / NEAR;
        if near {
            let shown = u128::from(self.factor) * u128::from(usable) / u128::from(used.max(1));
            let factor = u64::try_from(shown + shown / 64).unwrap_or(FACTOR_MAX);
            self.factor = factor.clamp(self.factor_min(), FACTOR_MAX);
        }
        near
    }

    /// A whole limit's worth was charged since the last time. That the provider counts more is learned at once, half of it
    /// where it counts less.
    fn settle(&mut self) {
        let charged = u128::from(self.charged);
        let there = (charged + u128::from(self.up)).saturating_sub(u128::from(self.down));
        let shown = u128::from(self.factor) * there / charged.max(1);
        let factor = shown.max((u128::from(self.factor) + shown) / 2);
        let factor = match (self.up, self.down) {
            // Nobody tells: what was learned from a refusal fades, quickly where it is no error of an estimate.
            (0, 0) => {
                self.factor + WHOLE.saturating_sub(self.factor) / 2
                    - self.factor.saturating_sub(KEPT) / 2
                    - self.factor.saturating_sub(WHOLE) / 256
            }
            _ => u64::try_from(factor).unwrap_or(FACTOR_MAX),
        };
        *self = Self {
            factor: factor.clamp(self.factor_min(), FACTOR_MAX),
            margin: self.margin - self.margin / 16,
            charged: 0,
            up: 0,
            down: 0,
            ..*self
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Learned {
        Learned::nothing(Headroom::Auto, Meter::Requests)
    }

    #[test]
    fn of_tokens_something_is_always_left_free() {
        let mut learned = Learned::nothing(Headroom::Auto, Meter::Tokens);
        assert_eq!(learned.margin(8_000), 100);
        learned.told_more(120, 8_000);
        assert_eq!(learned.margin(8_000), 220);
        learned.told_more(150, 8_000);
        assert_eq!(learned.margin(8_000), 235);
    }

    #[test]
    fn a_steady_error_becomes_the_factor() {
        let mut learned = nothing();
        for _ in 0..40 {
            // A provider that charges 11 where our rule says 10.
            let counted = learned.scaled(100);
            learned.charged(counted, 1_000);
            let there = 110;
            learned.told_more(110_u64.saturating_sub(counted), 1_000);
            learned.told_less(counted.saturating_sub(there));
        }
        assert!((109..=111).contains(&learned.scaled(100)), "{learned:?}");
    }

    #[test]
    fn parts_of_a_unit_are_charged_in_time() {
        let mut learned = nothing();
        assert!(learned.told_full(800, 1_000));
        let charged: u64 = (0..1_000).map(|_| learned.scale_next(1)).sum();
        // A quarter more, and a sixty-fourth of that on top.
        assert_eq!(charged, 1_269);
        assert_eq!(learned.scaled(1), 2);
    }

    #[test]
    fn a_leap_teaches_nothing() {
        let mut learned = nothing();
        learned.told_more(500, 1_000);
        learned.charged(1_000, 1_000);
        assert_eq!(learned.scaled(100), 100);
        assert_eq!(learned.margin(1_000), 0);
    }

    #[test]
    fn factor_and_margin_are_bounded() {
        let mut learned = nothing();
        for _ in 0..100 {
            learned.told_more(125, 1_000);
            learned.charged(100, 1_000);
        }
        assert_eq!(learned.scaled(100), 150);
        assert_eq!(learned.margin(1_000), 29);
    }

    #[test]
    fn a_margin_fades_when_the_corrections_stop() {
        let mut learned = nothing();
        learned.told_more(28, 1_000);
        assert_eq!(learned.margin(1_000), 28);
        for _ in 0..64 {
            learned.charged(1_000, 1_000);
        }
        assert!(learned.margin(1_000) < 16, "{learned:?}");
    }
}
