//! Everything that can go wrong between a client and an upstream, several at a time and in any order: afterwards nothing is held.
//!
//! `SLUICEGATE_CHAOS_ROUNDS` makes it longer, `SLUICEGATE_CHAOS_SEED` repeats a failure.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::harness::{Answer, Client, Fake, Gateway, chat, eventually, within};

const ROUNDS: u64 = 200;
const AT_A_TIME: usize = 16;

/// What a round does.
#[derive(Clone, Copy, Debug)]
enum Manner {
    /// Asks and stays to the end.
    Stays,
    /// Leaves after so many milliseconds, wherever its request is by then: in line, before the head, in the stream.
    LeavesAfter(u64),
    /// Leaves after so many pieces of a stream.
    LeavesInStream(usize),
}

/// Numbers that follow from the seed: a linear congruential generator with the multiplier of Knuth's MMIX.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn setting(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(value) => value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value} is no number")),
        Err(_) => usual,
    }
}

/// Few enough slots and requests in a second that rounds wait for each other, and little patience with the upstream. Where a call
/// may be made more than once, it may go to a spare account too.
async fn narrow(fake: &Fake, attempts: u32) -> Gateway {
    Gateway::start(&format!(
        "lanes: {{ api: {{ max_attempts: {attempts}, max_total_retry: 3s }} }}
retry: {{ first: 20ms, max: 50ms, budget_floor: 1000 }}
breaker: {{ open: 100ms }}
accounts:
  spare: {{ provider: openai, base_url: {0}, timeouts: {{ head: 300ms, idle: 300ms }}, limits: {{ concurrent: 4 }} }}
  up:
    provider: openai
    base_url: {0}
    timeouts: {{ head: 300ms, idle: 300ms }}
    limits:
      - {{ meter: requests, amount: 60, per: 1s, window: sliding, start: full }}
      - {{ meter: tokens, amount: 1000000, per: 1s, window: bucket, start: full }}
      - {{ meter: concurrent, amount: 8 }}
deployments: {{ main: {{ account: up }}, spare: {{ account: spare }} }}
routes: {{ m: {{ primary: main, fallbacks: [{{ to: spare }}] }} }}
",
        fake.base_url()
    ))
    .await
}

fn fault(numbers: &mut Numbers, stream: bool) -> Value {
    let faults = [
        json!(null),
        json!({"before_head": "reset"}),
        json!({"before_head": "close"}),
        json!({"before_head": "hang"}),
        json!({"cut_after": 2}),
        json!({"cut_after": 3, "cut": "reset"}),
        json!({"cut_after": 0, "cut": "reset"}),
        json!({"hang_after": 1}),
        json!({"hang_after": 4}),
        json!({"usage": "missing"}),
        json!({"usage": "missing", "cut_after": 4}),
        json!({"error_after": 1}),
        json!({"error_after": 4, "kind": "overloaded"}),
        json!({"done": false}),
        json!({"status": 500}),
        json!({"status": 429}),
        json!({"status": 503, "kind": "html"}),
        json!({"status": 401}),
        json!({"plain": true}),
        json!({"truncate": 7}),
        json!({"split": 1, "eol": "crlf"}),
        json!({"head_ms": 200}),
        json!({"pause_after": 3, "pause_ms": 150, "comments": true}),
    ];
    let count = faults.len() as u64;
    let [fault] = [faults[usize::try_from(numbers.below(count)).unwrap()].clone()];
    if fault == json!({"truncate": 7}) && stream {
        return Value::Null;
    }
    fault
}

async fn round(client: Client, body: Value, manner: Manner) -> Option<Answer> {
    match manner {
        Manner::Stays => Some(client.send(chat(&body)).await),
        Manner::LeavesAfter(millis) => {
            let answer = async { client.open(chat(&body)).await?.read().await };
            // Not an hour of waiting in disguise: whether the answer or the client is first is what chance decides.
            drop(timeout(Duration::from_millis(millis), answer).await);
            None
        }
        Manner::LeavesInStream(pieces) => {
            let mut stream = within("a head", client.open(chat(&body))).await.unwrap();
            for _ in 0..pieces {
                let piece = within("a piece or the end", stream.next()).await.unwrap();
                if piece.is_none() {
                    break;
                }
            }
            None
        }
    }
}

/// What a client that stayed may be told.
fn is_sound(answer: &Answer) -> bool {
    match answer.status {
        200 if answer
            .header("content-type")
            .is_some_and(|kind| kind.starts_with("text/event-stream")) =>
        {
            let events = answer.events();
            let ends = |event: &String| {
                event == "[DONE]"
                    || serde_json::from_str::<Value>(event).is_ok_and(|event| {
                        event["error"].is_object()
                            || event["choices"][0]["finish_reason"].is_string()
                    })
            };
            events.iter().any(ends)
        }
        200 => answer.json()["choices"].is_array(),
        429 | 502 | 503 | 504 => answer.json()["error"]["message"].is_string(),
        _ => false,
    }
}

#[tokio::test]
async fn whatever_goes_wrong_nothing_is_held_afterwards() {
    let seed = setting("SLUICEGATE_CHAOS_SEED", 20_261_129);
    let rounds = setting("SLUICEGATE_CHAOS_ROUNDS", ROUNDS);
    let fake = Fake::start("answer: { output_tokens: 8, ms_per_token: 3 }").await;
    let gateway = narrow(&fake, 3).await;
    let mut numbers = Numbers(seed);
    let mut running = JoinSet::new();
    for number in 0..rounds {
        let stream = numbers.below(3) > 0;
        let mut body = json!({
            "model": "m",
            "messages": [{"role": "user", "content": format!("round {number} 🌊")}],
            "stream": stream,
            "max_tokens": 8,
            "fake": {},
        });
        let fault = fault(&mut numbers, stream);
        if !fault.is_null() {
            body["fake"]["fault"] = fault;
        }
        let manner = match numbers.below(5) {
            0 => Manner::LeavesAfter(numbers.below(120)),
            1 if stream => Manner::LeavesInStream(usize::try_from(numbers.below(5)).unwrap()),
            _ => Manner::Stays,
        };
        if running.len() == AT_A_TIME {
            running.join_next().await.unwrap().unwrap();
        }
        let client = gateway.client();
        running.spawn(async move {
            let answer = round(client, body.clone(), manner).await;
            if let Some(answer) = answer {
                assert!(
                    is_sound(&answer),
                    "seed {seed}, round {number}: {body}\n{answer:?}"
                );
            }
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    gateway.idle().await;
    fake.in_flight(0).await;
    gateway.answers("m").await;

    let stats = fake.stats().await;
    assert!(
        stats["aborted"].as_u64() > Some(0),
        "the upstream saw clients leave: {stats}"
    );
    assert!(stats["failed"].as_u64() > Some(0), "{stats}");
    let metrics = gateway.metrics().await;
    assert_eq!(
        metrics.sum("sluicegate_reservations_expired_total", &[]),
        0.0
    );
    let outcomes = metrics.sum("llm_requests_total", &[]);
    assert!(outcomes > 0.8 * rounds as f64, "{outcomes} of {rounds}");
    assert!(
        metrics.sum("llm_requests_total", &[("status", "499")]) > 0.0,
        "clients left"
    );
}

fn slow(stream: bool, fake: &Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "slow"}], "stream": stream, "fake": fake})
}

/// One slot, and an upstream that takes its time.
async fn single(fake: &Fake) -> Gateway {
    Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{}\", limits: [{{ meter: concurrent, amount: 1 }}] }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    ))
    .await
}

#[tokio::test]
async fn a_client_that_leaves_the_line_gives_up_its_place() {
    let fake = Fake::start("").await;
    let gateway = single(&fake).await;
    let open = |body: Value| {
        let client = gateway.client();
        tokio::spawn(async move { client.open(chat(&body)).await.map(drop) })
    };
    let held = open(slow(false, &json!({"head_ms": 1_000_000})));
    fake.in_flight(1).await;
    let in_line = open(slow(false, &json!({})));
    gateway.waiting(1).await;
    in_line.abort();
    gateway.waiting(0).await;
    held.abort();
    gateway.idle().await;
    fake.in_flight(0).await;
    let stats = fake.stats().await;
    assert_eq!(
        (&stats["accepted"], &stats["aborted"]),
        (&json!(1), &json!(1)),
        "{stats}"
    );
    gateway.answers("m").await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_head_or_in_the_stream_ends_the_upstreams_call() {
    let fake = Fake::start("").await;
    let gateway = single(&fake).await;
    for (round, wishes) in [
        json!({"head_ms": 1_000_000}),
        json!({"fault": {"hang_after": 0}}),
        json!({"fault": {"hang_after": 1}}),
    ]
    .iter()
    .enumerate()
    {
        let (client, body) = (gateway.client(), slow(true, wishes));
        let waits = tokio::spawn(async move { client.open(chat(&body)).await.map(drop) });
        fake.in_flight(1).await;
        waits.abort();
        aborted(&fake, round as u64 + 1).await;
        gateway.idle().await;
    }
    let body = slow(
        true,
        &json!({"output_tokens": 5, "fault": {"hang_after": 3}}),
    );
    let mut stream = within("a head", gateway.client().open(chat(&body)))
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    let first = stream.next().await.unwrap().unwrap();
    assert!(first.starts_with(b"data: {"), "{first:?}");
    drop(stream);
    aborted(&fake, 4).await;
    gateway.idle().await;
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("llm_requests_total", &[("status", "499")]), 4.0);
    gateway.answers("m").await;
}

async fn aborted(fake: &Fake, calls: u64) {
    eventually("clients that left, at the fake", async || {
        match fake.count("aborted").await {
            there if there == calls => Ok(()),
            other => Err(other),
        }
    })
    .await;
}

#[tokio::test]
async fn silence_is_a_timeout_before_the_first_content_and_an_error_event_after_it() {
    let fake = Fake::start("answer: { output_tokens: 6 }").await;
    let gateway = narrow(&fake, 1).await;
    for (stream, fault) in [
        (false, json!({"before_head": "hang"})),
        (true, json!({"before_head": "hang"})),
        (false, json!({"hang_after": 10})),
        (true, json!({"hang_after": 0})),
        (true, json!({"hang_after": 1})),
    ] {
        let answer = gateway.chat(&slow(stream, &json!({"fault": fault}))).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (504, "upstream_timeout"),
            "{fault}: {answer:?}"
        );
    }
    let answer = gateway
        .chat(&slow(true, &json!({"fault": {"hang_after": 4}})))
        .await;
    assert_eq!(answer.status, 200);
    let events = answer.events();
    let last: Value = serde_json::from_str(events.last().unwrap()).unwrap();
    assert_eq!(last["error"]["code"], "upstream_timeout", "{events:?}");
    gateway.idle().await;
    fake.in_flight(0).await;
    assert_eq!(
        fake.count("aborted").await,
        6,
        "the upstream is told that nobody listens any more"
    );
}
