//! A minimum share of 5 % for batch, where interactive alone wants more than there is, and where it does not.

use std::fmt::Write as _;
use std::ops::Range;

use sluicegate_core::{Lane, Refusal};
use sluicegate_fake::model::{Limits, Window};
use sluicegate_sim::{Run, Scenario};

use super::figures::{charged_in, ms, of_lane, percent, play, share, wait_p99_us};
use super::kept;

const LIMIT: u64 = 100_000;
const MINUTES: u64 = 11;
const MEASURED: Range<u64> = 1..MINUTES;
const SEEDS: Range<u64> = 0..3;
const BATCH_TOKENS: u64 = 500;
/// What it takes for a batch request to drip in.
const BATCH_REFILL_US: u64 = BATCH_TOKENS * 60_000_000 / LIMIT;

const WINDOWS: [Window; 3] = [Window::Bucket, Window::Fixed, Window::Sliding];

#[test]
fn batch_keeps_its_minimum_where_interactive_wants_everything() {
    let mut table = String::from(
        "Batch has a minimum of 5 % and leaves all else to interactive while that wants it, 500 tokens a call; interactive\n\
         offers 120 % of the limit, 300 tokens a call, and waits for a second at most. Least of ten minutes and three seeds.\n\n\
         | window | batch has in each minute at least | interactive is served of the limit | refused | of these at once |\n\
         |---|--:|--:|--:|--:|\n",
    );
    let mut failed = false;
    for window in WINDOWS {
        let (mut batch, mut interactive) = (u64::MAX, u64::MAX);
        let (mut refused, mut at_once) = (0, 0);
        for seed in SEEDS {
            let run = play(&scenario(window, 120, Some(1_000), seed));
            for minute in MEASURED {
                batch = batch.min(share(charged_in(&run, minute, of_lane(Lane::Batch)), LIMIT));
            }
            let served: u64 = MEASURED
                .map(|minute| charged_in(&run, minute, of_lane(Lane::Interactive)))
                .sum();
            let whole = LIMIT * (MEASURED.end - MEASURED.start);
            interactive = interactive.min(share(served, whole));
            let (all, immediately) = refusals(&run);
            (refused, at_once) = (refused + all, at_once + immediately);
        }
        failed |= batch < 400 || interactive < 9_400 || share(at_once, refused) < 9_990;
        let (batch, interactive) = (percent(batch), percent(interactive));
        let at_once = percent(share(at_once, refused));
        let window = format!("{window:?}").to_lowercase();
        writeln!(
            table,
            "| {window} | {batch} | {interactive} | {refused} | {at_once} |"
        )
        .expect("a string takes everything");
    }
    assert!(!failed, "{table}");
    kept::check("3. A minimum for batch under 120 % interactive", &table);
}

#[test]
fn a_minimum_for_batch_costs_interactive_one_request_of_it() {
    let mut table = String::from(
        "The same minimum; interactive offers 80 % on a bucket and waits as long as it takes. Worst of three seeds.\n\n\
         | tokens a call | 99 in 100 wait alone at most, ms | beside batch, ms | may be more by, ms |\n\
         |--:|--:|--:|--:|\n",
    );
    let mut failed = false;
    for size in [100, 300, 1_000] {
        let (mut alone, mut beside, mut added) = (0, 0, 0);
        for seed in SEEDS {
            let mut scenario = scenario(Window::Bucket, 80, None, seed);
            offer(&mut scenario, 80, size);
            let wait =
                |scenario: &Scenario| wait_p99_us(&play(scenario), Lane::Interactive, MEASURED);
            let with = wait(&scenario);
            scenario.jobs.clear();
            let without = wait(&scenario);
            (alone, beside) = (alone.max(without), beside.max(with));
            added = added.max(with.saturating_sub(without));
        }
        failed |= added > BATCH_REFILL_US;
        let [alone, beside, most] = [alone, beside, BATCH_REFILL_US].map(ms);
        writeln!(table, "| {size} | {alone} | {beside} | {most} |")
            .expect("a string takes everything");
    }
    assert!(!failed, "{table}");
    kept::check("4. A minimum for batch beside 80 % interactive", &table);
}

/// How many were refused, and how many of them in the instant in which they came.
fn refusals(run: &Run) -> (u64, u64) {
    let mut counts = (0, 0);
    for call in run.calls.iter().filter(|call| call.refused.is_some()) {
        counts.0 += 1;
        counts.1 += u64::from(
            matches!(
                call.refused,
                Some(Refusal::Deadline { .. } | Refusal::Shed { .. })
            ) && call.promised.is_none(),
        );
    }
    counts
}

fn scenario(window: Window, percent: u64, patience_ms: Option<u64>, seed: u64) -> Scenario {
    let text = "
        provider: { charge: input, limits: [{ meter: tokens, amount: 100000, per: 60s }] }
        answering: { head_ms: 100, ms_per_token: 10 }
        lanes: [{ lane: batch, min_share: 500, leaves: 10000 }]
        jobs:
          - { count: 20000, turns: 1, prompt_tokens: 500, output_max: 0, answer_tokens: 10, lane: batch }
        arrivals:
          - { count: 0, gap_us: 0, gaps: poisson, prompt_tokens: [0, 0], output_max: 0, answer_tokens: 10, lane: interactive }";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    let mut limits = scenario.provider.limits();
    limits[0].window = window;
    scenario.provider.limits = Limits::Full(limits);
    offer(&mut scenario, percent, 300);
    scenario.arrivals[0].patience_ms = patience_ms;
    scenario.end_ms = Some(MINUTES * 60_000);
    scenario.seed = seed;
    scenario
}

fn offer(scenario: &mut Scenario, percent: u64, size: u64) {
    let calls = &mut scenario.arrivals[0];
    calls.gap_us = 60_000_000 * 100 * size / (LIMIT * percent);
    // More than come by the end, however they fall.
    calls.count = (MINUTES + 2) * 60_000_000 / calls.gap_us;
    calls.prompt_tokens = (size, size);
}
