//! How much retries may add to the calls to one target.
//!
//! When everything fails, three attempts for each request are three times the traffic, on a target that is in trouble because of
//! its traffic. The attempts of one request do not see that; a share of what goes to the target does.
//!
//! There is one value for each target, and what counts is where a call goes. A retry on the same target is charged here. A
//! fallback is a first attempt at *its* target: it adds nothing to the storm on the one that failed, and to forbid it would turn
//! away requests that a healthy target could serve; if that one fails too, its own budget bounds what follows. That fallbacks
//! do not multiply either is held by the number of attempts of a request and by the breaker.
//!
//! A retry counts for at least as long as the first attempts that allowed it. So at any time all retries so far are at most the
//! share of all first attempts so far, and the floor.

use core::time::Duration;

use crate::recent::Recent;
use crate::time::{NANOS_PER_SECOND, duration_nanos};
use crate::{BasisPoints, Timestamp};

const FIRST: usize = 0;
const RETRY: usize = 1;

/// How much retries may add to the traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryBudgetRule {
    /// Retries per first attempt of the last [`OVER`](Self::OVER).
    pub share: BasisPoints,
    /// So many retries a second are always allowed.
    pub floor_per_second: u32,
}

/// What retries to one target may still add.
#[derive(Clone, Debug)]
pub struct RetryBudget {
    rule: RetryBudgetRule,
    /// First attempts, and the retries that these paid for.
    recent: Recent<2>,
    /// What is left of the floor, in retries times nanoseconds of a second; never more than a second gives.
    floor: u64,
    refilled: Timestamp,
}

impl RetryBudget {
    /// No call was made yet, and the floor is full.
    pub fn new(rule: RetryBudgetRule) -> Self {
        Self {
            rule,
            recent: Recent::over(RetryBudgetRule::OVER),
            floor: floor_max(rule),
            refilled: Timestamp::ZERO,
        }
    }

    /// A request made its first attempt at the target.
    pub fn first(&mut self, now: Timestamp) {
        self.recent.add(FIRST, now);
    }

    /// Takes one retry; whether there was one.
    pub fn take(&mut self, now: Timestamp) -> bool {
        let [firsts, retries] = self.recent.totals(now);
        if retries < self.rule.share.of(firsts) {
            self.recent.add(RETRY, now);
            return true;
        }
        self.refill(now);
        let left = self.floor.checked_sub(NANOS_PER_SECOND);
        self.floor = left.unwrap_or(self.floor);
        left.is_some()
    }

    /// Goes on under another rule; what was counted stays.
    pub fn reconfigure(&mut self, rule: RetryBudgetRule) {
        self.rule = rule;
        self.floor = self.floor.min(floor_max(rule));
    }

    fn refill(&mut self, now: Timestamp) {
        // More than a second gives no more.
        let passed = now.saturating_since(self.refilled);
        let passed = duration_nanos(passed).min(NANOS_PER_SECOND);
        let gained = passed * u64::from(self.rule.floor_per_second);
        self.floor = (self.floor + gained).min(floor_max(self.rule));
        self.refilled = self.refilled.max(now);
    }
}

/// At most 4.3e18, so that twice as much fits.
fn floor_max(rule: RetryBudgetRule) -> u64 {
    u64::from(rule.floor_per_second) * NANOS_PER_SECOND
}

impl RetryBudgetRule {
    /// The time over which traffic is counted.
    pub const OVER: Duration = Duration::from_secs(10);
}

impl Default for RetryBudgetRule {
    /// A fifth of the traffic, and ten a second.
    fn default() -> Self {
        Self {
            share: BasisPoints::new(2_000).unwrap_or(BasisPoints::ZERO),
            floor_per_second: 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    fn budget(floor_per_second: u32) -> RetryBudget {
        RetryBudget::new(RetryBudgetRule {
            floor_per_second,
            ..RetryBudgetRule::default()
        })
    }

    fn taken(budget: &mut RetryBudget, tries: u32, now: Timestamp) -> usize {
        (0..tries).filter(|_| budget.take(now)).count()
    }

    #[test]
    fn a_fifth_of_the_traffic_of_the_last_ten_seconds() {
        let mut budget = budget(0);
        assert!(!budget.take(at(0)));
        for _ in 0..100 {
            budget.first(at(0));
        }
        assert_eq!(taken(&mut budget, 15, at(1_000)), 15);
        assert_eq!(taken(&mut budget, 15, at(9_999)), 5);
        assert_eq!(taken(&mut budget, 15, at(10_000)), 0);
    }

    #[test]
    fn no_first_attempt_pays_for_a_retry_twice() {
        let mut budget = budget(0);
        let mut retries = 0;
        for firsts in 1..=20_000_u64 {
            let now = at(firsts * 7);
            budget.first(now);
            retries += u64::from(budget.take(now));
            assert!(retries * 5 <= firsts);
        }
        assert!(retries > 3_900, "{retries}");
    }

    #[test]
    fn the_floor_is_so_many_a_second_and_no_more_are_saved() {
        let mut budget = budget(10);
        assert_eq!(taken(&mut budget, 30, at(0)), 10);
        assert_eq!(taken(&mut budget, 30, at(250)), 2);
        assert_eq!(taken(&mut budget, 30, at(300)), 1);
        assert_eq!(taken(&mut budget, 30, at(3_600_000)), 10);
        // A clock that runs backwards gives nothing.
        assert_eq!(taken(&mut budget, 30, at(0)), 0);
    }

    #[test]
    fn the_greatest_floor_overflows_nothing() {
        let mut budget = budget(u32::MAX);
        assert!(budget.take(at(0)));
        assert!(budget.take(Timestamp::MAX));
        budget.reconfigure(RetryBudgetRule {
            floor_per_second: 0,
            ..RetryBudgetRule::default()
        });
        assert!(!budget.take(Timestamp::MAX));
    }
}
