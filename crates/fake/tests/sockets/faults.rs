//! Every fault over real sockets, told by the bytes that a client receives and by how its connection ends.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::support::{CHAT, Fake, Reply, request};

async fn streamed(fake: &Fake, fault: Value) -> Reply {
    fake.chat(request(true, json!({"output_tokens": 6, "fault": fault})))
        .await
}

async fn whole(fake: &Fake, fault: Value) -> Reply {
    fake.chat(request(false, json!({"output_tokens": 6, "fault": fault})))
        .await
}

#[tokio::test]
async fn statuses_come_in_turn_for_the_same_body() {
    let fake = Fake::start("").await;
    let fault = json!({"status": [500, 429, 200], "retry_after": "soon", "retry_after_ms": 300});
    let mut seen = Vec::new();
    for _ in 0..4 {
        let reply = whole(&fake, fault.clone()).await;
        seen.push((reply.status, reply.header("retry-after").map(str::to_owned)));
    }
    let soon = Some("soon".to_owned());
    assert_eq!(
        seen,
        [
            (500, soon.clone()),
            (429, soon.clone()),
            (200, soon),
            (200, None)
        ]
    );
    assert_eq!(fake.get("/_stats").await["failed"], 2);
    fake.stop().await;
}

#[tokio::test]
async fn errors_have_the_body_of_their_kind() {
    let fake = Fake::start("").await;
    for (fault, code) in [
        (json!({"status": 500}), Value::Null),
        (json!({"status": 429}), json!("rate_limit_exceeded")),
        (
            json!({"status": 429, "kind": "quota"}),
            json!("insufficient_quota"),
        ),
        (
            json!({"status": 400, "kind": "context"}),
            json!("context_length_exceeded"),
        ),
        (json!({"status": 401}), json!("invalid_api_key")),
        (json!({"status": 503}), json!("server_is_overloaded")),
        (
            json!({"status": 429, "kind": "slow_down"}),
            json!("slow_down"),
        ),
    ] {
        let reply = streamed(&fake, fault.clone()).await;
        assert_eq!(json!(reply.status), fault["status"]);
        assert_eq!(reply.json()["error"]["code"], code, "{fault}");
    }
    let html = whole(&fake, json!({"status": 502, "kind": "html"})).await;
    assert_eq!(html.header("content-type"), Some("text/html"));
    assert!(html.text().starts_with("<html>"));
    let empty = whole(&fake, json!({"status": 500, "kind": "empty"})).await;
    assert_eq!((empty.body.len(), empty.complete), (0, true));
    let text = whole(&fake, json!({"status": 503, "kind": "text"})).await;
    assert_eq!(text.header("content-type"), Some("text/plain"));
    let junk = whole(&fake, json!({"status": 500, "kind": "junk"})).await;
    assert_eq!(junk.header("content-type"), Some("application/json"));
    let truncated = whole(&fake, json!({"status": 200, "truncate": 9})).await;
    let length = whole(&fake, json!({})).await.body.len();
    assert_eq!((truncated.status, truncated.body.len()), (200, length - 9));
    for broken in [junk, truncated] {
        assert!(broken.complete && serde_json::from_slice::<Value>(&broken.body).is_err());
    }
    let date = whole(&fake, json!({"status": 429, "retry_after": "date:+3"})).await;
    assert!(date.header("retry-after").unwrap().ends_with(" GMT"));
    let headers = json!({"status": 429, "headers": {"X-Should-Retry": "false", "retry-after": 7}});
    let headers = whole(&fake, headers).await;
    assert_eq!(headers.header("x-should-retry"), Some("false"));
    assert_eq!(headers.header("retry-after"), Some("7"));
    fake.stop().await;
}

#[tokio::test]
async fn connections_break_before_the_head() {
    let fake = Fake::start("").await;
    let reset = whole(&fake, json!({"before_head": "reset"})).await;
    assert_eq!((reset.status, reset.body.len(), reset.reset), (0, 0, true));
    let close = streamed(&fake, json!({"before_head": "close"})).await;
    assert_eq!((close.status, close.body.len(), close.reset), (0, 0, false));
    let stats = fake.get("/_stats").await;
    assert_eq!(
        (&stats["failed"], &stats["in_flight"]),
        (&json!(2), &json!(0))
    );
    fake.stop().await;
}

#[tokio::test]
async fn streams_break_after_exactly_so_many_events() {
    let fake = Fake::start("").await;
    for (cut, reset) in [("close", false), ("reset", true)] {
        for events in [0, 3, 9] {
            let reply = streamed(&fake, json!({"cut_after": events, "cut": cut})).await;
            assert_eq!(reply.status, 200);
            assert_eq!(reply.events().len(), events, "{cut}");
            assert_eq!(
                (reply.complete, reply.reset),
                (false, reset),
                "{cut} after {events}"
            );
        }
        let reply = whole(&fake, json!({"cut_after": 20, "cut": cut})).await;
        assert_eq!(
            (reply.body.len(), reply.complete, reply.reset),
            (20, false, reset)
        );
    }
    assert_eq!(fake.get("/_stats").await["in_flight"], 0);
    fake.stop().await;
}

#[tokio::test]
async fn what_hangs_ends_when_the_client_leaves() {
    let fake = Fake::start("").await;
    for (stream, fault) in [
        (false, json!({"before_head": "hang"})),
        (true, json!({"before_head": "hang"})),
        (true, json!({"hang_after": 2})),
        (true, json!({"hang_after": 2, "comment_ms": 1})),
        (false, json!({"hang_after": 10})),
        (true, json!({"head_ms": 3_600_000})),
        (true, json!({"pause_after": 1, "pause_ms": 3_600_000})),
    ] {
        let body = request(stream, json!({"fault": fault}));
        let connection = fake.write("POST", CHAT, &[], &body).await;
        fake.stats_until(|stats| stats["in_flight"] == 1).await;
        drop(connection);
        fake.stats_until(|stats| stats["in_flight"] == 0).await;
    }
    assert_eq!(fake.get("/_stats").await["aborted"], 7);
    fake.stop().await;
}

#[tokio::test]
async fn an_error_may_come_within_a_stream() {
    let fake = Fake::start("").await;
    for events in [0, 4] {
        let reply = streamed(&fake, json!({"error_after": events, "kind": "overloaded"})).await;
        assert_eq!((reply.status, reply.complete), (200, true));
        assert_eq!(reply.events().len(), events + 1);
        let chunks = reply.chunks();
        assert_eq!(chunks[events]["error"]["code"], "server_is_overloaded");
    }
    fake.stop().await;
}

#[tokio::test]
async fn framing_may_be_odd_but_the_content_stays() {
    let fake = Fake::start("").await;
    let plain = streamed(&fake, json!({})).await;
    for fault in [
        json!({"eol": "crlf"}),
        json!({"eol": "cr"}),
        json!({"no_space": true}),
        json!({"two_lines": true}),
        json!({"comments": true}),
        json!({"split": 1}),
        json!({"split": 7, "eol": "crlf"}),
        json!({"coalesce": true}),
        json!({"pause_after": 3, "pause_ms": 5, "comment_ms": 1}),
        json!({"head_byte_ms": 0.01}),
    ] {
        let reply = streamed(&fake, fault.clone()).await;
        assert!(reply.complete, "{fault}");
        assert_eq!(reply.content(), plain.content(), "{fault}");
        assert_eq!(reply.chunks(), plain.chunks(), "{fault}");
    }
    assert!(
        streamed(&fake, json!({"comments": true}))
            .await
            .text()
            .contains(": keep-alive\n\n")
    );
    assert!(
        !streamed(&fake, json!({"no_space": true}))
            .await
            .text()
            .contains("data: ")
    );
    let pieces = streamed(&fake, json!({"split": 1})).await.pieces;
    assert!(pieces.len() > 1_000 && pieces.iter().all(|size| *size == 1));
    assert_eq!(
        streamed(&fake, json!({"coalesce": true}))
            .await
            .pieces
            .len(),
        1
    );
    let split = whole(&fake, json!({"split": 1})).await;
    assert_eq!(split.body, whole(&fake, json!({})).await.body);
    fake.stop().await;
}

#[tokio::test]
async fn parts_of_a_stream_may_be_missing_or_too_many() {
    let fake = Fake::start("").await;
    let done = streamed(&fake, json!({"done": false, "last_blank": false})).await;
    assert!(done.complete && !done.text().contains("[DONE]"));
    assert!(done.text().ends_with("}\n") && !done.text().ends_with("\n\n"));

    let missing = streamed(&fake, json!({"usage": "missing"})).await;
    assert!(
        missing
            .chunks()
            .iter()
            .all(|chunk| chunk.get("usage").is_none())
    );
    let every = streamed(&fake, json!({"usage": "every"})).await;
    let counted: Vec<Value> = every
        .chunks()
        .iter()
        .map(|chunk| chunk["usage"]["completion_tokens"].clone())
        .collect();
    assert_eq!(counted, [0, 1, 2, 3, 4, 5, 6, 6, 6]);

    let plain = streamed(&fake, json!({"plain": true})).await;
    assert_eq!(plain.header("content-type"), Some("application/json"));
    assert_eq!(plain.json()["object"], "chat.completion");
    let html = streamed(&fake, json!({"content_type": "text/html"})).await;
    assert_eq!(html.header("content-type"), Some("text/html"));
    fake.stop().await;
}

#[tokio::test]
async fn queued_faults_happen_to_the_next_calls_of_their_model() {
    let fake = Fake::start("faults: [{ status: 503 }]").await;
    let ask = |model: &str| {
        let mut body = request(false, json!({}));
        body["model"] = json!(model);
        body
    };
    assert_eq!(fake.chat(ask("a")).await.status, 503);
    let faults = json!([{"model": "b", "status": [500, 529]}, {"status": 429, "times": 2}]);
    let queued = fake.send("POST", "/_faults", &[], &faults).await;
    assert_eq!(queued.json()["queued"], 2);
    let mut statuses = Vec::new();
    for model in ["b", "a", "b", "a", "b"] {
        statuses.push(fake.chat(ask(model)).await.status);
    }
    assert_eq!(statuses, [500, 429, 529, 429, 200]);
    assert_eq!(fake.get("/_faults").await["queued"], 0);
    let wrong = fake
        .send("POST", "/_faults", &[], &json!({"statu": 500}))
        .await;
    assert_eq!(wrong.status, 400);
    fake.stop().await;
}

#[tokio::test]
async fn a_failed_call_keeps_or_returns_its_charge() {
    for (kept, remaining) in [(true, "8"), (false, "9")] {
        let fake = Fake::start(&format!(
            "provider:\n  failed_count: {kept}\n  limits: [{{ meter: requests, amount: 10, per: 24h, window: sliding }}]"
        ))
        .await;
        whole(&fake, json!({"status": 500})).await;
        let next = whole(&fake, json!({})).await;
        assert_eq!(
            next.header("x-ratelimit-remaining-requests"),
            Some(remaining)
        );
        fake.stop().await;
    }
}

#[tokio::test]
async fn http2_connections_break_too() {
    let fake = Fake::start("").await;
    let tcp = TcpStream::connect(fake.addr).await.unwrap();
    let (mut client, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(tcp))
            .await
            .unwrap();
    let connection = tokio::spawn(connection);
    let body = request(true, json!({"fault": {"cut_after": 2, "cut": "reset"}}));
    let call = http::Request::post(format!("http://fake{CHAT}"))
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    let answer = client.send_request(call).await.unwrap();
    assert_eq!(answer.status(), 200);
    let error = answer.into_body().collect().await.unwrap_err();
    assert!(
        error.to_string().contains("error reading a body"),
        "{error}"
    );
    assert!(connection.await.unwrap().is_err());
    assert_eq!(fake.get("/_stats").await["failed"], 1);
    fake.stop().await;
}

#[tokio::test]
async fn a_head_may_come_byte_by_byte() {
    let fake = Fake::start("").await;
    let body = request(false, json!({"fault": {"head_byte_ms": 3_600_000}}));
    let mut connection = fake.write("POST", CHAT, &[], &body).await;
    let mut some = [0; 64];
    assert_eq!(connection.read(&mut some).await.unwrap(), 1);
    assert_eq!(some[0], b'H');
    drop(connection);
    fake.stats_until(|stats| stats["in_flight"] == 0).await;
    fake.stop().await;
}
