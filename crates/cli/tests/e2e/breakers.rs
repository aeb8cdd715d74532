//! Upstreams that are in trouble are left alone, and come back.

use serde_json::json;
use tokio::task::JoinSet;

use crate::harness::{Fake, Front, Gateway, chat, eventually};
use crate::routes::{Pair, hello, with};

const ALWAYS_500: &str = "faults: [{ status: 500, times: 10000 }]";

#[tokio::test]
async fn clients_see_nothing_of_a_dead_upstream_and_it_is_left_alone() {
    let pair = Pair::start(ALWAYS_500, "", "", "").await;
    for call in 0..25 {
        let answer = pair.gateway.chat(&hello("r", false)).await;
        assert_eq!(answer.status, 200, "{call}: {}", answer.text());
        assert_eq!(answer.header("x-sluicegate-model"), Some("b"), "{call}");
    }
    assert_eq!(pair.calls().await, (5, 25));
    let metrics = pair.gateway.metrics().await;
    for (deployment, state, is) in [
        ("a", "open", 1.0),
        ("a", "closed", 0.0),
        ("b", "closed", 1.0),
    ] {
        let labels = [("deployment", deployment), ("state", state)];
        assert_eq!(
            metrics.sum("sluicegate_breaker_state", &labels),
            is,
            "{labels:?}"
        );
    }
    pair.gateway.process.complains("the breaker opens").await;
    // Where there is no other, it is asked all the same: to fail once more is better than to be refused for a guess.
    assert_eq!(pair.gateway.chat(&hello("only", false)).await.status, 502);
    assert!(pair.calls().await.0 > 5);
    pair.gateway.idle().await;
}

#[tokio::test]
async fn the_only_upstream_is_not_locked_out_for_a_failure() {
    let fake = Fake::start("faults: [{ status: 500 }]").await;
    let gateway = Gateway::start(&format!(
        "lanes: {{ api: {{ max_attempts: 1 }} }}
breaker: {{ consecutive: 1, open: 1h }}
accounts: {{ up: {{ provider: openai, base_url: {} }} }}
deployments: {{ m: {{ account: up }} }}
",
        fake.base_url()
    ))
    .await;
    assert_eq!(gateway.chat(&hello("m", false)).await.status, 502);
    gateway.answers("m").await;
    gateway.idle().await;
}

#[tokio::test]
async fn of_twenty_that_come_at_once_one_is_the_probe() {
    let pair = Pair::start(
        "faults: [{ status: 500 }]",
        "",
        "",
        "lanes: { api: { max_attempts: 2 } }\nbreaker: { consecutive: 1, open: 1ms }",
    )
    .await;
    assert_eq!(pair.gateway.chat(&hello("r", false)).await.status, 200);
    assert_eq!(pair.calls().await, (1, 1));
    // The probe takes until the fake is told to go on.
    pair.first.next_fails(&json!({"before_head": "hang"})).await;
    let probe = {
        let client = pair.gateway.client();
        tokio::spawn(async move { client.open(chat(&hello("r", false))).await.map(drop) })
    };
    pair.first.in_flight(1).await;
    let mut others = JoinSet::new();
    for _ in 0..20 {
        let client = pair.gateway.client();
        others.spawn(async move { client.send(chat(&hello("r", false))).await });
    }
    while let Some(answer) = others.join_next().await {
        let answer = answer.unwrap();
        assert_eq!(
            answer.header("x-sluicegate-model"),
            Some("b"),
            "{}",
            answer.text()
        );
    }
    assert_eq!(pair.calls().await, (2, 21), "one probe");
    // A probe whose client leaves makes room for the next, and that closes the breaker.
    probe.abort();
    pair.first.in_flight(0).await;
    pair.gateway.idle().await;
    let answer = pair.gateway.chat(&hello("r", false)).await;
    assert_eq!(answer.header("x-sluicegate-model"), Some("a"));
    let labels = [("deployment", "a"), ("state", "closed")];
    eventually("a closed breaker", async || {
        let metrics = pair.gateway.metrics().await;
        match metrics.sum("sluicegate_breaker_state", &labels) {
            1.0 => Ok(()),
            other => Err(other),
        }
    })
    .await;
}

#[tokio::test]
async fn when_all_cool_down_the_shortest_wait_is_named() {
    let pair = Pair::start("", "", "", "lanes: { api: { max_attempts: 2 } }").await;
    for (status, code) in [(429, "overloaded"), (503, "upstream_unavailable")] {
        let pair = Pair::start(
            "",
            "",
            "",
            "lanes: { api: { max_attempts: 2, max_total_retry: 1s } }",
        )
        .await;
        pair.first
            .next_fails(&json!({"status": status, "retry_after": 20}))
            .await;
        pair.second
            .next_fails(&json!({"status": status, "retry_after": 45}))
            .await;
        let answer = pair.gateway.chat(&hello("r", false)).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(
            (15..=20).contains(&answer.number("retry-after")),
            "{answer:?}"
        );
        assert_eq!(pair.calls().await, (1, 1));
        // Nobody may wait, and nothing is sent.
        let answer = with(
            &pair.gateway,
            &hello("r", false),
            "x-sluicegate-max-wait",
            "0s",
        )
        .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{}",
            answer.text()
        );
        assert!(
            (15..=20).contains(&answer.number("retry-after")),
            "{answer:?}"
        );
        assert_eq!(pair.calls().await, (1, 1));
        pair.gateway.idle().await;
    }
    assert_eq!(pair.calls().await, (0, 0));
}

#[tokio::test]
async fn the_operator_is_told_by_webhook_and_no_request_waits_for_it() {
    let hook = Front::plain().await;
    let config = |hook: &str| {
        format!(
            "lanes: {{ api: {{ max_attempts: 1 }} }}\nbreaker: {{ consecutive: 2 }}\noperator: {{ webhook: \"{hook}\", webhook_key: tell }}"
        )
    };
    let url = format!("http://{}/hook", hook.address);
    let pair = Pair::start(ALWAYS_500, "", "", &config(&url)).await;
    for _ in 0..4 {
        assert_eq!(pair.gateway.chat(&hello("only", false)).await.status, 502);
    }
    let told = eventually("a notice", async || {
        hook.seen().into_iter().next().ok_or("nothing yet")
    })
    .await;
    assert_eq!(told.headers["authorization"], "Bearer tell");
    let notice: serde_json::Value = serde_json::from_slice(&told.body).unwrap();
    assert_eq!(
        (&notice["event"], &notice["deployment"], &notice["reason"]),
        (&json!("breaker_opened"), &json!("a"), &json!("server")),
        "{notice}"
    );
    assert!(
        notice["text"].as_str().unwrap().starts_with("a: "),
        "{notice}"
    );
    assert_eq!(hook.seen().len(), 1, "once, though it failed four times");

    // One that takes nothing is a warning that does not show its address, and keeps nobody.
    let pair = Pair::start(ALWAYS_500, "", "", &config("http://127.0.0.1:1/s3cret")).await;
    for _ in 0..2 {
        assert_eq!(pair.gateway.chat(&hello("only", false)).await.status, 502);
    }
    pair.gateway
        .process
        .complains("the operator's webhook did not take")
        .await;
    assert!(!pair.gateway.process.complaints().contains("s3cret"));
    pair.gateway.idle().await;
}

#[tokio::test]
async fn whoever_waits_for_room_at_an_upstream_that_fails_goes_elsewhere() {
    let one = "{ meter: requests, amount: 1, per: 24h, window: sliding, start: full }";
    let rules = "lanes: { api: { max_attempts: 1, max_wait: 100h } }\nbreaker: { consecutive: 1 }";
    let pair = Pair::start("", "", one, rules).await;
    let mut slow = hello("a", false);
    slow["fake"] = json!({"fault": {"status": 500, "head_ms": 300}});
    let client = pair.gateway.client();
    let fails = tokio::spawn(async move { client.send(chat(&slow)).await });
    pair.first.in_flight(1).await;
    // Its turn comes in a day.
    let client = pair.gateway.client();
    let waits = tokio::spawn(async move { client.send(chat(&hello("r", false))).await });
    pair.gateway.waiting(1).await;
    assert_eq!(fails.await.unwrap().status, 502);
    let answer = waits.await.unwrap();
    assert_eq!(
        answer.header("x-sluicegate-model"),
        Some("b"),
        "{}",
        answer.text()
    );
    assert_eq!(
        answer.header("x-sluicegate-fallback"),
        Some("primary_unavailable")
    );
    assert_eq!(pair.calls().await, (1, 1));
    pair.gateway.idle().await;
}

#[tokio::test]
async fn one_model_that_is_left_alone_leaves_the_others_of_its_wildcard_be() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "lanes: {{ api: {{ max_attempts: 1 }} }}
accounts: {{ up: {{ provider: openai, base_url: {} }} }}
deployments: {{ \"*\": {{ account: up, model: \"*\" }} }}
",
        fake.base_url()
    ))
    .await;
    for status in [429, 503] {
        let busy = format!("busy-{status}");
        fake.next_fails(&json!({"model": busy, "status": status, "retry_after": 40}))
            .await;
        assert_eq!(gateway.chat(&hello(&busy, false)).await.status, status);
        let answer = with(
            &gateway,
            &hello(&busy, false),
            "x-sluicegate-max-wait",
            "0s",
        )
        .await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(answer.number("retry-after") > 30, "{answer:?}");
        gateway.answers(&format!("other-{status}")).await;
    }
    assert_eq!(
        fake.count("accepted").await,
        4,
        "two that failed, two that were served"
    );
    gateway.idle().await;
}
