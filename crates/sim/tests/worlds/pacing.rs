//! Leaky buckets: calls of any size, some larger than the bucket, three times as many as drain, over a network that lets them
//! overtake each other. No 429, and as good as everything that drains is used.

use sluicegate_core::{Amounts, Meter};
use sluicegate_sim::workload::Turn;
use sluicegate_sim::{Call, Run, Scenario, check};

use crate::run;

const SEEDS: std::ops::Range<u64> = 0..3;

fn charge(turn: &Turn) -> Amounts {
    // The prompt, and one token for the choice.
    Amounts::one_request().with(Meter::Tokens, turn.prompt_tokens + 1)
}

/// The share of what the provider could have given after the first minute, in hundredths of a percent.
fn share(run: &Run) -> u64 {
    run.served[0].share()
}

fn played(burst: &str, prompt_tokens: (u64, u64), seed: u64) -> Run {
    let text = format!(
        "
        provider: {{ charge: prompt, limits: [{{ meter: tokens, amount: 60000, per: 60s, window: pacing, burst: {burst} }}] }}
        transit: {{ min_ms: 0, max_ms: 150 }}
        measure_from_ms: 60000
        end_ms: 1260000
        arrivals:
          - {{ count: 1, gap_us: 1, prompt_tokens: [1, 1], output_max: 0, answer_tokens: 10, patience_ms: 25000 }}"
    );
    let mut scenario = Scenario::from_yaml(&text).expect("a scenario");
    let average = u64::midpoint(prompt_tokens.0, prompt_tokens.1);
    let arrivals = &mut scenario.arrivals[0];
    arrivals.prompt_tokens = prompt_tokens;
    arrivals.gap_us = average * 1_000 / 3;
    arrivals.count = 1_260_000_000 / arrivals.gap_us;
    scenario.seed = seed;
    run(&scenario, charge)
}

#[test]
fn any_size_passes_without_a_429_and_nothing_is_wasted() {
    for (burst, prompt_tokens) in [
        // A thousand at once: small calls, calls of about its size, and such as it cannot hold.
        ("1s", (1, 600)),
        ("1s", (1, 1_999)),
        ("1s", (1_000, 6_000)),
        ("5s", (2_000, 9_000)),
        // A minute's worth at once.
        ("60s", (1, 3_000)),
    ] {
        for seed in SEEDS {
            let run = played(burst, prompt_tokens, seed);
            let case = format!("burst {burst}, prompts {prompt_tokens:?}, seed {seed}");
            assert_eq!(check::rejections(&run), 0, "{case}");
            assert_eq!(check::overtaken(&run), None, "{case}");
            let late = |call: &&Call| {
                call.started.is_some() && call.promised.is_some_and(|at| call.started != Some(at))
            };
            assert_eq!(run.calls.iter().find(late), None, "{case}");
            println!("{case}: {} of 10000 served", share(&run));
            assert!(share(&run) >= 9_900, "{case}: {}", share(&run));
        }
    }
}
