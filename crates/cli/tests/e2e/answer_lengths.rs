//! Where a provider counts output as it is produced, requests are admitted by how long answers have been.

use serde_json::{Value, json};

use crate::harness::{Fake, Gateway, eventually};

/// `settings` of the account, and the deployments.
fn config(fake: &Fake, deployments: &str) -> String {
    format!(
        "accounts:
  up:
    provider: mistral
    base_url: {}
    api_key: k
    limits:
      - {{ meter: tokens, amount: 1000000, per: 24h, window: sliding, start: full, settle: usage }}
deployments: {{ {deployments} }}
",
        fake.base_url()
    )
}

fn hello(model: &str, max_tokens: u64) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "hi"}], "max_tokens": max_tokens})
}

/// What one more call with this maximum reserves.
async fn reserved(gateway: &Gateway, model: &str, max_tokens: u64) -> f64 {
    let before = reserved_so_far(gateway).await;
    let answer = gateway.chat(&hello(model, max_tokens)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    reserved_so_far(gateway).await - before
}

async fn reserved_so_far(gateway: &Gateway) -> f64 {
    let metrics = gateway.metrics().await;
    metrics.sum("llm_tokens_reserved_total", &[])
}

#[tokio::test]
async fn a_request_is_admitted_for_what_its_answer_will_be() {
    let fake = Fake::start("answer: { output_tokens: 40 }").await;
    let gateway = Gateway::start(&config(&fake, "\"m*\": { account: up }")).await;
    // Before anything is known, the request's own maximum is what it may cost.
    let input = reserved(&gateway, "m-one", 1_000).await - 1_000.0;
    assert!((1.0..50.0).contains(&input), "{input}");
    for _ in 1..32 {
        assert_eq!(
            reserved(&gateway, "m-one", 1_000).await,
            input + 1_000.0,
            "too few answers tell nothing"
        );
    }
    // 40 tokens are in the bucket of 40 and 41.
    assert_eq!(reserved(&gateway, "m-one", 1_000).await, input + 41.0);
    assert_eq!(reserved(&gateway, "m-one", 16).await, input + 16.0);
    // Another model of the wildcard is another book.
    assert_eq!(reserved(&gateway, "m-two", 1_000).await, input + 1_000.0);
    let labels = [("provider", "mistral"), ("model", "m*")];
    let shown = gateway.metrics().await;
    assert_eq!(
        shown.sum("sluicegate_answer_tokens_expected", &labels),
        41.0
    );

    // A fifth more than nearly all of both models' answers, which 16 tokens cut once.
    let route = [("route", "m*")];
    let cap = shown.sum("sluicegate_output_cap_recommended", &route);
    assert_eq!(cap, 50.0);

    // A reload forgets nothing.
    gateway.rewrite(&config(
        &fake,
        "\"m*\": { account: up }, other: { account: up }",
    ));
    eventually("a reload", async || {
        let metrics = gateway.metrics().await;
        match metrics.sum("sluicegate_config_reloads_total", &[("outcome", "ok")]) {
            0.0 => Err("none"),
            _ => Ok(()),
        }
    })
    .await;
    assert_eq!(reserved(&gateway, "m-one", 1_000).await, input + 41.0);
}
