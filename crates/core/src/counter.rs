//! One limit and what is counted on it: the window, the quantum if it has one, the ceiling in force, and what was learned
//! of how the provider counts.

use core::time::Duration;

use crate::arrival::Arrivals;
use crate::learned::Learned;
use crate::ledger::Settled;
use crate::time::duration_nanos;
use crate::trust::Trust;
use crate::window::{Ceiling, Count, Earliest, Edge, Sliding};
use crate::{
    Authority, Headroom, Limit, Mode, Now, Reception, Settlement, Signal, Start, Timestamp, Window,
};

/// Where a limit has no window, a refused use is tried again after that time.
const TRY_PAUSE: Duration = Duration::from_secs(10);
/// Times that a provider names may be rounded so much; one no longer than that is hardly named.
const ROUNDING: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(crate) struct Counter {
    pub(crate) limit: Limit,
    ceiling: Ceiling,
    count: Count,
    quantum: Option<Quantum>,
    /// Began empty, and neither a request nor a signal has told how much is really there: the first request passes.
    unknown: bool,
    /// What open reservations hold.
    pub(crate) held: u64,
    /// The provider takes nothing before that.
    closed_until: Timestamp,
    totals: Totals,
    learned: Learned,
    trust: Trust,
    arrivals: Arrivals,
    /// When the request was sent whose answer told of the remainder last.
    told: Option<Timestamp>,
    /// See [`LimitState::drift`](crate::LimitState::drift).
    pub(crate) drift: Option<i64>,
}

/// Sums since counting began, so that two moments can be compared.
#[derive(Clone, Copy, Default, Debug)]
struct Totals {
    /// Charged by reservations.
    sent: u64,
    /// Of that, what has certainly reached the provider or never will: an answer came, or the reservation ended.
    arrived: u64,
    /// Given back by settlements.
    returned: u64,
    /// Charged by settlements.
    overrun: u64,
}

/// What a reservation did to a counter, and how that stood then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The charge as it was counted.
    counted: u64,
    /// What was used before it.
    before: u64,
    totals: Totals,
    at: Timestamp,
    /// Whether it went above what was known to be there.
    tries: bool,
}

#[derive(Clone, Debug)]
struct Quantum {
    length: Duration,
    ceiling: Ceiling,
    count: Sliding,
}

impl Counter {
    pub(crate) fn begin(limit: &Limit, now: Now) -> Self {
        let ceiling = ceiling(limit, limit.amount.get());
        let arrivals = Arrivals::assumed(limit.arrival_spread);
        let quantum = limit
            .quantum
            .and_then(|length| Quantum::begin(limit, length, ceiling, arrivals.spread(), now));
        Self {
            ceiling,
            count: Count::begin(limit, ceiling, now),
            quantum,
            unknown: limit.start == Start::Empty,
            held: 0,
            closed_until: Timestamp::ZERO,
            totals: Totals::default(),
            learned: Learned::nothing(limit.headroom, limit.meter),
            trust: Trust::WHOLE,
            arrivals,
            told: None,
            drift: None,
            limit: limit.clone(),
        }
    }

    /// The same count under an edited limit; `None` where the edit changed how it is counted.
    pub(crate) fn retuned(&self, limit: &Limit, now: Now) -> Option<Self> {
        let same = self.limit.meter == limit.meter
            && self.limit.window == limit.window
            && self.limit.authority == limit.authority;
        if !same {
            return None;
        }
        let mut counter = Self {
            limit: limit.clone(),
            ceiling: ceiling(limit, limit.amount.get()),
            ..self.clone()
        };
        counter.limit.start = self.limit.start;
        counter.count.retune(counter.ceiling, now);
        if limit.arrival_spread != self.limit.arrival_spread {
            counter.arrivals = Arrivals::assumed(limit.arrival_spread);
            counter.follow_spread(now);
        }
        match &mut counter.quantum {
            Some(quantum) if self.limit.quantum == limit.quantum => {
                quantum.retune(limit, counter.ceiling);
            }
            quantum => {
                let spread = counter.arrivals.spread();
                *quantum = limit
                    .quantum
                    .and_then(|length| Quantum::begin(limit, length, counter.ceiling, spread, now));
            }
        }
        Some(counter)
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
        let charge = self.learned.scaled(charge);
        let usable = self.ceiling.usable;
        let whole = self.earliest_within(usable - self.learned.margin(usable), charge, now);
        let Some(level) = self.trust.level_below(usable) else {
            return whole;
        };
        let trusted = self.earliest_within(level, charge, now);
        match self.trust.next_try() {
            Some(next_try) => trusted.sooner(whole.later(Earliest::At(next_try))),
            None => trusted,
        }
    }

    /// When `charge` fits where others and it may use `usable`.
    fn earliest_within(&self, usable: u64, charge: u64, now: Now) -> Earliest {
        let ceiling = Ceiling {
            usable,
            ..self.ceiling
        };
        let start = self.count.earliest(ceiling, charge, now);
        let start = start.later(Earliest::At(self.closed_until));
        match &self.quantum {
            Some(quantum) => start.later(quantum.count.earliest(quantum.ceiling, charge, now)),
            None => start,
        }
    }

    /// Counts `charge` for a reservation.
    pub(crate) fn reserve(&mut self, charge: u64, now: Now) -> Mark {
        let counted = self.learned.scaled(charge);
        let mut mark = Mark {
            counted,
            ..self.mark(now)
        };
        mark.tries = charge > 0 && self.trust.goes_ahead(mark.before.saturating_add(counted));
        if self.limit.authority == Authority::Local {
            self.held = self.held.saturating_add(charge);
            self.totals.sent = self.totals.sent.saturating_add(counted);
            self.learned.charged(counted, self.ceiling.usable);
            self.charge(counted, now);
        }
        mark
    }

    /// How it stands for a request that was charged before this count began.
    pub(crate) fn mark(&self, now: Now) -> Mark {
        Mark {
            counted: 0,
            before: self.count.used(now),
            totals: self.totals,
            at: now.mono,
            tries: false,
        }
    }

    /// Counts what is charged in any other way, as it is.
    pub(crate) fn charge(&mut self, counted: u64, now: Now) {
        if self.limit.authority == Authority::Granted {
            return;
        }
        self.unknown &= counted == 0;
        self.count.charge(counted, now);
        if let Some(quantum) = &mut self.quantum {
            quantum.count.charge(counted, now);
        }
    }

    /// Counts a charge by our rule, of which no reservation will tell the end.
    pub(crate) fn foresee(&mut self, charge: u64, now: Now) {
        let counted = self.learned.scaled(charge);
        let used = self.count.used(now).saturating_add(counted);
        if charge > 0 {
            self.trust.goes_ahead(used);
        }
        self.charge(counted, now);
    }

    /// An answer to the request behind `mark` came, or none will. True where another may start for it.
    pub(crate) fn arrived(&mut self, mark: &Mark) -> bool {
        self.totals.arrived = self.totals.arrived.saturating_add(mark.counted);
        if mark.tries {
            self.trust.gives_up();
        }
        mark.tries
    }

    /// What `charge` was counted as becomes what `settled` says.
    pub(crate) fn settle(&mut self, charge: u64, mark: &Mark, settled: Settled, now: Now) {
        self.held = self.held.saturating_sub(charge);
        if self.limit.authority == Authority::Granted {
            return;
        }
        let becomes = match settled {
            Settled::Stays => return,
            Settled::Becomes(amount) => amount,
            Settled::Void => 0,
        };
        let returned = mark.counted.saturating_sub(becomes);
        let overrun = becomes.saturating_sub(mark.counted);
        if returned > 0 {
            self.give_back(returned, mark.at, now);
            self.totals.returned = self.totals.returned.saturating_add(returned);
        }
        if overrun > 0 {
            self.charge(overrun, now);
            self.totals.overrun = self.totals.overrun.saturating_add(overrun);
        }
        // It certainly reached nobody: what it told of the limit is unknown again.
        let only_one = self.totals.sent == mark.counted;
        if settled == Settled::Void && self.limit.start == Start::Empty && only_one {
            self.unknown = true;
            self.totals = Totals::default();
        }
    }

    fn give_back(&mut self, amount: u64, charged_at: Timestamp, now: Now) {
        self.count.give_back(amount, charged_at, now);
        if let Some(quantum) = &mut self.quantum {
            quantum.count.give_back(amount, charged_at, now);
        }
    }

    /// Corrects the count by what the provider said in its answer to the request behind `mark`.
    ///
    /// When exactly the provider looked at its count we do not know: some time between our sending and its answer. What of
    /// ours was on its way meanwhile may be in its number or not. A number that fits none of these cases tells of somebody
    /// else, of another estimate or of a window that has begun, and the count follows it as far as it must. A ceiling below
    /// the configured one is a temporary cut: it holds until a later signal tells otherwise.
    pub(crate) fn observe(&mut self, signal: &Signal, mark: &Mark, reception: Reception, now: Now) {
        self.follow_quantum(signal, now);
        if let Some(limit) = signal.limit {
            self.follow_ceiling(limit, now);
        }
        let Some(remaining) = signal.remaining else {
            return;
        };
        // Whose request was sent before is older news.
        if self.told.is_some_and(|told| mark.at < told) || !self.count.covers(mark.at, now) {
            return;
        }
        let whole = signal.limit.unwrap_or(self.limit.amount.get());
        let there = whole.saturating_sub(remaining);
        let unsure = self.unsure(mark, reception);
        if self.limit.start == Start::Empty {
            self.limit.start = Start::Full;
            self.unknown = false;
            self.count.set_used(there.saturating_add(unsure), now);
        } else {
            self.correct(there, unsure, remaining, mark, now);
        }
        if reception == Reception::Accepted {
            self.told = Some(mark.at);
        }
    }

    /// What of ours the provider's number may lack.
    fn unsure(&self, mark: &Mark, reception: Reception) -> u64 {
        let own = match reception {
            Reception::Accepted => mark.counted,
            // What it takes of a refused request nobody says.
            Reception::Refused => 0,
        };
        let on_their_way = self.totals.sent - mark.totals.arrived;
        // Some providers count what an answer is charged only as it goes on, and give back before we know.
        let unsure = match self.limit.settlement {
            Settlement::Keep => on_their_way,
            Settlement::Usage => on_their_way.max(self.held),
        };
        unsure.saturating_sub(own)
    }

    fn correct(&mut self, there: u64, unsure: u64, remaining: u64, mark: &Mark, now: Now) {
        let usable = self.ceiling.usable;
        let used = self.count.used(now);
        let given_back = self.totals.returned - mark.totals.returned;
        let refilled = self.count.refilled(mark.at, now);
        let least = there.saturating_sub(given_back).saturating_sub(refilled);
        let overrun = self.totals.overrun - mark.totals.overrun;
        let most = there.saturating_add(unsure).saturating_add(overrun);
        self.drift = Some(signed(least.saturating_sub(used)) - signed(used.saturating_sub(most)));
        if used < least {
            self.learned.told_more(least - used, usable);
            self.count.set_used(least, now);
        } else if used > most && remaining > 0 {
            self.learned.told_less(used - most, usable);
            self.count.set_used(most, now);
        }
    }

    /// The edge of this limit's windows that an answer to the request behind `mark` tells of. Times in answers are seldom
    /// more exact than a second.
    pub(crate) fn edge_told(&self, signal: &Signal, mark: &Mark, now: Now) -> Option<Edge> {
        let ends = signal.reset.or(signal.closed_for)?;
        let Window::Floating { per } = self.limit.window else {
            return None;
        };
        let is_this = signal.per.is_none_or(|said| said == per);
        (is_this && ends > ROUNDING && ends <= per + ROUNDING).then(|| {
            let after = mark.at.saturating_add(ends.saturating_sub(ROUNDING));
            Edge::between(after, now.mono.saturating_add(ends + ROUNDING))
        })
    }

    /// A provider's windows of length `per` end at `edge`.
    pub(crate) fn follow_edge(&mut self, per: Duration, edge: Edge) {
        if self.limit.window == (Window::Floating { per }) {
            self.count.follow(edge);
        }
    }

    fn follow_ceiling(&mut self, limit: u64, now: Now) {
        let ceiling = ceiling(&self.limit, limit.min(self.limit.amount.get()));
        if ceiling.usable != self.ceiling.usable {
            self.ceiling = ceiling;
            self.count.retune(ceiling, now);
            if let Some(quantum) = &mut self.quantum {
                quantum.retune(&self.limit, ceiling);
            }
        }
    }

    /// A provider may tell how long its quantum is. Only where one was expected: elsewhere it is no more than how often
    /// its numbers are renewed.
    fn follow_quantum(&mut self, signal: &Signal, now: Now) {
        let (Some(quantum), Some(told)) = (&self.quantum, signal.quantum) else {
            return;
        };
        if told == quantum.length || self.limit.window.per().is_none_or(|per| told >= per) {
            return;
        }
        let spread = self.arrivals.spread();
        let mut followed = Quantum::begin(&self.limit, told, self.ceiling, spread, now);
        if let Some(followed) = &mut followed {
            followed.count.charge(quantum.count.used(now), now);
        }
        self.quantum = followed;
    }

    /// The provider refused a request on this meter and wants nothing for `wait`. A longer wait that it asked for before holds.
    pub(crate) fn close(&mut self, wait: Duration, now: Now) {
        self.closed_until = self.closed_until.max(now.mono.saturating_add(wait));
    }

    /// How full a refused request made the limit, in hundredths of a percent; `None` where it cannot have been refused for
    /// it: it charged nothing, the provider's answers tell how much is left, or the quantum was fuller.
    pub(crate) fn suspicion(&self, mark: &Mark, now: Now) -> Option<u64> {
        if mark.counted == 0 || self.told.is_some() || self.limit.authority == Authority::Granted {
            return None;
        }
        let share = |used: u64, of: u64| used.saturating_mul(10_000) / of.max(1);
        let used = mark.before.saturating_add(mark.counted);
        let full = share(used, self.ceiling.usable);
        let quantum = self.quantum.as_ref().map_or(0, |quantum| {
            share(quantum.count.used(now), quantum.ceiling.usable)
        });
        (full >= quantum).then_some(full)
    }

    /// The request behind `mark` was refused for this limit, for `wait`.
    ///
    /// A wait that the provider names is mostly the time to the end of its window, so that what was charged since that
    /// began is what it calls full. Without one only what we counted is known, and no end.
    pub(crate) fn refused(&mut self, mark: &Mark, wait: Duration, now: Now) {
        let per = self.limit.window.per().unwrap_or(TRY_PAUSE);
        let usable = self.ceiling.usable;
        let ends = now.mono.saturating_add(wait).as_nanos();
        let began = ends
            .checked_sub(duration_nanos(per))
            .filter(|_| wait > ROUNDING);
        let since = began.and_then(|began| self.count.since(Timestamp::from_nanos(began)));
        let Some(since) = since else {
            if wait <= ROUNDING {
                self.close(per / 4, now);
            }
            let level = mark.before - mark.before / 10;
            self.trust.refused(level, usable, per, now.mono);
            return;
        };
        // The refused request is among them.
        let level = since.saturating_sub(mark.counted).min(mark.before);
        if !self.learned.told_full(level, usable) {
            let level = level - level / 50;
            self.trust.refused(level, usable, per, now.mono);
        }
    }

    /// The request behind `mark` was served.
    pub(crate) fn served(&mut self, mark: &Mark) {
        self.trust.served(mark.before.saturating_add(mark.counted));
    }

    /// The request behind `mark` left only now. True where that is too late for its charge to count from where it does.
    pub(crate) fn sent(&mut self, mark: &mut Mark, now: Now) -> bool {
        let late = now.mono.saturating_since(mark.at);
        let in_time = duration_nanos(late) <= self.arrivals.spread();
        let is_held = self.limit.window.per().is_none();
        let is_granted = self.limit.authority == Authority::Granted;
        if in_time || mark.counted == 0 || is_held || is_granted {
            return false;
        }
        self.give_back(mark.counted, mark.at, now);
        self.charge(mark.counted, now);
        mark.at = now.mono;
        true
    }

    /// How unevenly requests arrive.
    pub(crate) fn arrival_spread(&self) -> Duration {
        Duration::from_nanos(self.arrivals.spread())
    }

    /// A request took `delay` from its admission until it arrived.
    pub(crate) fn took(&mut self, delay: Duration, now: Now) {
        self.arrivals.took(delay, now.mono);
        self.follow_spread(now);
    }

    fn follow_spread(&mut self, now: Now) {
        let spread = self.arrivals.spread();
        self.count.set_spread(spread, now);
        if let Some(quantum) = &mut self.quantum {
            quantum.count.set_spread(spread);
        }
    }

    /// Whether `signal` may speak of this limit. Without a length it may speak of one of another length, whose ceiling is
    /// another; with it, a lower ceiling is this one's, cut.
    pub(crate) fn may_be_told_by(&self, signal: &Signal) -> bool {
        let Some(per) = self.limit.window.per() else {
            return false;
        };
        let amount = self.limit.amount.get();
        let fits = match signal.per {
            Some(said) => {
                said.abs_diff(per) <= per / 10 && signal.limit.is_none_or(|limit| limit <= amount)
            }
            None => signal.limit.is_none_or(|limit| limit == amount),
        };
        self.limit.meter == signal.meter && fits
    }

    pub(crate) fn used(&self, now: Now) -> u64 {
        self.count.used(now)
    }

    pub(crate) fn usable(&self) -> u64 {
        self.ceiling.usable
    }
}

impl Quantum {
    /// `None` where `length` is no part of the limit's window.
    fn begin(
        limit: &Limit,
        length: Duration,
        ceiling: Ceiling,
        spread: u64,
        now: Now,
    ) -> Option<Self> {
        limit.window.per()?;
        let nanos = duration_nanos(length).max(1);
        let mut quantum = Self {
            length,
            ceiling,
            count: Sliding::begin(nanos, spread, 0, now),
        };
        quantum.retune(limit, ceiling);
        Some(quantum)
    }

    /// The quantum's share of `ceiling`.
    fn retune(&mut self, limit: &Limit, ceiling: Ceiling) {
        let per = limit.window.per().map_or(1, duration_nanos).max(1);
        let length = duration_nanos(self.length);
        let share = u128::from(ceiling.usable) * u128::from(length) / u128::from(per);
        self.ceiling = Ceiling {
            usable: u64::try_from(share).unwrap_or(u64::MAX).max(1),
            alone: ceiling.alone,
        };
    }
}

fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
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
