//! Every key and every default, and what YAML and the environment do to them.

use std::path::Path;

use sluicegate_config::{Pattern, Price, Slots, Timeouts, UpstreamModel};
use sluicegate_core::{
    BackoffRule, BasisPoints, BreakerRule, Headroom, Lane, LaneRule, LaneRules, LoadRules,
    RetryBudgetRule,
};

use crate::{SECRET, good, limits, seconds, targets};

#[test]
fn a_minimal_file_takes_every_default() {
    let policy = good("minimal.yaml");
    let server = &policy.server;
    assert_eq!(server.listen.to_string(), "127.0.0.1:8080");
    assert!(server.is_loopback() && server.admin_is_shared());
    assert_eq!(server.body_max, 33_554_432);
    assert_eq!(server.header_timeout, seconds(75));
    assert_eq!(server.drain, seconds(30));
    let account = &policy.accounts[0];
    assert_eq!(account.api_keys.len(), 1);
    assert_eq!(account.api_keys[0].expose(), "hunter2-OPENAI_API_KEY");
    assert_eq!(account.base_url, "https://api.openai.com");
    assert_eq!(account.headroom, Headroom::Auto);
    assert_eq!(*account.charge, *account.provider.charge.default_rule());
    let lanes = Lane::ALL.map(|lane| policy.lanes.of(lane));
    assert_eq!(
        lanes.map(|lane| lane.max_wait),
        [seconds(5), seconds(120), seconds(86_400)]
    );
    assert_eq!(
        lanes.map(|lane| (lane.retry.attempts_max, lane.retry.total_max)),
        [(3, seconds(8)), (3, seconds(30)), (8, seconds(300))]
    );
    assert_eq!(
        lanes.map(|lane| lane.rule.waiting_max),
        [10_000, 8_000, 5_000]
    );
    for lane in Lane::ALL {
        let unbounded = LaneRule {
            waiting_max: usize::MAX,
            ..policy.lanes.rules().of(lane)
        };
        assert_eq!(unbounded, LaneRules::default().of(lane), "{lane}");
    }
    assert_eq!(policy.retry.backoff, BackoffRule::default());
    assert_eq!(policy.retry.budget, RetryBudgetRule::default());
    assert_eq!(policy.load, LoadRules::default());
    assert_eq!(policy.deployments[0].breaker, BreakerRule::default());
    assert_eq!(policy.deployments[0].slots, Slots::Limited);
    assert_eq!(policy.operator.webhook, None);
    assert_eq!(policy.stream.head_hold, seconds(10));
    assert_eq!(policy.estimates.sampled.points(), 100);
    assert_eq!(policy.queue.max_tickets.get(), 10_000);
    assert_eq!(policy.queue.max_bytes, 256 << 20);
    let (index, deployment) = policy.find("whatever").expect("a wildcard for all");
    assert_eq!(index, 0);
    assert_eq!(deployment.model, UpstreamModel::Requested);
    assert_eq!(
        deployment.timeouts,
        Timeouts {
            connect: seconds(5),
            head: seconds(120),
            idle: seconds(60),
            total: None,
        }
    );
    assert!(!format!("{policy:?}").contains(SECRET), "a secret in Debug");
}

#[test]
fn every_key_arrives() {
    let policy = good("everything.yaml");
    let server = &policy.server;
    assert_eq!(server.listen.to_string(), "0.0.0.0:9000");
    assert_eq!(server.admin_listen.to_string(), "127.0.0.1:9001");
    assert!(!server.is_loopback() && !server.admin_is_shared());
    assert_eq!(server.body_max, 1_048_576);
    assert_eq!(server.header_timeout, seconds(5));
    assert_eq!(server.drain, seconds(90));

    let account = &policy.accounts[0];
    let keys: Vec<&str> = account
        .api_keys
        .iter()
        .map(|key| key.expose().as_str())
        .collect();
    assert_eq!(keys, ["hunter2-OPENAI_API_KEY", "hunter2-OTHER_KEY"]);
    assert_eq!(account.base_url, "https://proxy.example.net/v1");
    let share = Headroom::Share(BasisPoints::new(9_750).expect("below the whole"));
    assert_eq!(account.headroom, share);
    assert_eq!(
        account.ca_file.as_deref(),
        Some(Path::new("/etc/ssl/proxy.pem"))
    );
    assert_eq!(
        Some(&*account.charge),
        account.provider.charge.rule("observed")
    );
    assert_eq!(
        account.timeouts,
        Timeouts {
            connect: seconds(1),
            head: seconds(30),
            idle: seconds(20),
            total: None,
        }
    );
    assert_eq!(
        account.families[0].models,
        [
            Pattern::Exact("gpt-5-mini".to_owned()),
            Pattern::Prefix("gpt-5-nano".to_owned()),
        ]
    );

    let (_, deployment) = policy.find("gpt-5.5").expect("by name");
    assert_eq!(
        deployment.model,
        UpstreamModel::Named("gpt-5.5-2026-01-01".to_owned())
    );
    assert_eq!(deployment.context, Some(400_000));
    assert_eq!(deployment.output_default, Some(500));
    assert_eq!(
        deployment.price,
        Some(Price {
            input_micros: 1_250_000,
            cached_input_micros: 125_000,
            output_micros: 10_000_000,
        })
    );
    assert_eq!(
        deployment.timeouts,
        Timeouts {
            connect: seconds(1),
            head: seconds(30),
            idle: seconds(5),
            total: Some(seconds(60)),
        }
    );
    let (_, mini) = policy.find("gpt-5-mini").expect("by name");
    assert_eq!(
        mini.price.map(|price| price.cached_input_micros),
        Some(250_000)
    );
    assert_eq!(policy.find("gpt-5.5-mini"), None);

    assert_eq!(policy.stream.head_hold, seconds(2));

    let ledgers = policy.ledgers();
    assert!(ledgers.limits.iter().all(|limit| limit.headroom == share));
    assert_eq!(
        limits(&policy),
        [
            "account openai-main requests/60s: 500 Bucket { per: 60s } Empty Keep",
            "account openai-main tokens/60s: 300000 Bucket { per: 60s } Empty Keep",
            "account openai-main family mini tokens/60s: 2000000 Bucket { per: 60s } Empty Keep",
            "deployment gpt-5.5 tokens/60s: 200000 Bucket { per: 60s } Empty Keep",
            "deployment gpt-5.5 concurrent: 64 Concurrent Full Usage",
        ]
    );
    assert_eq!(
        targets(&policy),
        [("gpt-5-mini", vec![0, 1, 2]), ("gpt-5.5", vec![0, 1, 3, 4])].into()
    );
}

#[test]
fn anchors_and_merge_keys_repeat_what_stands_elsewhere() {
    let policy = good("anchors.yaml");
    let keys: Vec<&str> = policy
        .accounts
        .iter()
        .map(|account| account.api_keys[0].expose().as_str())
        .collect();
    assert_eq!(keys, ["k-1", "k-2"]);
    assert_eq!(policy.accounts[1].limits[0].amount.get(), 500);
    assert_eq!(policy.deployments[0].price, policy.deployments[1].price);
}

#[test]
fn the_environment_is_expanded_in_values_also_inside_braces() {
    let policy = good("environment.yaml");
    assert_eq!(policy.server.listen.to_string(), "127.0.0.1:9100");
    assert_eq!(policy.server.drain, seconds(45));
    assert_eq!(policy.accounts[0].provider.id, "openai");
    assert_eq!(policy.accounts[0].api_keys[0].expose(), "${literal}");
    assert_eq!(policy.accounts[0].base_url, "https://api.example.net");
}
