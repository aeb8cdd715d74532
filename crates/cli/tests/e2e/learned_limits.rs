//! Limits that no configuration names are learned from the provider's answers.

use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use crate::harness::{Answer, Fake, Gateway, chat, eventually};

const REQUESTS: u64 = 60;
const TOKENS: u64 = 2_000;

async fn fake() -> Fake {
    Fake::start(&format!(
        "provider: {{ profile: openai, limits: {{ rpm: {REQUESTS}, tpm: {TOKENS} }} }}"
    ))
    .await
}

fn config(fake: &Fake, limits: &str) -> String {
    format!(
        "accounts: {{ up: {{ provider: openai, base_url: {}, api_key: k{limits} }} }}\n\
         deployments: {{ \"*\": {{ account: up }} }}\n",
        fake.base_url()
    )
}

/// A call that waits for at most two seconds; `output` is what it is charged.
fn hello(model: &str, output: u64) -> Request<Full<bytes::Bytes>> {
    let body = json!({
        "model": model, "messages": [{"role": "user", "content": "hi"}], "max_tokens": output,
    });
    let mut request = chat(&body);
    let wait = "2s".parse().unwrap();
    request.headers_mut().insert("x-sluicegate-max-wait", wait);
    request
}

/// Sends so many at once.
async fn burst(gateway: &Gateway, model: &'static str, output: u64, calls: usize) -> Vec<Answer> {
    let sent: Vec<_> = (0..calls)
        .map(|_| {
            let client = gateway.client();
            tokio::spawn(async move { client.send(hello(model, output)).await })
        })
        .collect();
    let mut answers = Vec::new();
    for answer in sent {
        answers.push(answer.await.unwrap());
    }
    answers
}

fn with_status(answers: &[Answer], status: u16) -> usize {
    answers
        .iter()
        .filter(|answer| answer.status == status)
        .count()
}

async fn usable(gateway: &Gateway, limit: &str) -> f64 {
    let metrics = gateway.metrics().await;
    metrics.sum("sluicegate_limit_usable", &[("limit", limit)])
}

#[tokio::test]
async fn after_the_first_answer_no_more_is_sent_than_fits() {
    for (output, fits) in [
        // Requests bind.
        (10, REQUESTS),
        // Tokens bind.
        (100, TOKENS / 100),
    ] {
        let fake = fake().await;
        let gateway = Gateway::start(&config(&fake, "")).await;
        let first = burst(&gateway, "m", output, 1).await;
        assert_eq!(with_status(&first, 200), 1);
        assert_eq!(
            usable(&gateway, "account up model m learned requests/60s").await,
            60.0
        );
        assert_eq!(
            usable(&gateway, "account up model m learned tokens/60s").await,
            2_000.0
        );
        let answers = burst(&gateway, "m", output, 120).await;
        let (served, refused) = (with_status(&answers, 200), with_status(&answers, 429));
        assert_eq!(served + refused, 120);
        let fits = usize::try_from(fits).unwrap();
        assert!(
            (fits - 3..=fits + 6).contains(&served),
            "{served} of {fits}"
        );
        assert_eq!(fake.count("rejected").await, 0);
    }
}

#[tokio::test]
async fn what_was_in_flight_at_first_counts() {
    let fake = fake().await;
    let gateway = Gateway::start(&config(&fake, "")).await;
    // Nothing is known, so all go out; those beyond the limit are refused up there.
    let first = burst(&gateway, "m", 100, 30).await;
    // Twenty fit, or nineteen where an answer was read before the last left: an eightieth of tokens is left free.
    assert!(with_status(&first, 200) >= 19);
    let refused = fake.count("rejected").await;
    assert!(refused <= 10, "{refused}");
    let second = burst(&gateway, "m", 100, 30).await;
    assert!(
        with_status(&second, 429) >= 25,
        "the minute's tokens are gone"
    );
    assert_eq!(fake.count("rejected").await, refused);
}

#[tokio::test]
async fn what_waits_already_is_held_to_what_is_learned_meanwhile() {
    let fake = fake().await;
    let gateway = Gateway::start(&config(&fake, ", limits: { concurrent: 1 }")).await;
    // One goes out; the others wait for its slot when its answer tells that the minute holds 19 more.
    let answers = burst(&gateway, "m", 100, 40).await;
    let served = with_status(&answers, 200) as u64;
    assert!(served + 3 >= TOKENS / 100 && served < 40, "{served}");
    assert_eq!(fake.count("rejected").await, 0);
    gateway.idle().await;
}

#[tokio::test]
async fn each_model_has_its_own_and_a_configured_limit_replaces_it() {
    let fake = fake().await;
    let gateway = Gateway::start(&config(&fake, "")).await;
    burst(&gateway, "one", 10, 1).await;
    burst(&gateway, "two", 10, 1).await;
    let requests = |model: &str| format!("account up model {model} learned requests/60s");
    let tokens = |model: &str| format!("account up model {model} learned tokens/60s");
    for model in ["one", "two"] {
        assert_eq!(usable(&gateway, &requests(model)).await, 60.0, "{model}");
    }
    gateway.rewrite(&config(&fake, ", limits: { rpm: 30 }"));
    eventually("a configured limit", async || {
        match usable(&gateway, "account up requests/60s").await {
            30.0 => Ok(()),
            other => Err(other),
        }
    })
    .await;
    for model in ["one", "two"] {
        assert_eq!(usable(&gateway, &requests(model)).await, 0.0, "{model}");
        assert_eq!(usable(&gateway, &tokens(model)).await, 2_000.0, "{model}");
    }
    let answers = burst(&gateway, "one", 10, 1).await;
    assert_eq!(with_status(&answers, 200), 1);
    let shown: Value = fake.stats().await;
    assert_eq!(shown["rejected"], 0, "{shown}");
}
