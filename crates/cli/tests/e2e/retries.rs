//! How often a failed call is made again: by its cause, within one number for all targets, and not again by the client.

use std::ops::Range;

use serde_json::json;

use crate::harness::{Fake, Gateway, python};
use crate::routes::{Pair, hello};

const ALWAYS_500: &str = "faults: [{ status: 500, times: 10000 }]";

/// One upstream without limits, and `more` at the top of the file.
async fn alone(fake: &Fake, more: &str) -> Gateway {
    Gateway::start(&format!(
        "{more}
accounts: {{ up: {{ provider: openai, base_url: {} }} }}
deployments: {{ m: {{ account: up }} }}
",
        fake.base_url()
    ))
    .await
}

/// The pauses between the calls that came to `fake`, in milliseconds.
async fn pauses_ms(fake: &Fake) -> Vec<u64> {
    let arrived: Vec<u64> = fake
        .accepted()
        .await
        .iter()
        .map(|call| call["arrived_unix_ns"].as_u64().unwrap())
        .collect();
    let pairs = arrived.windows(2);
    pairs.map(|pair| (pair[1] - pair[0]) / 1_000_000).collect()
}

#[tokio::test]
async fn attempts_are_counted_over_all_targets() {
    let pair = Pair::start(
        ALWAYS_500,
        ALWAYS_500,
        "",
        "lanes: { api: { max_attempts: 3 } }\nbreaker: { consecutive: 0 }",
    )
    .await;
    let answer = pair.gateway.chat(&hello("only", false)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (502, "upstream_error")
    );
    assert_eq!(pair.calls().await, (3, 0));
    let message = answer.text();
    assert!(
        message.contains("3 attempts: a (server), a (server), a (server)"),
        "{message}"
    );
    assert_eq!(
        answer.header("x-should-retry"),
        Some("false"),
        "the client's own would multiply"
    );
    assert_eq!(answer.number("x-sluicegate-attempts"), 3);
    let metrics = pair.gateway.metrics().await;
    let labels = [("model", "a"), ("error_type", "server")];
    assert_eq!(metrics.sum("llm_retries_total", &labels), 2.0);

    let pair = Pair::start(
        ALWAYS_500,
        ALWAYS_500,
        "",
        "lanes: { api: { max_attempts: 4 } }\nbreaker: { consecutive: 0 }",
    )
    .await;
    let answer = pair.gateway.chat(&hello("r", false)).await;
    assert_eq!(answer.status, 502);
    let (first, second) = pair.calls().await;
    assert_eq!(first + second, 4, "{first} and {second}");
    assert!(second > 0, "{}", answer.text());
    pair.gateway.idle().await;
}

#[tokio::test]
async fn what_passes_by_itself_is_seen_by_nobody() {
    for fault in [
        json!({"status": 500}),
        json!({"status": 529}),
        json!({"status": 520}),
        json!({"status": 408}),
        json!({"status": 502, "kind": "html"}),
        json!({"status": 503, "kind": "text"}),
        json!({"status": 500, "kind": "empty"}),
        json!({"before_head": "reset"}),
        json!({"before_head": "close"}),
        json!({"truncate": 9}),
    ] {
        let fake = Fake::start("").await;
        let gateway = alone(&fake, "").await;
        fake.next_fails(&fault).await;
        let answer = gateway.chat(&hello("m", false)).await;
        assert_eq!(answer.status, 200, "{fault}: {}", answer.text());
        assert_eq!(answer.number("x-sluicegate-attempts"), 2, "{fault}");
        assert!(answer.json()["choices"].is_array(), "{fault}");
        gateway.idle().await;
    }
}

#[tokio::test]
async fn a_hint_is_the_least_wait_and_junk_is_none() {
    const OURS: Range<u64> = 20..3_000;
    for (hint, pause_ms) in [
        (json!({"retry_after": 1}), 1_000..2_500),
        (json!({"retry_after": "0.5"}), 500..2_000),
        (json!({"retry_after_ms": 300, "retry_after": 4}), 300..1_500),
        (
            json!({"retry_after_ms": 1500, "retry_after": 2}),
            1_500..3_500,
        ),
        (json!({"retry_after": "-5"}), OURS),
        (json!({"retry_after": "soon"}), OURS),
        (json!({"retry_after": "0"}), OURS),
        (json!({"retry_after": "nan"}), OURS),
    ] {
        let fake = Fake::start("").await;
        let gateway = alone(&fake, "").await;
        let mut fault = hint.clone();
        fault["status"] = json!(429);
        fake.next_fails(&fault).await;
        let answer = gateway.chat(&hello("m", false)).await;
        assert_eq!(answer.status, 200, "{hint}: {}", answer.text());
        let pauses = pauses_ms(&fake).await;
        assert_eq!(pauses.len(), 1, "{hint}: {pauses:?}");
        assert!(pause_ms.contains(&pauses[0]), "{hint}: {pauses:?}");
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_told_at_once() {
    let fake = Fake::start("").await;
    let gateway = alone(&fake, "").await;
    fake.next_fails(&json!({"status": 429, "retry_after": 3600}))
        .await;
    let answer = gateway.chat(&hello("m", false)).await;
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert!(
        (3_590..=3_600).contains(&answer.number("retry-after")),
        "{answer:?}"
    );
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    assert_eq!(fake.count("accepted").await, 1);
}

#[tokio::test]
async fn retries_add_no_more_than_their_share() {
    let fake = Fake::start(ALWAYS_500).await;
    let gateway = alone(
        &fake,
        "retry: { first: 20ms, max: 20ms, budget: 20%, budget_floor: 0 }\nbreaker: { consecutive: 0, min_calls: 1000 }",
    )
    .await;
    for _ in 0..100 {
        assert_eq!(gateway.chat(&hello("m", false)).await.status, 502);
    }
    let calls = fake.count("accepted").await;
    assert!((101..=120).contains(&calls), "{calls}");
}

#[tokio::test]
async fn an_sdk_does_not_multiply_retries() {
    let fake = Fake::start("faults: [{ status: 429, retry_after: 0.2, times: 10000 }]").await;
    let gateway = alone(&fake, "").await;
    let base_url = gateway.base_url();
    let report = python("retries.py", &["--base-url", &base_url, "--model", "m"]).await;
    assert_eq!(report["status"], 429, "{report}");
    let calls = fake.count("accepted").await;
    assert!((2..=3).contains(&calls), "{calls}: {report}");
    gateway.idle().await;
}
