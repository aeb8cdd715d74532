//! What a provider tells of its charges is held against ours.

use serde_json::{Value, json};

use crate::harness::{Fake, Gateway, chat};

/// A prompt that the rule charges 10,001 tokens: 40,000 bytes of text and 4 of the role.
fn long(extra: Value) -> Value {
    let mut body =
        json!({"model": "m", "messages": [{"role": "user", "content": "x".repeat(40_000)}]});
    let Value::Object(members) = extra else {
        panic!("members are an object");
    };
    body.as_object_mut().unwrap().extend(members);
    body
}

fn config(fake: &Fake, provider: &str) -> String {
    // A limit that never binds, so that none is learned.
    format!(
        "accounts:
  up:
    provider: {provider}
    base_url: {}
    api_key: k
    limits:
      - {{ meter: tokens, amount: 1000000000, per: 24h, window: sliding, start: full }}
deployments: {{ m: {{ account: up }} }}
lanes: {{ api: {{ max_attempts: 1 }} }}
",
        fake.base_url()
    )
}

async fn drift(gateway: &Gateway, meter: &str) -> Option<f64> {
    let metrics = gateway.metrics().await;
    let labels = [("account", "up"), ("meter", meter)];
    metrics
        .has("sluicegate_ledger_drift")
        .then(|| metrics.sum("sluicegate_ledger_drift", &labels))
}

fn is_a_tenth(drift: Option<f64>) -> bool {
    // 11,001 and 1 for the choice, for 10,001 and 1.
    drift.is_some_and(|drift| (0.099..0.101).contains(&drift))
}

#[tokio::test]
async fn what_two_answers_say_is_left_shows_the_charge() {
    // Each answer takes longer than its charge takes to come back, 22 ms, so the limit is whole before the next.
    let fake = Fake::start(
        "provider: { profile: openai, limits: { rpm: 60000, tpm: 30000000 }, estimate: { bias: 0.1 } }\n\
         answer: { output_tokens: 20, ms_per_token: 5 }",
    )
    .await;
    let gateway = Gateway::start(&config(&fake, "openai")).await;
    for _ in 0..3 {
        let answer = gateway
            .client()
            .send(chat(&long(json!({"stream": true}))))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let tokens = drift(&gateway, "tokens").await;
    assert!(is_a_tenth(tokens), "{tokens:?}");
    assert_eq!(drift(&gateway, "requests").await, Some(0.0));
}

#[tokio::test]
async fn the_text_of_a_refusal_shows_the_charge() {
    let fake = Fake::start(
        "provider: { profile: openai, limits: { tpm: 15000 }, estimate: { bias: 0.1 } }",
    )
    .await;
    let gateway = Gateway::start(&config(&fake, "openai")).await;
    let statuses = [200, 429];
    for status in statuses {
        let answer = gateway.chat(&long(json!({}))).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    let tokens = drift(&gateway, "tokens").await;
    assert!(is_a_tenth(tokens), "{tokens:?}");
}

#[tokio::test]
async fn a_header_that_tells_the_usage_agrees_with_it() {
    let fake = Fake::start(
        "provider: { profile: mistral, limits: { tpm: 30000000 }, estimate: { bias: 0.1 } }",
    )
    .await;
    let gateway = Gateway::start(&config(&fake, "mistral")).await;
    gateway.answers("m").await;
    assert_eq!(drift(&gateway, "tokens").await, Some(0.0));
}
