//! Worlds that must come out right: the core against a provider that counts with code of its own.

#![allow(clippy::panic, reason = "a helper of a test fails by panicking")]

mod answer_lengths;
mod calendar;
mod clock_jumps;
mod earliest;
mod jobs;
mod lanes;
mod outage;
mod overload;
mod pacing;
mod traces;
mod zero429;

use sluicegate_core::Amounts;
use sluicegate_sim::workload::Turn;
use sluicegate_sim::{Run, Scenario, World};

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;

/// Runs `scenario` to its end; a failure names the seed.
fn run(scenario: &Scenario, demand: impl Fn(&Turn) -> Amounts) -> Run {
    World::new(scenario, demand)
        .expect("the core can hold to these limits")
        .run()
        .unwrap_or_else(|stall| panic!("seed {}: {stall}", scenario.seed))
}
