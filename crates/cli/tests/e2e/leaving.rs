//! Clients that leave, and a process that ends, wherever a request is between two attempts: afterwards nothing is held.

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::harness::{Fake, Gateway, chat, eventually};
use crate::routes::{Pair, hello};

/// A client that asks and waits until it is told to leave.
fn asks(gateway: &Gateway, body: Value) -> JoinHandle<()> {
    let client = gateway.client();
    tokio::spawn(async move { drop(client.open(chat(&body)).await) })
}

/// Waits until so many requests are under way while so many reservations are open.
async fn rests(gateway: &Gateway, requests: f64, reservations: f64) {
    eventually("requests and reservations", async || {
        let metrics = gateway.metrics().await;
        let seen = (
            metrics.sum("sluicegate_requests_in_flight", &[]),
            metrics.sum("sluicegate_reservations_open", &[]),
        );
        if seen == (requests, reservations) {
            Ok(())
        } else {
            Err(seen)
        }
    })
    .await;
}

async fn called(fake: &Fake, times: u64) {
    eventually("calls at the fake", async || {
        match fake.count("accepted").await {
            there if there == times => Ok(()),
            other => Err(other),
        }
    })
    .await;
}

#[tokio::test]
async fn whoever_waits_between_two_attempts_holds_nothing_and_may_leave() {
    let slot = "{ meter: concurrent, amount: 1 }";
    let pair = Pair::start(
        "",
        "",
        slot,
        "lanes: { api: { max_attempts: 2, max_total_retry: 60s } }",
    )
    .await;
    let (first, second, gateway) = (&pair.first, &pair.second, &pair.gateway);

    // At its fallback, whose only slot is taken: its own call has ended, that of the other is open.
    let other = asks(
        gateway,
        json!({"model": "a", "messages": [{"role": "user", "content": "hi"}], "fake": {"head_ms": 1_000_000}}),
    );
    first.in_flight(1).await;
    second.next_fails(&json!({"status": 500})).await;
    let waits = asks(gateway, hello("back", false));
    gateway.waiting(1).await;
    rests(gateway, 2.0, 1.0).await;
    waits.abort();
    gateway.waiting(0).await;
    rests(gateway, 1.0, 1.0).await;
    other.abort();
    gateway.idle().await;

    // In the fallback's call: before its head, and in its stream before the first content.
    for (aborted, fault) in [json!({"before_head": "hang"}), json!({"hang_after": 1})]
        .iter()
        .enumerate()
    {
        second.next_fails(&json!({"status": 500})).await;
        first.next_fails(fault).await;
        let waits = asks(gateway, hello("back", true));
        first.in_flight(1).await;
        waits.abort();
        first.in_flight(0).await;
        gateway.idle().await;
        assert_eq!(first.count("aborted").await, aborted as u64 + 2, "{fault}");
    }

    // For the end of what the provider asked for: as the one whose attempt that was, and as one that came later.
    let (before, _) = pair.calls().await;
    first
        .next_fails(&json!({"status": 503, "retry_after": 40}))
        .await;
    let waits = asks(gateway, hello("only", false));
    called(first, before + 1).await;
    rests(gateway, 1.0, 0.0).await;
    let later = asks(gateway, hello("only", false));
    rests(gateway, 2.0, 0.0).await;
    waits.abort();
    rests(gateway, 1.0, 0.0).await;
    later.abort();
    gateway.idle().await;
    assert_eq!(pair.calls().await.0, before + 1, "nothing more was sent");

    let metrics = gateway.metrics().await;
    assert_eq!(metrics.sum("llm_requests_total", &[("status", "499")]), 6.0);
    // Three before the head or the first content of their call; the others were between two calls.
    let left = [("outcome", "client_left")];
    let attempts = "sluicegate_upstream_attempts_total";
    assert_eq!(metrics.sum(attempts, &left), 3.0);
    let (at_first, at_second) = pair.calls().await;
    let sent = (at_first + at_second) as f64;
    assert_eq!(metrics.sum(attempts, &[]), sent, "every call");
    assert_eq!(
        metrics.sum("sluicegate_reservations_expired_total", &[]),
        0.0
    );
}

#[tokio::test]
async fn a_process_that_ends_waits_for_no_further_attempt() {
    let pair = Pair::start("", "", "", "lanes: { api: { max_total_retry: 60s } }").await;
    pair.first
        .next_fails(&json!({"status": 503, "retry_after": 40}))
        .await;
    let client = pair.gateway.client();
    let waits = tokio::spawn(async move { client.send(chat(&hello("only", false))).await });
    called(&pair.first, 1).await;
    rests(&pair.gateway, 1.0, 0.0).await;
    let Pair { mut gateway, .. } = pair;
    gateway.process.terminate();
    let answer = waits.await.unwrap();
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "shutting_down"),
        "{answer:?}"
    );
    assert!(gateway.process.ended().await.success());
}
