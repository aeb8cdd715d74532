//! A fallback that cannot be told the request: for that request it is as if it were not there.

use serde_json::{Value, json};

use crate::harness::{Fake, Gateway};

/// An upstream that speaks two dialects. The fallback of `r` and one of the pool of `pool` know no `seed`; `alone` has no other.
async fn gateway(fake: &Fake, more: &str) -> Gateway {
    Gateway::start(&format!(
        "{more}
retry: {{ first: 10ms, max: 20ms }}
accounts:
  openai: {{ provider: openai, base_url: \"http://{0}\", api_key: ours }}
  anthropic: {{ provider: anthropic, base_url: \"http://{0}\", api_key: theirs }}
  small: {{ provider: openai, base_url: \"http://{0}\", api_key: ours, limits: [{{ meter: requests, amount: 1, per: 1h, window: sliding }}] }}
deployments:
  gpt: {{ account: openai }}
  scarce: {{ account: small }}
  claude: {{ account: anthropic }}
routes:
  alone: {{ primary: gpt }}
  r: {{ primary: gpt, fallbacks: [{{ to: claude }}] }}
  pool: {{ primary: [gpt, claude] }}
  full: {{ primary: scarce, fallbacks: [{{ to: claude }}] }}
",
        fake.address
    ))
    .await
}

fn seeded(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4, "seed": 7})
}

#[tokio::test]
async fn a_failure_is_retried_where_it_was_as_without_the_fallback() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake, "breaker: { consecutive: 1000, min_calls: 1000 }").await;
    for fault in [
        json!({"status": 503}),
        json!({"status": 500}),
        json!({"before_head": "reset"}),
    ] {
        for route in ["alone", "r", "pool"] {
            fake.next_fails(&fault).await;
            let answer = gateway.chat(&seeded(route)).await;
            assert_eq!(answer.status, 200, "{route}, {fault}: {}", answer.text());
            assert_eq!(
                answer.number("x-sluicegate-attempts"),
                2,
                "{route}, {fault}"
            );
            assert_eq!(
                answer.header("x-sluicegate-model"),
                Some("gpt"),
                "{route}, {fault}"
            );
        }
    }
    // Who can be told goes on as ever.
    fake.next_fails(&json!({"status": 503})).await;
    let mut plain = seeded("r");
    plain.as_object_mut().unwrap().remove("seed");
    let answer = gateway.chat(&plain).await;
    assert_eq!(
        answer.header("x-sluicegate-model"),
        Some("claude"),
        "{}",
        answer.text()
    );
    gateway.idle().await;
}

#[tokio::test]
async fn the_last_failure_says_who_was_not_tried() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake, "breaker: { consecutive: 1000, min_calls: 1000 }").await;
    for (status, calls) in [(503, 2), (500, 3)] {
        fake.next_fails(&json!({"status": status, "times": calls}))
            .await;
        let answer = gateway.chat(&seeded("r")).await;
        assert_eq!(
            answer.number("x-sluicegate-attempts"),
            calls,
            "{status}: {}",
            answer.text()
        );
        let says = "claude was not tried: it cannot be told `seed`";
        assert!(answer.text().contains(says), "{status}: {}", answer.text());
    }
    gateway.idle().await;
}

#[tokio::test]
async fn an_open_breaker_is_passed_where_nobody_else_can_be_told() {
    let fake = Fake::start("").await;
    let gateway = gateway(
        &fake,
        "breaker: { consecutive: 1, open: 1h }\nlanes: { api: { max_attempts: 1 } }",
    )
    .await;
    fake.next_fails(&json!({"status": 500})).await;
    assert_eq!(gateway.chat(&seeded("r")).await.status, 502);
    let answer = gateway.chat(&seeded("r")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    gateway.idle().await;
}

#[tokio::test]
async fn a_full_limit_is_what_is_in_the_way() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake, "").await;
    assert_eq!(gateway.chat(&seeded("full")).await.status, 200);
    let answer = gateway.chat(&seeded("full")).await;
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert!(answer.text().contains("small"), "{}", answer.text());
    gateway.idle().await;
}
