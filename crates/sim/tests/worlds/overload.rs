//! Three times as many calls as the provider takes, for ten minutes, over a network of 0 to 20 ms:
//! no 429 ever, and how much of what the provider would have taken was sent.
//!
//! The share is counted against the most that the provider's rule allows in ten minutes at all, as
//! if calls came in single tokens over a network that always takes the same time. Two things cost
//! some of it. A call that does not fit whole leaves its place empty, unless a smaller one may pass
//! it: of a minute's 300,000 tokens that is part of one call, of a second's 5,000
//! about 3.5 %. And whatever may not be exceeded in any interval of a length is held 20 ms longer
//! than that, because that much later it may arrive: 2 % of a second, 0.2 % of ten.

use std::ops::Range;

use sluicegate_core::{Amounts, Meter, Refusal};
use sluicegate_fake::model::{Limits, Quantum, Window};
use sluicegate_sim::workload::Turn;
use sluicegate_sim::{Call, Scenario, check};

use crate::run;

const AMOUNT: u64 = 300_000;
const MINUTES: u64 = 10;
const PATIENCE_NANOS: u64 = 25_000_000_000;
const SEEDS: Range<u64> = 0..2;
/// A thousand on average.
const UNEVEN: (u64, u64) = (1, 1_997);
const EVEN: (u64, u64) = (999, 999);

#[test]
fn overload_makes_no_429_and_hardly_any_waste() {
    use Window::{Bucket, Fixed, Pacing, Sliding};
    // In hundredths of a percent.
    for (window, quantum, prompts, share_min) in [
        (Fixed, None, UNEVEN, 9_950),
        (Sliding, None, UNEVEN, 9_950),
        (Bucket, None, UNEVEN, 9_950),
        (Pacing, None, UNEVEN, 9_950),
        (Fixed, Some("10s"), UNEVEN, 9_950),
        (Sliding, Some("10s"), UNEVEN, 9_950),
        (Bucket, Some("10s"), UNEVEN, 9_950),
        (Fixed, Some("1s"), EVEN, 9_790),
        (Sliding, Some("1s"), EVEN, 9_790),
        (Bucket, Some("1s"), EVEN, 9_790),
        (Fixed, Some("1s"), UNEVEN, 9_400),
        (Sliding, Some("1s"), UNEVEN, 9_400),
        (Bucket, Some("1s"), UNEVEN, 9_400),
    ] {
        for seed in SEEDS {
            let share = share_served(&overload(window, quantum, prompts, seed));
            let row = format!("{window:?}, quantum {quantum:?}, prompts {prompts:?}, seed {seed}");
            println!("{row}: {share} of 10000 served");
            assert!(
                share >= share_min,
                "{row}: only {share} of 10000 were served"
            );
            assert!(
                share <= 10_000,
                "{row}: {share} of 10000 is more than there is"
            );
        }
    }
}

/// 900 calls a minute of a thousand tokens on average, where 300 fit.
fn overload(
    window: Window,
    quantum: Option<&str>,
    prompt_tokens: (u64, u64),
    seed: u64,
) -> Scenario {
    let text = "
        provider: { charge: prompt, limits: [{ meter: tokens, amount: 300000, per: 60s }] }
        transit: { min_ms: 0, max_ms: 20 }
        arrivals:
          - count: 9000
            gap_us: 66666
            prompt_tokens: [0, 0]
            output_max: 0
            answer_tokens: 10
            patience_ms: 25000";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    let mut limits = scenario.provider.limits();
    limits[0].window = window;
    limits[0].quantum = quantum.map(|per| Quantum {
        per: per.parse().expect("a period"),
        any: true,
    });
    scenario.provider.limits = Limits::Full(limits);
    scenario.arrivals[0].prompt_tokens = prompt_tokens;
    scenario.end_ms = Some(MINUTES * 60_000);
    scenario.seed = seed;
    scenario
}

/// Plays it, and tells how much of the most that is possible was served, in hundredths of a
/// percent.
fn share_served(scenario: &Scenario) -> u64 {
    // The prompt, and one token for the choice.
    let charge = |turn: &Turn| Amounts::one_request().with(Meter::Tokens, turn.prompt_tokens + 1);
    let run = run(scenario, charge);
    assert_eq!(check::rejections(&run), 0, "seed {}", scenario.seed);
    for call in &run.calls {
        assert_patience_is_kept(call);
    }
    let limit = &scenario.provider.limits()[0];
    // A bucket gives what it held at first and then refills; a quantum keeps it from doing so.
    let begins_with = match (limit.window, limit.quantum) {
        (Window::Bucket | Window::Pacing, None) => AMOUNT,
        _ => 0,
    };
    check::tokens_charged(&run) * 10_000 / (begins_with + MINUTES * AMOUNT)
}

/// Nobody starts after his deadline, later than was promised to him, or is refused
/// where he could have started in time.
fn assert_patience_is_kept(call: &Call) {
    let deadline = call.came.as_nanos() + PATIENCE_NANOS;
    if let Some(started) = call.started {
        assert!(started.as_nanos() <= deadline, "{call:?}");
        assert!(
            call.promised.is_none_or(|promised| started <= promised),
            "{call:?}"
        );
    }
    match call.refused {
        None => {}
        Some(Refusal::Deadline {
            start: Some(start), ..
        }) => {
            assert!(start.as_nanos() > deadline, "{call:?}");
        }
        Some(other) => panic!("{other:?}: {call:?}"),
    }
}
