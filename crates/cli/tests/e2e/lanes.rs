//! Lanes on the wire: who goes before whom, what each is told, and what load does to them.

use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::harness::{Answer, Fake, Gateway, chat, eventually};

/// One slot at a deployment `m`, which any call holds for as long as it takes, and `more` of the file.
async fn one_slot(more: &str) -> (Fake, Gateway) {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{}\", limits: [{{ meter: concurrent, amount: 1 }}] }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n{more}",
        fake.base_url()
    ))
    .await;
    (fake, gateway)
}

fn ask(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": 4})
}

fn in_lane(lane: &str, body: &Value) -> Request<Full<bytes::Bytes>> {
    let mut request = chat(body);
    request
        .headers_mut()
        .insert("x-sluicegate-lane", lane.parse().unwrap());
    request
}

/// A call that takes the slot until it is aborted.
async fn slot_taken(fake: &Fake, gateway: &Gateway) -> JoinHandle<()> {
    let mut slow = ask("slow");
    slow["fake"] = json!({"head_ms": 1_000_000});
    let client = gateway.client();
    let held = tokio::spawn(async move {
        drop(client.open(chat(&slow)).await);
    });
    fake.in_flight(1).await;
    held
}

fn sent(gateway: &Gateway, lane: &str, text: &str) -> JoinHandle<Answer> {
    let (client, request) = (gateway.client(), in_lane(lane, &ask(text)));
    tokio::spawn(async move { client.send(request).await })
}

async fn waiting_in(gateway: &Gateway, lane: &str, requests: u32) {
    eventually("requests in a lane", async || {
        let labels = [("priority", lane), ("task_type", "other")];
        let depth = gateway.metrics().await.sum("llm_queue_depth", &labels);
        if depth == f64::from(requests) {
            Ok(())
        } else {
            Err(depth)
        }
    })
    .await;
}

async fn order(fake: &Fake) -> Vec<String> {
    let log = fake.accepted().await;
    let text = |call: &Value| {
        call["body"]["messages"][0]["content"]
            .as_str()
            .map(str::to_owned)
    };
    log.iter().map(|call| text(call).unwrap()).collect()
}

#[tokio::test]
async fn an_interactive_request_goes_before_fifty_that_wait_in_batch() {
    let (fake, gateway) = one_slot("lanes: { interactive: { max_wait: 60s } }\n").await;
    let slow = slot_taken(&fake, &gateway).await;
    let mut calls: Vec<_> = (0..50).map(|_| sent(&gateway, "batch", "batch")).collect();
    waiting_in(&gateway, "batch", 50).await;
    calls.push(sent(&gateway, "api", "api"));
    waiting_in(&gateway, "api", 1).await;
    calls.push(sent(&gateway, "interactive", "interactive"));
    waiting_in(&gateway, "interactive", 1).await;
    slow.abort();
    for call in calls {
        assert_eq!(call.await.unwrap().status, 200);
    }
    let order = order(&fake).await;
    assert_eq!(order[..3], ["slow", "interactive", "api"]);
    assert_eq!(order.len(), 53);
    let metrics = gateway.metrics().await;
    for (lane, calls) in [("interactive", 1.0), ("api", 2.0), ("batch", 50.0)] {
        let labels = [("priority", lane), ("task_type", "other")];
        let waits = metrics.sum("llm_queue_wait_seconds_count", &labels);
        // The client of the slow call left before its answer, but it was admitted.
        assert_eq!(waits, calls, "{lane}");
    }
    gateway.idle().await;
}

#[tokio::test]
async fn a_route_has_a_lane_which_its_metrics_name_with_the_task() {
    let (fake, gateway) = one_slot("routes: { m: { primary: m, lane: batch } }\n").await;
    let slow = slot_taken(&fake, &gateway).await;
    let client = gateway.client();
    let call = tokio::spawn(async move { client.send(chat(&ask("waits"))).await });
    let labels = [("priority", "batch"), ("task_type", "m")];
    eventually("one that waits", async || {
        match gateway.metrics().await.sum("llm_queue_depth", &labels) {
            1.0 => Ok(()),
            depth => Err(depth),
        }
    })
    .await;
    slow.abort();
    assert_eq!(call.await.unwrap().status, 200);
    gateway.idle().await;
}

#[tokio::test]
async fn a_full_lane_says_so_and_leaves_room_for_the_others() {
    let lanes = "lanes: { batch: { max_waiting: 2 }, interactive: { max_wait: 60s } }\n";
    let (fake, gateway) = one_slot(lanes).await;
    let slow = slot_taken(&fake, &gateway).await;
    let batch: Vec<_> = (0..2).map(|_| sent(&gateway, "batch", "batch")).collect();
    waiting_in(&gateway, "batch", 2).await;
    let refused = gateway.client().send(in_lane("batch", &ask("third"))).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "overloaded")
    );
    let said = refused.text();
    assert!(said.contains("line is full for the lane batch"), "{said}");
    assert!(refused.number("x-sluicegate-queue-ms") < 10_000);
    let interactive = sent(&gateway, "interactive", "interactive");
    waiting_in(&gateway, "interactive", 1).await;
    let labels = [("lane", "batch"), ("reason", "line_full")];
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("sluicegate_shed_total", &labels), 1.0);
    slow.abort();
    for call in batch.into_iter().chain([interactive]) {
        assert_eq!(call.await.unwrap().status, 200);
    }
    gateway.idle().await;
}

#[tokio::test]
async fn whoever_hangs_up_leaves_the_line_in_any_lane_and_nothing_is_sent() {
    let (fake, gateway) = one_slot("lanes: { interactive: { max_wait: 60s } }\n").await;
    let slow = slot_taken(&fake, &gateway).await;
    for lane in ["interactive", "api", "batch"] {
        let (client, request) = (gateway.client(), in_lane(lane, &ask("leaves")));
        let call = tokio::spawn(async move { drop(client.open(request).await) });
        waiting_in(&gateway, lane, 1).await;
        call.abort();
        waiting_in(&gateway, lane, 0).await;
    }
    slow.abort();
    gateway.idle().await;
    assert_eq!(order(&fake).await, ["slow"]);
}

#[tokio::test]
async fn what_is_left_is_kept_for_those_above_and_a_refusal_says_so() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{}\", headroom: 1, \
           limits: [{{ meter: tokens, amount: 10000, per: 1h, window: bucket, start: full }}] }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    ))
    .await;
    let mut large = ask("large");
    large["max_tokens"] = json!(5_000);
    let answer = gateway.client().send(in_lane("interactive", &large)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    // Interactive asked for half of the hour's tokens: batch leaves it as much again.
    let mut request = in_lane("batch", &ask("small"));
    let headers = request.headers_mut();
    headers.insert("x-sluicegate-max-wait", "0s".parse().unwrap());
    let refused = gateway.client().send(request).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "overloaded")
    );
    let said = refused.text();
    for part in ["account up tokens/3600s", "more urgent", "lane batch"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let labels = [("lane", "batch"), ("reason", "kept_for_others")];
    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("sluicegate_shed_total", &labels), 1.0);
    gateway.idle().await;
}

#[tokio::test]
async fn the_lane_is_told_to_a_server_that_orders_its_own_queue() {
    let fake = Fake::start("").await;
    let config = |more: &str| {
        format!(
            "{more}accounts: {{ up: {{ provider: vllm, base_url: \"{}\" }} }}\n\
             deployments: {{ m: {{ account: up }} }}\n",
            fake.base_url()
        )
    };
    let gateway = Gateway::start(&config("")).await;
    for lane in ["interactive", "api", "batch"] {
        let answer = gateway.client().send(in_lane(lane, &ask(lane))).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let mut own = ask("its own");
    own["priority"] = json!(-3);
    let answer = gateway.client().send(in_lane("batch", &own)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());

    let silent = config("providers: { vllm: { lane_priority: none } }\n");
    let silent = Gateway::start(&silent).await;
    let answer = silent.client().send(in_lane("batch", &ask("none"))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let log = fake.accepted().await;
    let seen = log.iter().map(|call| call["body"]["priority"].clone());
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [json!(0), json!(1), json!(2), json!(-3), Value::Null]
    );
}
