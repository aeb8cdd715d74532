//! How fast somebody else takes of the same account what the provider's answers tell the remainder of.
//!
//! A remainder is old when it is read: until our next request is counted others go on. What they took lately, beside what
//! explains itself by ours, is a rate, and what comes of it in that time is left free. It rises with the first answer that
//! shows it and is halved with every half minute in which less is taken; where nobody else is there it is nothing. Of a limit of
//! a second no remainder is still true when it is read: what they take in a second is left free all the time, as its own answers
//! show it or those of a longer limit on the same meter. Estimates differ from the provider's also where nobody else is there,
//! which would pass for others: of meters that are estimated nothing is learned here.

use core::time::Duration;

use crate::time::duration_nanos;
use crate::{Meter, Timestamp};

use super::Counter;

/// What is taken is summed up over such spans.
const SPAN: Duration = Duration::from_secs(15);
/// Of the rate of one span at least so much is that of the next, in hundredths: half is left after two.
const STAYS: u64 = 70;
/// So many short windows tell together what one holds.
const WINDOWS: u64 = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Others {
    begun: Timestamp,
    /// In the span that runs, what the provider counted more than we did, and what less.
    more: u64,
    less: u64,
    /// What others took in a span before.
    rate: u64,
}

impl Others {
    pub(super) const NOBODY: Self = Self {
        begun: Timestamp::ZERO,
        more: 0,
        less: 0,
        rate: 0,
    };

    /// An answer came by which the provider counted `more` than we had, or `less`.
    pub(super) fn told(&mut self, more: u64, less: u64, now: Timestamp) {
        let elapsed = now.saturating_since(self.begun);
        let spans = duration_nanos(elapsed) / duration_nanos(SPAN);
        if spans > 0 {
            let stays = (0..spans.min(16)).fold(self.rate, |rate, _| rate * STAYS / 100);
            // Over a span with a long silence at its end it was slower.
            self.rate = stays.max(self.taken() / spans);
            (self.more, self.less) = (0, 0);
            self.begun = now;
        }
        self.more = self.more.saturating_add(more);
        self.less = self.less.saturating_add(less);
    }

    /// Of what was counted for our own requests, `amount` is theirs.
    pub(super) fn were_charged(&mut self, amount: u64) {
        self.more = self.more.saturating_add(amount);
    }

    /// In a short window of `nanos` they took so much. One of them may hold more or less than the next.
    pub(super) fn took_in(&mut self, nanos: u64, amount: u64) {
        let rate = u128::from(amount) * u128::from(duration_nanos(SPAN)) / u128::from(nanos.max(1));
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        self.rate = self.rate - self.rate / WINDOWS + rate / WINDOWS;
    }

    /// What they are likely to take in `nanos`, rounded to the nearest: one stray request is nobody.
    pub(super) fn take_in(&self, nanos: u64) -> u64 {
        let rate = u128::from(self.rate.max(self.taken()));
        let span = u128::from(duration_nanos(SPAN));
        let takes = (rate * u128::from(nanos) + span / 2) / span;
        u64::try_from(takes).unwrap_or(u64::MAX)
    }

    fn taken(&self) -> u64 {
        self.more.saturating_sub(self.less)
    }
}

impl Counter {
    /// What of the usable amount is left free: for what was learned, and for what others take until a request is counted.
    pub(super) fn left_free(&self) -> u64 {
        let usable = self.usable();
        let margin = self.learned.margin(usable);
        let taken = if self.is_short() {
            // Of a window of a second nothing that is told is counted: all that they take in one.
            let whole = self.ceiling.usable;
            let per = self.limit.window.per().map_or(0, duration_nanos);
            self.others.take_in(per).saturating_sub(whole - usable)
        } else {
            // What is left free of a bucket that paces is so in proportion.
            let theirs = u128::from(self.others.take_in(self.told_late));
            let theirs = theirs * u128::from(usable) / u128::from(self.count.holds(usable).max(1));
            u64::try_from(theirs).unwrap_or(u64::MAX)
        };
        margin.max(taken.min(usable / 2))
    }

    /// What others take of the same meter as `longer`, whose remainder is told, where nothing is told of this one, which is
    /// short.
    pub(crate) fn follow_others(&mut self, (meter, longer): (Meter, Others)) {
        if self.is_short() && self.limit.meter == meter && self.is_mirror() && !self.told {
            self.others = longer;
        }
    }

    /// What others take, where that says something of shorter limits.
    pub(crate) fn others(&self) -> Option<(Meter, Others)> {
        (!self.is_short() && !self.learned.is_estimated())
            .then_some((self.limit.meter, self.others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_nanos(seconds * SECOND)
    }

    #[test]
    fn it_rises_at_once_and_fades() {
        let mut others = Others::NOBODY;
        assert_eq!(others.take_in(60 * SECOND), 0);
        others.told(0, 0, at(100));
        others.told(15, 0, at(101));
        assert_eq!(others.take_in(SECOND), 1);
        others.told(15, 0, at(110));
        assert_eq!(others.take_in(SECOND), 2);
        assert_eq!(others.take_in(SECOND / 5), 0);
        others.told(0, 0, at(115));
        assert_eq!(others.take_in(15 * SECOND), 30);
        others.told(0, 0, at(130));
        assert_eq!(others.take_in(15 * SECOND), 21);
        others.told(0, 0, at(400));
        assert_eq!(others.take_in(60 * SECOND), 0);
    }

    #[test]
    fn what_is_corrected_back_was_nobody() {
        let mut others = Others::NOBODY;
        others.told(0, 0, at(100));
        others.told(20, 0, at(101));
        others.told(0, 25, at(102));
        assert_eq!(others.take_in(60 * SECOND), 0);
    }

    #[test]
    fn after_a_silence_it_is_what_was_taken_over_all_of_it() {
        let mut others = Others::NOBODY;
        others.told(0, 0, at(100));
        others.told(60, 0, at(101));
        others.told(0, 0, at(160));
        assert_eq!(others.take_in(15 * SECOND), 15);
    }
}
