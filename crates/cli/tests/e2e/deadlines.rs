//! Waiting in line: in what order, how long, and what a refusal promises.

use http::Request;
use serde_json::{Value, json};

use crate::harness::{Answer, Fake, Gateway, chat};

/// Two requests in calendar windows of three seconds, on both sides.
async fn short_windows() -> (Fake, Gateway) {
    both(
        "{ meter: requests, amount: 2, per: 3s, window: fixed }",
        "{ meter: requests, amount: 2, per: 3s, window: fixed, phase: calendar, start: full }",
        "",
    )
    .await
}

/// One request in any hour, on both sides: after the first, all that come wait for longer than a test runs.
async fn one_an_hour(more: &str) -> (Fake, Gateway) {
    both(
        "{ meter: requests, amount: 1, per: 1h, window: sliding }",
        "{ meter: requests, amount: 1, per: 1h, window: sliding, start: full }",
        more,
    )
    .await
}

async fn both(fakes: &str, ours: &str, more: &str) -> (Fake, Gateway) {
    let fake = Fake::start(&format!("provider: {{ limits: [{fakes}] }}")).await;
    let base_url = fake.base_url();
    let gateway = Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{base_url}\", limits: [{ours}] }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n{more}"
    ))
    .await;
    (fake, gateway)
}

fn ask(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]})
}

fn willing(text: &str, max_wait: &str) -> Request<http_body_util::Full<bytes::Bytes>> {
    let mut request = chat(&ask(text));
    let max_wait = max_wait.parse().unwrap();
    request
        .headers_mut()
        .insert("x-sluicegate-max-wait", max_wait);
    request
}

/// Uses up the window: sends what may not wait until one is refused.
async fn refused_at_last(gateway: &Gateway) -> Answer {
    loop {
        let answer = gateway.client().send(willing("eager", "0s")).await;
        match answer.status {
            200 => {}
            429 => return answer,
            _ => panic!("{answer:?}"),
        }
    }
}

#[tokio::test]
async fn a_refusal_names_the_wait_after_which_the_same_request_starts() {
    let (fake, gateway) = short_windows().await;
    let refused = refused_at_last(&gateway).await;
    assert_eq!(refused.code(), "overloaded");
    assert_eq!(refused.json()["error"]["type"], "rate_limit_error");
    let wait_ms = refused.number("retry-after-ms");
    assert!((1..=3_100).contains(&wait_ms), "{wait_ms}");
    assert_eq!(refused.number("retry-after"), wait_ms.div_ceil(1_000));
    assert_eq!(refused.header("x-should-retry"), None);
    let sent = fake.count("accepted").await;

    let answer = gateway
        .client()
        .send(willing("patient", &format!("{wait_ms}ms")))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    // A thread that is woken late adds to what was promised.
    assert!(
        answer.number("x-sluicegate-queue-ms") <= wait_ms + 500,
        "{answer:?}"
    );
    let log = fake.accepted().await;
    assert_eq!(log.len() as u64, sent + 1, "what was refused was not sent");
    let window = |call: &Value| call["arrived_unix_ns"].as_u64().unwrap() / 3_000_000_000;
    let [.., before, last] = log.as_slice() else {
        panic!("{log:?}");
    };
    assert_eq!(
        window(last),
        window(before) + 1,
        "it started with the next window"
    );
    assert_eq!(fake.count("rejected").await, 0);
    gateway.idle().await;
}

#[tokio::test]
async fn who_cannot_wait_long_enough_is_refused_at_once_and_in_line_who_can() {
    let (fake, gateway) = one_an_hour("").await;
    refused_at_last(&gateway).await;
    let refused = gateway.client().send(willing("hasty", "5s")).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "overloaded")
    );
    assert!(
        refused.text().contains("x-sluicegate-max-wait"),
        "{}",
        refused.text()
    );
    let wait = refused.number("retry-after");
    assert!((3_500..=3_601).contains(&wait), "{wait} s");
    assert_eq!(
        refused.header("x-should-retry"),
        Some("false"),
        "nobody waits for an hour"
    );
    gateway.idle().await;
    assert_eq!(fake.count("rejected").await, 0);
}

#[tokio::test]
async fn the_sdks_own_timeout_bounds_the_wait() {
    let (_fake, gateway) = one_an_hour("").await;
    refused_at_last(&gateway).await;
    let mut request = chat(&ask("hasty"));
    request
        .headers_mut()
        .insert("x-stainless-read-timeout", "5".parse().unwrap());
    let refused = gateway.client().send(request).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "overloaded")
    );
    gateway.idle().await;
}

#[tokio::test]
async fn requests_that_wait_start_in_the_order_in_which_they_came() {
    let (fake, gateway) = both(
        "{ meter: requests, amount: 100, per: 1h }",
        "{ meter: concurrent, amount: 1 }",
        "",
    )
    .await;
    let mut slow = ask("slow");
    slow["fake"] = json!({"head_ms": 1_000_000});
    let held = tokio::spawn({
        let client = gateway.client();
        async move { client.open(chat(&slow)).await.map(drop) }
    });
    fake.in_flight(1).await;
    let mut calls = Vec::new();
    for place in 0..8_u32 {
        let client = gateway.client();
        calls.push(tokio::spawn(async move {
            client.send(chat(&ask(&place.to_string()))).await.status
        }));
        gateway.waiting(place + 1).await;
    }
    held.abort();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    let log = fake.accepted().await;
    let order: Vec<&str> = log
        .iter()
        .map(|call| call["body"]["messages"][0]["content"].as_str().unwrap())
        .collect();
    assert_eq!(order, ["slow", "0", "1", "2", "3", "4", "5", "6", "7"]);
    gateway.idle().await;
}

#[tokio::test]
async fn a_full_line_refuses_at_once_and_takes_again_when_one_leaves() {
    let (_fake, gateway) =
        one_an_hour("queue: { max_tickets: 3 }\nlanes: { api: { max_waiting: 3 } }\n").await;
    refused_at_last(&gateway).await;
    let mut waiting = Vec::new();
    for place in 0..3_u32 {
        let client = gateway.client();
        waiting.push(tokio::spawn(async move {
            client.open(willing("waits", "24h")).await.map(drop)
        }));
        gateway.waiting(place + 1).await;
    }
    let refused = gateway.client().send(willing("fourth", "24h")).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "overloaded")
    );
    assert!(refused.number("retry-after") >= 1);
    assert!(
        refused.text().contains("line is full"),
        "{}",
        refused.text()
    );

    waiting[1].abort();
    gateway.waiting(2).await;
    let client = gateway.client();
    waiting.push(tokio::spawn(async move {
        client.open(willing("fifth", "24h")).await.map(drop)
    }));
    gateway.waiting(3).await;
    for call in &waiting {
        call.abort();
    }
    gateway.idle().await;
}

#[tokio::test]
async fn a_request_above_the_whole_limit_is_told_that_no_retry_helps() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: {}, limits: {{ tpm: 1000 }} }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    ))
    .await;
    let mut body = ask("large");
    body["max_tokens"] = json!(1_001);
    let refused = gateway.chat(&body).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (400, "token_limit_exceeded")
    );
    assert_eq!(refused.json()["error"]["type"], "invalid_request_error");
    assert_eq!(refused.header("x-should-retry"), Some("false"));
    assert_eq!(refused.header("retry-after"), None);
    for word in ["1001", "1000", "max_tokens"] {
        assert!(refused.text().contains(word), "{word}: {}", refused.text());
    }
    body["max_tokens"] = json!(1_000);
    assert_eq!(
        gateway.chat(&body).await.status,
        200,
        "the whole limit fits"
    );
    assert_eq!(fake.count("accepted").await, 1, "only what fits was sent");
    gateway.idle().await;
}
