//! One window over the arrivals: how much of it is used, and when a call would fit.
//!
//! Naive on purpose. Every arrival is kept as (time, amount) and summed again for each question; nothing is cached, nothing
//! is predicted. What is tested against this must not be able to share its mistakes. Levels are exact integers in units of
//! `amount × per`, in which a bucket of `limit` drains `limit` units a nanosecond.

use std::collections::VecDeque;

use super::rule::{Part, Rule};
use super::settings::Window;

/// Pieces in which output that is produced is kept, for each length of a window.
const PRODUCED_PIECES: u64 = 256;

/// Arrivals that are kept apart at most. Beyond it the oldest are kept as one, from the later of their times, and are settled no
/// more.
const ARRIVALS_MAX: usize = 1 << 18;

/// The arrivals that one window has seen, of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    arrivals: VecDeque<Arrival>,
    /// For a bucket: its level after the arrivals that are older than one `per`.
    before: Level,
}

/// A call that took something, or gave something back.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: u64,
    call: u64,
    taken: u64,
    returned: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Level {
    at: u64,
    units: u128,
}

impl Count {
    /// Takes `amount` at `at` for the call numbered `call`.
    pub(super) fn take(&mut self, rule: &Rule, at: u64, amount: u64, call: u64) {
        self.forget(rule, at);
        self.push(rule, at, call, amount, 0);
    }

    /// Takes `amount` of output that the call produced since it was last asked. Pieces that are close are kept as one.
    pub(super) fn produce(&mut self, rule: &Rule, at: u64, amount: u64, call: u64) {
        self.forget(rule, at);
        let near = rule.per.as_nanos() / PRODUCED_PIECES;
        match self.arrivals.back_mut() {
            Some(last)
                if last.call == call
                    && at - last.at < near
                    && rule.start(at) == rule.start(last.at) =>
            {
                last.taken += amount;
            }
            _ => self.push(rule, at, call, amount, 0),
        }
    }

    /// Changes what `call` took from `before` to `after`, now that it is known. A window that has ended meanwhile keeps
    /// what it held: what is less is forfeited, what is more is taken from the window that is open now.
    pub(super) fn settle(&mut self, rule: &Rule, at: u64, call: u64, before: u64, after: u64) {
        self.forget(rule, at);
        if matches!(rule.window, Window::Bucket | Window::Pacing) {
            let (more, less) = (after.saturating_sub(before), before.saturating_sub(after));
            return self.push(rule, at, call, more, less);
        }
        let mut less = before.saturating_sub(after);
        let more = after.saturating_sub(before);
        let from = rule.counts_from(at);
        let counting = self
            .arrivals
            .iter_mut()
            .filter(|arrival| arrival.call == call && arrival.at >= from);
        let mut taken = false;
        for arrival in counting {
            let back = less.min(arrival.taken);
            arrival.taken -= back;
            less -= back;
            if !taken {
                arrival.taken += more;
            }
            taken = true;
        }
        if !taken && more > 0 {
            self.push(rule, at, call, more, 0);
        }
    }

    /// Gives back what `call` took, while it still counts.
    pub(super) fn give_back(&mut self, call: u64) {
        self.arrivals.retain(|arrival| arrival.call != call);
    }

    /// How much is used at `at`, rounded up.
    pub(super) fn used(&self, rule: &Rule, at: u64) -> u64 {
        let used = self
            .level(rule, at)
            .div_ceil(u128::from(rule.per.as_nanos()));
        u64::try_from(used).unwrap_or(u64::MAX)
    }

    /// Nanoseconds from `at` until `amount` fits, if nothing else arrives; zero: it fits now. An amount above a quantum's
    /// share is told the time until the quantum is empty; one above a limit that is cut, the time until the cut ends.
    pub(super) fn wait(&self, rule: &Rule, at: u64, amount: u64) -> u64 {
        let most = rule.amount_at(at);
        if amount > most && rule.part == Part::Whole && rule.window != Window::Pacing {
            return rule.until_change(at).unwrap_or(u64::MAX);
        }
        let level = self.level(rule, at);
        let wanted = match rule.window {
            Window::Pacing => 1,
            _ => rule.units(amount).min(rule.capacity(at)),
        };
        let excess = (level + wanted).saturating_sub(rule.capacity(at));
        if excess == 0 {
            return 0;
        }
        match rule.window {
            Window::Bucket | Window::Pacing => {
                u64::try_from(excess.div_ceil(u128::from(most))).unwrap_or(u64::MAX)
            }
            Window::Fixed | Window::Day | Window::Month => rule.end(at) - at,
            Window::Sliding => {
                let mut gone = 0;
                for arrival in self.counting(rule, at) {
                    gone += rule.units(arrival.taken);
                    if gone >= excess {
                        return rule.end(arrival.at) - at;
                    }
                }
                0
            }
        }
    }

    /// Nanoseconds from `at` until nothing is used, if nothing else arrives. For a bucket that is reckoned from the whole
    /// tokens that are shown as used, as the real headers are.
    pub(super) fn time_to_full(&self, rule: &Rule, at: u64) -> u64 {
        let used = self.used(rule, at);
        if used == 0 {
            return 0;
        }
        match rule.window {
            Window::Bucket | Window::Pacing => {
                u64::try_from(rule.units(used) / u128::from(rule.amount_at(at))).unwrap_or(u64::MAX)
            }
            Window::Fixed | Window::Day | Window::Month => rule.end(at) - at,
            Window::Sliding => {
                let newest = self.counting(rule, at).map(|arrival| arrival.at).max();
                newest.map_or(0, |newest| rule.end(newest) - at)
            }
        }
    }

    fn push(&mut self, rule: &Rule, at: u64, call: u64, taken: u64, returned: u64) {
        if self.arrivals.len() >= ARRIVALS_MAX
            && let Some(oldest) = self.arrivals.pop_front()
        {
            match (rule.window, self.arrivals.front_mut()) {
                (Window::Bucket | Window::Pacing, _) | (_, None) => {
                    self.before = self.before.after(rule, oldest);
                }
                (_, Some(next)) => next.taken += oldest.taken,
            }
        }
        self.arrivals.push_back(Arrival {
            at,
            call,
            taken,
            returned,
        });
    }

    /// Drops what cannot count any more at `at`.
    fn forget(&mut self, rule: &Rule, at: u64) {
        let from = rule.counts_from(at);
        while let Some(oldest) = self.arrivals.front().copied() {
            if oldest.at >= from {
                break;
            }
            self.before = self.before.after(rule, oldest);
            self.arrivals.pop_front();
        }
    }

    fn level(&self, rule: &Rule, at: u64) -> u128 {
        match rule.window {
            Window::Bucket | Window::Pacing => {
                let mut level = self.before;
                for arrival in &self.arrivals {
                    level = level.after(rule, *arrival);
                }
                level.drained(rule, at)
            }
            Window::Fixed | Window::Sliding | Window::Day | Window::Month => self
                .counting(rule, at)
                .map(|arrival| rule.units(arrival.taken))
                .sum(),
        }
    }

    /// The arrivals that are in the window at `at`, oldest first.
    fn counting(&self, rule: &Rule, at: u64) -> impl Iterator<Item = &Arrival> + use<'_> {
        let from = rule.counts_from(at);
        self.arrivals
            .iter()
            .filter(move |arrival| arrival.at >= from)
    }
}

impl Level {
    fn drained(self, rule: &Rule, at: u64) -> u128 {
        self.units.saturating_sub(rule.flow(self.at, at))
    }

    fn after(self, rule: &Rule, arrival: Arrival) -> Self {
        let units = self.drained(rule, arrival.at) + rule.units(arrival.taken);
        Self {
            at: arrival.at,
            units: units.saturating_sub(rule.units(arrival.returned)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::super::settings::{Limit, Meter, Quantum, Settings};
    use super::*;
    use crate::Period;

    const S: u64 = 1_000_000_000;

    fn rule(amount: u64, seconds: u64, window: Window) -> Rule {
        rules(&limit(amount, seconds, window)).remove(0)
    }

    fn limit(amount: u64, seconds: u64, window: Window) -> Limit {
        let amount = NonZeroU64::new(amount).unwrap();
        Limit::new(
            Meter::Tokens,
            amount,
            Period::from_seconds(seconds).unwrap(),
            window,
        )
    }

    fn rules(limit: &Limit) -> Vec<Rule> {
        Rule::of(limit, &Settings::default()).collect()
    }

    #[test]
    fn a_bucket_drains_evenly_and_never_below_empty() {
        let rule = rule(60, 60, Window::Bucket);
        let mut count = Count::default();
        count.take(&rule, 100 * S, 10, 1);
        assert_eq!(count.used(&rule, 100 * S), 10);
        assert_eq!(count.used(&rule, 104 * S), 6);
        assert_eq!(
            count.used(&rule, 104 * S + 1),
            6,
            "a part of a token counts as used"
        );
        count.take(&rule, 130 * S, 60, 2);
        assert_eq!(
            count.used(&rule, 130 * S),
            60,
            "the idle time before did not go below zero"
        );
        assert_eq!(count.wait(&rule, 130 * S, 7), 7 * S);
        assert_eq!(count.wait(&rule, 137 * S, 7), 0);
        assert_eq!(count.time_to_full(&rule, 137 * S), 53 * S);
    }

    #[test]
    fn what_a_bucket_forgets_it_still_counts() {
        let rule = rule(60, 60, Window::Bucket);
        let mut count = Count::default();
        count.take(&rule, 0, 60, 0);
        for second in 1..=200 {
            assert_eq!(count.wait(&rule, second * S, 1), 0);
            count.take(&rule, second * S, 1, second);
            assert_eq!(count.used(&rule, second * S), 60);
            assert_eq!(count.wait(&rule, second * S, 1), S);
        }
        assert!(count.arrivals.len() <= 60);
    }

    #[test]
    fn a_sliding_window_lets_go_exactly_one_period_later() {
        let rule = rule(5, 10, Window::Sliding);
        let mut count = Count::default();
        count.take(&rule, 3 * S, 3, 1);
        count.take(&rule, 5 * S, 2, 2);
        assert_eq!(count.wait(&rule, 6 * S, 1), 7 * S);
        assert_eq!(count.wait(&rule, 6 * S, 4), 9 * S);
        assert_eq!(count.wait(&rule, 13 * S - 1, 1), 1);
        assert_eq!(count.wait(&rule, 13 * S, 3), 0);
        assert_eq!(
            (count.used(&rule, 13 * S - 1), count.used(&rule, 13 * S)),
            (5, 2)
        );
        assert_eq!(count.time_to_full(&rule, 6 * S), 9 * S);
    }

    #[test]
    fn a_fixed_window_begins_at_multiples_plus_phase() {
        let mut limit = limit(5, 60, Window::Fixed);
        let aligned = rules(&limit).remove(0);
        limit.phase = Period::from_seconds(7);
        let shifted = rules(&limit).remove(0);
        let mut count = Count::default();
        count.take(&aligned, 119 * S, 5, 1);
        assert_eq!(count.wait(&aligned, 119 * S, 1), S);
        assert_eq!(count.wait(&aligned, 120 * S, 5), 0);
        assert_eq!(count.wait(&shifted, 120 * S, 1), 7 * S);
        assert_eq!(count.wait(&shifted, 127 * S, 5), 0);
        assert_eq!(aligned.start(3 * S), 0);
        assert_eq!(shifted.start(7 * S), 7 * S);
    }

    #[test]
    fn a_quantum_is_a_proportional_window_of_its_own() {
        let mut limit = limit(300, 60, Window::Bucket);
        limit.quantum = Some(Quantum {
            per: Period::from_seconds(1).unwrap(),
            any: true,
        });
        let rules = rules(&limit);
        assert_eq!(rules[1].amount, 5);
        assert_eq!(rules[1].name, "tokens quantum");
        let mut count = Count::default();
        count.take(&rules[1], 10 * S, 3, 1);
        assert_eq!(count.wait(&rules[1], 10 * S, 3), S);
        assert_eq!(
            count.wait(&rules[1], 10 * S, 700),
            S,
            "what never fits waits for an empty one"
        );
        assert_eq!(count.wait(&rules[1], 11 * S, 700), 0);
    }

    #[test]
    fn a_crowd_of_arrivals_is_bounded_and_counts_in_full() {
        let most = ARRIVALS_MAX as u64;
        for window in [Window::Fixed, Window::Sliding, Window::Bucket] {
            let rule = rule(2 * most, 86_400, window);
            let mut count = Count::default();
            for call in 1..=most + 5 {
                count.take(&rule, call, 1, call);
            }
            assert_eq!(count.arrivals.len(), ARRIVALS_MAX);
            assert_eq!(count.used(&rule, most + 5), most + 5, "{window:?}");
        }
    }

    #[test]
    fn giving_back_undoes_taking() {
        let rule = rule(60, 60, Window::Bucket);
        let mut count = Count::default();
        count.take(&rule, 0, 30, 1);
        count.take(&rule, S, 30, 2);
        count.give_back(1);
        assert_eq!(count.used(&rule, S), 30);
    }
}
