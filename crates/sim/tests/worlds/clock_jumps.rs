//! Somebody sets the gateway's wall clock by up to two hours in either direction while calls wait
//! and run. The provider goes by the true time, so it may well answer 429; what must hold is that
//! nothing breaks, nobody waits for ever and the provider is never flooded.

use std::ops::Range;
use std::time::Duration;

use sluicegate_core::{Amounts, Meter};
use sluicegate_fake::model::{Limits, Window};
use sluicegate_sim::random::{Purpose, Random};
use sluicegate_sim::workload::Turn;
use sluicegate_sim::{ClockJump, Scenario, check};

use crate::{MINUTE, run};

const SEEDS: Range<u64> = 0..40;
const AMOUNT: u64 = 20_000;
const TWO_HOURS_MS: u64 = 2 * 3_600_000;

#[test]
fn a_wall_clock_that_jumps_floods_nobody_and_stops_nobody() {
    let rejections = |window| -> usize {
        SEEDS
            .map(|seed| assert_survives(&jumping(window, seed)))
            .sum()
    };
    // Nothing but the edges of fixed windows is looked up on the wall clock.
    assert_eq!(rejections(Window::Sliding), 0);
    assert_eq!(rejections(Window::Bucket), 0);
    let fixed = rejections(Window::Fixed);
    println!("{fixed} rejections behind a clock that is wrong");
    assert!(fixed > 0, "the jumps were too tame to prove anything");
}

/// Plays it, and tells how many 429s there were.
fn assert_survives(scenario: &Scenario) -> usize {
    let charge = |turn: &Turn| Amounts::one_request().with(Meter::Tokens, turn.prompt_tokens + 1);
    let run = run(scenario, charge);
    let window = scenario.provider.limits()[0].window;
    let place = format!("{window:?}, seed {}:\n{}", scenario.seed, run.trace);
    assert_eq!(check::unanswered(&run), [], "{place}");
    let peak = check::peak_started(&run, MINUTE, |demand| demand.of(Meter::Tokens));
    assert!(peak <= 2 * AMOUNT, "{peak} tokens in a minute: {place}");
    // 300 calls of 500 tokens on average are eight minutes' worth. Each jump may stretch a window
    // by one more.
    let worst = Duration::from_nanos((9 + scenario.clock_jumps.len() as u64) * MINUTE);
    let waited =
        |call: &sluicegate_sim::Call| call.started.map(|at| at.saturating_since(call.came));
    let longest = run.calls.iter().filter_map(waited).max();
    assert!(
        longest.is_some_and(|wait| wait <= worst),
        "{longest:?}: {place}"
    );
    check::rejections(&run)
}

/// 300 calls within two minutes, where forty fit in one, and up to twelve jumps in ten minutes.
fn jumping(window: Window, seed: u64) -> Scenario {
    let text = "
        provider: { charge: prompt, limits: [{ meter: tokens, amount: 20000, per: 60s }] }
        transit: { min_ms: 0, max_ms: 20 }
        arrivals:
          - { count: 300, gap_us: 400000, prompt_tokens: [1, 997], output_max: 0, answer_tokens: 200 }
        resends_max: 20";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    let mut limits = scenario.provider.limits();
    limits[0].window = window;
    scenario.provider.limits = Limits::Full(limits);
    let mut random = Random::new(seed, Purpose::Clock);
    let jumps = random.between(1, 12);
    let mut jump = || ClockJump {
        at_ms: random.between(0, 600_000),
        by_ms: random.between(0, 2 * TWO_HOURS_MS).cast_signed() - TWO_HOURS_MS.cast_signed(),
    };
    scenario.clock_jumps = (0..jumps).map(|_| jump()).collect();
    scenario.begin_ms = 12 * 3_600_000 + random.between(0, 60_000);
    scenario.seed = seed;
    scenario
}
