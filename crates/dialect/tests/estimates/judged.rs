//! Errors of many estimates, in thousandths of what was counted.

use sluicegate_dialect::Expected;

/// What one request was expected to use and used.
pub(crate) struct Judged {
    pub(crate) expected: Expected,
    pub(crate) actual: u64,
    /// What the provider's rule takes by the central estimate and by the upper one, and by the count.
    pub(crate) charged: u64,
    pub(crate) held: u64,
    pub(crate) charge: u64,
}

/// In thousandths.
pub(crate) struct Errors {
    /// Half of the central estimates are not further off.
    pub(crate) median: i64,
    /// 99 of 100 central estimates are not more below what was used.
    pub(crate) under: i64,
    /// Likewise of the upper ones; below zero where they are above it.
    pub(crate) upper_under: i64,
    /// By how much half of the upper ones are above it at least.
    pub(crate) upper_over: i64,
    pub(crate) charge_median: i64,
    pub(crate) charge_under: i64,
}

impl Errors {
    pub(crate) fn of(judged: &[Judged]) -> Self {
        let sorted = |error: &dyn Fn(&Judged) -> i64| {
            let mut errors: Vec<_> = judged.iter().map(error).collect();
            errors.sort_unstable();
            errors
        };
        let last = (judged.len() * 99).div_ceil(100) - 1;
        let middle = judged.len() / 2;
        Self {
            median: sorted(&|one| under(one.expected.central, one.actual).abs())[middle],
            under: sorted(&|one| under(one.expected.central, one.actual))[last],
            upper_under: sorted(&|one| under(one.expected.upper, one.actual))[last],
            upper_over: -sorted(&|one| under(one.expected.upper, one.actual))[middle],
            charge_median: sorted(&|one| under(one.charged, one.charge).abs())[middle],
            charge_under: sorted(&|one| under(one.held, one.charge))[last],
        }
    }
}

/// By how much `estimate` is below `actual`.
fn under(estimate: u64, actual: u64) -> i64 {
    let signed = |tokens: u64| i64::try_from(tokens).expect("a small number");
    (signed(actual) - signed(estimate)) * 1_000 / signed(actual)
}
