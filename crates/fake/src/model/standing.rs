//! How the limits stand, as data: what headers are made of, and what a simulator measures.

use serde::Serialize;

use super::Model;
use super::charge::{Call, Charge, Sizes, Usage};
use super::rule::Part;
use super::settings::{Meter, SettleRule, Window};
use super::wire::{self, Header, View};
use crate::Period;

/// A limit at an instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Standing {
    /// Its name, as refusals have it.
    pub name: String,
    /// What it counts.
    pub meter: Meter,
    /// Its length.
    pub per: Period,
    /// How it counts.
    pub window: Window,
    /// What its charges become.
    pub settle: SettleRule,
    /// The amount in force, which a cut may have lowered.
    pub amount: u64,
    /// What is used of it, rounded up; more than the amount where calls took more than they were charged.
    pub used: u64,
    /// What is left, never below zero.
    pub remaining: u64,
    /// Nanoseconds until nothing is used any more, if nothing else arrives.
    pub reset: u64,
    /// The shorter time over which it holds too.
    pub quantum: Option<Period>,
}

/// What a limit could have given.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Flow {
    /// The limit's name.
    pub name: String,
    /// What it counts.
    pub meter: Meter,
    /// The amount, rounded down.
    pub amount: u64,
}

/// What was taken of a limit since the start, settlements included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    /// By calls.
    pub calls: u64,
    /// By others who use the account.
    pub others: u64,
}

impl Model {
    /// How each limit stands at `at` for a call, in the order of the settings. `at` may not lie before the latest arrival.
    pub fn standings(&self, at: u64, call: &Call<'_>) -> Vec<Standing> {
        let wholes = self
            .rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.part == Part::Whole);
        wholes
            .map(|(index, rule)| {
                let count = self.count(index, call);
                let amount = rule.amount_at(at);
                let used = count.map_or(0, |count| count.used(rule, at));
                Standing {
                    name: rule.name.clone(),
                    meter: rule.meter,
                    per: rule.per,
                    window: rule.window,
                    settle: rule.settle,
                    amount,
                    used,
                    remaining: amount.saturating_sub(used),
                    reset: count.map_or(0, |count| count.time_to_full(rule, at)),
                    quantum: rule.quantum,
                }
            })
            .collect()
    }

    /// What each limit could have given between two instants to callers who always want more, in the order of the settings:
    /// its amount for each of its lengths, cuts respected, and no more than its quantum allows. What stood in a full bucket
    /// at the beginning comes on top. Before the first call there are no cuts yet.
    pub fn theoretical(&self, at_from: u64, at_to: u64) -> Vec<Flow> {
        let mut flows: Vec<Flow> = Vec::new();
        for rule in &self.rules {
            let length = match rule.window {
                Window::Month => {
                    let end = rule.end(at_from);
                    u128::from(end - rule.start(at_from))
                }
                _ => u128::from(rule.per.as_nanos()),
            };
            let amount = u64::try_from(rule.flow(at_from, at_to) / length).unwrap_or(u64::MAX);
            match (rule.part, flows.last_mut()) {
                (Part::Quantum, Some(whole)) => whole.amount = whole.amount.min(amount),
                _ => flows.push(Flow {
                    name: rule.name.clone(),
                    meter: rule.meter,
                    amount,
                }),
            }
        }
        flows
    }

    /// What was taken of each limit since the start or the last change of settings, in the order of the settings.
    pub fn tallies(&self) -> Vec<Tally> {
        let rules = self.rules.iter().zip(&self.tallies);
        rules
            .filter(|(rule, _)| rule.part == Part::Whole)
            .map(|(_, tally)| *tally)
            .collect()
    }

    /// The headers about limits of an answer whose head goes out at `at`.
    pub(super) fn headers(
        &self,
        at: u64,
        call: &Call<'_>,
        charge: Charge,
        settled: Option<(Sizes, Usage)>,
    ) -> Vec<Header> {
        wire::state(&self.view(at, call, charge, settled))
    }

    pub(super) fn view<'a>(
        &'a self,
        at: u64,
        call: &Call<'a>,
        charge: Charge,
        settled: Option<(Sizes, Usage)>,
    ) -> View<'a> {
        View {
            settings: &self.settings,
            at,
            model: call.model,
            number: self.calls,
            query_cost: settled.map_or(charge.tokens, |(sizes, usage)| {
                let rule = self.settings.settlement_rule(Meter::Tokens);
                sizes.settled(rule, usage, charge.tokens)
            }),
            usage: settled.map(|(_, usage)| usage),
            standings: self.standings(at, call),
        }
    }
}
