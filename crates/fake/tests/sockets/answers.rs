//! The fake over real sockets: answers, limits, log, settings.

use crate::support::{CHAT, Fake, request};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn the_same_request_gives_the_same_bytes_every_time_and_over_http2() {
    let fake = Fake::start("").await;
    for stream in [false, true] {
        let body = request(stream, json!({"output_tokens": 12}));
        let first = fake.chat(body.clone()).await;
        assert_eq!((first.status, first.complete), (200, true));
        assert_eq!(fake.chat(body.clone()).await.body, first.body);

        let tcp = TcpStream::connect(fake.addr).await.unwrap();
        let (mut client, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(tcp))
                .await
                .unwrap();
        let connection = tokio::spawn(connection);
        let call = http::Request::post(format!("http://fake{CHAT}"))
            .body(Full::new(bytes::Bytes::from(body.to_string())))
            .unwrap();
        let answer = client.send_request(call).await.unwrap();
        assert_eq!(answer.version(), http::Version::HTTP_2);
        assert_eq!(
            answer.into_body().collect().await.unwrap().to_bytes(),
            first.body
        );
        drop(client);
        connection.await.unwrap().unwrap();
    }
    fake.stop().await;
}

#[tokio::test]
async fn a_stream_is_complete_and_says_what_the_whole_says() {
    let fake = Fake::start("answer: { output_tokens: 40, ms_per_token: 0.2 }").await;
    let streamed = fake.chat(request(true, json!({}))).await;
    let whole = fake.chat(request(false, json!({}))).await;
    assert_eq!(streamed.content(), whole.content());
    assert!(whole.content().contains(|c| matches!(c, '가'..='힣')));
    assert_eq!(
        streamed.header("content-type"),
        Some("text/event-stream; charset=utf-8")
    );
    let events = streamed.events();
    // Role, 40 tokens, finish, usage, [DONE].
    assert_eq!(events.len(), 44);
    assert_eq!(events.last().unwrap(), "[DONE]");
    assert_eq!(streamed.chunks()[42]["usage"], whole.json()["usage"]);
    assert_eq!(whole.json()["usage"]["completion_tokens"], 40);
    fake.stop().await;
}

#[tokio::test]
async fn limits_reject_as_the_provider_does_and_everything_is_logged() {
    let fake = Fake::start(
        "provider: { charge: sum, limits: [\
           { meter: requests, amount: 2, per: 1h, window: sliding, quantum: { per: 30m, any: true } }] }",
    )
    .await;
    let mut statuses = Vec::new();
    for _ in 0..3 {
        let mut body = request(false, json!({}));
        body["max_tokens"] = json!(100);
        let reply = fake
            .send(
                "POST",
                CHAT,
                &[("authorization", "Bearer sk-secret-1234")],
                &body,
            )
            .await;
        statuses.push((
            reply.status,
            reply
                .header("x-ratelimit-remaining-requests")
                .map(str::to_owned),
        ));
    }
    // One in any half hour: the second call is refused by the quantum.
    let one = Some("1".to_owned());
    assert_eq!(
        statuses,
        [(200, one.clone()), (429, one.clone()), (429, one)]
    );

    let log = fake.get("/_log?bodies=1").await;
    let entries = log.as_array().unwrap();
    assert_eq!(entries.len(), 3);
    // 4 bytes of role, 15 + 1 + 4 + 8 of content: 32 / 4 + 100.
    assert_eq!(entries[0]["tokens_charged"], 108);
    assert_eq!(entries[0]["verdict"], "accepted");
    assert_eq!(entries[0]["status"], 200);
    assert_eq!(entries[0]["headers"]["authorization"], "***1234");
    assert_eq!(entries[0]["body"]["max_tokens"], 100);
    assert_eq!(entries[1]["verdict"], "rejected");
    assert_eq!(entries[1]["limit"], "requests quantum");
    assert!(entries[0]["ended_unix_ns"].as_u64() >= entries[0]["arrived_unix_ns"].as_u64());
    assert_eq!(fake.get("/_log?after=2").await.as_array().unwrap().len(), 1);
    assert!(fake.get("/_log?limit=1").await[0].get("body").is_none());

    let stats = fake.get("/_stats").await;
    assert_eq!(
        (&stats["accepted"], &stats["rejected"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(stats["rejected_by"], json!({"requests quantum": 2}));
    assert_eq!(
        (&stats["in_flight"], &stats["in_flight_peak"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(stats["tokens_charged"], 108);
    assert_eq!(stats["limits"][0]["peak"], 1);
    assert_eq!(stats["limits"][0]["quantum"]["peak"], 1);

    fake.send("POST", "/_reset", &[], &Value::Null).await;
    assert_eq!(fake.get("/_stats").await["accepted"], 0);
    assert_eq!(fake.chat(request(false, json!({}))).await.status, 200);
    fake.stop().await;
}

#[tokio::test]
async fn azure_has_its_own_paths_headers_and_texts() {
    let fake = Fake::start("provider: { profile: azure, limits: { tpm: 60 } }").await;
    let path = "/openai/deployments/d1/chat/completions?api-version=2024-10-21";
    let mut body = request(false, json!({}));
    body.as_object_mut().unwrap().remove("model");
    body["max_tokens"] = json!(40);
    let accepted = fake.send("POST", path, &[("api-key", "k")], &body).await;
    assert_eq!(accepted.status, 200);
    assert_eq!(accepted.json()["model"], "d1");
    assert_eq!(accepted.header("x-ratelimit-remaining-tokens"), Some("12"));
    let reset: u64 = accepted
        .header("x-ratelimit-reset-tokens")
        .unwrap()
        .parse()
        .unwrap();
    assert!(reset < 60);
    body["max_tokens"] = json!(1_000);
    let rejected = fake.send("POST", path, &[], &body).await;
    assert_eq!(rejected.status, 429);
    assert_eq!(rejected.json()["error"]["code"], "429");
    assert_eq!(rejected.header("x-ratelimit-type"), Some("Tokens"));
    assert_eq!(rejected.header("retry-after"), Some("60"));
    let unversioned = fake
        .send(
            "POST",
            "/openai/deployments/d1/chat/completions",
            &[],
            &body,
        )
        .await;
    assert_eq!(unversioned.status, 404);
    body["model"] = json!("d2");
    body["max_tokens"] = json!(1);
    let newer = fake
        .send("POST", "/openai/v1/chat/completions", &[], &body)
        .await;
    assert_eq!(newer.json()["model"], "d2");
    fake.stop().await;
}

#[tokio::test]
async fn what_the_limits_never_see_costs_nothing() {
    let fake = Fake::start(
        "provider: { limits: { rpm: 1 } }\nkeys: [good]\nmodels: [m]\nmemory: { body_bytes_max: 2000 }",
    )
    .await;
    let good = [("authorization", "Bearer good")];
    let bad = fake
        .send(
            "POST",
            CHAT,
            &[("authorization", "Bearer sk-bad-9876")],
            &json!({}),
        )
        .await;
    assert_eq!(
        (bad.status, &bad.json()["error"]["code"]),
        (401, &json!("invalid_api_key"))
    );
    assert!(
        bad.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("***9876")
    );
    assert_eq!(bad.header("x-ratelimit-limit-requests"), None);

    let missing = fake.send("POST", CHAT, &good, &json!({"model": "m"})).await;
    assert_eq!(
        (missing.status, &missing.json()["error"]["param"]),
        (400, &json!("messages"))
    );

    let mut body = request(false, json!({}));
    body["model"] = json!("other");
    let unknown = fake.send("POST", CHAT, &good, &body).await;
    assert_eq!(
        (unknown.status, &unknown.json()["error"]["code"]),
        (404, &json!("model_not_found"))
    );

    let large = json!({"model": "m", "padding": "x".repeat(2_000)});
    assert_eq!(fake.send("POST", CHAT, &good, &large).await.status, 413);
    assert_eq!(
        fake.send("POST", "/v1/nothing", &good, &json!({}))
            .await
            .status,
        404
    );
    assert_eq!(
        fake.send("GET", CHAT, &good, &Value::Null).await.status,
        405
    );

    let served = fake
        .send("POST", CHAT, &good, &request(false, json!({})))
        .await;
    assert_eq!(
        (
            served.status,
            served.header("x-ratelimit-remaining-requests")
        ),
        (200, Some("0"))
    );
    let stats = fake.get("/_stats").await;
    assert_eq!(
        (&stats["invalid"], &stats["accepted"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(fake.get("/v1/models").await["data"][0]["id"], "m");
    fake.stop().await;
}

#[tokio::test]
async fn settings_change_at_runtime() {
    let fake = Fake::start("").await;
    let patch = json!({"provider": {"limits": {"rpm": 1}}, "answer": {"output_tokens": 3}});
    let changed = fake.send("PUT", "/_settings", &[], &patch).await;
    assert_eq!(changed.json()["provider"]["limits"]["rpm"], 1);
    let first = fake.chat(request(false, json!({}))).await;
    assert_eq!(first.json()["usage"]["completion_tokens"], 3);
    assert_eq!(fake.chat(request(false, json!({}))).await.status, 429);

    let wrong = fake
        .send("PUT", "/_settings", &[], &json!({"answer": {"tokens": 3}}))
        .await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("unknown field `tokens`"));
    assert_eq!(fake.get("/_settings").await["answer"]["output_tokens"], 3);

    fake.send(
        "PUT",
        "/_settings",
        &[],
        &json!({"provider": {"limits": null}}),
    )
    .await;
    assert_eq!(fake.chat(request(false, json!({}))).await.status, 200);
    fake.stop().await;
}

#[tokio::test]
async fn a_call_on_its_way_has_not_arrived() {
    // The seed draws 53 seconds for this call.
    let fake = Fake::start("answer: { jitter_ms: 60000 }\nseed: 0").await;
    let on_its_way = fake
        .write("POST", CHAT, &[], &request(false, json!({})))
        .await;
    let refused = fake.chat(json!({"model": "m"})).await;
    assert_eq!(refused.status, 400);
    let log = fake.get("/_log").await;
    assert_eq!(log.as_array().unwrap().len(), 1);
    assert_eq!(log[0]["verdict"], "invalid");
    drop(on_its_way);
    fake.stop().await;
}

#[tokio::test]
async fn an_answer_tells_how_long_the_work_took_and_not_the_way() {
    for (profile, header) in [
        ("openai", "openai-processing-ms"),
        ("azure", "x-envoy-upstream-service-time"),
    ] {
        // The seed draws 53 of 60 for the first call.
        let settings = format!(
            "provider: {{ profile: {profile} }}\nanswer: {{ jitter_ms: 600, head_ms: 40 }}\nseed: 0"
        );
        let fake = Fake::start(&settings).await;
        let answer = fake.chat(request(false, json!({}))).await;
        assert_eq!(answer.status, 200);
        let told: u64 = answer.header(header).unwrap().parse().unwrap();
        assert!((40..500).contains(&told), "{told}");
        fake.stop().await;
    }
}

#[tokio::test]
async fn slots_are_held_while_calls_run() {
    let fake = Fake::start("provider: { concurrent: 1 }").await;
    let fault = json!({"fault": {"hang_after": 2}});
    let mut running = fake.write("POST", CHAT, &[], &request(true, fault)).await;
    let mut some = [0; 64];
    running.read_exact(&mut some).await.unwrap();
    let rejected = fake.chat(request(false, json!({}))).await;
    assert_eq!(rejected.status, 429);
    assert_eq!(fake.get("/_stats").await["in_flight"], 1);
    drop(running);
    let stats = fake.stats_until(|stats| stats["in_flight"] == 0).await;
    assert_eq!(stats["aborted"], 1);
    assert_eq!(stats["rejected_by"], json!({"concurrent": 1}));
    assert_eq!(fake.chat(request(false, json!({}))).await.status, 200);
    fake.stop().await;
}

#[tokio::test]
async fn a_body_of_unknown_length_is_bounded_too() {
    let fake = Fake::start("memory: { body_bytes_max: 1000 }").await;
    let mut connection = TcpStream::connect(fake.addr).await.unwrap();
    let chunk = format!("200\r\n{}\r\n", "x".repeat(512));
    let request = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n{chunk}{chunk}"
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    connection.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 413");
    fake.stop().await;
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_ever() {
    let fake = Fake::start("").await;
    let fault = json!({"fault": {"before_head": "hang"}});
    let mut hanging = fake.write("POST", CHAT, &[], &request(true, fault)).await;
    fake.stats_until(|stats| stats["in_flight"] == 1).await;
    let addr = fake.addr;
    fake.stop().await;
    assert!(TcpStream::connect(addr).await.is_err());
    let mut rest = Vec::new();
    // Closed, without a head; whether by FIN or by RST is the system's choice.
    let _ = hanging.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
}
