//! One limit and what is counted on it: the window, the quantum if it has one, the ceiling in force, and what was learned
//! of how the provider counts.

mod arrival;
mod learned;
mod others;
mod quantum;
mod rate;
mod refused;
mod slots;
mod told;
mod trust;

use core::time::Duration;

use crate::ledger::Settled;
use crate::time::duration_nanos;
use crate::window::{Ceiling, Count, Earliest};
use crate::{
    AdaptiveSlots, Authority, BasisPoints, Book, Headroom, Limit, Mode, Now, Start, Timestamp,
    Window,
};

use arrival::Arrivals;
use learned::Learned;
use others::Others;
use quantum::Quantum;
use rate::{MINUTE, Rate};
use trust::Trust;

/// Times that a provider names may be rounded so much; one no longer than that is hardly named.
const ROUNDING: Duration = Duration::from_secs(1);

/// A window shorter than that is over before anything can be measured in it.
const SHORT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub(crate) struct Counter {
    pub(crate) limit: Limit,
    /// What the provider's holds: the amount, or less while it says that it is cut. A hard cap uses a share of it.
    whole: u64,
    ceiling: Ceiling,
    count: Count,
    quantum: Option<Quantum>,
    /// Began empty, and neither a request nor a signal has told how much is really there: the first request passes.
    unknown: bool,
    /// What open reservations hold.
    pub(crate) held: u64,
    /// The provider takes nothing before that.
    closed_until: Timestamp,
    /// What reservations charged since counting began.
    sent: u64,
    totals: Totals,
    learned: Learned,
    trust: Trust,
    rate: Rate,
    arrivals: Arrivals,
    others: Others,
    /// How old what an answer tells is when a request that starts then is counted, in nanoseconds.
    told_late: u64,
    /// How many slots are used, where nobody publishes it.
    slots: Option<AdaptiveSlots>,
    /// Whether the answers to requests that are served name the remainder, and the ceiling.
    told: bool,
    tells_ceiling: bool,
    /// When counting began.
    began: Timestamp,
    /// When the request was sent whose answer told something last: what answers to earlier ones tell is older.
    newest: Timestamp,
    /// What was sent before that was charged by another estimate than what is learned now.
    relearned: Timestamp,
    /// See [`LimitState::drift`](crate::LimitState::drift).
    pub(crate) drift: Option<i64>,
}

/// Sums since counting began, so that two moments can be compared.
#[derive(Clone, Copy, Default, Debug)]
struct Totals {
    /// Of what reservations charged, what is on its way no more: an answer came, or the reservation ended.
    answered: u64,
    /// Given back by settlements.
    returned: u64,
    /// Charged by settlements.
    overrun: u64,
}

/// What a reservation did to a counter, and how that stood then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The charge by our rule, and as it was counted.
    pub(crate) charge: u64,
    counted: u64,
    /// What was used before it.
    before: u64,
    totals: Totals,
    at: Timestamp,
    /// Whether it went above what was known to be there.
    tries: bool,
    /// The same of the quantum, where there is one.
    before_in_quantum: u64,
}

impl Counter {
    pub(crate) fn begin(limit: &Limit, now: Now) -> Self {
        let whole = limit.amount.get();
        let slots = slots::begin(limit);
        let ceiling = slots::bounded(ceiling(limit, whole), slots.as_ref());
        let arrivals = Arrivals::assumed(limit.arrival_spread);
        let quantum = limit
            .quantum
            .and_then(|length| Quantum::begin(limit, length, ceiling, arrivals.spread(), now));
        Self {
            whole,
            ceiling,
            count: Count::begin(limit, ceiling, now),
            quantum,
            unknown: limit.start == Start::Empty,
            held: 0,
            closed_until: Timestamp::ZERO,
            sent: 0,
            totals: Totals::default(),
            learned: nothing_learned(limit),
            trust: Trust::WHOLE,
            rate: Rate::WHOLE,
            arrivals,
            others: Others::NOBODY,
            told_late: 0,
            slots,
            told: false,
            tells_ceiling: false,
            began: now.mono,
            newest: Timestamp::ZERO,
            relearned: Timestamp::ZERO,
            drift: None,
            limit: limit.clone(),
        }
    }

    /// The same count under an edited limit; `None` where the edit changed how it is counted. Where it changed what a request is
    /// charged in the end, the use stays, but what was learned was of another rule.
    pub(crate) fn retuned(&self, limit: &Limit, now: Now) -> Option<Self> {
        if !self.limit.counts_like(limit) {
            return None;
        }
        let mut counter = Self {
            limit: limit.clone(),
            ..self.clone()
        };
        counter.limit.start = self.limit.start;
        let charges_otherwise =
            (limit.settlement, limit.failures) != (self.limit.settlement, self.limit.failures);
        if charges_otherwise || limit.headroom != self.limit.headroom {
            counter.learned = nothing_learned(limit);
        }
        if charges_otherwise {
            counter.trust = self.trust.anew();
            counter.others = Others::NOBODY;
            counter.told = false;
            counter.tells_ceiling = false;
            counter.drift = None;
        }
        if (limit.headroom, limit.amount) != (self.limit.headroom, self.limit.amount) {
            // A cut and a level were those of another amount.
            counter.whole = limit.amount.get();
            counter.ceiling = ceiling(limit, counter.whole);
            counter.trust = self.trust.anew();
            counter.retune_slots();
            counter.rate = self.rate.anew();
        }
        counter.count.retune(counter.in_force(), now);
        if limit.arrival_spread != self.limit.arrival_spread {
            counter.arrivals = Arrivals::assumed(limit.arrival_spread);
            counter.follow_spread(now);
        }
        match &mut counter.quantum {
            Some(quantum) if self.limit.quantum == limit.quantum => {
                quantum.retune(limit, counter.ceiling);
                if charges_otherwise {
                    quantum.forget();
                }
            }
            _ => counter.renew_quantum(limit.quantum, now),
        }
        Some(counter)
    }

    /// A quantum of another length, or none. What was in use of the old one is in use of it from now on.
    fn renew_quantum(&mut self, length: Option<Duration>, now: Now) {
        let used = self.quantum.as_ref().map_or(0, |old| old.used(now));
        let spread = self.arrivals.spread();
        self.quantum = length
            .and_then(|length| Quantum::begin(&self.limit, length, self.ceiling, spread, now));
        if let Some(quantum) = &mut self.quantum {
            quantum.charge(used, now);
        }
    }

    /// Whether no wait will ever make room for `charge`.
    pub(crate) fn never_fits(&self, charge: u64) -> bool {
        self.limit.mode == Mode::Enforce
            && self.limit.authority == Authority::Local
            && !matches!(self.limit.window, Window::Pacing { .. })
            && charge > self.limit.amount.get()
    }

    pub(crate) fn earliest(&self, charge: u64, now: Now) -> Earliest {
        if self.limit.mode == Mode::Shadow
            || self.limit.authority == Authority::Granted
            || self.unknown
            || charge == 0
        {
            return Earliest::At(now.mono);
        }
        let counted = self.learned.scaled(charge);
        let usable = self.usable() - self.left_free();
        let whole = self.earliest_within(usable, counted, now);
        let start = match self.trust.level_below(usable) {
            Some(level) => {
                let trusted = self.earliest_within(level, counted, now);
                self.trust.earliest(trusted, whole, now.mono)
            }
            None => whole,
        };
        match &self.quantum {
            Some(quantum) => start.later(quantum.earliest(charge, now)),
            None => start,
        }
    }

    /// When `charge` fits where others and it may use `usable`.
    fn earliest_within(&self, usable: u64, charge: u64, now: Now) -> Earliest {
        let ceiling = Ceiling {
            usable,
            // Whether it can ever fit was judged by our own rule: learning more of it must not shut it out for ever.
            alone: self.ceiling.alone.max(charge),
        };
        let start = self.count.earliest(ceiling, charge, now);
        start.later(Earliest::At(
            self.closed_until.max(self.rate.next(now.mono)),
        ))
    }

    /// Counts `charge` for a reservation.
    pub(crate) fn reserve(&mut self, charge: u64, now: Now) -> Mark {
        self.follow_rate(now);
        let mut mark = Mark {
            charge,
            ..self.mark(now)
        };
        if self.limit.authority == Authority::Granted {
            return mark;
        }
        let counted = self.learned.scale_next(charge);
        mark.counted = counted;
        if !self.learned.is_estimated() {
            self.others.were_charged(counted.saturating_sub(charge));
        }
        if charge > 0 {
            mark.tries = self
                .trust
                .goes_ahead(mark.before.saturating_add(counted), now.mono);
            if let Some(quantum) = &mut self.quantum {
                quantum.charge(charge, now);
            }
        }
        self.held = self.held.saturating_add(charge);
        self.sent = self.sent.saturating_add(counted);
        self.learned
            .charged(counted, self.count.learns_over(self.usable()));
        if self.is_short() {
            let per = self.limit.window.per().map_or(0, duration_nanos);
            self.rate.goes(counted, self.usable(), per, now.mono);
        }
        self.charge(counted, now);
        mark
    }

    /// How it stands for a request that was charged before this count began.
    pub(crate) fn mark(&self, now: Now) -> Mark {
        Mark {
            charge: 0,
            counted: 0,
            before: self.count.used(now),
            totals: self.totals,
            at: now.mono,
            tries: false,
            before_in_quantum: self.quantum.as_ref().map_or(0, |quantum| quantum.used(now)),
        }
    }

    fn charge(&mut self, counted: u64, now: Now) {
        if self.limit.authority == Authority::Granted {
            return;
        }
        self.unknown &= counted == 0;
        self.count.charge(counted, now);
    }

    /// Counts a charge by our rule, of which no reservation will tell the end.
    pub(crate) fn foresee(&mut self, charge: u64, now: Now) {
        self.reserve(charge, now);
    }

    /// The request behind `mark` is answered, or never will be. True where another may start for it.
    pub(crate) fn answered(&mut self, mark: &Mark) -> bool {
        self.totals.answered = self.totals.answered.saturating_add(mark.counted);
        if mark.tries {
            self.trust.try_answered();
        }
        mark.tries
    }

    /// What the charge behind `mark` was counted as becomes what `settled` says.
    pub(crate) fn settle(&mut self, mark: &Mark, settled: Settled, now: Now) {
        let charge = mark.charge;
        self.held = self.held.saturating_sub(charge);
        if self.limit.authority == Authority::Granted {
            return;
        }
        let amount = match settled {
            Settled::Stays => return,
            Settled::Becomes(amount) => amount,
            Settled::Void => 0,
        };
        if let Some(quantum) = &mut self.quantum {
            quantum.give_back(charge.saturating_sub(amount), mark.at, now);
            quantum.charge(amount.saturating_sub(charge), now);
        }
        // A usage is no estimate; but what others take is learned as a factor too.
        let becomes = self.learned.scaled(amount).max(amount);
        let returned = mark.counted.saturating_sub(becomes);
        let overrun = becomes.saturating_sub(mark.counted);
        if returned > 0 {
            self.count.give_back(returned, mark.at, now);
            self.totals.returned = self.totals.returned.saturating_add(returned);
        }
        if overrun > 0 {
            self.charge(overrun, now);
            self.totals.overrun = self.totals.overrun.saturating_add(overrun);
        }
        // It certainly reached nobody: what it told of the limit is unknown again.
        let only_one = self.sent == mark.counted;
        if settled == Settled::Void && self.limit.start == Start::Empty && only_one {
            self.unknown = true;
            self.sent = 0;
            self.totals = Totals::default();
        }
    }

    /// The request behind `mark` left only now. True where that is too late for its charge to count from where it does.
    pub(crate) fn sent(&mut self, mark: &mut Mark, now: Now) -> bool {
        let late = now.mono.saturating_since(mark.at);
        let in_time = duration_nanos(late) <= self.arrivals.spread();
        let is_held = self.limit.window.per().is_none();
        let is_granted = self.limit.authority == Authority::Granted;
        if in_time || mark.counted == 0 || is_held || is_granted || !self.is_mirror() {
            return false;
        }
        self.count.give_back(mark.counted, mark.at, now);
        self.count.charge(mark.counted, now);
        if let Some(quantum) = &mut self.quantum {
            quantum.give_back(mark.charge, mark.at, now);
            quantum.charge(mark.charge, now);
        }
        mark.at = now.mono;
        true
    }

    /// How unevenly requests arrive.
    pub(crate) fn arrival_spread(&self) -> Duration {
        Duration::from_nanos(self.arrivals.spread())
    }

    /// A request took `delay` from its admission until it arrived at the provider.
    pub(crate) fn took(&mut self, delay: Duration, now: Now) {
        if !self.is_mirror() {
            return;
        }
        self.arrivals.took(delay, now.mono);
        self.follow_spread(now);
    }

    fn follow_spread(&mut self, now: Now) {
        let spread = self.arrivals.spread();
        self.count.set_spread(spread, now);
        if let Some(quantum) = &mut self.quantum {
            quantum.set_spread(spread, now);
        }
    }

    /// When a charge that is made now counts no more, where all of it ends at once.
    pub(crate) fn clears(&self, now: Now) -> Option<Timestamp> {
        let clears = self.count.clears(now)?;
        let quantum = self.quantum.as_ref().map(|quantum| quantum.clears(now));
        Some(quantum.map_or(clears, |quantum| quantum.max(clears)))
    }

    /// When the window ends, where that is known.
    pub(crate) fn edge(&self, now: Now) -> Option<Timestamp> {
        let edges = !matches!(self.limit.window, Window::Sliding { .. });
        let clears = self.count.clears(now);
        clears.filter(|_| edges && self.count.renews_as_it_does())
    }

    /// Whether what the provider says may be of this limit.
    pub(crate) fn is_mirror(&self) -> bool {
        self.limit.book == Book::Mirror
    }

    pub(crate) fn used(&self, now: Now) -> u64 {
        self.count.used(now)
    }

    /// Whether what is used is only what others are assumed to have used before the count began, in a window that still runs.
    pub(crate) fn is_assumed(&self, now: Now) -> bool {
        self.limit.start == Start::Empty && !self.told && self.count.covers(self.began, now)
    }

    pub(crate) fn usable(&self) -> u64 {
        self.rate.of(self.ceiling.usable)
    }

    /// Whether its windows are over before anything can be measured in one.
    fn is_short(&self) -> bool {
        self.limit.window.per().is_some_and(|per| per < SHORT)
    }

    /// The ceiling with the rate at which a bucket refills.
    fn in_force(&self) -> Ceiling {
        Ceiling {
            usable: self.usable(),
            ..self.ceiling
        }
    }

    fn follow_rate(&mut self, now: Now) {
        let per = self.limit.window.per().map_or(0, duration_nanos);
        if self.rate.rises(per.max(MINUTE), now.mono) {
            self.count.retune(self.in_force(), now);
        }
    }
}

/// What is known of `limit` before anything was told: of our own there is nothing to learn, so nothing is left free for it.
fn nothing_learned(limit: &Limit) -> Learned {
    let headroom = match limit.book {
        Book::Ours => Headroom::Share(BasisPoints::WHOLE),
        Book::Mirror => limit.headroom,
    };
    Learned::nothing(headroom, limit.meter)
}

/// The ceiling of `limit` while `whole` of it is there.
fn ceiling(limit: &Limit, whole: u64) -> Ceiling {
    let usable = match limit.headroom {
        Headroom::Auto => whole,
        Headroom::Share(share) => share.of(whole),
    };
    Ceiling {
        usable: usable.max(1),
        alone: limit.amount.get(),
    }
}
