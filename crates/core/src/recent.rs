//! How often something happened of late, in slices.
//!
//! A log of instants would be exact and unbounded, an average that decays would forget what a burst was. A ring of slices is a
//! fixed few numbers: it counts the last nine to ten tenths of its time.

use core::time::Duration;

use crate::Timestamp;
use crate::time::duration_nanos;

const SLICES: usize = 10;

/// `KINDS` counts over the last so long.
#[derive(Clone, Debug)]
pub(crate) struct Recent<const KINDS: usize> {
    /// Nanoseconds.
    slice: u64,
    /// The number of the newest slice, counted from the origin of time.
    newest: u64,
    counts: [[u32; KINDS]; SLICES],
}

impl<const KINDS: usize> Recent<KINDS> {
    /// Nothing happened yet. An `over` of no time counts for ten nanoseconds.
    pub(crate) fn over(over: Duration) -> Self {
        Self {
            slice: (duration_nanos(over) / SLICES as u64).max(1),
            newest: 0,
            counts: [[0; KINDS]; SLICES],
        }
    }

    /// Kind `kind` happened once. What is older than the newest slice (a clock that ran backwards) counts there.
    pub(crate) fn add(&mut self, kind: usize, now: Timestamp) {
        self.forget(now);
        let count = &mut self.counts[place(self.newest)][kind];
        *count = count.saturating_add(1);
    }

    /// How often each kind happened.
    pub(crate) fn totals(&mut self, now: Timestamp) -> [u64; KINDS] {
        self.forget(now);
        let mut totals = [0; KINDS];
        for slice in &self.counts {
            for (total, count) in totals.iter_mut().zip(slice) {
                *total += u64::from(*count);
            }
        }
        totals
    }

    /// Empties the slices that are too old, in at most as many steps as there are slices.
    fn forget(&mut self, now: Timestamp) {
        let newest = now.as_nanos() / self.slice;
        let passed = newest.saturating_sub(self.newest).min(SLICES as u64);
        self.newest = self.newest.max(newest);
        for back in 0..passed {
            self.counts[place(self.newest - back)] = [0; KINDS];
        }
    }
}

fn place(slice: u64) -> usize {
    usize::try_from(slice % SLICES as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_millis(millis: u64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn what_happened_counts_for_nine_to_ten_tenths_of_the_time() {
        let mut recent: Recent<2> = Recent::over(Duration::from_secs(10));
        recent.add(0, at_millis(999));
        recent.add(1, at_millis(1_000));
        assert_eq!(recent.totals(at_millis(9_999)), [1, 1]);
        assert_eq!(recent.totals(at_millis(10_000)), [0, 1]);
        assert_eq!(recent.totals(at_millis(11_000)), [0, 0]);
    }

    #[test]
    fn a_long_silence_forgets_everything() {
        let mut recent: Recent<1> = Recent::over(Duration::from_secs(10));
        recent.add(0, at_millis(0));
        recent.add(0, at_millis(9_000));
        assert_eq!(recent.totals(at_millis(3_600_000)), [0]);
        assert_eq!(recent.totals(Timestamp::MAX), [0]);
    }

    #[test]
    fn a_clock_that_runs_backwards_loses_nothing() {
        let mut recent: Recent<1> = Recent::over(Duration::from_secs(10));
        recent.add(0, at_millis(20_000));
        recent.add(0, at_millis(5_000));
        assert_eq!(recent.totals(at_millis(1_000)), [2]);
    }

    #[test]
    fn no_time_at_all_is_a_short_time() {
        let mut recent: Recent<1> = Recent::over(Duration::ZERO);
        recent.add(0, at_millis(1));
        assert_eq!(recent.totals(at_millis(1)), [1]);
        assert_eq!(recent.totals(at_millis(2)), [0]);
    }
}
