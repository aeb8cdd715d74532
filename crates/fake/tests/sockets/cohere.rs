//! Cohere's second interface over real sockets.

use serde_json::{Value, json};

use crate::support::{Fake, Reply, fits, look_up, report};

fn question(changes: &Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hello"}]});
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn ask(fake: &Fake, changes: Value) -> Reply {
    fake.send("POST", "/v2/chat", &[], &question(&changes))
        .await
}

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "look_up", "parameters": look_up()}}])
}

#[tokio::test]
async fn a_stream_says_what_the_whole_says() {
    let fake = Fake::start("").await;
    for changes in [
        json!({}),
        json!({"thinking": {"type": "enabled"}}),
        json!({"tools": tools(), "fake": {"tools": 2}}),
        json!({"max_tokens": 5}),
    ] {
        let whole = ask(&fake, changes.clone()).await.json();
        let mut streaming = changes.clone();
        streaming["stream"] = json!(true);
        let events = ask(&fake, streaming).await.named();
        assert_eq!(events[0].0, "message-start");
        let mut text = String::new();
        for (name, data) in &events {
            assert_eq!(data["type"], *name);
            let message = &data["delta"]["message"];
            let arguments = &message["tool_calls"]["function"]["arguments"];
            for piece in [
                &message["content"]["thinking"],
                &message["content"]["text"],
                arguments,
            ] {
                text += piece.as_str().unwrap_or_default();
            }
        }
        let message = &whole["message"];
        let content = message["content"].as_array().into_iter().flatten();
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let said = content.chain(calls).map(|part| {
            let pieces = [
                &part["thinking"],
                &part["text"],
                &part["function"]["arguments"],
            ];
            pieces
                .iter()
                .filter_map(|piece| piece.as_str())
                .collect::<String>()
        });
        assert_eq!(said.collect::<String>(), text, "{changes}");
        let (name, last) = events.last().unwrap();
        assert_eq!(name, "message-end");
        assert_eq!(last["delta"]["usage"], whole["usage"]);
        assert_eq!(last["delta"]["finish_reason"], whole["finish_reason"]);
    }
    fake.stop().await;
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_repeated() {
    let fake = Fake::start("").await;
    let called = ask(&fake, json!({"tools": tools()})).await.json();
    assert_eq!(called["finish_reason"], "TOOL_CALL");
    let mut message = called["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    message["role"] = json!("assistant");
    let result = json!({"role": "tool", "tool_call_id": id, "content": "12 degrees"});
    let messages = json!([{"role": "user", "content": "Hello"}, message, result]);
    let told = ask(&fake, json!({"tools": tools(), "messages": messages}))
        .await
        .json();
    assert_eq!(
        told["message"]["content"][0]["text"],
        "The tool says: 12 degrees"
    );
    let format = json!({"type": "json_object", "json_schema": report()});
    let told = ask(&fake, json!({"response_format": format})).await.json();
    assert!(fits(
        told["message"]["content"][0]["text"].as_str().unwrap()
    ));
    fake.stop().await;
}

#[tokio::test]
async fn texts_are_embedded_in_each_form() {
    let fake = Fake::start("").await;
    let body = json!({"model": "e", "texts": ["gate", "lock"], "input_type": "search_query",
        "embedding_types": ["float", "int8", "ubinary"], "output_dimension": 16});
    let told = fake.send("POST", "/v2/embed", &[], &body).await.json();
    let length = |form: &str| told["embeddings"][form][1].as_array().unwrap().len();
    assert_eq!(
        (length("float"), length("int8"), length("ubinary")),
        (16, 16, 2)
    );
    let untyped = json!({"model": "e", "texts": ["gate"]});
    assert_eq!(
        fake.send("POST", "/v2/embed", &[], &untyped).await.status,
        400
    );
    fake.stop().await;
}

#[tokio::test]
async fn errors_are_a_message() {
    let fake = Fake::start("").await;
    for (changes, status) in [
        (json!({"messages": []}), 400),
        (json!({"fake": {"fault": {"status": 429}}}), 429),
        (json!({"fake": {"fault": {"status": 503}}}), 503),
    ] {
        let reply = ask(&fake, changes).await;
        assert_eq!(reply.status, status);
        assert!(reply.json()["message"].is_string());
        assert!(reply.header("x-debug-trace-id").is_some());
    }
    let fault = json!({"error_after": 3});
    let events = ask(&fake, json!({"stream": true, "fake": {"fault": fault}}))
        .await
        .named();
    assert_eq!(events.last().unwrap().1["delta"]["finish_reason"], "ERROR");
    fake.stop().await;
}
