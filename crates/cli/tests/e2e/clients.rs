//! What clients of other dialects than OpenAI's are answered by the gateway itself, in their own words.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};

use crate::harness::{Answer, Fake, Gateway};

fn post(path: &str, body: &Value) -> Request<Full<Bytes>> {
    Request::post(path)
        .header("content-type", "application/json")
        .header("anthropic-version", "2023-06-01")
        .body(Full::new(body.to_string().into()))
        .expect("a request")
}

/// A gateway before an OpenAI-shaped upstream.
async fn gateway(fake: &Fake) -> Gateway {
    Gateway::start(&format!(
        "accounts: {{ a: {{ provider: openai, base_url: \"{}\", api_key: k }} }}
deployments: {{ m: {{ account: a }} }}
lanes: {{ api: {{ max_attempts: 1 }} }}
",
        fake.base_url()
    ))
    .await
}

fn message() -> Value {
    json!({ "model": "m", "max_tokens": 16, "messages": [{ "role": "user", "content": "Hello, how are you?" }] })
}

fn contents() -> Value {
    json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hello, how are you?" }] }] })
}

#[tokio::test]
async fn tokens_are_estimated_where_the_provider_does_not_count_them() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let count = async |path: &str, body: &Value| gateway.client().send(post(path, body)).await;
    let answer = count("/v1/messages/count_tokens", &message()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("x-sluicegate-usage"), Some("estimate"));
    assert_eq!(answer.json(), json!({ "input_tokens": 13 }));
    let answer = count("/v1beta/models/m:countTokens", &contents()).await;
    assert_eq!(answer.json(), json!({ "totalTokens": 13 }));
    // Nothing was sent.
    assert_eq!(fake.count("accepted").await, 0);
}

#[tokio::test]
async fn a_stream_of_googles_is_framed_as_the_client_asked() {
    let fake = Fake::start("answer: { output_tokens: 3 }").await;
    let gateway = gateway(&fake).await;
    let stream = "/v1beta/models/m:streamGenerateContent";
    let ask = async |path: &str| gateway.client().send(post(path, &contents())).await;
    let answer = ask(stream).await;
    assert_eq!(
        answer.header("content-type"),
        Some("application/json; charset=UTF-8")
    );
    let chunks = answer.json();
    let last = chunks
        .as_array()
        .and_then(|chunks| chunks.last())
        .expect("an array");
    assert_eq!(last["candidates"][0]["finishReason"], "STOP", "{chunks}");
    // Also where the upstream fails in the middle of it, and where its bytes pass.
    let native = Gateway::start(&format!(
        "accounts: {{ a: {{ provider: gemini, base_url: \"{}\", api_key: k }} }}
deployments: {{ m: {{ account: a }} }}
",
        fake.base_url().trim_end_matches("/v1")
    ))
    .await;
    fake.next_fails(&json!({"error_after": 2})).await;
    let cut = native.client().send(post(stream, &contents())).await;
    let chunks = cut.json();
    let last = chunks
        .as_array()
        .and_then(|chunks| chunks.last())
        .expect("an array");
    assert!(last["error"]["code"].is_u64(), "{chunks}");
    native.idle().await;
    let answer = ask(&format!("{stream}?alt=sse")).await;
    assert_eq!(
        answer.header("content-type"),
        Some("text/event-stream; charset=utf-8")
    );
    let events = answer.events();
    let last: Value = serde_json::from_str(events.last().expect("an event")).expect("JSON");
    assert_eq!(last["candidates"][0]["finishReason"], "STOP", "{events:?}");
    gateway.idle().await;
}

#[tokio::test]
async fn failures_are_told_in_the_clients_dialect() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let ask = async |path: &str, body: &Value| -> Answer {
        gateway.client().send(post(path, body)).await
    };
    let overloaded = json!({"status": 503, "kind": "overloaded"});
    fake.next_fails(&overloaded).await;
    let answer = ask("/v1/messages", &message()).await;
    assert_eq!(answer.status, 529, "{}", answer.text());
    assert_eq!(answer.json()["type"], "error");
    assert_eq!(answer.json()["error"]["type"], "overloaded_error");
    assert!(answer.header("request-id").is_some());
    assert!(answer.header("retry-after").is_some());
    fake.next_fails(&overloaded).await;
    let answer = ask("/v1beta/models/m:generateContent", &contents()).await;
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(answer.json()["error"]["status"], "UNAVAILABLE");
    assert_eq!(answer.json()["error"]["code"], 503);
    for (path, body, kind) in [
        (
            "/v1/messages",
            json!({ "model": "m" }),
            "/error/type=invalid_request_error",
        ),
        (
            "/v1/messages",
            json!({ "model": "none", "max_tokens": 1, "messages": [{}] }),
            "/error/type=not_found_error",
        ),
        (
            "/v1beta/models/none:generateContent",
            contents(),
            "/error/status=NOT_FOUND",
        ),
        (
            "/v1beta/models/m-%ff:generateContent",
            json!({}),
            "/error/status=NOT_FOUND",
        ),
        (
            "/v1beta/models/m:generateContent",
            json!({}),
            "/error/status=INVALID_ARGUMENT",
        ),
        (
            "/v1/embeddings",
            json!({ "model": "m" }),
            "/error/code=invalid_request",
        ),
        (
            "/v1/responses",
            json!({ "input": "hi" }),
            "/error/param=model",
        ),
    ] {
        let answer = ask(path, &body).await;
        let (place, value) = kind.split_once('=').expect("a place and a value");
        let said = answer.json();
        let at = said.pointer(place).unwrap_or(&Value::Null);
        assert_eq!(at, value, "{path}: {said}");
        assert!(
            matches!(answer.status, 400 | 404),
            "{path}: {}",
            answer.status
        );
    }
    gateway.idle().await;
}

#[tokio::test]
async fn a_fallback_that_cannot_be_told_the_request_is_named_with_the_failure() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "accounts:
  a: {{ provider: openai, base_url: \"{0}\", api_key: k }}
  b: {{ provider: anthropic, base_url: \"{0}\", api_key: k }}
deployments: {{ m: {{ account: a }}, claude: {{ account: b }} }}
routes: {{ r: {{ primary: m, fallbacks: [{{ to: claude }}] }} }}
lanes: {{ api: {{ max_attempts: 2 }} }}
",
        fake.base_url().trim_end_matches("/v1")
    ))
    .await;
    for _ in 0..2 {
        fake.next_fails(&json!({"status": 500})).await;
    }
    let hello = json!([{ "role": "user", "content": "hi" }]);
    let body = json!({ "model": "r", "messages": hello, "seed": 7 });
    let answer = gateway.chat(&body).await;
    let message = answer.json()["error"]["message"].to_string();
    assert_eq!(answer.status, 502, "{message}");
    let untried = "claude was not tried: it cannot be told `seed`";
    assert!(message.contains(untried), "{message}");
    gateway.idle().await;
}
