//! Ten agent jobs that start together, under limits that they exceed together: what providers answer with 429s, and we do not.
//!
//! The fake counts a minute scaled to half a minute, and a sixtieth of it in any half second, as the strictest reading of a
//! provider's rules does; the gateway is told the same. These tests run alone where the runner can arrange that: a request
//! that a busy machine delays by more than the assumed spread of arrival is what they cannot forgive.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::{Fake, Gateway, python};

/// Calls that reached the gateway this much apart, in seconds, must leave it in the same order. Closer ones may have crossed on
/// their way, between the SDK's stopwatch and the socket.
const CROSSING_S: f64 = 0.25;
/// Calls that start together cross by less than that on their way to the fake. To overtake is to start 600 ms earlier.
const CROSSING_NS: u64 = 400_000_000;

const AZURE_FAKE: &str = "
provider:
  profile: azure
  charge: sum
  limits:
    - { meter: requests, amount: 300, per: 30s, window: fixed, quantum: { per: 500ms, any: true } }
    - { meter: tokens, amount: 300000, per: 30s, window: fixed }
";

fn azure(fake: &Fake) -> String {
    format!(
        "accounts:
  up:
    provider: azure
    base_url: http://{}
    limits:
      - {{ meter: requests, amount: 300, per: 30s, window: fixed, phase: calendar, quantum: 500ms, start: full }}
      - {{ meter: tokens, amount: 300000, per: 30s, window: fixed, phase: calendar, start: full }}
deployments: {{ gpt-5.5: {{ account: up }} }}
",
        fake.address
    )
}

async fn jobs(gateway: &Gateway, max_tokens: u32) -> Value {
    let report = python(
        "agent_jobs.py",
        &[
            "--base-url",
            &gateway.base_url(),
            "--max-tokens",
            &max_tokens.to_string(),
        ],
    )
    .await;
    assert_eq!(report["jobs_done"], 10);
    assert_eq!(report["rejected_429"], 0);
    assert_eq!(report["calls"].as_array().unwrap().len(), 50);
    report
}

/// All calls were let in, and no limit was ever exceeded, as the fake reckons from its log alone.
async fn nothing_was_refused(fake: &Fake) -> Value {
    let stats = fake.stats().await;
    assert_eq!(
        (&stats["accepted"], &stats["rejected"], &stats["invalid"]),
        (&50.into(), &0.into(), &0.into()),
        "{stats}"
    );
    stats
}

#[tokio::test]
async fn jobs_that_fit_the_window_meet_no_429_and_keep_their_order() {
    let fake = Fake::start(AZURE_FAKE).await;
    let gateway = Gateway::start(&azure(&fake)).await;
    let report = jobs(&gateway, 512).await;
    let stats = nothing_was_refused(&fake).await;
    // Five turns of 1,500 to 5,500 tokens and 512 each, ten times: all of it fits one window, five requests in a half second.
    // The name of the role, `user`, is a token more.
    assert_eq!(stats["tokens_charged"], 10 * (17_500 + 5 + 5 * 512));
    assert_eq!(
        stats["limits"][0]["quantum"]["peak"], 5,
        "the line is worked off at full speed"
    );

    let arrived: BTreeMap<String, u64> = fake
        .accepted()
        .await
        .iter()
        .map(|call| {
            let prompt = call["body"]["messages"][0]["content"].as_str().unwrap();
            (
                prompt[..16].to_owned(),
                call["arrived_unix_ns"].as_u64().unwrap(),
            )
        })
        .collect();
    let mut calls: Vec<(f64, u64)> = report["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            let name = format!(
                "job {:03} turn {:03}",
                call["job"].as_u64().unwrap(),
                call["turn"].as_u64().unwrap()
            );
            (call["start_s"].as_f64().unwrap(), arrived[&name])
        })
        .collect();
    calls.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut compared = 0;
    for (place, &(started, arrived)) in calls.iter().enumerate() {
        for &(later_started, later_arrived) in &calls[place + 1..] {
            if later_started > started + CROSSING_S {
                compared += 1;
                assert!(
                    later_arrived + CROSSING_NS > arrived,
                    "a call of {later_started} s overtook one of {started} s: {report}"
                );
            }
        }
    }
    assert!(compared > 500, "{compared} pairs far enough apart");
    gateway.idle().await;
}

#[tokio::test]
async fn jobs_that_exceed_the_window_wait_for_the_next_one() {
    let fake = Fake::start(AZURE_FAKE).await;
    let gateway = Gateway::start(&azure(&fake)).await;
    jobs(&gateway, 4_096).await;
    let stats = nothing_was_refused(&fake).await;
    let charged = 10 * (17_500 + 5 + 5 * 4_096);
    assert_eq!(stats["tokens_charged"], charged);
    let fullest = stats["limits"][1]["peak_aligned"].as_u64().unwrap();
    assert!(
        fullest <= 300_000 && charged > 300_000,
        "what did not fit waited for the next window: {stats}"
    );
    gateway.idle().await;
}

#[tokio::test]
async fn jobs_meet_no_429_under_openais_documented_rule() {
    let fake = Fake::start(
        "
provider:
  profile: openai
  limits:
    - { meter: requests, amount: 100, per: 10s, window: bucket }
    - { meter: tokens, amount: 100000, per: 10s, window: bucket }
",
    )
    .await;
    let gateway = Gateway::start(&format!(
        "accounts:
  up:
    provider: openai
    base_url: {}
    limits:
      - {{ meter: requests, amount: 100, per: 10s, window: bucket, start: full }}
      - {{ meter: tokens, amount: 100000, per: 10s, window: bucket, start: full }}
deployments: {{ gpt-5.5: {{ account: up }} }}
",
        fake.base_url()
    ))
    .await;
    jobs(&gateway, 4_096).await;
    let stats = nothing_was_refused(&fake).await;
    // The larger of the maximum and the prompt with a token for the choice and one for the name of the role: 4,096 three times, then 4,502 and 5,502.
    assert_eq!(stats["tokens_charged"], 10 * (3 * 4_096 + 4_502 + 5_502));
    gateway.idle().await;
}
