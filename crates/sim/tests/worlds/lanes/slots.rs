//! The same for slots: batch calls hold one for twenty seconds, and an interactive one takes the next that frees.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::ops::Range;

use sluicegate_core::{Lane, Timestamp};
use sluicegate_sim::workload::Gaps;
use sluicegate_sim::{Run, Scenario};

use super::figures::{ms, of_lane, percent, play, share, wait_p99_us};
use super::kept;
use crate::{MINUTE, SECOND};

const MINUTES: u64 = 11;
const MEASURED: Range<u64> = 1..MINUTES;
const SEEDS: Range<u64> = 0..3;
/// An interactive call holds a slot for two seconds.
const INTERACTIVE_SECONDS: u64 = 2;

const HEAD: &str = "\
Batch calls hold a slot for 20 s, interactive ones for 2 s, and up to half a second more. Of three seeds each the worst.

| slots | interactive uses on average | its calls that waited | 99 in 100 waited at most, ms | batch has of the time that is left |
|--:|--:|--:|--:|--:|
";

#[test]
fn interactive_takes_the_next_slot_that_frees() {
    let mut table = String::from(HEAD);
    let mut batch_least = u64::MAX;
    for slots in [10, 20, 100] {
        for offered in [10, 30, 50] {
            let (mut waited, mut p99_us, mut batch) = (0, 0, u64::MAX);
            for seed in SEEDS {
                let run = play(&scenario(slots, offered, seed));
                waited = waited.max(assert_next_slot_is_taken(&run));
                p99_us = p99_us.max(wait_p99_us(&run, Lane::Interactive, MEASURED));
                let left = slots * (MEASURED.end - MEASURED.start) * MINUTE
                    - held(&run, Lane::Interactive);
                batch = batch.min(share(held(&run, Lane::Batch) / 1_000_000, left / 1_000_000));
            }
            batch_least = batch_least.min(batch);
            let (wait, batch) = (ms(p99_us), percent(batch));
            writeln!(
                table,
                "| {slots} | {offered} % | {waited} | {wait} | {batch} |"
            )
            .expect("a string takes everything");
        }
    }
    assert!(batch_least >= 9_000, "batch gets too little:\n{table}");
    kept::check("2. Slots of which batch calls hold each for 20 s", &table);
}

/// While interactive calls wait, every slot that frees goes to the first of them at that instant. Gives back how many waited.
fn assert_next_slot_is_taken(run: &Run) -> usize {
    let calls = || run.calls.iter();
    let freed = sorted(calls().filter_map(|call| call.answered));
    let [interactive, batch] = [Lane::Interactive, Lane::Batch].map(|lane| {
        sorted(
            calls()
                .filter(of_lane(lane))
                .filter_map(|call| call.started),
        )
    });
    let waiting = calls().filter(|call| call.lane == Lane::Interactive);
    let waiting = waiting.filter(|call| call.started > Some(call.came));
    waiting
        .inspect(|call| {
            let started = call.started.expect("only those that started");
            let before = |instants: &[Timestamp]| {
                let within = |at: &&Timestamp| **at > call.came && **at < started;
                instants.iter().filter(within).count()
            };
            assert_eq!(before(&batch), 0, "batch went before {call:?}");
            assert_eq!(
                before(&freed),
                before(&interactive),
                "a slot is free while {call:?}"
            );
            assert!(
                freed.binary_search(&started).is_ok(),
                "nothing freed for {call:?}"
            );
            assert!(
                batch.binary_search(&started).is_err(),
                "batch went with {call:?}"
            );
        })
        .count()
}

fn sorted(instants: impl Iterator<Item = Timestamp>) -> Vec<Timestamp> {
    let mut instants: Vec<Timestamp> = instants.collect();
    instants.sort_unstable();
    instants
}

/// For how many nanoseconds of the measured minutes slots were held by `lane`.
fn held(run: &Run, lane: Lane) -> u64 {
    let (begin, end) = (MEASURED.start * MINUTE, MEASURED.end * MINUTE);
    run.calls
        .iter()
        .filter(|call| call.lane == lane)
        .filter_map(|call| {
            let from = call.started?.as_nanos().max(begin);
            let until = call.answered.map_or(end, |at| at.as_nanos()).min(end);
            Some(until.saturating_sub(from))
        })
        .sum()
}

fn scenario(slots: u64, offered: u64, seed: u64) -> Scenario {
    let text = "
        provider: { charge: input, limits: [] }
        answering: { head_ms: 0, ms_per_token: 1, jitter_ms: 500 }
        jobs:
          - { count: 100000, begin_ms: 60000, turns: 1, prompt_tokens: 500, output_max: 20001, answer_tokens: 20000, lane: batch }
        arrivals:
          - { count: 0, gap_us: 0, prompt_tokens: [500, 500], output_max: 2001, answer_tokens: 2000, lane: interactive }";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    scenario.provider.concurrent = NonZeroU64::new(slots);
    let calls = &mut scenario.arrivals[0];
    calls.gap_us = INTERACTIVE_SECONDS * SECOND / 1_000 * 100 / (slots * offered);
    // More than come by the end, however they fall.
    calls.count = (MINUTES + 2) * 60_000_000 / calls.gap_us;
    calls.gaps = Gaps::Poisson;
    scenario.end_ms = Some(MINUTES * 60_000);
    scenario.seed = seed;
    scenario
}
