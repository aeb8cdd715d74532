//! Where output counts as it is produced, a gateway that knows how long answers are uses the limit that one which goes by the
//! maxima of requests wastes, and meets no 429 for it.

use std::num::NonZeroU64;

use sluicegate_catalog::{ChargeRule, Provider, provider};
use sluicegate_core::Limit;
use sluicegate_sim::mirror::{Demand, Mirror, Transits};
use sluicegate_sim::workload::Arrivals;
use sluicegate_sim::{Call, Run, Scenario, Transit, World, demand};

use crate::MINUTE;

const OUTPUT_PER_MINUTE: u64 = 60_000;
const MINUTES: u64 = 10;
/// Two until the lengths are known, and two more: what was reserved by the maxima comes back at once then, though the bucket has
/// refilled some of it meanwhile, and the provider turns away about ten of what starts on that.
const WARM_UP_MINUTES: u64 = 4;
/// Far above every answer, as clients write it.
const OUTPUT_MAX: u64 = 16_000;
/// Equally often; 575 on average, and nine of ten no longer than 1,500.
const ANSWERS: [u64; 14] = [
    20, 40, 60, 80, 100, 150, 200, 300, 400, 500, 700, 1_000, 1_500, 3_000,
];
/// Of each: three times what the limit allows.
const GAP_US: u64 = 2_680_000;

#[test]
fn learned_lengths_use_what_maxima_waste() {
    for seed in 0..3 {
        let rule = row().charge.default_rule();
        let by_maximum = demand::of_model(rule, "model");
        let unlearned = play(seed, rule, Box::new(move |turn, _| by_maximum(turn)));
        let learned = play(seed, rule, Box::new(demand::learned(rule, "model")));
        for run in [&unlearned, &learned] {
            assert_eq!(rejections(run), 0, "seed {seed}");
        }
        let shares = (share(&unlearned), share(&learned));
        let bounds = (8_000..9_200, 9_700..10_500);
        assert!(
            bounds.0.contains(&shares.0) && bounds.1.contains(&shares.1),
            "seed {seed}: {shares:?}"
        );
    }
}

fn play(seed: u64, rule: &ChargeRule, demand: Demand<'_>) -> Run {
    let scenario = Scenario {
        model: "model".to_owned(),
        measure_from_ms: WARM_UP_MINUTES * 60_000,
        end_ms: Some(MINUTES * 60_000),
        transit: Transit {
            min_ms: 0,
            max_ms: 80,
        },
        arrivals: ANSWERS.map(arrivals).to_vec(),
        seed,
        ..Scenario::from_yaml(&format!(
            "provider: {{ profile: anthropic, limits: {{ otpm: {OUTPUT_PER_MINUTE} }} }}"
        ))
        .unwrap_or_else(|error| panic!("{error}"))
    };
    let mirror = Mirror {
        limits: vec![limit()],
        demand,
        counted: &demand::settled_for(rule, "model"),
        reads: None,
        transits: Transits::Assumed,
    };
    World::mirrored(&scenario, mirror)
        .expect("the core can hold to a row")
        .run()
        .unwrap_or_else(|stall| panic!("seed {seed}: {stall}"))
}

fn arrivals(answer_tokens: u64) -> Arrivals {
    Arrivals {
        count: MINUTES * 60_000_000 / GAP_US,
        gap_us: GAP_US,
        prompt_tokens: (100, 300),
        output_max: OUTPUT_MAX,
        answer_tokens,
        patience_ms: Some(10_000),
        ..Arrivals::default()
    }
}

fn row() -> &'static Provider {
    provider("anthropic").expect("a row of that name")
}

fn limit() -> Limit {
    let amount = NonZeroU64::new(OUTPUT_PER_MINUTE).expect("it is not zero");
    let template = row().limit("otpm", amount).expect("the row has it");
    template.named("otpm".into())
}

fn rejections(run: &Run) -> usize {
    let measured = |call: &&Call| {
        call.started
            .is_some_and(|at| at.as_nanos() >= WARM_UP_MINUTES * MINUTE)
    };
    let calls = run.calls.iter().filter(measured);
    calls.filter(|call| call.rejected_by.is_some()).count()
}

/// Of what was possible, in hundredths of a percent.
fn share(run: &Run) -> u64 {
    let [served] = &run.served[..] else {
        panic!("one limit: {:?}", run.served);
    };
    served.share()
}
