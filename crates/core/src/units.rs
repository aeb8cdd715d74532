//! What is counted, and how much of it: meters, amounts, shares.
//!
//! Integers only. Floating point would make two runs of one decision differ in the last digit and a long sum drift.

use core::fmt;

/// What a limit counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Meter {
    /// Requests sent, failed ones included where the provider counts them.
    Requests,
    /// Tokens as the provider's rule charges them, input and output in one number.
    Tokens,
    /// Input tokens alone.
    InputTokens,
    /// Output tokens alone.
    OutputTokens,
    /// Requests in flight.
    Concurrent,
    /// Money, in micro-dollars.
    Spend,
}

impl Meter {
    /// Every meter, in the order in which limits on them are checked and reported.
    pub const ALL: [Self; 6] = [
        Self::Requests,
        Self::Tokens,
        Self::InputTokens,
        Self::OutputTokens,
        Self::Concurrent,
        Self::Spend,
    ];

    /// The name in configuration, metrics and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Tokens => "tokens",
            Self::InputTokens => "input_tokens",
            Self::OutputTokens => "output_tokens",
            Self::Concurrent => "concurrent",
            Self::Spend => "spend",
        }
    }

    /// The meter of that [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|meter| meter.name() == name)
    }

    const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One amount per meter: a demand before the call, a usage after it.
///
/// ```
/// use sluicegate_core::{Amounts, Meter};
/// let demand = Amounts::one_request().with(Meter::Tokens, 2_012);
/// assert_eq!(demand.of(Meter::Tokens), 2_012);
/// assert_eq!(demand.of(Meter::Concurrent), 1);
/// assert_eq!(demand.of(Meter::Spend), 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amounts([u64; Meter::ALL.len()]);

impl Amounts {
    /// Nothing of anything.
    pub const ZERO: Self = Self([0; Meter::ALL.len()]);

    /// One request, in flight.
    pub const fn one_request() -> Self {
        Self::ZERO
            .with(Meter::Requests, 1)
            .with(Meter::Concurrent, 1)
    }

    /// The same amounts with `amount` on `meter`.
    #[must_use]
    pub const fn with(mut self, meter: Meter, amount: u64) -> Self {
        self.0[meter.index()] = amount;
        self
    }

    /// What it takes of what tenants share: its tokens, where it is charged any, else requests; at least one.
    pub(crate) fn weight(self) -> u64 {
        let apart = self
            .of(Meter::InputTokens)
            .saturating_add(self.of(Meter::OutputTokens));
        self.of(Meter::Tokens).max(apart).max(1)
    }

    /// The amount on `meter`.
    pub const fn of(self, meter: Meter) -> u64 {
        self.0[meter.index()]
    }
}

/// A share in hundredths of a percent; 10,000 is the whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BasisPoints(u16);

impl BasisPoints {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The whole.
    pub const WHOLE: Self = Self(10_000);

    /// `points` hundredths of a percent; `None` above the whole.
    pub const fn new(points: u16) -> Option<Self> {
        if points <= 10_000 {
            Some(Self(points))
        } else {
            None
        }
    }

    /// The number of hundredths of a percent.
    pub const fn points(self) -> u16 {
        self.0
    }

    /// This share of `amount`, rounded down.
    pub fn of(self, amount: u64) -> u64 {
        let share = u128::from(amount) * u128::from(self.0) / 10_000;
        u64::try_from(share).unwrap_or(amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for meter in Meter::ALL {
            assert_eq!(Meter::from_name(meter.name()), Some(meter));
        }
        assert_eq!(Meter::from_name("tokens_per_minute"), None);
    }

    #[test]
    fn a_share_rounds_down_and_never_overflows() {
        assert_eq!(BasisPoints::WHOLE.of(u64::MAX), u64::MAX);
        assert_eq!(
            BasisPoints::new(9_700).expect("below the whole").of(333),
            323
        );
        assert_eq!(BasisPoints::new(10_001), None);
    }
}
