//! Who goes next, load, breakers and slots.

use std::time::Duration;

use sluicegate_config::{Retry, Slots};
use sluicegate_core::{BackoffRule, BasisPoints, BreakerRule, Lane, LoadLevel, RetryBudgetRule};

use crate::{SECRET, good, limits, seconds};

#[test]
fn who_goes_next_arrives() {
    let policy = good("everything.yaml");
    let lanes = Lane::ALL.map(|lane| policy.lanes.of(lane));
    assert_eq!(
        lanes.map(|lane| (lane.max_wait, lane.rule.waiting_max)),
        [(seconds(2), 40), (seconds(60), 30), (seconds(43_200), 20)]
    );
    assert_eq!(
        lanes.map(|lane| (lane.retry.attempts_max, lane.retry.total_max)),
        [(2, seconds(4)), (4, seconds(20)), (9, seconds(600))]
    );
    let rules = Lane::ALL.map(|lane| policy.lanes.rules().of(lane));
    assert_eq!(
        rules.map(|rule| (rule.min_share.points(), rule.leaves.points())),
        [(1_000, 100), (500, 3_000), (250, 6_000)]
    );
    assert_eq!(policy.queue.max_tickets.get(), 50);
    assert_eq!(policy.queue.max_bytes, 1_048_576);
    assert_eq!(
        policy.retry,
        Retry {
            backoff: BackoffRule {
                first: Duration::from_millis(100),
                max: seconds(2),
            },
            budget: RetryBudgetRule {
                share: BasisPoints::ZERO,
                floor_per_second: 0,
            },
        }
    );
    assert_eq!(
        policy.accounts[0].breaker,
        BreakerRule {
            failure_rate: BasisPoints::new(2_500).expect("below the whole"),
            calls_min: 8,
            over: seconds(20),
            consecutive: 0,
            open_for: seconds(3),
            half_open_successes: 2,
        }
    );
    let webhook = policy.operator.webhook.as_ref().expect("it is named");
    let url = "https://hooks.example.net/T1?sig=hunter2-OTHER_KEY";
    assert_eq!(webhook.url.expose(), url);
    let key = webhook.key.as_ref().map(|key| key.expose().as_str());
    assert_eq!(key, Some("hunter2-OPENAI_API_KEY"));
    assert!(!format!("{policy:?}").contains(SECRET), "a secret in Debug");
}

#[test]
fn each_level_of_load_arrives() {
    let load = good("everything.yaml").load;
    let lines = LoadLevel::ALL.map(|level| {
        let effects = load.effects(level);
        let output = effects.output_share.points();
        let effects = [
            effects.degrades_simple,
            effects.holds_batch,
            effects.answers_from_template,
        ];
        let rule = load.rule(level).map(|rule| {
            let budget = rule.budget_below.points();
            (budget, rule.wait_above, rule.breaker_open)
        });
        (rule, output, effects)
    });
    let none = [false; 3];
    assert_eq!(
        lines,
        [
            (None, 10_000, none),
            (Some((5_000, Duration::from_millis(500), true)), 9_000, none),
            (Some((3_000, seconds(2), true)), 8_000, [false, true, false]),
            (Some((2_000, seconds(3), false)), 7_000, none),
            (Some((0, Duration::MAX, true)), 6_000, none),
        ]
    );
}

#[test]
fn breakers_and_slots_come_from_outside_in() {
    let policy = good("routes.yaml");
    let said = policy.deployments.iter().map(|deployment| {
        let breaker = deployment.breaker;
        let (failures, open) = (breaker.consecutive, breaker.open_for.as_secs());
        (&*deployment.name, failures, open, deployment.slots)
    });
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            ("sonnet-eu", 3, 9, Slots::Limited),
            ("sonnet-us", 5, 30, Slots::Adaptive),
            ("gpt-*", 3, 5, Slots::Limited),
            ("gpt-4*", 5, 30, Slots::Adaptive),
            ("qwen", 5, 30, Slots::Adaptive),
        ]
    );
    assert_eq!(limits(&policy), Vec::<String>::new());
}
