//! Anthropic's messages over real sockets.

use serde_json::{Value, json};

use crate::support::{Fake, Reply, fits, look_up, report};

const MESSAGES: &str = "/v1/messages";
const VERSION: [(&str, &str); 1] = [("anthropic-version", "2023-06-01")];

fn question(changes: &Value) -> Value {
    let mut body = json!({"model": "claude-fake", "max_tokens": 2_000, "messages": [{"role": "user", "content": "Hello"}]});
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn ask(fake: &Fake, changes: Value) -> Reply {
    fake.send("POST", MESSAGES, &VERSION, &question(&changes))
        .await
}

/// The message that the events of a stream make.
fn assembled(reply: &Reply) -> Value {
    let mut message = Value::Null;
    let mut partial = String::new();
    for (name, data) in reply.named() {
        assert_eq!(data["type"], *name);
        let index = data["index"]
            .as_u64()
            .map_or(0, |n| usize::try_from(n).unwrap());
        match name.as_str() {
            "message_start" => message = data["message"].clone(),
            "content_block_start" => {
                partial.clear();
                let content = message["content"].as_array_mut().unwrap();
                assert_eq!(content.len(), index);
                content.push(data["content_block"].clone());
            }
            "content_block_delta" => {
                let block = &mut message["content"][index];
                for field in ["text", "thinking", "signature"] {
                    if let Some(text) = data["delta"][field].as_str() {
                        block[field] = json!(block[field].as_str().unwrap().to_owned() + text);
                    }
                }
                partial += data["delta"]["partial_json"].as_str().unwrap_or_default();
            }
            "content_block_stop" if !partial.is_empty() => {
                message["content"][index]["input"] = serde_json::from_str(&partial).unwrap();
            }
            "message_delta" => {
                message["stop_reason"] = data["delta"]["stop_reason"].clone();
                message["stop_sequence"] = data["delta"]["stop_sequence"].clone();
                message["usage"] = data["usage"].clone();
            }
            _ => {}
        }
    }
    message
}

#[tokio::test]
async fn a_stream_makes_the_message_that_the_whole_is() {
    let fake = Fake::start("").await;
    let tools = json!([{"name": "look_up", "input_schema": look_up()}]);
    let wishes = json!({"prompt_tokens": 100, "cached_tokens": 60, "cache_written_tokens": 10});
    for changes in [
        json!({"fake": wishes}),
        json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}}),
        json!({"tools": tools, "fake": {"tools": 2}}),
        json!({"max_tokens": 5}),
        json!({"fake": {"refusal": true}}),
    ] {
        let whole = ask(&fake, changes.clone()).await;
        assert_eq!(whole.status, 200, "{}", whole.text());
        let mut streaming = changes.clone();
        streaming["stream"] = json!(true);
        let stream = ask(&fake, streaming).await;
        assert!(stream.complete);
        assert_eq!(assembled(&stream), whole.json(), "{changes}");
        assert_eq!(stream.named().last().unwrap().0, "message_stop");
    }
    let counted = ask(&fake, json!({"fake": wishes})).await.json();
    assert_eq!(counted["usage"]["input_tokens"], 30);
    assert_eq!(counted["usage"]["cache_read_input_tokens"], 60);
    assert_eq!(counted["usage"]["cache_creation_input_tokens"], 10);
    fake.stop().await;
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_repeated() {
    let fake = Fake::start("").await;
    let tools = json!([{"name": "look_up", "input_schema": look_up()}]);
    let called = ask(&fake, json!({"tools": tools})).await.json();
    assert_eq!(called["stop_reason"], "tool_use");
    let call = &called["content"][0];
    assert!(call["input"]["city"].is_string());
    let messages = json!([
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": called["content"]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "12 degrees"}]},
    ]);
    let told = ask(&fake, json!({"tools": tools, "messages": messages}))
        .await
        .json();
    assert_eq!(told["content"][0]["text"], "The tool says: 12 degrees");
    assert_eq!(told["stop_reason"], "end_turn");
    fake.stop().await;
}

#[tokio::test]
async fn json_follows_its_schema() {
    let fake = Fake::start("").await;
    let format = json!({"format": {"type": "json_schema", "schema": report()}});
    let told = ask(&fake, json!({"output_config": format})).await.json();
    assert!(fits(told["content"][0]["text"].as_str().unwrap()));
    let in_words = format!("Answer with JSON after this schema: {}", report());
    let told = ask(&fake, json!({"system": in_words})).await.json();
    assert!(fits(told["content"][0]["text"].as_str().unwrap()));
    fake.stop().await;
}

#[tokio::test]
async fn json_is_broken_once_in_a_conversation() {
    let fake = Fake::start("").await;
    let hello = r#"Hello <fake>{"json": "broken_once"}</fake>"#;
    let format = json!({"format": {"type": "json_schema", "schema": report()}});
    let first = json!({"output_config": format, "messages": [{"role": "user", "content": hello}]});
    let broken = ask(&fake, first).await.json();
    let broken = broken["content"][0]["text"].as_str().unwrap();
    assert!(!fits(broken));
    let repair = json!({"output_config": format, "messages": [
        {"role": "user", "content": hello}, {"role": "assistant", "content": broken},
        {"role": "user", "content": "That is no JSON."}]});
    let mended = ask(&fake, repair).await.json();
    assert!(fits(mended["content"][0]["text"].as_str().unwrap()));
    fake.stop().await;
}

#[tokio::test]
async fn tokens_are_counted_at_no_cost() {
    let fake = Fake::start("provider: { limits: { rpm: 1 } }").await;
    let path = "/v1/messages/count_tokens";
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hello"}]});
    for _ in 0..3 {
        let counted = fake.send("POST", path, &VERSION, &body).await;
        assert_eq!(counted.status, 200);
        assert!(counted.json()["input_tokens"].as_u64().unwrap() > 4);
    }
    assert_eq!(ask(&fake, json!({})).await.status, 200);
    let refused = ask(&fake, json!({})).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.json()["error"]["type"], "rate_limit_error");
    fake.stop().await;
}

#[tokio::test]
async fn errors_have_the_providers_form() {
    let fake = Fake::start("keys: [good]").await;
    let good = [VERSION[0], ("x-api-key", "good")];
    let sent = async |headers: &[(&str, &str)], changes: Value| {
        let reply = fake
            .send("POST", MESSAGES, headers, &question(&changes))
            .await;
        let kind = reply.json()["error"]["type"].as_str().unwrap().to_owned();
        assert_eq!(reply.json()["type"], "error");
        assert!(reply.header("request-id").is_some());
        (reply.status, kind)
    };
    for (headers, changes, status, kind) in [
        (&VERSION[..], json!({}), 401, "authentication_error"),
        (&good[1..], json!({}), 400, "invalid_request_error"),
        (
            &good[..],
            json!({"messages": []}),
            400,
            "invalid_request_error",
        ),
        (
            &good[..],
            json!({"fake": {"fault": {"status": 529}}}),
            529,
            "overloaded_error",
        ),
    ] {
        assert_eq!(sent(headers, changes).await, (status, kind.to_owned()));
    }
    let fault = json!({"error_after": 4, "kind": "overloaded"});
    let body = question(&json!({"stream": true, "fake": {"fault": fault}}));
    let stream = fake.send("POST", MESSAGES, &good, &body).await;
    let events = stream.named();
    let (name, data) = events.last().unwrap();
    assert_eq!((name.as_str(), events.len()), ("error", 5));
    assert_eq!(data["error"]["type"], "overloaded_error");
    fake.stop().await;
}
