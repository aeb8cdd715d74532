//! How unevenly requests arrive: the spread of the time between admission and arrival, learned.
//!
//! Windows count a charge for as long as it may matter at the provider, which is longer by that spread. What is known of it
//! are delays of single requests, told from outside. The widest difference among the recent ones is the spread: two spans
//! of them are kept, and the older is dropped when the newer is full and old enough, so that a bad minute is forgotten.

use core::time::Duration;

use crate::Timestamp;
use crate::time::duration_nanos;

/// Delays in a span at least; with fewer nothing is known.
const FEW: u32 = 32;
/// A span lasts at least that long.
const SPAN: Duration = Duration::from_secs(60);
/// Less than that is not believed, in nanoseconds: a machine that was idle for a minute may be busy in the next.
const SPREAD_MIN: u64 = 20_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    /// Assumed until enough is known, in nanoseconds.
    assumed: u64,
    newer: Span,
    older: Span,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    begun: Timestamp,
    shortest: u64,
    longest: u64,
    delays: u32,
}

impl Arrivals {
    /// As long as nothing is known, requests arrive within `assumed` of each other.
    pub(crate) fn assumed(assumed: Duration) -> Self {
        Self {
            assumed: duration_nanos(assumed),
            newer: Span::EMPTY,
            older: Span::EMPTY,
        }
    }

    /// A request took `delay` to arrive.
    pub(crate) fn took(&mut self, delay: Duration, now: Timestamp) {
        // What is counted where it is sent from has no way to go.
        if self.assumed == 0 {
            return;
        }
        if self.newer.delays >= FEW && now >= self.newer.begun.saturating_add(SPAN) {
            self.older = self.newer;
            self.newer = Span::EMPTY;
        }
        if self.newer.delays == 0 {
            self.newer.begun = now;
        }
        self.newer.add(duration_nanos(delay));
    }

    /// The spread, in nanoseconds: an eighth more than what was seen, since the widest is seldom seen. At most five times
    /// what is assumed: a request that took so long was no question of the network.
    pub(crate) fn spread(&self) -> u64 {
        if self.newer.delays.max(self.older.delays) < FEW {
            return self.assumed;
        }
        let longest = self.newer.longest.max(self.older.longest);
        let shortest = self.newer.shortest.min(self.older.shortest);
        let seen = longest.saturating_sub(shortest);
        let most = self.assumed.saturating_mul(5).max(SPREAD_MIN);
        seen.saturating_add(seen / 8).clamp(SPREAD_MIN, most)
    }
}

impl Span {
    const EMPTY: Self = Self {
        begun: Timestamp::ZERO,
        shortest: u64::MAX,
        longest: 0,
        delays: 0,
    };

    fn add(&mut self, delay: u64) {
        self.shortest = self.shortest.min(delay);
        self.longest = self.longest.max(delay);
        self.delays = self.delays.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    /// Delays of 40 to 71 ms from `from` on.
    fn thirty_two(arrivals: &mut Arrivals, from: u64) {
        for one in 0..32 {
            arrivals.took(millis(40 + one), at(from));
        }
    }

    #[test]
    fn a_few_delays_change_nothing() {
        let mut arrivals = Arrivals::assumed(millis(100));
        for _ in 0..31 {
            arrivals.took(millis(5), at(0));
        }
        assert_eq!(arrivals.spread(), 100_000_000);
    }

    #[test]
    fn the_spread_is_an_eighth_more_than_was_seen() {
        let mut arrivals = Arrivals::assumed(millis(100));
        thirty_two(&mut arrivals, 0);
        assert_eq!(arrivals.spread(), 31_000_000 + 3_875_000);
    }

    #[test]
    fn a_bad_time_is_forgotten_after_two_spans() {
        let mut arrivals = Arrivals::assumed(millis(100));
        thirty_two(&mut arrivals, 0);
        arrivals.took(millis(300), at(1));
        assert_eq!(arrivals.spread(), 292_500_000);
        thirty_two(&mut arrivals, 60);
        assert_eq!(arrivals.spread(), 292_500_000);
        thirty_two(&mut arrivals, 120);
        assert_eq!(arrivals.spread(), 31_000_000 + 3_875_000);
    }

    #[test]
    fn the_spread_is_bounded() {
        let mut arrivals = Arrivals::assumed(millis(100));
        thirty_two(&mut arrivals, 0);
        arrivals.took(Duration::from_secs(60), at(1));
        assert_eq!(arrivals.spread(), 500_000_000);
        let mut even = Arrivals::assumed(millis(100));
        for _ in 0..32 {
            even.took(millis(40), at(0));
        }
        assert_eq!(even.spread(), 20_000_000);
    }
}
