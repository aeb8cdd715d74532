//! Upstreams that publish no number of slots: how many requests at once they are given.

use serde_json::{Value, json};

use crate::harness::{Fake, Gateway, Output, chat, sluicegate};

const SLOTS: &str = "account up model m concurrent adaptive";

fn config(fake: &Fake) -> String {
    format!(
        "accounts: {{ up: {{ provider: vllm, base_url: \"{}\", limits: {{ concurrent: auto }} }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    )
}

fn ask(fake: &Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4, "fake": fake})
}

/// How many may be in flight now.
async fn bound(gateway: &Gateway) -> f64 {
    let metrics = gateway.metrics().await;
    metrics.sum("sluicegate_limit_usable", &[("limit", SLOTS)])
}

#[tokio::test]
async fn a_slow_upstream_gets_no_more_at_once_than_the_bound_which_follows_its_answers() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&config(&fake)).await;
    assert_eq!(bound(&gateway).await, 4.0);
    let call = || {
        let client = gateway.client();
        let body = ask(&json!({"head_ms": 1_000_000}));
        tokio::spawn(async move { drop(client.open(chat(&body)).await) })
    };
    let slow: Vec<_> = (0..10).map(|_| call()).collect();
    fake.in_flight(4).await;
    gateway.waiting(6).await;
    assert_eq!(fake.count("accepted").await, 4);
    slow.iter().for_each(tokio::task::JoinHandle::abort);
    gateway.idle().await;

    // Whoever answers without slowing down gets more.
    let client = gateway.client();
    let quick: Vec<_> = (0..10)
        .map(|_| {
            let body = ask(&json!({"head_ms": 300}));
            tokio::spawn(async move { client.send(chat(&body)).await.status })
        })
        .collect();
    for call in quick {
        assert_eq!(call.await.unwrap(), 200);
    }
    let grown = bound(&gateway).await;
    assert!(grown > 4.0, "{grown}");

    // Whoever will not have it gets less.
    fake.next_fails(&json!({"status": 503})).await;
    let answer = gateway.chat(&ask(&json!({}))).await;
    assert!(answer.status == 503 || answer.status == 200, "{answer:?}");
    let fallen = bound(&gateway).await;
    assert!(fallen < grown, "{fallen} after {grown}");
    gateway.idle().await;
}

#[tokio::test]
async fn check_says_of_slots_that_are_found_out_not_that_nothing_is_held_back() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&config(&fake)).await;
    let path = gateway.folder.path("gateway.yaml");
    let path = path.to_str().unwrap();
    let output = Output::of(&mut sluicegate(&["check", "--config", path])).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(!output.out.contains("has no limits"), "{output:?}");
}
