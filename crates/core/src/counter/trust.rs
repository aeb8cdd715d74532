//! How much of a limit is known to be there, where only refusals tell.
//!
//! A provider that shows no remainder may have lowered a limit, may charge more than we think, or may serve somebody else on
//! the same account. Its refusal is then the only sign: what was used when it came is about what can be had. Above that
//! level one request at a time goes ahead to try; where it is served the level rises with it, where it is refused no other
//! tries for a while. After a refusal nobody starts for a quarter of a window, and then one request asks whether the level
//! holds. Where that is refused too, much has been taken away: the pause grows, and once one is served, more go at once step
//! by step, so that what can be had now is found by one refusal and not by many. A level far below the limit is tried again after a minute, since cuts end; one just below it is
//! rather a matter of estimates, which do not, and is left alone for long.

use core::time::Duration;

use crate::Timestamp;
use crate::window::Earliest;

/// A level from that share of the limit on, in hundredths, is near it.
const NEAR: u64 = 85;
/// A level is tried again after that time, and so many times later where it is near the limit.
const PAUSE: Duration = Duration::from_secs(60);
const NEAR_PAUSES: u32 = 30;
/// What of a limit comes back within that time is waited for while somebody tries: all of a minute's.
const SOON: Duration = Duration::from_secs(120);

/// Where the level was found wrong again, one more at once goes ahead after each of these parts of a window.
const STEPS: u32 = 4;
/// So many at once are as good as any number.
const AT_ONCE: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Trust {
    /// What may be used without trying; `u64::MAX` where nothing was ever refused.
    level: u64,
    /// Requests above the level, or in doubt of it, that have no answer yet.
    trying: u32,
    /// Nobody tries before that.
    next_try: Timestamp,
    /// When the level was last set: what was sent before and is refused after tells nothing new.
    set: Timestamp,
    /// Refusals with none served between them.
    refusals: u32,
    /// As long as the level is in doubt, so many may be without an answer at once.
    at_once: Option<u32>,
    /// When one of these went last: an answer that does not come is not waited for any longer.
    asked: Timestamp,
    /// Since when so many may, where a level was found wrong again before any was served.
    found_wrong: Option<Timestamp>,
}

impl Trust {
    pub(crate) const WHOLE: Self = Self {
        level: u64::MAX,
        trying: 0,
        next_try: Timestamp::ZERO,
        set: Timestamp::ZERO,
        refusals: 0,
        at_once: None,
        asked: Timestamp::ZERO,
        found_wrong: None,
    };

    /// Nothing is known any more; who tries still does.
    pub(crate) fn anew(&self) -> Self {
        Self {
            trying: self.trying,
            ..Self::WHOLE
        }
    }

    /// What may be used without trying, where that is less than `usable`.
    pub(crate) fn level_below(&self, usable: u64) -> Option<u64> {
        (self.level < usable || self.at_once.is_some()).then_some(self.level.min(usable))
    }

    /// When a request starts that would at `trusted` within the level and at `whole` within the limit: above the level only
    /// where nobody else tries, and not too soon. While somebody does, a day's end is nothing to wait for: the answer will tell
    /// long before, or else, where it never comes, that end is the latest.
    pub(crate) fn earliest(&self, trusted: Earliest, whole: Earliest, now: Timestamp) -> Earliest {
        let answer_due = self.asked.saturating_add(SOON);
        let asks = self.at_once.is_some_and(|at_once| self.trying >= at_once);
        if asks && now < answer_due {
            return Earliest::OnRelease(Some(answer_due));
        }
        if self.trying == 0 {
            return trusted.sooner(whole.later(Earliest::At(self.next_try)));
        }
        let soon = Earliest::At(now.saturating_add(SOON));
        let answer_tells = trusted.later(soon) != soon && whole.later(soon) == soon;
        match trusted {
            Earliest::At(at) if answer_tells => Earliest::OnRelease(Some(at)),
            Earliest::At(_) | Earliest::OnRelease(_) => trusted,
        }
    }

    /// A request goes ahead that makes `used` the use. True where it tries.
    pub(crate) fn goes_ahead(&mut self, used: u64, now: Timestamp) -> bool {
        let tries = used > self.level || self.at_once.is_some();
        if tries {
            self.trying = self.trying.saturating_add(1);
            self.asked = now;
        }
        tries
    }

    /// One that tried is answered, or never will be.
    pub(crate) fn try_answered(&mut self) {
        self.trying = self.trying.saturating_sub(1);
    }

    /// A request was served that was sent at `sent` and had made `used` the use, of a window of length `per`.
    pub(crate) fn served(&mut self, used: u64, sent: Timestamp, per: Duration) {
        if self.level == u64::MAX || sent <= self.set {
            return;
        }
        self.level = self.level.max(used);
        self.refusals = 0;
        let Some(at_once) = &mut self.at_once else {
            return;
        };
        match &mut self.found_wrong {
            None => self.at_once = None,
            Some(_) if *at_once >= AT_ONCE => {
                self.at_once = None;
                self.found_wrong = None;
            }
            Some(since) if sent >= since.saturating_add(per / STEPS) => {
                *at_once += 1;
                *since = sent;
            }
            Some(_) => {}
        }
    }

    /// A request that was sent at `sent` is refused where no more than `used` of `usable` can be had, and that is known. False
    /// where it tells nothing new.
    pub(crate) fn refused(
        &mut self,
        used: u64,
        usable: u64,
        sent: Timestamp,
        now: Timestamp,
    ) -> bool {
        if self.set > Timestamp::ZERO && sent <= self.set {
            return false;
        }
        self.set = now;
        self.level = self.level.min(used.max(1));
        let near = self.level >= usable.saturating_mul(NEAR) / 100;
        let pause = PAUSE * if near { NEAR_PAUSES } else { 1 };
        self.next_try = now.saturating_add(pause);
        true
    }

    /// The same where it is only likely, of a window of length `per`. For how long nobody should start.
    pub(crate) fn doubted(
        &mut self,
        used: u64,
        usable: u64,
        per: Duration,
        sent: Timestamp,
        now: Timestamp,
    ) -> Duration {
        if !self.refused(used, usable, sent, now) {
            return Duration::ZERO;
        }
        self.refusals = self.refusals.saturating_add(1);
        self.at_once = Some(1);
        // After some were served again, what was in use is what can be had.
        self.found_wrong = (self.refusals > 1).then_some(now);
        match self.refusals {
            1 => per / 4,
            2 => per / 2,
            _ => per,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn after(minutes: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(MINUTE * u32::try_from(minutes).expect("few"))
    }

    /// When somebody may try what fits at once, who else waits for hours; `None` while somebody does.
    fn tried(trust: &Trust) -> Option<Timestamp> {
        let whole = Earliest::At(Timestamp::ZERO);
        match trust.earliest(Earliest::At(after(600)), whole, Timestamp::ZERO) {
            Earliest::At(at) => Some(at),
            Earliest::OnRelease(_) => None,
        }
    }

    #[test]
    fn what_a_refusal_found_in_use_is_the_level() {
        let mut trust = Trust::WHOLE;
        assert_eq!(trust.level_below(1_000), None);
        trust.refused(512, 1_000, after(0), after(1));
        assert_eq!(trust.level_below(1_000), Some(512));
        assert_eq!(tried(&trust), Some(after(2)));
    }

    #[test]
    fn one_at_a_time_tries_and_the_level_rises_with_it() {
        let mut trust = Trust::WHOLE;
        trust.refused(512, 1_000, after(0), after(1));
        assert!(!trust.goes_ahead(512, after(2)));
        assert!(trust.goes_ahead(518, after(2)));
        assert_eq!(tried(&trust), None);
        trust.try_answered();
        trust.served(518, after(2), MINUTE);
        assert_eq!(trust.level_below(1_000), Some(518));
        assert_eq!(tried(&trust), Some(after(2)));
        trust.served(1_000, after(2), MINUTE);
        assert_eq!(trust.level_below(1_000), None);
    }

    #[test]
    fn a_level_near_the_limit_is_left_alone_for_long() {
        let mut trust = Trust::WHOLE;
        trust.refused(900, 1_000, after(0), after(1));
        assert_eq!(tried(&trust), Some(after(31)));
    }

    #[test]
    fn while_one_tries_others_wait_for_the_level_where_that_is_soon_or_nothing_is_left_above_it() {
        let mut trust = Trust::WHOLE;
        trust.refused(512, 1_000, after(0), after(1));
        assert!(trust.goes_ahead(518, after(2)));
        let [now, soon, late] = [0, 2, 600].map(|minutes| Earliest::At(after(minutes)));
        assert_eq!(trust.earliest(soon, now, after(0)), soon);
        assert_eq!(trust.earliest(late, late, after(0)), late);
        let answer = Earliest::OnRelease(Some(after(600)));
        assert_eq!(trust.earliest(late, soon, after(0)), answer);
    }

    #[test]
    fn in_doubt_one_asks_and_after_another_refusal_more_go_step_by_step() {
        let mut trust = Trust::WHOLE;
        let [now, soon] = [0, 2].map(|minutes| Earliest::At(after(minutes)));
        let mut refused = |used, minute| {
            let pause = trust.doubted(used, 1_000, MINUTE, after(minute), after(minute));
            (trust, pause)
        };
        let (mut once, pause) = refused(512, 1);
        assert_eq!(pause, MINUTE / 4);
        assert_eq!(once.earliest(soon, now, after(1)), soon);
        assert!(once.goes_ahead(10, after(2)));
        let answer = Earliest::OnRelease(Some(after(4)));
        assert_eq!(once.earliest(soon, now, after(1)), answer);
        once.try_answered();
        once.served(10, after(2), MINUTE);
        assert!(!once.goes_ahead(512, after(2)));
        // Another with none served between them.
        let (mut again, pause) = refused(400, 2);
        assert_eq!(pause, MINUTE / 2);
        for at_once in 1..AT_ONCE {
            assert_eq!(again.at_once, Some(at_once));
            again.served(10, after(2 + u64::from(at_once)), MINUTE);
        }
        again.served(10, after(20), MINUTE);
        assert_eq!(again.at_once, None);
        assert_eq!(refused(300, 3).1, MINUTE);
    }

    #[test]
    fn a_level_goes_down_with_what_was_in_use_and_a_burst_counts_once() {
        let mut trust = Trust::WHOLE;
        trust.refused(512, 1_000, after(0), after(1));
        assert!(!trust.refused(400, 1_000, after(1), after(2)));
        assert_eq!(trust.level_below(1_000), Some(512));
        trust.refused(400, 1_000, after(2), after(2));
        assert_eq!(trust.level_below(1_000), Some(400));
    }
}
