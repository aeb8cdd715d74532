//! Gemini's content over real sockets, at Google's developer interface and at Vertex.

use serde_json::{Value, json};

use crate::support::{Fake, Reply, fits, look_up, report};

const BASE: &str = "/v1beta/models/g";

fn question(changes: &Value) -> Value {
    let mut body = json!({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]});
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn ask(fake: &Fake, verb: &str, changes: Value) -> Reply {
    let path = format!("{BASE}:{verb}");
    fake.send("POST", &path, &[], &question(&changes)).await
}

/// The parts of all responses, texts that follow each other joined.
fn parts(responses: &[Value]) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    for response in responses {
        for part in response["candidates"][0]["content"]["parts"]
            .as_array()
            .unwrap()
        {
            let joined = parts
                .last_mut()
                .filter(|last| last["text"].is_string() && part["text"].is_string())
                .filter(|last| last.get("thought") == part.get("thought"));
            match joined {
                Some(last) => {
                    let text = last["text"].as_str().unwrap().to_owned();
                    last["text"] = json!(text + part["text"].as_str().unwrap());
                    if let Some(signature) = part.get("thoughtSignature") {
                        last["thoughtSignature"] = signature.clone();
                    }
                }
                None => parts.push(part.clone()),
            }
        }
    }
    parts.retain(|part| part["text"] != "");
    parts
}

#[tokio::test]
async fn a_stream_says_what_the_whole_says_as_events_and_as_an_array() {
    let fake = Fake::start("").await;
    let tools =
        json!([{"functionDeclarations": [{"name": "look_up", "parametersJsonSchema": look_up()}]}]);
    for changes in [
        json!({"fake": {"prompt_tokens": 90, "cached_tokens": 30}}),
        json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}}),
        json!({"tools": tools, "fake": {"tools": 2}}),
        json!({"generationConfig": {"maxOutputTokens": 5}}),
    ] {
        let whole = ask(&fake, "generateContent", changes.clone()).await.json();
        let events = ask(&fake, "streamGenerateContent?alt=sse", changes.clone()).await;
        let array = ask(&fake, "streamGenerateContent", changes.clone())
            .await
            .json();
        let events = events.chunks();
        assert_eq!(&events, array.as_array().unwrap());
        let candidate = &whole["candidates"][0];
        assert_eq!(
            json!(parts(&events)),
            candidate["content"]["parts"],
            "{changes}"
        );
        let last = events.last().unwrap();
        assert_eq!(
            last["candidates"][0]["finishReason"],
            candidate["finishReason"]
        );
        assert_eq!(last["usageMetadata"], whole["usageMetadata"]);
    }
    fake.stop().await;
}

#[tokio::test]
async fn a_function_is_called_and_its_response_repeated() {
    let fake = Fake::start("").await;
    let tools = json!([{"functionDeclarations": [{"name": "look_up", "parameters": look_up()}]}]);
    let called = ask(&fake, "generateContent", json!({"tools": tools}))
        .await
        .json();
    let content = &called["candidates"][0]["content"];
    assert!(content["parts"][0]["functionCall"]["args"]["city"].is_string());
    let response =
        json!({"functionResponse": {"name": "look_up", "response": {"result": "12 degrees"}}});
    let contents = json!([{"role": "user", "parts": [{"text": "Hello"}]}, content, {"role": "user", "parts": [response]}]);
    let told = ask(
        &fake,
        "generateContent",
        json!({"tools": tools, "contents": contents}),
    )
    .await
    .json();
    assert_eq!(
        told["candidates"][0]["content"]["parts"][0]["text"],
        "The tool says: 12 degrees"
    );
    fake.stop().await;
}

#[tokio::test]
async fn json_follows_either_schema() {
    let fake = Fake::start("").await;
    for name in ["responseJsonSchema", "responseSchema"] {
        let config = json!({"responseMimeType": "application/json", name: report()});
        let told = ask(
            &fake,
            "generateContent",
            json!({"generationConfig": config}),
        )
        .await
        .json();
        let text = &told["candidates"][0]["content"]["parts"][0]["text"];
        assert!(fits(text.as_str().unwrap()), "{text}");
    }
    fake.stop().await;
}

#[tokio::test]
async fn tokens_are_counted_and_texts_embedded() {
    let fake = Fake::start("").await;
    let counted = ask(&fake, "countTokens", json!({})).await.json();
    assert!(counted["totalTokens"].as_u64().unwrap() > 4);
    let content = json!({"content": {"parts": [{"text": "gate"}]}, "outputDimensionality": 4});
    let one = fake
        .send("POST", &format!("{BASE}:embedContent"), &[], &content)
        .await
        .json();
    assert_eq!(one["embedding"]["values"].as_array().unwrap().len(), 4);
    let batch = json!({"requests": [content]});
    let all = fake
        .send("POST", &format!("{BASE}:batchEmbedContents"), &[], &batch)
        .await
        .json();
    assert_eq!(all["embeddings"][0], one["embedding"]);
    fake.stop().await;
}

#[tokio::test]
async fn errors_have_googles_form() {
    let fake = Fake::start("keys: [good]").await;
    let path = format!("{BASE}:generateContent");
    let send = async |key: &str, changes: Value| {
        let body = question(&changes);
        let reply = fake
            .send("POST", &path, &[("x-goog-api-key", key)], &body)
            .await;
        let status = reply.json()["error"]["status"].as_str().unwrap().to_owned();
        (
            reply.status,
            status,
            reply.json()["error"]["details"].clone(),
        )
    };
    let (status, named, details) = send("bad", json!({})).await;
    assert_eq!((status, named.as_str()), (400, "INVALID_ARGUMENT"));
    assert_eq!(details[0]["reason"], "API_KEY_INVALID");
    let (status, named, _) = send("good", json!({"contents": []})).await;
    assert_eq!((status, named.as_str()), (400, "INVALID_ARGUMENT"));
    let fault = json!({"status": 429, "retry_after": 7});
    let (status, named, details) = send("good", json!({"fake": {"fault": fault}})).await;
    assert_eq!((status, named.as_str()), (429, "RESOURCE_EXHAUSTED"));
    assert_eq!(details[0]["retryDelay"], "7s");
    fake.stop().await;
}

#[tokio::test]
async fn vertex_carries_both_publishers() {
    let fake = Fake::start("provider: { profile: vertex }").await;
    let models = "/v1/projects/p/locations/l/publishers";
    let gemini = format!("{models}/google/models/g:generateContent");
    let told = fake.send("POST", &gemini, &[], &question(&json!({}))).await;
    assert_eq!(told.json()["candidates"][0]["finishReason"], "STOP");
    let mut body = json!({"anthropic_version": "vertex-2023-10-16", "max_tokens": 20,
        "messages": [{"role": "user", "content": "Hello"}]});
    let claude = format!("{models}/anthropic/models/c@1");
    let told = fake
        .send("POST", &format!("{claude}:rawPredict"), &[], &body)
        .await;
    assert_eq!((told.status, &told.json()["model"]), (200, &json!("c@1")));
    let path = format!("{claude}:streamRawPredict");
    let stream = fake.send("POST", &path, &[], &body).await;
    assert_eq!(stream.named().last().unwrap().0, "message_stop");
    let path_to_count = format!("{models}/anthropic/models/count-tokens:rawPredict");
    let counted = fake.send("POST", &path_to_count, &[], &body).await;
    assert!(counted.json()["input_tokens"].is_u64());
    body["anthropic_version"] = json!("2023-06-01");
    let refused = fake.send("POST", &path, &[], &body).await;
    assert_eq!(refused.json()["error"]["type"], "invalid_request_error");
    fake.stop().await;
}
