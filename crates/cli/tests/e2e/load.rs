//! Load on the wire: what raises it, what it changes about requests, and that their clients are told.

use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::harness::{Answer, Fake, Gateway, chat, eventually, python};

const TEXT: &str = "Please ask again in a minute.";

/// Any wait of a program is critical load, which lowers maxima to a half but not below 300, and does what `effects` say.
fn config(fake: &Fake, effects: &str) -> String {
    format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{}\", limits: [{{ meter: concurrent, amount: 1 }}] }} }}
deployments: {{ m: {{ account: up }}, t: {{ account: up }} }}
routes:
  m: {{ primary: m, output_floor: 300, raise_cap: 700 }}
  t: {{ primary: t, template: \"{TEXT}\" }}
load: {{ moderate: {{ wait_above: 1ms }}, high: {{ wait_above: 1ms }}, critical: {{ wait_above: 1ms, {effects} }} }}
",
        fake.base_url()
    )
}

async fn loaded(effects: &str) -> (Fake, Gateway, Pressure) {
    let fake = Fake::start("answer: { output_tokens: 3 }").await;
    let gateway = Gateway::start(&config(&fake, effects)).await;
    let pressure = Pressure::on(&fake, &gateway).await;
    (fake, gateway, pressure)
}

/// A call that has the only slot, and one of the lane `api` that waits behind it.
struct Pressure {
    slow: JoinHandle<()>,
    waits: JoinHandle<Answer>,
}

impl Pressure {
    async fn on(fake: &Fake, gateway: &Gateway) -> Self {
        let mut slow = ask("slow");
        slow["fake"] = json!({"head_ms": 1_000_000});
        let slow = chat(&slow);
        let client = gateway.client();
        let slow = tokio::spawn(async move { drop(client.open(slow).await) });
        fake.in_flight(1).await;
        let waits = sent(gateway, "api", &ask("waits"));
        level(gateway, 4.0).await;
        Self { slow, waits }
    }

    async fn relieved(self) {
        self.slow.abort();
        assert_eq!(self.waits.await.unwrap().status, 200);
    }
}

fn ask(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": 4})
}

fn in_lane(lane: &str, body: &Value) -> Request<Full<bytes::Bytes>> {
    let mut request = chat(body);
    let headers = request.headers_mut();
    headers.insert("x-sluicegate-lane", lane.parse().unwrap());
    request
}

fn sent(gateway: &Gateway, lane: &str, body: &Value) -> JoinHandle<Answer> {
    let (client, request) = (gateway.client(), in_lane(lane, body));
    tokio::spawn(async move { client.send(request).await })
}

async fn level(gateway: &Gateway, expected: f64) {
    eventually("a level of load", async || {
        let level = gateway.metrics().await.sum("sluicegate_load_level", &[]);
        if level == expected {
            Ok(())
        } else {
            Err(level)
        }
    })
    .await;
}

#[tokio::test]
async fn a_lowered_maximum_is_sent_and_said_and_never_below_the_floor() {
    let (fake, gateway, pressure) = loaded("hold_batch: false").await;
    let mut calls = Vec::new();
    for max in [1_000, 500, 200] {
        let mut body = ask(&format!("at most {max}"));
        body["max_tokens"] = json!(max);
        calls.push(sent(&gateway, "api", &body));
        let waiting = u32::try_from(calls.len()).unwrap() + 1;
        gateway.waiting(waiting).await;
    }
    let mut unbounded = ask("unbounded");
    unbounded.as_object_mut().unwrap().remove("max_tokens");
    calls.push(sent(&gateway, "api", &unbounded));
    gateway.waiting(5).await;
    pressure.relieved().await;
    let said = [
        Some("max_tokens 1000->500"),
        Some("max_tokens 500->300"),
        None,
        None,
    ];
    for (call, said) in calls.into_iter().zip(said) {
        let answer = call.await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("x-sluicegate-degraded"), said);
        assert_eq!(answer.header("x-sluicegate-load"), Some("critical"));
    }
    let log = fake.accepted().await;
    let seen = log.iter().map(|call| call["body"]["max_tokens"].as_u64());
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [Some(4), Some(4), Some(500), Some(300), Some(200), None]
    );
    let lowered = [("effect", "max_tokens")];
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("sluicegate_degraded_total", &lowered), 2.0);
    gateway.idle().await;
}

#[tokio::test]
async fn an_answer_that_a_lowered_maximum_cut_is_asked_for_once_more() {
    let (fake, gateway, pressure) = loaded("hold_batch: false").await;
    // A level stays for ten seconds after what raised it.
    pressure.relieved().await;
    // Two need more than the half that they get, one of them more than the route allows; the last one's maximum is its own.
    for (max, needs, attempts, end, tokens, degraded) in [
        (1_000, 600, 2, "stop", 600, Some("max_tokens 1000->700")),
        (1_200, 900, 2, "length", 700, Some("max_tokens 1200->700")),
        (100, 200, 1, "length", 100, None),
    ] {
        let mut body = ask("long");
        body["max_tokens"] = json!(max);
        body["fake"] = json!({"output_tokens": needs});
        let answer = gateway.chat(&body).await;
        assert_eq!(answer.number("x-sluicegate-attempts"), attempts, "{max}");
        assert_eq!(answer.header("x-sluicegate-degraded"), degraded, "{max}");
        let body = answer.json();
        assert_eq!(body["choices"][0]["finish_reason"], end, "{max}");
        assert_eq!(body["usage"]["completion_tokens"], tokens, "{max}");
    }
    let log = fake.accepted().await;
    let seen = log[2..].iter();
    let seen = seen.map(|call| call["body"]["max_tokens"].as_u64().unwrap());
    assert_eq!(seen.collect::<Vec<_>>(), [500, 700, 600, 700, 100]);
    let metrics = gateway.metrics().await;
    let waits = metrics.sum("llm_queue_wait_seconds_count", &[]);
    assert_eq!(waits, 5.0, "a second call is no second wait");
    gateway.idle().await;
}

#[tokio::test]
async fn batch_is_held_while_load_is_high_and_starts_when_it_is_let_go() {
    let (fake, gateway, pressure) = loaded("hold_batch: true").await;
    let batch = sent(&gateway, "batch", &ask("batch"));
    gateway.waiting(2).await;
    let mut hasty = in_lane("batch", &ask("hasty"));
    let headers = hasty.headers_mut();
    headers.insert("x-sluicegate-max-wait", "0s".parse().unwrap());
    let refused = gateway.client().send(hasty).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "overloaded")
    );
    let said = refused.text();
    let expected = "load is critical, so nothing of the lane batch starts";
    assert!(said.contains(expected), "{said}");
    let labels = [("lane", "batch"), ("reason", "held")];
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("sluicegate_shed_total", &labels), 1.0);

    // The slot is free, and still it waits.
    pressure.relieved().await;
    fake.in_flight(0).await;
    gateway.waiting(1).await;
    gateway.answers("m").await;
    gateway.waiting(1).await;
    gateway.replace(&config(&fake, "hold_batch: false"));
    assert_eq!(batch.await.unwrap().status, 200);
    gateway.idle().await;
}

#[tokio::test]
async fn a_template_answers_the_official_sdk_without_any_call() {
    let (fake, gateway, pressure) = loaded("hold_batch: false").await;
    let report = python(
        "degraded.py",
        &[
            "--base-url",
            &gateway.base_url(),
            "--template-model",
            "t",
            "--text",
            TEXT,
        ],
    )
    .await;
    assert!(report["checks"].as_u64().unwrap() >= 8, "{report}");
    let template = [("effect", "template")];
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("sluicegate_degraded_total", &template), 3.0);
    pressure.relieved().await;
    assert_eq!(fake.accepted().await.len(), 2, "the slow one and the other");
    gateway.idle().await;
}

#[tokio::test]
async fn an_account_that_batch_uses_up_is_no_load_for_others() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{}\", headroom: 1, \
           limits: [{{ meter: requests, amount: 3, per: 1h, window: sliding, start: full }}] }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    ))
    .await;
    for _ in 0..3 {
        let answer = gateway.client().send(in_lane("batch", &ask("batch"))).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let waits = sent(&gateway, "batch", &ask("waits"));
    gateway.waiting(1).await;
    level(&gateway, 0.0).await;
    let log = gateway.process.complaints();
    assert!(!log.contains("load rises"), "{log}");
    waits.abort();
    gateway.idle().await;
}

#[tokio::test]
async fn a_start_with_nothing_is_no_load() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{}\", limits: {{ rpm: 60, tpm: 10000 }} }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    ))
    .await;
    let answer = gateway.chat(&ask("first")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("x-sluicegate-load"), None);
    level(&gateway, 0.0).await;
    let log = gateway.process.complaints();
    assert!(!log.contains("load rises"), "{log}");
}
