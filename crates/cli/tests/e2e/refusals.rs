//! What a caller gets for a request that cannot be served: in the form that SDKs understand, with what would help, and at no
//! cost.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request};
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::{
    CHAT, Expected, Fake, Gateway, chat, chat_bytes, check_error, eventually, invalid, within,
};

const BODY_MAX: usize = 4_096;

async fn gateway(fake: &Fake) -> Gateway {
    Gateway::start(&format!(
        "server: {{ body_max: {BODY_MAX} }}
accounts:
  up:
    provider: openai
    base_url: {}
    limits:
      - {{ meter: requests, amount: 10000, per: 24h, window: sliding, start: full }}
      - {{ meter: tokens, amount: 1000000, per: 24h, window: sliding, start: full }}
deployments: {{ m: {{ account: up }} }}
",
        fake.base_url()
    ))
    .await
}

#[tokio::test]
async fn a_body_that_means_nothing_is_refused_with_the_place_and_never_sent() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let many = "9".repeat(400);
    let absurd = format!(r#"{{"model":"m","messages":[{{}}],"max_tokens":{many}}}"#);
    for (name, body, expected) in [
        ("nothing", "", invalid(None, "JSON")),
        ("no JSON", "model=m", invalid(None, "JSON")),
        (
            "cut JSON",
            r#"{"model":"m","messages":["#,
            invalid(None, "JSON"),
        ),
        (
            "two documents",
            r#"{"model":"m","messages":[{}]}{}"#,
            invalid(None, "JSON"),
        ),
        ("a list", "[]", invalid(None, "object")),
        (
            "no model",
            r#"{"messages":[{}]}"#,
            invalid(Some("model"), "model"),
        ),
        (
            "empty model",
            r#"{"model":"","messages":[{}]}"#,
            invalid(Some("model"), "model"),
        ),
        (
            "model is null",
            r#"{"model":null,"messages":[{}]}"#,
            invalid(Some("model"), "model"),
        ),
        (
            "model is a number",
            r#"{"model":5,"messages":[{}]}"#,
            invalid(Some("model"), "string"),
        ),
        (
            "model twice",
            r#"{"model":"m","model":"n","messages":[{}]}"#,
            invalid(Some("model"), "twice"),
        ),
        (
            "empty messages",
            r#"{"model":"m","messages":[]}"#,
            invalid(Some("messages"), "empty"),
        ),
        (
            "no messages",
            r#"{"model":"m"}"#,
            invalid(Some("messages"), "messages"),
        ),
        (
            "messages is a text",
            r#"{"model":"m","messages":"hi"}"#,
            invalid(Some("messages"), "messages"),
        ),
        (
            "negative",
            r#"{"model":"m","messages":[{}],"max_tokens":-1}"#,
            invalid(Some("max_tokens"), "-1"),
        ),
        (
            "fractional",
            r#"{"model":"m","messages":[{}],"max_tokens":1.5}"#,
            invalid(Some("max_tokens"), "1.5"),
        ),
        (
            "a text",
            r#"{"model":"m","messages":[{}],"max_tokens":"5"}"#,
            invalid(Some("max_tokens"), "string"),
        ),
        ("absurd", &absurd, invalid(Some("max_tokens"), "max_tokens")),
        (
            "negative, by its newer name",
            r#"{"model":"m","messages":[{}],"max_completion_tokens":-7}"#,
            invalid(Some("max_completion_tokens"), "-7"),
        ),
        (
            "stream is a text",
            r#"{"model":"m","messages":[{}],"stream":"yes"}"#,
            invalid(Some("stream"), "stream"),
        ),
        (
            "n of nothing",
            r#"{"model":"m","messages":[{}],"n":-1}"#,
            invalid(Some("n"), "n"),
        ),
    ] {
        let answer = gateway.client().send(chat_bytes(body.to_owned())).await;
        check_error(name, &answer, &expected);
    }
    let not_utf8: &[u8] = b"{\"model\":\"m\xff\",\"messages\":[]}";
    let answer = gateway.client().send(chat_bytes(not_utf8)).await;
    check_error("not UTF-8", &answer, &invalid(None, "UTF-8"));
    nothing_came_of_it(&gateway, &fake).await;
}

#[tokio::test]
async fn a_request_that_goes_nowhere_is_told_where_things_are() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let with = |name: &'static str, value: &str| {
        let mut request = chat(&body);
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    let at = |method: Method, path: &str| {
        let mut request = chat(&body);
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap();
        request
    };
    let mut unknown_model = body.clone();
    unknown_model["model"] = json!("no-such-model");
    let mut no_type = chat(&body);
    no_type.headers_mut().remove(CONTENT_TYPE);
    let not_found = |param, code, says| Expected {
        status: 404,
        code,
        ..invalid(param, says)
    };
    for (name, request, expected) in [
        (
            "unknown model",
            chat(&unknown_model),
            not_found(Some("model"), "model_not_found", "no-such-model"),
        ),
        (
            "model below models",
            at(Method::GET, "/v1/models/no-such-model"),
            not_found(Some("model"), "model_not_found", "no-such-model"),
        ),
        (
            "no such path",
            at(Method::POST, "/v1/chat/completion"),
            not_found(None, "invalid_request", "/v1"),
        ),
        (
            "without its version",
            at(Method::POST, "/chat/completions"),
            not_found(None, "invalid_request", "ends in /v1"),
        ),
        (
            "wrong method",
            at(Method::GET, CHAT),
            Expected {
                status: 405,
                ..invalid(None, "GET")
            },
        ),
        ("no content type", no_type, invalid(None, "content-type")),
        (
            "a form",
            with("content-type", "application/x-www-form-urlencoded"),
            invalid(None, "application/json"),
        ),
        (
            "plain text",
            with("content-type", "text/plain"),
            invalid(None, "application/json"),
        ),
        (
            "a rebound name",
            with("host", "evil.example"),
            invalid(None, "host"),
        ),
        (
            "a rebound name and port",
            with("host", "evil.example:8080"),
            invalid(None, "host"),
        ),
        (
            "another address",
            with("host", "10.0.0.1"),
            invalid(None, "host"),
        ),
        (
            "wait without unit",
            with("x-sluicegate-max-wait", "5"),
            invalid(None, "x-sluicegate-max-wait"),
        ),
        (
            "negative wait",
            with("x-sluicegate-max-wait", "-5s"),
            invalid(None, "x-sluicegate-max-wait"),
        ),
        (
            "unknown lane",
            with("x-sluicegate-lane", "express"),
            invalid(None, "interactive, api or batch"),
        ),
        (
            "unknown task",
            with("x-sluicegate-task", "no-such-task"),
            invalid(None, "no-such-task"),
        ),
    ] {
        let answer = gateway.client().send(request).await;
        check_error(name, &answer, &expected);
    }
    for host in ["localhost", "LOCALHOST:1", "[::1]:8080", "127.0.0.1"] {
        let answer = gateway.client().send(with("host", host)).await;
        assert_eq!(answer.status, 200, "{host}: {}", answer.text());
    }
    let preflight = at(Method::OPTIONS, CHAT);
    let answer = gateway.client().send(preflight).await;
    assert!(answer.status >= 400, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(fake.count("accepted").await, 4);
    gateway.idle().await;
}

#[tokio::test]
async fn a_compressed_body_is_refused_by_its_header() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    for (encoding, status) in [("gzip", 415), ("br, gzip", 415), ("identity", 200)] {
        let mut request = chat_bytes(body);
        let value = encoding.parse().unwrap();
        request.headers_mut().insert("content-encoding", value);
        let answer = gateway.client().send(request).await;
        assert_eq!(answer.status, status, "{encoding}: {}", answer.text());
        if status == 415 {
            let expected = Expected {
                status,
                ..invalid(None, "header content-encoding")
            };
            check_error(encoding, &answer, &expected);
        }
    }
    assert_eq!(fake.count("accepted").await, 1);
    gateway.idle().await;
}

#[tokio::test]
async fn a_body_over_the_bound_is_refused_before_it_is_read_whole() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let expected = Expected {
        status: 413,
        code: "request_too_large",
        ..invalid(None, "4096")
    };
    // Only the head is sent: who announces too much is not asked for it.
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{CONTENT_LENGTH}: {}\r\n\r\n",
        BODY_MAX + 1
    );
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    within("an answer to the head", stream.read_exact(&mut answer))
        .await
        .unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    drop(stream);

    let large = chat_bytes(vec![b' '; BODY_MAX + 1]);
    check_error(
        "with its length",
        &gateway.client().send(large).await,
        &expected,
    );

    let (mut pieces, body) = Channel::new(5);
    for _ in 0..5 {
        pieces
            .send_data(Bytes::from(vec![b' '; 1_024]))
            .await
            .unwrap();
    }
    drop(pieces);
    let request = chat_bytes("").map(|_| body.boxed());
    let answer = within("an answer", gateway.client().open_body(request))
        .await
        .unwrap();
    check_error("in pieces", &answer.read().await.unwrap(), &expected);

    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).to_string();
    let just = format!("{body:<BODY_MAX$}");
    assert_eq!(
        gateway.client().send(chat_bytes(just)).await.status,
        200,
        "the bound itself fits"
    );
    assert_eq!(fake.count("accepted").await, 1);
    gateway.idle().await;
}

#[tokio::test]
async fn a_client_that_stops_in_its_body_holds_nothing() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let head = format!(
        "POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{\"model\""
    );
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    eventually("the request in flight", async || {
        match gateway
            .metrics()
            .await
            .sum("sluicegate_requests_in_flight", &[])
        {
            1.0 => Ok(()),
            other => Err(other),
        }
    })
    .await;
    drop(stream);
    nothing_came_of_it(&gateway, &fake).await;
}

async fn nothing_came_of_it(gateway: &Gateway, fake: &Fake) {
    gateway.idle().await;
    let metrics = gateway.metrics().await;
    assert_eq!(
        metrics.sum("sluicegate_limit_used", &[]),
        0.0,
        "what was refused costs nothing"
    );
    assert_eq!(metrics.sum("llm_requests_total", &[("status", "200")]), 0.0);
    assert!(
        !metrics.has("sluicegate_upstream_attempts_total"),
        "nothing was sent"
    );
    let stats = fake.stats().await;
    assert_eq!(
        (&stats["accepted"], &stats["invalid"]),
        (&json!(0), &json!(0))
    );
}

#[tokio::test]
async fn a_host_that_is_no_text_is_refused() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let mut request: Request<Full<Bytes>> =
        chat(&json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}));
    let host = HeaderValue::from_bytes(b"local\xffhost").unwrap();
    request.headers_mut().insert(HOST, host);
    assert_eq!(gateway.client().send(request).await.status, 400);
    nothing_came_of_it(&gateway, &fake).await;
}
