//! The length of a window, worked out where a provider does not name it.
//!
//! A limit that refills all the time gives back `limit / per` a second, so the time that a provider
//! names for an amount reveals `per`. Times are rounded and small amounts reveal little, so what
//! comes near no length that providers use is taken for no knowledge.

use std::time::Duration;

/// A minute, in which nearly every provider counts.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
/// A day that is no calendar day.
pub(crate) const DAY: Duration = Duration::from_secs(86_400);
/// A month, as refilling limits count it.
pub(crate) const MONTH: Duration = Duration::from_secs(30 * 86_400);

/// The lengths that are worked out.
pub(crate) const PERIODS: [Duration; 3] = [MINUTE, DAY, MONTH];
/// Shorter lengths over which a minute's limit may hold too, believed where a header tells them.
pub(crate) const QUANTA: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];

/// The length of the window in which a limit of `limit` gives back `amount` in `wait`.
///
/// `wait` may be rounded to a millisecond. `None` where an amount or the wait is zero or no length
/// fits.
pub(crate) fn period_of(wait: Duration, amount: u64, limit: u64) -> Option<Duration> {
    let wait_ms = wait.as_millis();
    if wait_ms == 0 || amount == 0 {
        return None;
    }
    let per_ms = wait_ms.checked_mul(u128::from(limit))? / u128::from(amount);
    // One millisecond either way must not matter.
    let unit_ms = u128::from(limit).div_ceil(u128::from(amount));
    PERIODS.into_iter().find(|per| {
        let distance = per_ms.abs_diff(per.as_millis());
        distance <= unit_ms.min(per.as_millis() / 4) || distance * 50 <= per.as_millis()
    })
}

/// The time in which a limit of `limit` in `per` gives back `amount`, in milliseconds rounded down.
pub(crate) fn refill_ms(amount: u64, limit: u64, per: Duration) -> u128 {
    per.as_millis() * u128::from(amount) / u128::from(limit.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_reveals_its_period() {
        let millis = Duration::from_millis;
        // Used above what is left, limit, wait as stated: the refusal of a 200,000 tokens a minute.
        assert_eq!(period_of(millis(84), 281, 200_000), Some(MINUTE));
        assert_eq!(period_of(millis(432_000), 1, 200), Some(DAY));
        assert_eq!(period_of(millis(299_439_000), 11_553, 100_000), Some(MONTH));
        // 46 s for half a limit is neither.
        assert_eq!(period_of(millis(46_000), 500, 1_000), None);
        assert_eq!(period_of(millis(0), 4, 4_000_000), None);
        assert_eq!(period_of(millis(20), 0, 3_000), None);
        assert_eq!(period_of(Duration::MAX, 1, u64::MAX), None);
    }

    #[test]
    fn a_period_names_its_wait() {
        assert_eq!(refill_ms(955, 50_000, MINUTE), 1_146);
        assert_eq!(refill_ms(1, 0, MINUTE), 60_000);
    }
}
