//! Editing the configuration of a gateway that serves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::harness::{Fake, Gateway, Metrics, chat, eventually};

fn config(fake: &Fake, amount: u64, deployments: &str) -> String {
    format!(
        "accounts:
  up:
    provider: openai
    base_url: {}
    limits:
      - {{ meter: requests, amount: {amount}, per: 24h, window: sliding, start: full }}
      - {{ meter: concurrent, amount: 3 }}
deployments: {{ {deployments} }}
",
        fake.base_url()
    )
}

fn hello(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "hi"}], "stream": true})
}

async fn reloads(gateway: &Gateway, outcome: &str, times: u32) -> Metrics {
    eventually("a reload", async || {
        let metrics = gateway.metrics().await;
        let seen = metrics.sum("sluicegate_config_reloads_total", &[("outcome", outcome)]);
        if seen >= f64::from(times) {
            Ok(())
        } else {
            Err(seen)
        }
    })
    .await;
    // A page may show the limits as they were a moment before its counters.
    gateway.metrics().await
}

fn usable(metrics: &Metrics) -> f64 {
    metrics.sum("sluicegate_limit_usable", &[("meter", "requests")])
}

#[tokio::test]
async fn edits_under_load_lose_no_request_and_no_count() {
    let fake = Fake::start("answer: { output_tokens: 4, ms_per_token: 2 }").await;
    let gateway = Gateway::start(&config(&fake, 100_000, "m: { account: up }")).await;
    let stop = Arc::new(AtomicBool::new(false));
    // More than there are slots for, so that some always wait in line while the configuration changes.
    let load: Vec<_> = (0..6)
        .map(|_| {
            let (client, stop) = (gateway.client(), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut answered = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    let answer = client.send(chat(&hello("m"))).await;
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    assert_eq!(answer.events().last().map(String::as_str), Some("[DONE]"));
                    answered += 1;
                }
                answered
            })
        })
        .collect();
    let before = eventually("some calls", async || {
        let metrics = gateway.metrics().await;
        let used = metrics.sum("sluicegate_limit_used", &[("meter", "requests")]);
        if used > 20.0 { Ok(used) } else { Err(used) }
    })
    .await;

    gateway.rewrite(&config(&fake, 200_000, "m: { account: up }"));
    let metrics = reloads(&gateway, "ok", 1).await;
    assert_eq!(usable(&metrics), 200_000.0);
    assert!(metrics.sum("sluicegate_limit_used", &[("meter", "requests")]) >= before);

    gateway.replace(&config(
        &fake,
        200_000,
        "m: { account: up }, n: { account: up }",
    ));
    let metrics = reloads(&gateway, "ok", 2).await;
    assert!(metrics.sum("sluicegate_limit_used", &[("meter", "requests")]) >= before);
    gateway.answers("n").await;
    let models = gateway.client().get_json("/v1/models").await;
    let ids: Vec<&Value> = models["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| &model["id"])
        .collect();
    assert_eq!(ids, ["m", "n"]);

    gateway.replace("accounts: { up: { provider: nobody } }\ndeployments: { m: { acount: up } }\n");
    let metrics = reloads(&gateway, "refused", 1).await;
    assert_eq!(usable(&metrics), 200_000.0, "what was in force stays so");
    gateway.process.complains("stays as it was").await;
    for part in ["gateway.yaml:1", "nobody", "gateway.yaml:2", "acount"] {
        gateway.process.complains(part).await;
    }
    gateway.answers("n").await;

    gateway.replace(&config(
        &fake,
        150_000,
        "n: { account: up }, m: { account: up }",
    ));
    let metrics = reloads(&gateway, "ok", 3).await;
    assert_eq!(usable(&metrics), 150_000.0, "a mended file is taken again");

    stop.store(true, Ordering::Relaxed);
    let mut answered = 0;
    for task in load {
        answered += task.await.unwrap();
    }
    gateway.idle().await;
    // And the two calls to the other deployment, which shares the account's limit.
    assert_eq!(fake.count("accepted").await, answered + 2);
    let metrics = gateway.metrics().await;
    let used = metrics.sum("sluicegate_limit_used", &[("meter", "requests")]);
    assert_eq!(
        used,
        (answered + 2) as f64,
        "not one was forgotten or counted twice"
    );
}

#[tokio::test]
async fn an_edit_right_after_the_start_is_not_missed() {
    let fake = Fake::start("").await;
    for _ in 0..10 {
        let gateway = Gateway::start(&config(&fake, 1, "m: { account: up }")).await;
        gateway.replace(&config(&fake, 2, "m: { account: up }"));
        assert_eq!(usable(&reloads(&gateway, "ok", 1).await), 2.0);
    }
}

#[tokio::test]
async fn a_raised_limit_lets_go_who_waits_for_it() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&config(&fake, 1, "m: { account: up }")).await;
    gateway.answers("m").await;
    let client = gateway.client();
    let mut request = chat(&hello("m"));
    request
        .headers_mut()
        .insert("x-sluicegate-max-wait", "100h".parse().unwrap());
    let waits = tokio::spawn(async move { client.send(request).await.status });
    gateway.waiting(1).await;
    gateway.replace(&config(&fake, 2, "m: { account: up }"));
    assert_eq!(waits.await.unwrap(), 200);
    gateway.idle().await;
}

#[tokio::test]
async fn a_request_whose_deployment_is_taken_away_is_told_so() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&config(&fake, 1, "m: { account: up }")).await;
    gateway.answers("m").await;
    let client = gateway.client();
    let mut request = chat(&hello("m"));
    request
        .headers_mut()
        .insert("x-sluicegate-max-wait", "100h".parse().unwrap());
    let waits = tokio::spawn(async move { client.send(request).await });
    gateway.waiting(1).await;
    gateway.replace(&config(&fake, 1, "n: { account: up }"));
    let answer = waits.await.unwrap();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (404, "model_not_found"),
        "{answer:?}"
    );
    gateway.idle().await;
}
