//! How much of a limit there is where it comes back all the time, a bucket or a window of a second, and only refusals tell.
//!
//! A refusal says that the bucket is empty there. Between two of them it gave what was spent meanwhile, which is its rate: a
//! lower one than ours is a cut, or somebody else who takes a part. Soon after another refusal that is no measurement yet,
//! and the rate goes down by a step. It holds for a window, so that a rate that stays low costs one refusal a window, and
//! then rises evenly, by half of the whole rate in a window, so that it is back soon after a cut ended.
//!
//! In a window of a second nothing can be measured between two refusals: there it is what was in use at one. What was lowered by
//! a refusal is used evenly for some minutes, since a second's worth at once would be refused in a heap.

use core::time::Duration;

use crate::Timestamp;

/// How long the rate of a shorter window holds, in nanoseconds.
pub(crate) const MINUTE: u64 = 60_000_000_000;
/// So long after a refusal in a short window requests go evenly.
const EVEN: Duration = Duration::from_secs(600);
/// The whole rate. Others are shares of it.
const WHOLE: u64 = 10_000;
/// No rate is lower.
const RATE_MIN: u64 = WHOLE / 16;
/// What was spent in a quarter of a window is a measurement.
const MEASURED: u64 = 4;
/// A measured rate is used but for that share.
const BELOW: u64 = 32;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// When it last went down; since then it rises.
    set: Timestamp,
    share_then: u64,
    share: u64,
    /// What was spent by then, without what was refused.
    spent: u64,
    /// What was refused since counting began.
    refused: u64,
    /// In a short window the next starts then: what goes evenly is refused one at a time, and what goes at once in heaps.
    next: Timestamp,
}

impl Rate {
    pub(crate) const WHOLE: Self = Self {
        set: Timestamp::ZERO,
        share_then: WHOLE,
        share: WHOLE,
        spent: 0,
        refused: 0,
        next: Timestamp::ZERO,
    };

    /// What of `whole` comes back in a window.
    pub(crate) fn of(&self, whole: u64) -> u64 {
        let part = u128::from(whole) * u128::from(self.share) / u128::from(WHOLE);
        u64::try_from(part).unwrap_or(u64::MAX).max(1)
    }

    /// Nothing is known any more of the rate.
    pub(crate) fn anew(&self) -> Self {
        Self {
            refused: self.refused,
            ..Self::WHOLE
        }
    }

    /// A request that was sent at `sent` and charged `charge` is refused. Of `whole` in a window of `per` nanoseconds, `spent`
    /// were charged since counting began.
    pub(crate) fn refused(
        &mut self,
        charge: u64,
        spent: u64,
        (whole, per): (u64, u64),
        sent: Timestamp,
        now: Timestamp,
    ) {
        self.refused = self.refused.saturating_add(charge);
        let is_first = self.set == Timestamp::ZERO;
        if !is_first && sent <= self.set {
            return;
        }
        let spent = spent.saturating_sub(self.refused);
        let elapsed = now.saturating_since(self.set).as_nanos();
        let found = u128::from(spent.saturating_sub(self.spent)) * u128::from(per) / elapsed.max(1);
        let found = found * u128::from(WHOLE) / u128::from(whole.max(1));
        let found = u64::try_from(found).unwrap_or(u64::MAX);
        let found = found - found / BELOW;
        let step = self.share - self.share / 8;
        let share = if is_first {
            step
        } else if elapsed >= u128::from(per / MEASURED) {
            self.share.min(found)
        } else {
            step.min(found)
        };
        self.share = share.max(self.share / 2).max(RATE_MIN);
        self.share_then = self.share;
        self.spent = spent;
        self.set = now;
    }

    /// A request that was sent at `sent` is refused where `used` of `whole` were in use, of a window that is over before anything
    /// can be measured in it.
    pub(crate) fn full(&mut self, used: u64, whole: u64, sent: Timestamp, now: Timestamp) {
        if self.set > Timestamp::ZERO && sent <= self.set {
            return;
        }
        let found = u128::from(used) * u128::from(WHOLE) / u128::from(whole.max(1));
        let found = u64::try_from(found).unwrap_or(u64::MAX);
        let step = self.share - self.share / 16;
        self.share = step.min(found).max(self.share / 2).max(RATE_MIN);
        self.share_then = self.share;
        self.set = now;
    }

    /// Of `usable` in a short window of `per` nanoseconds, `charge` goes now.
    pub(crate) fn goes(&mut self, charge: u64, usable: u64, per: u64, now: Timestamp) {
        let takes = u128::from(per) * u128::from(charge) / u128::from(usable.max(1));
        let takes = u64::try_from(takes).unwrap_or(u64::MAX).min(per);
        self.next = self.next.max(now).plus_nanos(takes);
    }

    /// When the next starts in a short window; at once where none was refused for long.
    pub(crate) fn next(&self, now: Timestamp) -> Timestamp {
        let was_refused = self.set > Timestamp::ZERO && now.saturating_since(self.set) < EVEN;
        if was_refused { self.next } else { now }
    }

    /// A limit said itself that `there` of `whole` come back in a window.
    pub(crate) fn told(&mut self, there: u64, whole: u64, now: Timestamp) {
        let share = u128::from(there) * u128::from(WHOLE) / u128::from(whole.max(1));
        let share = u64::try_from(share).unwrap_or(WHOLE).clamp(RATE_MIN, WHOLE);
        self.share = self.share.min(share);
        self.share_then = self.share;
        self.set = now;
    }

    /// Time has passed. True where the rate has risen.
    pub(crate) fn rises(&mut self, per: u64, now: Timestamp) -> bool {
        if self.share == WHOLE {
            return false;
        }
        let since = now.saturating_since(self.set).as_nanos();
        let rising = since.saturating_sub(u128::from(per));
        let risen = rising * u128::from(WHOLE / 2) / u128::from(per.max(1));
        let share = u64::try_from(risen)
            .unwrap_or(WHOLE)
            .saturating_add(self.share_then);
        let share = share.min(WHOLE);
        let rises = share > self.share;
        self.share = share;
        rises
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const WINDOW: (u64, u64) = (1_000, MINUTE);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_nanos(seconds * SECOND)
    }

    #[test]
    fn a_first_refusal_is_a_step_and_so_is_one_soon_after_it() {
        let mut rate = Rate::WHOLE;
        rate.refused(1, 5_001, WINDOW, at(99), at(100));
        assert_eq!(rate.of(1_000), 875);
        // What was sent before that tells nothing new.
        rate.refused(1, 5_002, WINDOW, at(100), at(101));
        assert_eq!(rate.of(1_000), 875);
        // 1,000 in the minute that the last four seconds are part of.
        rate.refused(1, 5_069, WINDOW, at(103), at(104));
        assert_eq!(rate.of(1_000), 765);
    }

    #[test]
    fn what_was_spent_between_two_refusals_is_the_rate() {
        let mut rate = Rate::WHOLE;
        rate.refused(1, 5_001, WINDOW, at(99), at(100));
        rate.refused(1, 5_322, WINDOW, at(129), at(130));
        // 320 in half a minute, and a little less than that.
        assert_eq!(rate.of(1_000), 620);
        // Nothing halves it more than once at a time.
        rate.refused(1, 5_323, WINDOW, at(159), at(160));
        assert_eq!(rate.of(1_000), 310);
    }

    #[test]
    fn it_holds_for_a_window_and_rises_by_half_in_the_next() {
        let mut rate = Rate::WHOLE;
        rate.told(400, 1_000, at(100));
        assert!(!rate.rises(MINUTE, at(160)));
        assert!(rate.rises(MINUTE, at(190)));
        assert_eq!(rate.of(1_000), 650);
        assert!(rate.rises(MINUTE, at(500)));
        assert_eq!(rate.of(1_000), 1_000);
        assert!(!rate.rises(MINUTE, at(501)));
    }

    #[test]
    fn of_a_short_window_it_is_what_was_in_use_and_used_evenly() {
        let mut rate = Rate::WHOLE;
        rate.goes(1, 20, SECOND, at(99));
        assert_eq!(rate.next(at(99)), at(99));
        rate.full(14, 20, at(99), at(100));
        assert_eq!(rate.of(20), 14);
        // A burst counts once; at least a sixteenth goes.
        rate.full(2, 20, at(100), at(100));
        assert_eq!(rate.of(20), 14);
        rate.full(19, 20, at(101), at(101));
        assert_eq!(rate.of(20), 13);
        rate.goes(1, 10, SECOND, at(102));
        rate.goes(1, 10, SECOND, at(102));
        assert_eq!(
            rate.next(at(102)),
            Timestamp::from_nanos(102 * SECOND + SECOND / 5)
        );
        assert_eq!(rate.next(at(700)), at(102).plus_nanos(SECOND / 5));
        assert_eq!(rate.next(at(701)), at(701));
    }

    #[test]
    fn it_is_never_nothing() {
        let mut rate = Rate::WHOLE;
        for second in 100..200 {
            rate.refused(0, 0, WINDOW, at(second), at(second + 1));
        }
        assert_eq!(rate.of(1_000), 62);
        assert_eq!(rate.of(1), 1);
    }
}
