//! Bedrock's Converse over real sockets.

use serde_json::{Value, json};

use crate::support::{Fake, Reply, fits, look_up, report};

/// Of the body of `question` without changes, as it is sent.
const SIGNATURE: &str = "6c347bee6be405fc1f865dc43061dadff02495748f27c2e97aa27f1bed6c4734";
const MODEL: &str = "/model/us.claude-v1%3A0";

fn question(changes: &Value) -> Value {
    let mut body = json!({"messages": [{"role": "user", "content": [{"text": "Hello"}]}]});
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn ask(fake: &Fake, verb: &str, changes: Value) -> Reply {
    let path = format!("{MODEL}/{verb}");
    let key = [("authorization", "Bearer k")];
    fake.send("POST", &path, &key, &question(&changes)).await
}

/// The types and payloads of the events; lengths must add up.
fn events(mut bytes: &[u8]) -> Vec<(String, Value)> {
    let mut events = Vec::new();
    while !bytes.is_empty() {
        let length = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (all, head) = (length(0), length(4));
        let mut headers = &bytes[12..12 + head];
        let mut name = String::new();
        while let [size, rest @ ..] = headers {
            let (key, rest) = rest.split_at(usize::from(*size));
            let size = usize::from(u16::from_be_bytes([rest[1], rest[2]]));
            let (value, rest) = rest[3..].split_at(size);
            if key.ends_with(b"-type") && key != b":content-type" && key != b":message-type" {
                name = String::from_utf8(value.to_vec()).unwrap();
            }
            headers = rest;
        }
        let payload = serde_json::from_slice(&bytes[12 + head..all - 4]).unwrap();
        events.push((name, payload));
        bytes = &bytes[all..];
    }
    events
}

fn tools() -> Value {
    json!({"tools": [{"toolSpec": {"name": "look_up", "inputSchema": {"json": look_up()}}}]})
}

#[tokio::test]
async fn a_stream_says_what_the_whole_says() {
    let fake = Fake::start("").await;
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}});
    for changes in [
        json!({}),
        json!({"additionalModelRequestFields": thinking}),
        json!({"toolConfig": tools()}),
        json!({"inferenceConfig": {"maxTokens": 5}}),
    ] {
        let whole = ask(&fake, "converse", changes.clone()).await.json();
        let stream = ask(&fake, "converse-stream", changes.clone()).await;
        assert_eq!(
            stream.header("content-type"),
            Some("application/vnd.amazon.eventstream")
        );
        let events = events(&stream.body);
        let mut text = String::new();
        for (_, data) in &events {
            let delta = &data["delta"];
            let pieces = [
                &delta["text"],
                &delta["reasoningContent"]["text"],
                &delta["toolUse"]["input"],
            ];
            pieces
                .iter()
                .filter_map(|piece| piece.as_str())
                .for_each(|piece| text += piece);
        }
        let content = whole["output"]["message"]["content"].as_array().unwrap();
        let said = content.iter().map(|block| {
            let thought = block["reasoningContent"]["reasoningText"]["text"].as_str();
            match thought.or(block["text"].as_str()) {
                Some(text) => text.to_owned(),
                None => block["toolUse"]["input"].to_string(),
            }
        });
        assert_eq!(said.collect::<String>(), text, "{changes}");
        let (name, metadata) = events.last().unwrap();
        assert_eq!(
            (name.as_str(), &metadata["usage"]),
            ("metadata", &whole["usage"])
        );
        assert_eq!(
            events[events.len() - 2].1["stopReason"],
            whole["stopReason"]
        );
    }
    fake.stop().await;
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_repeated() {
    let fake = Fake::start("").await;
    let called = ask(&fake, "converse", json!({"toolConfig": tools()}))
        .await
        .json();
    assert_eq!(called["stopReason"], "tool_use");
    let message = &called["output"]["message"];
    let id = &message["content"][0]["toolUse"]["toolUseId"];
    let result = json!({"toolResult": {"toolUseId": id, "content": [{"text": "12 degrees"}]}});
    let messages = json!([
        {"role": "user", "content": [{"text": "Hello"}]}, message, {"role": "user", "content": [result]},
    ]);
    let changes = json!({"toolConfig": tools(), "messages": messages});
    let told = ask(&fake, "converse", changes).await.json();
    assert_eq!(
        told["output"]["message"]["content"][0]["text"],
        "The tool says: 12 degrees"
    );
    let schema = json!({"jsonSchema": {"schema": report().to_string()}});
    let format = json!({"textFormat": {"type": "json_schema", "structure": schema}});
    let told = ask(&fake, "converse", json!({"outputConfig": format}))
        .await
        .json();
    assert!(fits(
        told["output"]["message"]["content"][0]["text"]
            .as_str()
            .unwrap()
    ));
    fake.stop().await;
}

#[tokio::test]
async fn errors_name_their_exception() {
    let fake = Fake::start("keys: [k]").await;
    for (changes, status, exception) in [
        (json!({"messages": []}), 400, "ValidationException"),
        (
            json!({"fake": {"fault": {"status": 429}}}),
            429,
            "ThrottlingException",
        ),
        (
            json!({"fake": {"fault": {"status": 503}}}),
            503,
            "ServiceUnavailableException",
        ),
    ] {
        let reply = ask(&fake, "converse", changes).await;
        assert_eq!(reply.status, status);
        assert_eq!(reply.header("x-amzn-errortype"), Some(exception));
        assert!(reply.json()["message"].is_string());
    }
    let fault = json!({"error_after": 2, "kind": "rate"});
    let stream = ask(&fake, "converse-stream", json!({"fake": {"fault": fault}})).await;
    let events = events(&stream.body);
    assert_eq!(
        (events.len(), events[2].0.as_str()),
        (3, "throttlingException")
    );
    fake.stop().await;
}

/// A signature that the SDK of the provider made: of this body, for this host and moment, with the secret `secret`.
#[tokio::test]
async fn a_signature_must_fit() {
    let fake = Fake::start("keys: ['AKID:secret']").await;
    let path = format!("{MODEL}/converse");
    let body = question(&json!({}));
    let signed = |signature: &str, id: &str| {
        format!(
            "AWS4-HMAC-SHA256 Credential={id}/20240517/us-east-1/bedrock/aws4_request, \
             SignedHeaders=host;x-amz-date, Signature={signature}"
        )
    };
    for (signature, id, expected) in [
        (SIGNATURE, "AKID", None),
        ("00", "AKID", Some("InvalidSignatureException")),
        (SIGNATURE, "AKIE", Some("UnrecognizedClientException")),
    ] {
        let authorization = signed(signature, id);
        let headers = [
            ("authorization", authorization.as_str()),
            ("x-amz-date", "20240517T093000Z"),
        ];
        let reply = fake.send("POST", &path, &headers, &body).await;
        assert_eq!(
            reply.header("x-amzn-errortype"),
            expected,
            "{}",
            reply.text()
        );
        assert_eq!(reply.status, if expected.is_some() { 403 } else { 200 });
    }
    let unsigned = fake.send("POST", &path, &[], &body).await;
    let missing = Some("MissingAuthenticationTokenException");
    assert_eq!(unsigned.header("x-amzn-errortype"), missing);
    fake.stop().await;
}
