//! Sending is not arriving: how unevenly requests arrive is learned, and what leaves late counts late.

use serde_json::{Value, json};

use crate::harness::{Fake, Gateway, SlowLine, chat, eventually, within};

/// More than systems take on their way to somebody who does not read.
const LARGE: usize = 6 << 20;
const SPREAD: &str = "sluicegate_arrival_spread_seconds";

fn config(provider: &str, base_url: &str, limit: &str) -> String {
    format!(
        "accounts:
  up:
    provider: {provider}
    base_url: {base_url}
    api_key: k
    limits:
      - {limit}
deployments: {{ m: {{ account: up }} }}
"
    )
}

fn ask(fake: &Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4, "fake": fake})
}

/// Forty calls at once. They arrive within 200 ms, and every other one is answered only 600 ms later.
async fn spread_learned(profile: &str) -> f64 {
    let fake = Fake::start(&format!(
        "provider: {{ profile: {profile}, limits: {{ rpm: 600000 }} }}\nanswer: {{ jitter_ms: 200, output_tokens: 1 }}"
    ))
    .await;
    let limit = "{ meter: requests, amount: 1000000, per: 24h, window: sliding, start: full }";
    let gateway = Gateway::start(&config(profile, &fake.base_url(), limit)).await;
    assert_eq!(gateway.metrics().await.sum(SPREAD, &[]), 0.1);
    let calls = (0..40).map(|call| {
        let client = gateway.client();
        let body = ask(&json!({"head_ms": call % 2 * 600}));
        tokio::spawn(async move { client.send(chat(&body)).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().status, 200);
    }
    let metrics = gateway.metrics().await;
    let labels = [
        ("limit", "account up requests/86400s"),
        ("meter", "requests"),
    ];
    metrics.sum(SPREAD, &labels)
}

#[tokio::test]
async fn the_spread_is_learned_where_answers_tell_how_long_the_work_took() {
    for profile in ["openai", "mistral"] {
        let spread = spread_learned(profile).await;
        // An eighth more than what was drawn of 200 ms, and nothing of the work.
        assert!((0.14..0.45).contains(&spread), "{profile}: {spread}");
    }
}

#[tokio::test]
async fn the_spread_stays_assumed_where_they_do_not() {
    assert_eq!(spread_learned("groq").await, 0.1);
}

#[tokio::test]
async fn a_large_body_on_a_slow_line_counts_from_when_it_left() {
    // The provider's window is shorter, so that a slow machine may take its time between here and there.
    let fake = Fake::start(
        "provider: { profile: naver, limits: [{ meter: requests, amount: 1, per: 1s, window: sliding }] }",
    )
    .await;
    let line = SlowLine::start(fake.address);
    // No header of it tells anything of its limits.
    let row = "providers: { silent: { like: naver, paths: { chat: /v1/chat/completions } } }";
    let limit = "{ meter: requests, amount: 1, per: 3s, window: sliding, start: full }";
    let config = config("silent", &format!("http://{}", line.address), limit);
    let gateway = Gateway::start(&format!("{row}\n{config}")).await;
    let mut large = ask(&json!({}));
    large["user"] = Value::from("x".repeat(LARGE));
    let client = gateway.client();
    let large = tokio::spawn(async move { client.send(chat(&large)).await });
    for used in [1.0, 0.0] {
        eventually("what is used of the limit", async || {
            let now = gateway.metrics().await.sum("sluicegate_limit_used", &[]);
            if now == used { Ok(()) } else { Err(now) }
        })
        .await;
    }
    line.open();
    let answer = within("the answer to the large one", large).await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    // The provider counts the large one from a moment ago, and so do we: the next one waits and is not refused.
    gateway.answers("m").await;
    assert_eq!(fake.accepted().await.len(), 2);
}
