//! What a provider's own word does to a count: its remainder, its ceiling, its quantum, the edges of its windows.

use core::time::Duration;

use crate::time::duration_nanos;
use crate::window::{Certainty, Edge};
use crate::{Now, Reception, Settlement, Signal, Start, Window};

use super::learned::Learned;
use super::{Counter, Mark, ROUNDING, ceiling};

impl Counter {
    /// Corrects the count by what the provider said in its answer to the request behind `mark`.
    ///
    /// When exactly the provider looked at its count we do not know: some time between our sending and its answer. What of
    /// ours was on its way meanwhile may be in its number or not. A number that fits none of these cases tells of somebody
    /// else, of another estimate or of a window that has begun, and the count follows it as far as it must. A ceiling below
    /// the configured one is a temporary cut: it holds until a later signal tells otherwise. What is told of a window of a second
    /// is over when it is read.
    ///
    /// False where an answer to a later request told before: then this one's is old, and nothing comes of it.
    pub(crate) fn observe(
        &mut self,
        signal: &Signal,
        mark: &Mark,
        reception: Reception,
        now: Now,
    ) -> bool {
        if mark.at < self.newest {
            return false;
        }
        self.newest = mark.at;
        self.follow(signal, mark, reception, now);
        true
    }

    fn follow(&mut self, signal: &Signal, mark: &Mark, reception: Reception, now: Now) {
        self.follow_quantum(signal, now);
        match (signal.limit, reception) {
            (Some(limit), Reception::Accepted) => {
                self.tells_ceiling = true;
                self.follow_ceiling(limit, now);
            }
            (Some(limit), Reception::Refused) if self.tells_ceiling => {
                self.follow_ceiling(limit, now);
            }
            // Nothing but a refusal would ever tell that it is whole again: that has to be tried.
            (Some(limit), Reception::Refused) => {
                // Of a cut limit no greater share is used than of the whole one.
                let level = ceiling(&self.limit, limit).usable;
                let usable = self.ceiling.usable;
                if level < usable && self.count.is_bucket() {
                    self.rate.told(level, usable, now.mono);
                    self.count.retune(self.in_force(), now);
                } else if level < usable {
                    self.trust.refused(level, usable, mark.at, now.mono);
                }
            }
            (None, _) => {}
        }
        let Some(remaining) = signal.remaining else {
            return;
        };
        let whole = signal.limit.unwrap_or(self.limit.amount.get());
        let there = self.there(signal, whole, remaining);
        if !self.count.covers(mark.at, now) || !self.count.may_hold(there) {
            return;
        }
        let unsure = self.unsure(mark, reception);
        if self.limit.start == Start::Empty {
            self.limit.start = Start::Full;
            self.unknown = false;
            self.count.set_used(there.saturating_add(unsure), now);
        } else if self.is_short() {
            self.follow_short(there, mark);
        } else if self.tells_more(reception) {
            self.correct(there, unsure, remaining, mark, now);
        }
        self.told |= reception == Reception::Accepted;
    }

    /// A window of a second is over when it is read that `there` were used in it; what others took of it they may take again.
    fn follow_short(&mut self, there: u64, mark: &Mark) {
        if !self.learned.is_estimated() {
            let ours = mark.before.saturating_add(mark.counted);
            let per = self.limit.window.per().map_or(1, duration_nanos);
            self.others.took_in(per, there.saturating_sub(ours));
        }
    }

    /// What is used there of `whole`. A bucket of which nothing remains may be in debt, after a cut as deep as it was full before:
    /// the time until it is whole again tells.
    fn there(&self, signal: &Signal, whole: u64, remaining: u64) -> u64 {
        let used = whole.saturating_sub(remaining);
        let (0, Some(reset), true) = (remaining, signal.reset, self.count.is_bucket()) else {
            return used;
        };
        let per = self.limit.window.per().map_or(1, duration_nanos).max(1);
        let refills = u128::from(whole) * u128::from(duration_nanos(reset)) / u128::from(per);
        let refills = u64::try_from(refills).unwrap_or(u64::MAX);
        used.max(refills.min(self.limit.amount.get()))
    }

    /// Whether a remainder tells more than that the request was served or refused. Where none but refusals name one, it is that
    /// nothing is left of a window whose end nobody knows: what others took of it must not be counted for as long as ours.
    fn tells_more(&self, reception: Reception) -> bool {
        reception == Reception::Accepted || self.told || self.count.is_bucket()
    }

    /// What of ours the provider's number may lack.
    fn unsure(&self, mark: &Mark, reception: Reception) -> u64 {
        let own = match reception {
            Reception::Accepted => mark.counted,
            // What it takes of a refused request nobody says.
            Reception::Refused => 0,
        };
        let on_their_way = self.sent.saturating_sub(mark.totals.answered);
        match self.limit.settlement {
            Settlement::Keep | Settlement::Usage => on_their_way.saturating_sub(own),
            // Of what is open, the answered request included, it may have counted nothing yet.
            Settlement::Produced => on_their_way.max(self.learned.scaled(self.held)),
        }
    }

    fn correct(&mut self, there: u64, unsure: u64, remaining: u64, mark: &Mark, now: Now) {
        let usable = self.usable();
        let used = self.count.used(now);
        let given_back = self.totals.returned.saturating_sub(mark.totals.returned);
        let refilled = self.count.refilled(mark.at, now);
        let least = there.saturating_sub(given_back).saturating_sub(refilled);
        let overrun = self.totals.overrun.saturating_sub(mark.totals.overrun);
        let most = there.saturating_add(unsure).saturating_add(overrun);
        self.drift = Some(signed(least.saturating_sub(used)) - signed(used.saturating_sub(most)));
        self.told_late = duration_nanos(now.mono.saturating_since(mark.at))
            .saturating_add(self.arrivals.spread());
        let [more, less] = [least.saturating_sub(used), used.saturating_sub(most)].map(|error| {
            if Learned::is_leap(error, usable) {
                0
            } else {
                error
            }
        });
        if !self.learned.is_estimated() {
            self.others.told(more, less, now.mono);
        }
        if used < least {
            self.learned.told_more(least - used, usable);
            self.count.set_used(least, now);
        } else if used > most && remaining > 0 {
            let less = used - most;
            if Learned::is_leap(less, usable) {
                // A window has begun there.
                self.count.renew(most, mark.at, now);
            } else {
                self.count.set_used(most, now);
                // Elsewhere it may as well have refilled in a way that the count does not follow: there it takes back no more
                // than was learned.
                if self.count.renews_as_it_does() || self.learned.charges_more() {
                    self.learned.told_less(less);
                }
            }
        }
    }

    /// The edge of this limit's windows that an answer to the request behind `mark` tells of, and how sure that is: a reset is
    /// an edge, a refusal's wait only probably. Times in answers are seldom more exact than a second.
    pub(crate) fn edge_told(
        &self,
        signal: &Signal,
        mark: &Mark,
        now: Now,
    ) -> Option<(Edge, Certainty)> {
        let (ends, certainty) = match (signal.reset, signal.closed_for) {
            (Some(reset), _) => (reset, Certainty::Told),
            (None, Some(wait)) => (wait, Certainty::Likely),
            (None, None) => return None,
        };
        let Window::Floating { per } = self.limit.window else {
            return None;
        };
        let is_this = signal.per.is_none_or(|said| said == per);
        (is_this && ends > ROUNDING && ends <= per + ROUNDING).then(|| {
            let after = mark.at.saturating_add(ends.saturating_sub(ROUNDING));
            let edge = Edge::between(after, now.mono.saturating_add(ends + ROUNDING));
            (edge, certainty)
        })
    }

    /// A provider's windows of length `per` end at `edge`, as it said in answer to the request behind `mark`.
    pub(crate) fn follow_edge(
        &mut self,
        per: Duration,
        edge: Edge,
        certainty: Certainty,
        mark: &Mark,
    ) {
        let is_floating = self.limit.window == (Window::Floating { per });
        if self.is_mirror() && is_floating && mark.at >= self.newest {
            self.count.follow(edge, certainty);
        }
    }

    fn follow_ceiling(&mut self, limit: u64, now: Now) {
        self.whole = limit.min(self.limit.amount.get());
        let ceiling = ceiling(&self.limit, self.whole);
        if ceiling.usable != self.ceiling.usable {
            self.ceiling = ceiling;
            // What was refused under another ceiling says nothing of this one.
            self.trust = self.trust.anew();
            self.rate = self.rate.anew();
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
        // Told lengths are rounded to seconds.
        let same = told.abs_diff(quantum.length) < ROUNDING;
        if same || self.limit.window.per().is_none_or(|per| told >= per) {
            return;
        }
        self.renew_quantum(Some(told), now);
    }

    /// Whether `signal` may speak of this limit. Without a length it may speak of one of another length, whose ceiling is
    /// another; with it, or where such signals have named this one's whole ceiling before, a lower ceiling is this one's, cut.
    pub(crate) fn may_be_told_by(&self, signal: &Signal) -> bool {
        let Some(per) = self.limit.window.per().filter(|_| self.is_mirror()) else {
            return false;
        };
        let amount = self.limit.amount.get();
        let fits = match signal.per {
            Some(said) => {
                said.abs_diff(per) <= per / 10 && signal.limit.is_none_or(|limit| limit <= amount)
            }
            None => signal
                .limit
                .is_none_or(|limit| limit == amount || (self.tells_ceiling && limit < amount)),
        };
        self.limit.meter == signal.meter && fits
    }
}

fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
