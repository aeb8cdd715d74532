//! How long an answer may be under load.

use super::LoadEffects;

impl LoadEffects {
    /// The maximum of output tokens in place of the `asked` one, never below the route's `floor` and never above what was asked
    /// for; `None` where it stays as it is, so that nothing is said to be degraded that is not.
    ///
    /// ```
    /// use sluicegate_core::{BasisPoints, LoadEffects};
    /// let half = LoadEffects { output_share: BasisPoints::new(5_000).unwrap(), ..LoadEffects::NONE };
    /// assert_eq!(half.output_cap(4_000, 256), Some(2_000));
    /// assert_eq!(half.output_cap(400, 256), Some(256));
    /// assert_eq!(half.output_cap(200, 256), None);
    /// ```
    pub fn output_cap(&self, asked: u64, floor: u64) -> Option<u64> {
        // An answer of no tokens is none.
        let cap = self.output_share.of(asked).max(floor).max(1);
        (cap < asked).then_some(cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BasisPoints;

    #[test]
    fn an_output_is_neither_lowered_to_nothing_nor_said_to_be_lowered_when_it_is_not() {
        let none = LoadEffects {
            output_share: BasisPoints::ZERO,
            ..LoadEffects::NONE
        };
        assert_eq!(none.output_cap(10, 0), Some(1));
        assert_eq!(none.output_cap(1, 0), None);
        assert_eq!(none.output_cap(0, 0), None);
        assert_eq!(LoadEffects::NONE.output_cap(u64::MAX, 256), None);
    }
}
