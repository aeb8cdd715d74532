//! What a refusal does to a count. It tells that a limit is full, and mostly neither which one nor of what.

use core::time::Duration;

use crate::time::duration_nanos;
use crate::{Authority, Mode, Now, Timestamp};

use super::{Counter, Mark, ROUNDING, Totals};

/// What is longer counts as that long where it is waited for nothing but our own doubt.
const DOUBT_MAX: Duration = Duration::from_secs(60);
/// So long slots are in doubt: they come back when calls end and not when a window does.
const SLOTS_DOUBT: Duration = Duration::from_secs(8);
/// A limit with no more of it in use, in hundredths of a percent, is not what a refusal was for: nobody cuts so deep. Of slots,
/// which an operator may have guessed, hardly any need be.
const SUSPICION_MIN: u64 = 2_000;
const SUSPICION_MIN_OF_SLOTS: u64 = 100;
/// One whose remainder is told is not either, unless it was so full.
const TOLD_FULL: u64 = 9_000;

impl Counter {
    /// The provider refused a request on this meter and wants nothing for `wait`. A longer wait that it asked for before holds.
    pub(crate) fn close(&mut self, wait: Duration, now: Now) {
        self.closed_until = self.closed_until.max(now.mono.saturating_add(wait));
    }

    /// How full a refused request made the limit or its quantum, in hundredths of a percent; `None` where it cannot have been
    /// refused for it: it is ours, it charged nothing, hardly anything was in use, or the provider's answers say that there is room.
    pub(crate) fn suspicion(&self, mark: &Mark) -> Option<u64> {
        let counts = self.limit.mode == Mode::Enforce && self.limit.authority == Authority::Local;
        let may_be = counts && self.is_mirror();
        // Where slots follow latency they follow what is dropped too.
        if mark.counted == 0 || !may_be || self.slots.is_some() {
            return None;
        }
        let of_slots = self.limit.window.per().is_none();
        if of_slots && mark.before == 0 {
            // Who is alone and refused has not taken a slot too many.
            return None;
        }
        let suspicion = self.window_suspicion(mark).max(self.quantum_fullness(mark));
        let least = match self.limit.window.per() {
            Some(_) => SUSPICION_MIN,
            None => SUSPICION_MIN_OF_SLOTS,
        };
        (suspicion >= least).then_some(suspicion)
    }

    fn window_suspicion(&self, mark: &Mark) -> u64 {
        let fullness = self.fullness(mark);
        if self.told && fullness < TOLD_FULL {
            return 0;
        }
        fullness
    }

    /// The request behind `mark` was refused for this limit, for `wait`.
    ///
    /// A bucket is then as full as it says. Of a window that only ends, a wait that the provider names is mostly the time to
    /// its end, so that what was charged since its beginning is what the provider calls full. Without one only what we
    /// counted is known. What it calls full is the whole, of which a hard cap uses a share: what is missing there is no error of
    /// an estimate but somebody else.
    pub(crate) fn refused(&mut self, mark: &Mark, wait: Duration, now: Now) {
        if self.quantum_fullness(mark) > self.window_suspicion(mark)
            && let Some(quantum) = &mut self.quantum
        {
            quantum.refused(mark, now);
            return;
        }
        let named = wait > ROUNDING;
        // Whole seconds were rounded up.
        let exact = match wait.subsec_nanos() {
            0 => wait.saturating_sub(ROUNDING),
            _ => wait,
        };
        if self.count.is_bucket() {
            self.slower(mark, now);
        }
        if let Some(full) = self.count.full(mark.counted, exact) {
            return self.is_full(full, mark, now);
        }
        // What is told of it is over when it is read.
        if self.is_short() {
            let whole = self.ceiling.usable;
            return self.rate.full(mark.before, whole, mark.at, now.mono);
        }
        if self.told {
            let full = self.whole.saturating_sub(mark.counted) + 1;
            return self.is_full(full, mark, now);
        }
        let per = self.limit.window.per().unwrap_or(SLOTS_DOUBT);
        let whole = self.whole;
        let ends = now.mono.saturating_add(wait).as_nanos();
        let began = ends.checked_sub(duration_nanos(per)).filter(|_| named);
        let since = began.and_then(|began| self.count.since(Timestamp::from_nanos(began)));
        let Some(since) = since else {
            let level = mark.before - mark.before / 24;
            let per = per.min(DOUBT_MAX);
            let wait = self.trust.doubted(level, whole, per, mark.at, now.mono);
            if !named {
                self.close(wait, now);
            }
            return;
        };
        // Others that were refused with it were charged by the same estimate.
        if mark.at < self.relearned {
            return;
        }
        // The refused request is among them.
        let level = since.saturating_sub(mark.counted).min(mark.before);
        if self.learned.told_full(level, whole) {
            self.relearned = now.mono;
        } else {
            let level = level - level / 50;
            self.trust.refused(level, whole, mark.at, now.mono);
        }
    }

    /// The request behind `mark` was served.
    pub(crate) fn served(&mut self, mark: &Mark) {
        let used = mark.before.saturating_add(mark.counted);
        let per = self.limit.window.per().unwrap_or_default();
        self.trust.served(used, mark.at, per);
    }

    /// The provider counts `full` beside the refused request, which is still counted here.
    fn is_full(&mut self, full: u64, mark: &Mark, now: Now) {
        self.newest = self.newest.max(mark.at);
        let used = self.count.used(now);
        let there = full.saturating_add(mark.counted);
        if used < there {
            if !self.count.is_bucket() || self.told {
                self.learned.told_more(there - used, self.usable());
            }
            self.count.set_used(there, now);
        }
    }

    /// A bucket that is empty again, though ours is not, refills more slowly.
    fn slower(&mut self, mark: &Mark, now: Now) {
        if self.told {
            return;
        }
        let per = self.limit.window.per().map_or(1, duration_nanos).max(1);
        let Totals {
            returned, overrun, ..
        } = self.totals;
        let spent = self.sent.saturating_add(overrun).saturating_sub(returned);
        let whole = self.ceiling.usable;
        self.rate
            .refused(mark.counted, spent, (whole, per), mark.at, now.mono);
        self.count.retune(self.in_force(), now);
    }

    fn fullness(&self, mark: &Mark) -> u64 {
        share(
            mark.before.saturating_add(mark.counted),
            self.count.holds(self.usable()),
        )
    }

    fn quantum_fullness(&self, mark: &Mark) -> u64 {
        self.quantum
            .as_ref()
            .map_or(0, |quantum| quantum.fullness(mark))
    }
}

/// `used` of `of`, in hundredths of a percent.
pub(super) fn share(used: u64, of: u64) -> u64 {
    used.saturating_mul(10_000) / of.max(1)
}
