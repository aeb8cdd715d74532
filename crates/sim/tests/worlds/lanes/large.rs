//! A large call among endless small ones starts when it was promised to, and small ones that pass make nobody later.

use std::fmt::Write as _;

use sluicegate_fake::model::{Limits, Window};
use sluicegate_sim::oracle::{Books, Rule};
use sluicegate_sim::workload::{Gaps, Turn};
use sluicegate_sim::{Call, Run, Scenario};

use super::figures::{charge, percent, play, share};
use super::kept;
use crate::MINUTE;

const LIMIT: u64 = 100_000;
const MINUTES: u64 = 6;
const LARGE: u64 = 50_000;

const HEAD: &str = "\
Calls of 500 tokens, half as many again as there is room for, without end; in the third minute comes one of 50,000, of the same
tenant or of another. *Alone* are the small ones without it: in the order of arrival, as early as the window's rule allows.

| window | the large one is of | promised after, s | started later than promised by, s | served of the limit | small ones alone: of the limit | in the order of arrival could be |
|---|---|--:|--:|--:|--:|--:|
";

#[test]
fn a_large_call_among_endless_small_ones_starts_when_it_was_promised_to() {
    let mut table = String::from(HEAD);
    let mut failed = false;
    for (window, rule) in rules() {
        for (of, tenant) in [("the same tenant", 0), ("another tenant", 1)] {
            let mut scenario = scenario(window, tenant);
            let run = play(&scenario);
            let large = run
                .calls
                .iter()
                .find(|call| call.demand == charge(&turn(LARGE)));
            let large = large.expect("it came");
            let promised = large.promised.expect("it waits");
            let late = large
                .started
                .map(|at| at.saturating_since(promised).as_nanos());
            let late = late.map_or(u128::MAX, |late| late / 1_000_000);
            scenario.jobs.clear();
            let alone = play(&scenario);
            let bound = served_in_order(&alone, rule);
            failed |= late > 60_000 || served(&alone) != bound;
            writeln!(
                table,
                "| {} | {of} | {} | {} | {} | {} | {} |",
                format!("{window:?}").to_lowercase(),
                seconds(promised.saturating_since(large.came).as_millis()),
                seconds(late),
                percent(served(&run)),
                percent(served(&alone)),
                percent(bound),
            )
            .expect("a string takes everything");
        }
    }
    assert!(!failed, "{table}");
    kept::check("6. A large call among small ones", &table);
}

fn rules() -> [(Window, Rule); 3] {
    let (per, amount) = (MINUTE, LIMIT);
    [
        (Window::Bucket, Rule::Bucket { per, amount }),
        (Window::Fixed, Rule::Aligned { per, amount }),
        (Window::Sliding, Rule::Anywhere { per, amount }),
    ]
}

/// What started before the end, of the limit.
fn served(run: &Run) -> u64 {
    let started = run.calls.iter().filter(|call| call.started.is_some());
    let tokens: u64 = started.map(tokens).sum();
    share(tokens, LIMIT * MINUTES)
}

/// The same, were every call to start in the order of arrival, each as early as the rule allows.
fn served_in_order(run: &Run, rule: Rule) -> u64 {
    let mut books = Books::new([rule]);
    let mut previous = 0;
    let mut served = 0;
    for call in &run.calls {
        let from = call.came.as_nanos().max(previous);
        let Some(start) = books.earliest(from, [tokens(call)]) else {
            break;
        };
        if start >= MINUTES * MINUTE {
            break;
        }
        books.started(start, [tokens(call)]);
        previous = start;
        served += tokens(call);
    }
    share(served, LIMIT * MINUTES)
}

fn tokens(call: &Call) -> u64 {
    call.demand.of(sluicegate_core::Meter::Tokens)
}

fn turn(prompt_tokens: u64) -> Turn {
    Turn {
        prompt_tokens,
        output_max: 0,
        answer_tokens: 10,
    }
}

fn seconds(millis: u128) -> String {
    format!("{}.{:03}", millis / 1_000, millis % 1_000)
}

fn scenario(window: Window, large_of: usize) -> Scenario {
    let text = "
        provider: { charge: input, limits: [{ meter: tokens, amount: 100000, per: 60s }] }
        weights: [1, 1]
        jobs:
          - { count: 1, begin_ms: 150000, turns: 1, prompt_tokens: 50000, output_max: 0, answer_tokens: 10 }
        arrivals:
          - { count: 1800, gap_us: 200000, prompt_tokens: [500, 500], output_max: 0, answer_tokens: 10, tenant: 0 }";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    let mut limits = scenario.provider.limits();
    limits[0].window = window;
    scenario.provider.limits = Limits::Full(limits);
    scenario.jobs[0].tenant = Some(large_of);
    scenario.arrivals[0].gaps = Gaps::Poisson;
    scenario.end_ms = Some(MINUTES * 60_000);
    scenario
}
