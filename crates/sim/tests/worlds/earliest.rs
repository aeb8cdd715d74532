//! Every kind of window lets each call start at the first nanosecond at which its rule does, in the order of arrival, or earlier
//! where it passes a larger one, as found by a count that knows nothing of how the core keeps its own.

use std::ops::Range;

use sluicegate_core::{Amounts, Meter};
use sluicegate_fake::model::{Limits, Window};
use sluicegate_sim::oracle::{Books, Rule};
use sluicegate_sim::workload::Turn;
use sluicegate_sim::{Scenario, check};

use crate::{MINUTE, run};

const SEEDS: Range<u64> = 0..10;
const AMOUNT: u64 = 40_001;

fn charge(turn: &Turn) -> Amounts {
    Amounts::one_request().with(Meter::Tokens, turn.prompt_tokens + 1)
}

#[test]
fn calls_of_uneven_size_start_as_early_as_each_window_allows_in_their_order_or_earlier() {
    let (per, amount) = (MINUTE, AMOUNT);
    for (window, rule) in [
        (Window::Fixed, Rule::Aligned { per, amount }),
        (Window::Sliding, Rule::Anywhere { per, amount }),
        (Window::Bucket, Rule::Bucket { per, amount }),
    ] {
        for seed in SEEDS {
            let scenario = scenario(window, seed);
            let run = run(&scenario, charge);
            assert_eq!(check::rejections(&run), 0, "{window:?}, seed {seed}");
            assert_eq!(check::unanswered(&run), [], "{window:?}, seed {seed}");
            let begin = scenario.begin_ms * 1_000_000;
            let mut books = Books::new([rule]);
            let (mut previous, mut waited, mut passed) = (0, 0, 0);
            for call in &run.calls {
                let sizes = [call.demand.of(Meter::Tokens)];
                let from = (begin + call.came.as_nanos()).max(previous);
                let started = begin + call.started.expect("it started").as_nanos();
                let in_order = books.earliest(from, sizes).expect("it fits at some time");
                // Who passes starts earlier than in the order of arrival, and makes nobody start later.
                assert!(
                    started <= in_order,
                    "{window:?}, seed {seed}, {in_order}, {call:?}"
                );
                books.started(in_order, sizes);
                waited += u64::from(call.started > Some(call.came));
                passed += u64::from(started < in_order);
                previous = in_order;
            }
            if window == Window::Bucket {
                // Every charge delays everybody there.
                assert_eq!(passed, 0, "{window:?}, seed {seed}");
            }
            assert!(
                waited > 20,
                "{window:?}, seed {seed}: only {waited} of 200 waited"
            );
        }
    }
}

/// 200 calls within three minutes, of five minutes' worth of tokens, beginning anywhere in a minute.
fn scenario(window: Window, seed: u64) -> Scenario {
    let text = "
        provider: { charge: prompt, limits: [{ meter: tokens, amount: 40001, per: 60s }] }
        arrivals:
          - { count: 200, gap_us: 900000, prompt_tokens: [1, 1999], output_max: 0, answer_tokens: 50 }";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    let mut limits = scenario.provider.limits();
    limits[0].window = window;
    scenario.provider.limits = Limits::Full(limits);
    scenario.begin_ms = 6_007 * seed;
    scenario.seed = seed;
    scenario
}

/// 150 calls leave within 20 ms of the end of a minute and may arrive in the next one, whose 200
/// they then take from. The network decides which; the gateway must not count on either.
#[test]
fn what_leaves_at_the_end_of_a_minute_counts_in_both() {
    let text = "
        provider: { charge: prompt, limits: [{ meter: tokens, amount: 200000, per: 60s, window: fixed }] }
        begin_ms: 59990
        transit: { min_ms: 0, max_ms: 20 }
        jobs:
          - { count: 150, begin_ms: 0, turns: 1, prompt_tokens: 999, output_max: 0, answer_tokens: 10 }
          - { count: 150, begin_ms: 10, turns: 1, prompt_tokens: 999, output_max: 0, answer_tokens: 10 }";
    let scenario = Scenario::from_yaml(text).expect("a scenario");
    for seed in 0..50 {
        let run = run(
            &Scenario {
                seed,
                ..scenario.clone()
            },
            charge,
        );
        assert_eq!(check::rejections(&run), 0, "seed {seed}");
        assert_eq!(check::answered(&run), 300, "seed {seed}");
        let started_at = |millis: u64| {
            let at_that = |call: &&sluicegate_sim::Call| {
                call.started
                    .is_some_and(|at| at.as_nanos() == millis * 1_000_000)
            };
            run.calls.iter().filter(at_that).count()
        };
        // Ten milliseconds before the edge, at it, and at the next one.
        assert_eq!(
            [0, 10, 60_010].map(started_at),
            [150, 50, 100],
            "seed {seed}"
        );
    }
}
