//! One limit and what is counted on it: the window, the quantum if it has one, the ceiling in force, and what was learned
//! of how the provider counts.

mod arrival;
mod learned;
mod quantum;
mod rate;
mod refused;
mod told;
mod trust;

use core::time::Duration;

use crate::ledger::Settled;
use crate::time::duration_nanos;
use crate::window::{Ceiling, Count, Earliest};
use crate::{Authority, Headroom, Limit, Mode, Now, Start, Timestamp, Window};

use arrival::Arrivals;
use learned::Learned;
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
    rate: Rate,
    arrivals: Arrivals,
    /// Whether the answers to requests that are served name the remainder, and the ceiling.
    told: bool,
    tells_ceiling: bool,
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
    /// The charge by our rule, and as it was counted.
    charge: u64,
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
            rate: Rate::WHOLE,
            arrivals,
            told: false,
            tells_ceiling: false,
            newest: Timestamp::ZERO,
            relearned: Timestamp::ZERO,
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
            ..self.clone()
        };
        counter.limit.start = self.limit.start;
        if limit.headroom != self.limit.headroom {
            counter.learned = Learned::nothing(limit.headroom, limit.meter);
        }
        if (limit.headroom, limit.amount) != (self.limit.headroom, self.limit.amount) {
            // A cut and a level were those of another amount.
            counter.ceiling = ceiling(limit, limit.amount.get());
            counter.trust = self.trust.anew();
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
            }
            quantum => {
                let spread = counter.arrivals.spread();
                let used = quantum.as_ref().map_or(0, |quantum| quantum.used(now));
                *quantum = limit
                    .quantum
                    .and_then(|length| Quantum::begin(limit, length, counter.ceiling, spread, now));
                if let Some(quantum) = quantum {
                    quantum.charge(used, now);
                }
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
        let counted = self.learned.scaled(charge);
        let usable = self.usable() - self.learned.margin(self.usable());
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
        if self.limit.authority == Authority::Granted {
            return self.mark(now);
        }
        self.follow_rate(now);
        let counted = self.learned.scale_next(charge);
        let mut mark = Mark {
            charge,
            counted,
            ..self.mark(now)
        };
        if charge > 0 {
            mark.tries = self.trust.goes_ahead(mark.before.saturating_add(counted));
            if let Some(quantum) = &mut self.quantum {
                quantum.charge(charge, now);
            }
        }
        self.held = self.held.saturating_add(charge);
        self.totals.sent = self.totals.sent.saturating_add(counted);
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
        let only_one = self.totals.sent == mark.counted;
        if settled == Settled::Void && self.limit.start == Start::Empty && only_one {
            self.unknown = true;
            self.totals = Totals::default();
        }
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

    /// A request took `delay` from its admission until it arrived.
    pub(crate) fn took(&mut self, delay: Duration, now: Now) {
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

    pub(crate) fn used(&self, now: Now) -> u64 {
        self.count.used(now)
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
