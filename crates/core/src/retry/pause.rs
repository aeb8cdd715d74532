//! How long a retry on the same target waits.
//!
//! Everybody who failed at the same time would come back at the same time: so every wait is random, the whole of it where
//! nothing is known, and a part of it above a hint.

use core::time::Duration;

use crate::BackoffRule;
use crate::time::duration_nanos;

/// No retry begins sooner: a wait of nothing would be a loop.
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// How long to wait where the provider names no time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pause {
    /// As the rule for all says.
    Backoff,
    /// Any time between this one and twice as long.
    AtLeast(Duration),
}

impl Pause {
    /// The least time to wait after attempt number `made` with that `hint`, and how much may be added to it at random.
    ///
    /// A hint is the least; a fifth is added to it.
    pub(super) fn of(
        self,
        hint: Option<Duration>,
        backoff: BackoffRule,
        made: u32,
    ) -> (Duration, Duration) {
        let bound = bound(backoff, made);
        match (hint, self) {
            (Some(hint), _) => (hint.max(PAUSE_MIN), bound.min(hint / 5).max(PAUSE_MIN)),
            (None, Self::Backoff) => (PAUSE_MIN, bound.saturating_sub(PAUSE_MIN)),
            (None, Self::AtLeast(least)) => (least, least),
        }
    }
}

/// Any part of `whole`, by `random`.
pub(super) fn drawn(whole: Duration, random: u64) -> Duration {
    let nanos = (u128::from(duration_nanos(whole)) * u128::from(random)) >> 64;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Doubles with each attempt.
fn bound(backoff: BackoffRule, made: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(made.saturating_sub(1));
    backoff.first.saturating_mul(doubled).min(backoff.max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn without_a_hint_it_is_a_random_time_up_to_a_bound_that_doubles() {
        let backoff = BackoffRule::default();
        for (made, bound) in [
            (0, 500),
            (1, 500),
            (2, 1_000),
            (3, 2_000),
            (5, 8_000),
            (99, 8_000),
        ] {
            let (floor, spread) = Pause::Backoff.of(None, backoff, made);
            assert_eq!(
                (floor, floor + spread),
                (millis(20), millis(bound)),
                "{made}"
            );
        }
    }

    #[test]
    fn a_hint_is_the_least_and_a_fifth_is_spread() {
        for (hint, latest) in [(300, 360), (1_500, 1_800), (4_000, 4_500)] {
            for pause in [Pause::Backoff, Pause::AtLeast(millis(10_000))] {
                let (floor, spread) = pause.of(Some(millis(hint)), BackoffRule::default(), 1);
                assert_eq!((floor, floor + spread), (millis(hint), millis(latest)));
            }
        }
    }

    #[test]
    fn no_rule_and_no_hint_makes_it_nothing() {
        let nothing = BackoffRule {
            first: Duration::ZERO,
            max: Duration::ZERO,
        };
        let tiny = Some(Duration::from_nanos(1));
        assert_eq!(Pause::Backoff.of(None, nothing, 1).0, millis(20));
        assert_eq!(Pause::Backoff.of(tiny, nothing, 1).0, millis(20));
    }

    #[test]
    fn every_part_of_the_whole_can_be_drawn() {
        let hour = Duration::from_secs(3_600);
        assert_eq!(drawn(hour, 0), Duration::ZERO);
        assert_eq!(drawn(hour, 1 << 63), hour / 2);
        assert_eq!(drawn(hour, u64::MAX), hour - Duration::from_nanos(1));
        assert_eq!(drawn(Duration::ZERO, u64::MAX), Duration::ZERO);
    }
}
