//! Ten jobs of five turns that start together, on 300 requests (five in any second) and 300,000
//! tokens a minute.

use sluicegate_core::{Amounts, Meter};
use sluicegate_fake::model::ChargeRule;
use sluicegate_sim::oracle::{Books, Rule};
use sluicegate_sim::workload::Turn;
use sluicegate_sim::{Answering, Run, Scenario, Transit, check};

use crate::{MINUTE, SECOND, run};

const SEEDS: std::ops::Range<u64> = 0..50;

/// What Azure documents, in plain numbers.
fn sum(turn: &Turn) -> Amounts {
    Amounts::one_request().with(Meter::Tokens, turn.prompt_tokens + turn.output_max)
}

/// What OpenAI documents, in plain numbers, for one choice.
fn max(turn: &Turn) -> Amounts {
    let tokens = (turn.prompt_tokens + 1).max(turn.output_max);
    Amounts::one_request().with(Meter::Tokens, tokens)
}

fn ten_jobs(output_max: u64) -> Scenario {
    let text = "
        provider:
          charge: sum
          limits:
            - { meter: requests, amount: 300, per: 60s, window: fixed, quantum: { per: 1s, any: true } }
            - { meter: tokens, amount: 300000, per: 60s, window: fixed }
        jobs:
          - { count: 10, turns: 5, prompt_tokens: 1500, prompt_growth: 1000, output_max: 0, answer_tokens: 300 }";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    scenario.jobs[0].output_max = output_max;
    scenario
}

/// No 429, and every call of every job answered.
fn assert_smooth(run: &Run, seed: u64) {
    assert_eq!(check::rejections(run), 0, "seed {seed}:\n{}", run.trace);
    assert_eq!(check::unanswered(run), [], "seed {seed}:\n{}", run.trace);
    assert_eq!(check::answered(run), run.calls_wanted, "seed {seed}");
}

#[test]
fn what_fits_in_a_minute_is_answered_in_the_order_of_arrival() {
    let run = run(&ten_jobs(512), sum);
    assert_smooth(&run, 0);
    assert_eq!(run.calls.len(), 50);
    assert_eq!(check::overtaken(&run), None);
    // Ten times 17,500 tokens of prompts and five maxima.
    assert_eq!(check::tokens_charged(&run), 10 * (17_500 + 5 * 512));
    let over =
        |call: &&sluicegate_sim::Call| call.answered.is_some_and(|at| at.as_nanos() > MINUTE);
    assert_eq!(
        run.calls.iter().find(over),
        None,
        "nothing waits for another minute"
    );
}

#[test]
fn the_same_under_the_larger_of_prompt_and_maximum() {
    let mut scenario = ten_jobs(512);
    scenario.provider.charge = Some(ChargeRule::Max);
    let run = run(&scenario, max);
    assert_smooth(&run, 0);
    assert_eq!(check::overtaken(&run), None);
    // Every prompt is larger than the maximum, and each choice counts one token.
    assert_eq!(check::tokens_charged(&run), 10 * (17_500 + 5));
}

#[test]
fn what_does_not_fit_waits_for_the_next_minute_and_no_longer() {
    let run = run(&ten_jobs(4_096), sum);
    assert_smooth(&run, 0);
    assert_eq!(check::overtaken(&run), None);
    assert!(check::promises_broken(&run).is_empty(), "{}", run.trace);
    assert_eq!(check::tokens_charged(&run), 379_800);
    let started_in = |minute: u64| -> u64 {
        let inside = |call: &&sluicegate_sim::Call| {
            call.started
                .is_some_and(|at| at.as_nanos() / MINUTE == minute)
        };
        let tokens = |call: &sluicegate_sim::Call| call.demand.of(Meter::Tokens);
        run.calls.iter().filter(inside).map(tokens).sum()
    };
    assert!(started_in(0) <= 300_000, "{}", started_in(0));
    assert!(started_in(0) > 300_000 - 9_596, "{}", started_in(0));
    assert_eq!(started_in(0) + started_in(1), 379_800);
}

/// Answers of uneven length spread the starts over instants that no round number names.
#[test]
fn every_call_starts_at_the_first_nanosecond_at_which_it_may() {
    for output_max in [512, 4_096] {
        for seed in SEEDS {
            let scenario = Scenario {
                answering: Answering {
                    jitter_ms: 1_500 * (seed % 3),
                    ..Answering::default()
                },
                begin_ms: 7_919 * seed,
                seed,
                ..ten_jobs(output_max)
            };
            let run = run(&scenario, sum);
            assert_smooth(&run, seed);
            assert_starts_are_the_earliest(&run, &scenario);
        }
    }
}

fn assert_starts_are_the_earliest(run: &Run, scenario: &Scenario) {
    let minute_of_requests = Rule::Aligned {
        per: MINUTE,
        amount: 300,
    };
    let second_of_requests = Rule::Anywhere {
        per: SECOND,
        amount: 5,
    };
    let minute_of_tokens = Rule::Aligned {
        per: MINUTE,
        amount: 300_000,
    };
    let mut books = Books::new([minute_of_requests, second_of_requests, minute_of_tokens]);
    // The world begins at the edge of a day and so much later.
    let begin = scenario.begin_ms * 1_000_000;
    let mut previous = 0;
    for call in check::starts(run) {
        let turn = call.turn as u64;
        let tokens = 1_500 + turn * 1_000 + scenario.jobs[0].output_max;
        let sizes = [1, 1, tokens];
        let from = (begin + call.came.as_nanos()).max(previous);
        let started = begin + call.started.expect("it started").as_nanos();
        assert_eq!(
            Some(started),
            books.earliest(from, sizes),
            "seed {}, job {} turn {}, which came at {}:\n{}",
            scenario.seed,
            call.job,
            call.turn,
            call.came,
            run.trace
        );
        books.started(started, sizes);
        previous = started;
    }
    assert_eq!(check::overtaken(run), None);
}

/// Calls are on their way for up to 20 ms and may overtake each other; worlds begin all over a
/// minute.
#[test]
fn a_network_between_makes_no_429() {
    for output_max in [512, 4_096] {
        for seed in SEEDS {
            let scenario = Scenario {
                transit: Transit {
                    min_ms: 0,
                    max_ms: 20,
                },
                answering: Answering {
                    jitter_ms: 1_000,
                    ..Answering::default()
                },
                // From the middle of a minute to its last half second, and beyond its end.
                begin_ms: 30_000 + seed * 613,
                seed,
                ..ten_jobs(output_max)
            };
            assert_smooth(&run(&scenario, sum), seed);
        }
    }
}

#[test]
fn a_seed_gives_the_same_run() {
    let scenario = Scenario {
        transit: Transit {
            min_ms: 0,
            max_ms: 20,
        },
        seed: 11,
        ..ten_jobs(4_096)
    };
    let other = Scenario {
        seed: 12,
        ..scenario.clone()
    };
    assert_eq!(run(&scenario, sum), run(&scenario, sum));
    assert_ne!(run(&scenario, sum).trace, run(&other, sum).trace);
}
