//! One window over the arrivals: how much of it is used, and when a call would fit.
//!
//! Naive on purpose. Every arrival is kept as (time, amount) and summed again for each question; nothing is cached, nothing
//! is predicted. What is tested against this must not be able to share its mistakes. Levels are exact integers in units of
//! `amount × per`, in which a bucket of `limit` drains `limit` units a nanosecond.

use std::collections::VecDeque;

use super::settings::{Limit, Meter, Scope, Window};
use crate::Period;

/// A window to enforce: a limit's own, or its quantum's.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Rule {
    /// As rejections name it: `requests`, `tokens`, `requests quantum`, `tokens per day`.
    pub(super) name: String,
    pub(super) meter: Meter,
    pub(super) amount: u64,
    pub(super) per: Period,
    pub(super) scope: Scope,
    pub(super) quantum: Option<Period>,
    pub(super) part: Part,
    window: Window,
    phase: u64,
}

/// Which part of a limit a rule is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Whole,
    Quantum,
}

impl Rule {
    /// The rules that enforce `limit`, the whole before its quantum.
    pub(super) fn of(limit: &Limit) -> impl Iterator<Item = Self> {
        let name = match (limit.meter, limit.per >= Period::DAY) {
            (Meter::Requests, false) => "requests",
            (Meter::Requests, true) => "requests per day",
            (Meter::Tokens, false) => "tokens",
            (Meter::Tokens, true) => "tokens per day",
        };
        let whole = Self {
            name: name.to_owned(),
            meter: limit.meter,
            amount: limit.amount.get(),
            per: limit.per,
            scope: limit.scope,
            quantum: limit.quantum.map(|quantum| quantum.per),
            part: Part::Whole,
            window: limit.window,
            phase: limit.phase.map_or(0, Period::as_nanos),
        };
        let quantum = limit.quantum.map(|quantum| Self {
            name: format!("{name} quantum"),
            amount: share(whole.amount, quantum.per, limit.per),
            per: quantum.per,
            quantum: None,
            part: Part::Quantum,
            window: if quantum.any {
                Window::Sliding
            } else {
                Window::Fixed
            },
            ..whole.clone()
        });
        std::iter::once(whole).chain(quantum)
    }

    fn full(&self) -> u128 {
        self.units(self.amount)
    }

    fn units(&self, amount: u64) -> u128 {
        u128::from(amount) * u128::from(self.per.as_nanos())
    }

    fn window_start(&self, at: u64) -> u64 {
        let per = self.per.as_nanos();
        at.saturating_sub((at % per + per - self.phase % per) % per)
    }
}

/// `amount × quantum / per`, rounded down, at least one.
fn share(amount: u64, quantum: Period, per: Period) -> u64 {
    let share = u128::from(amount) * u128::from(quantum.as_nanos()) / u128::from(per.as_nanos());
    u64::try_from(share).unwrap_or(u64::MAX).max(1)
}

/// The arrivals that one window has seen, of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    arrivals: VecDeque<Arrival>,
    /// For a bucket: its level after the arrivals that are older than one `per`.
    before: Level,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: u64,
    amount: u64,
    call: u64,
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
        self.arrivals.push_back(Arrival { at, amount, call });
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

    /// Nanoseconds from `at` until `amount` fits, if nothing else arrives; zero: it fits now. An amount above the whole is
    /// told the time until the window is empty.
    pub(super) fn wait(&self, rule: &Rule, at: u64, amount: u64) -> u64 {
        let level = self.level(rule, at);
        let wanted = rule.units(amount.min(rule.amount));
        let excess = (level + wanted).saturating_sub(rule.full());
        if excess == 0 {
            return 0;
        }
        match rule.window {
            Window::Bucket => {
                u64::try_from(excess.div_ceil(u128::from(rule.amount))).unwrap_or(u64::MAX)
            }
            Window::Fixed => rule.window_start(at) + rule.per.as_nanos() - at,
            Window::Sliding => {
                let mut gone = 0;
                for arrival in self.counting(rule, at) {
                    gone += rule.units(arrival.amount);
                    if gone >= excess {
                        return arrival.at + rule.per.as_nanos() - at;
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
            Window::Bucket => {
                u64::try_from(rule.units(used) / u128::from(rule.amount)).unwrap_or(u64::MAX)
            }
            Window::Fixed => rule.window_start(at) + rule.per.as_nanos() - at,
            Window::Sliding => {
                let newest = self.counting(rule, at).map(|arrival| arrival.at).max();
                newest.map_or(0, |newest| newest + rule.per.as_nanos() - at)
            }
        }
    }

    /// Drops what cannot count any more at `at`.
    fn forget(&mut self, rule: &Rule, at: u64) {
        while let Some(oldest) = self.arrivals.front().copied() {
            if at.saturating_sub(oldest.at) < rule.per.as_nanos() {
                break;
            }
            self.before = self.before.after(rule, oldest);
            self.arrivals.pop_front();
        }
    }

    fn level(&self, rule: &Rule, at: u64) -> u128 {
        match rule.window {
            Window::Bucket => {
                let mut level = self.before;
                for arrival in &self.arrivals {
                    level = level.after(rule, *arrival);
                }
                level.drained(rule, at)
            }
            Window::Fixed | Window::Sliding => self
                .counting(rule, at)
                .map(|arrival| rule.units(arrival.amount))
                .sum(),
        }
    }

    /// The arrivals that are in the fixed or sliding window at `at`, oldest first.
    fn counting<'a>(&'a self, rule: &'a Rule, at: u64) -> impl Iterator<Item = &'a Arrival> {
        self.arrivals
            .iter()
            .filter(move |arrival| match rule.window {
                Window::Fixed => arrival.at >= rule.window_start(at),
                Window::Sliding | Window::Bucket => {
                    at.saturating_sub(arrival.at) < rule.per.as_nanos()
                }
            })
    }
}

impl Level {
    fn drained(self, rule: &Rule, at: u64) -> u128 {
        let gone = u128::from(rule.amount) * u128::from(at.saturating_sub(self.at));
        self.units.saturating_sub(gone)
    }

    fn after(self, rule: &Rule, arrival: Arrival) -> Self {
        Self {
            at: arrival.at,
            units: self.drained(rule, arrival.at) + rule.units(arrival.amount),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::super::settings::Quantum;
    use super::*;

    const S: u64 = 1_000_000_000;

    fn rule(amount: u64, seconds: u64, window: Window) -> Rule {
        Rule::of(&limit(amount, seconds, window)).next().unwrap()
    }

    fn limit(amount: u64, seconds: u64, window: Window) -> Limit {
        Limit {
            meter: Meter::Tokens,
            amount: NonZeroU64::new(amount).unwrap(),
            per: Period::from_seconds(seconds).unwrap(),
            window,
            phase: None,
            quantum: None,
            scope: Scope::All,
        }
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
        let aligned = Rule::of(&limit).next().unwrap();
        limit.phase = Period::from_seconds(7);
        let shifted = Rule::of(&limit).next().unwrap();
        let mut count = Count::default();
        count.take(&aligned, 119 * S, 5, 1);
        assert_eq!(count.wait(&aligned, 119 * S, 1), S);
        assert_eq!(count.wait(&aligned, 120 * S, 5), 0);
        assert_eq!(count.wait(&shifted, 120 * S, 1), 7 * S);
        assert_eq!(count.wait(&shifted, 127 * S, 5), 0);
        assert_eq!(aligned.window_start(3 * S), 0);
        assert_eq!(shifted.window_start(7 * S), 7 * S);
    }

    #[test]
    fn a_quantum_is_a_proportional_window_of_its_own() {
        let mut limit = limit(300, 60, Window::Bucket);
        limit.quantum = Some(Quantum {
            per: Period::from_seconds(1).unwrap(),
            any: true,
        });
        let rules: Vec<Rule> = Rule::of(&limit).collect();
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
    fn giving_back_undoes_taking() {
        let rule = rule(60, 60, Window::Bucket);
        let mut count = Count::default();
        count.take(&rule, 0, 30, 1);
        count.take(&rule, S, 30, 2);
        count.give_back(1);
        assert_eq!(count.used(&rule, S), 30);
    }
}
