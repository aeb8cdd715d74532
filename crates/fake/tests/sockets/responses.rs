//! OpenAI's responses, older completions and embeddings over real sockets, and Azure's paths to them.

use serde_json::{Value, json};

use crate::support::{Fake, fits, look_up, report};

const RESPONSES: &str = "/v1/responses";

fn question(changes: &Value) -> Value {
    let mut body = json!({"model": "m", "input": "Hello"});
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn ask(fake: &Fake, changes: Value) -> Value {
    let reply = fake.send("POST", RESPONSES, &[], &question(&changes)).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()
}

fn tools() -> Value {
    json!([{"type": "function", "name": "look_up", "parameters": look_up()}])
}

#[tokio::test]
async fn a_stream_ends_with_the_response_that_the_whole_is() {
    let fake = Fake::start("").await;
    for (changes, last) in [
        (json!({}), "response.completed"),
        (
            json!({"reasoning": {"summary": "auto"}}),
            "response.completed",
        ),
        (
            json!({"tools": tools(), "fake": {"tools": 2}}),
            "response.completed",
        ),
        (json!({"max_output_tokens": 16}), "response.incomplete"),
    ] {
        let whole = ask(&fake, changes.clone()).await;
        let mut streaming = question(&changes);
        streaming["stream"] = json!(true);
        let stream = fake.send("POST", RESPONSES, &[], &streaming).await.named();
        assert_eq!(stream[0].0, "response.created");
        let (name, data) = stream.last().unwrap();
        assert_eq!(
            (name.as_str(), &data["response"]),
            (last, &whole),
            "{changes}"
        );
        let mut deltas = String::new();
        for (number, (name, data)) in stream.iter().enumerate() {
            assert_eq!(
                (&data["type"], &data["sequence_number"]),
                (&json!(name), &json!(number))
            );
            if name.ends_with(".delta") {
                deltas += data["delta"].as_str().unwrap();
            }
        }
        let said = whole["output"].as_array().unwrap().iter().map(|item| {
            let text = [
                &item["summary"][0]["text"],
                &item["content"][0]["text"],
                &item["arguments"],
            ];
            text.iter()
                .filter_map(|text| text.as_str())
                .collect::<String>()
        });
        assert_eq!(said.collect::<String>(), deltas);
    }
    fake.stop().await;
}

#[tokio::test]
async fn a_tool_is_called_and_its_output_repeated() {
    let fake = Fake::start("").await;
    let called = ask(&fake, json!({"tools": tools()})).await;
    let call = &called["output"][0];
    let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
    assert!(arguments["city"].is_string());
    let output =
        json!({"type": "function_call_output", "call_id": call["call_id"], "output": "12 degrees"});
    let input = json!([{"role": "user", "content": "Hello"}, call, output]);
    let told = ask(&fake, json!({"tools": tools(), "input": input})).await;
    assert_eq!(
        told["output"][0]["content"][0]["text"],
        "The tool says: 12 degrees"
    );
    let format = json!({"format": {"type": "json_schema", "name": "r", "schema": report()}});
    let told = ask(&fake, json!({"text": format})).await;
    assert!(fits(
        told["output"][0]["content"][0]["text"].as_str().unwrap()
    ));
    fake.stop().await;
}

#[tokio::test]
async fn errors_have_openais_form() {
    let fake = Fake::start("").await;
    for (changes, code) in [
        (
            json!({"previous_response_id": "resp_1"}),
            json!("previous_response_not_found"),
        ),
        (
            json!({"max_output_tokens": 5}),
            json!("integer_below_min_value"),
        ),
        (json!({"input": null}), json!("invalid_type")),
    ] {
        let reply = fake.send("POST", RESPONSES, &[], &question(&changes)).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &code));
    }
    let fault = json!({"error_after": 3, "kind": "overloaded"});
    let body = question(&json!({"stream": true, "fake": {"fault": fault}}));
    let events = fake.send("POST", RESPONSES, &[], &body).await.named();
    let (name, data) = events.last().unwrap();
    assert_eq!(
        (name.as_str(), &data["sequence_number"]),
        ("error", &json!(3))
    );
    assert_eq!(data["code"], "server_is_overloaded");
    fake.stop().await;
}

#[tokio::test]
async fn completions_repeat_their_prompts() {
    let fake = Fake::start("").await;
    let body =
        json!({"model": "m", "prompt": ["one", "two"], "n": 2, "echo": true, "max_tokens": 5});
    let whole = fake
        .send("POST", "/v1/completions", &[], &body)
        .await
        .json();
    let choices = whole["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 4);
    assert!(choices[1]["text"].as_str().unwrap().starts_with("one"));
    assert!(choices[2]["text"].as_str().unwrap().starts_with("two"));
    assert_eq!(choices[0]["finish_reason"], "length");
    let mut streaming = body.clone();
    streaming["stream"] = json!(true);
    let stream = fake.send("POST", "/v1/completions", &[], &streaming).await;
    assert_eq!(stream.events().last().unwrap(), "[DONE]");
    for choice in choices {
        let chunks = stream.chunks();
        let chunks = chunks.iter().map(|chunk| &chunk["choices"][0]);
        let own = chunks.filter(|chunk| chunk["index"] == choice["index"]);
        let text: String = own.filter_map(|chunk| chunk["text"].as_str()).collect();
        assert_eq!(choice["text"], text);
    }
    fake.stop().await;
}

#[tokio::test]
async fn embeddings_come_as_numbers_or_base64_also_at_azure() {
    let fake = Fake::start("").await;
    let path = "/openai/deployments/d/embeddings?api-version=2024-10-21";
    let body = json!({"input": ["gate", "lock"], "dimensions": 3});
    let floats = fake
        .send("POST", path, &[("api-key", "k")], &body)
        .await
        .json();
    assert_eq!(floats["data"][1]["embedding"].as_array().unwrap().len(), 3);
    assert_eq!(floats["model"], "d");
    let body = json!({"model": "m", "input": "gate", "dimensions": 3, "encoding_format": "base64"});
    let coded = fake
        .send("POST", "/openai/v1/embeddings", &[], &body)
        .await
        .json();
    // Three numbers of four bytes.
    assert_eq!(coded["data"][0]["embedding"].as_str().unwrap().len(), 16);
    let empty = json!({"model": "m", "input": ""});
    assert_eq!(
        fake.send("POST", "/v1/embeddings", &[], &empty)
            .await
            .status,
        400
    );
    fake.stop().await;
}
