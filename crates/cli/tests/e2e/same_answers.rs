//! Clients get what the upstream says, and the upstream what clients say, byte for byte where nothing has to change.

use serde_json::json;

use crate::harness::{Answer, Fake, Front, Gateway, chat_bytes, python};

/// A gateway that limits nothing, in front of `base_url`.
fn config(base_url: &str) -> String {
    format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{base_url}\", api_key: ours }} }}\n\
         deployments: {{ \"*\": {{ account: up, model: \"*\" }} }}\n"
    )
}

#[tokio::test]
async fn the_official_sdk_gets_the_same_answers_through_the_gateway() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&config(&fake.base_url())).await;
    let report = python(
        "sdk_same_answers.py",
        &[
            "--base-url",
            &gateway.base_url(),
            "--direct-url",
            &fake.base_url(),
        ],
    )
    .await;
    assert!(report["checks"].as_u64().unwrap() > 50, "{report}");
    gateway.idle().await;
}

/// Bodies as programs write them, and whether usage was asked for where they are streams.
const BODIES: [(&str, &str); 13] = [
    (
        "compact",
        r#"{"model":"m","messages":[{"role":"user","content":"hello"}]}"#,
    ),
    (
        "odd spacing",
        "  {\r\n\t\"model\" :\"m\" , \"messages\":[ {\"role\":\"user\",\n\"content\": \"hello\"} ] , \"max_tokens\":\t7 }\n\n",
    ),
    (
        "unknown fields",
        r#"{"vendor":{"deep":[1,2,{"x":null}]},"model":"m","messages":[{"role":"user","content":"a","cache":true}],"fake":{"echo":true}}"#,
    ),
    (
        "escapes",
        r#"{"model":"\u006d","messages":[{"role":"user","content":"\u00e9\ud83c\udf0a\/\t\"\\"}]}"#,
    ),
    (
        "Korean and emoji",
        r#"{"model":"m","messages":[{"role":"user","content":"안녕하세요 🌊👩‍👩‍👧"}]}"#,
    ),
    (
        "numbers beyond what a float holds",
        r#"{"model":"m","messages":[{"role":"user","content":"a"}],"seed":12345678901234567890,"temperature":1.0e0,"x":1.10}"#,
    ),
    (
        "parts",
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}"#,
    ),
    (
        "tools",
        r#"{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]}"#,
    ),
    (
        "two choices",
        r#"{"model":"m","n":2,"messages":[{"role":"user","content":"a"}],"max_completion_tokens":5}"#,
    ),
    (
        "not streamed, said so",
        r#"{"model":"m","messages":[{"role":"user","content":"a"}],"stream":false}"#,
    ),
    (
        "nulls",
        r#"{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":null,"stream":null,"stop":null}"#,
    ),
    (
        "streamed with usage",
        r#"{"model":"m","messages":[{"role":"user","content":"a"}],"stream":true,"stream_options":{"include_usage":true}}"#,
    ),
    (
        "streamed with usage, oddly spaced",
        "{ \"stream_options\" : { \"include_usage\" : true , \"x\":1 }, \"stream\":true,\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"안녕\"}]}\n",
    ),
];

#[tokio::test]
async fn answers_are_the_upstreams_bytes() {
    let fake = Fake::start("answer: { output_tokens: 9 }").await;
    let gateway = Gateway::start(&config(&fake.base_url())).await;
    for (name, body) in BODIES {
        let direct = fake.client().send(chat_bytes(body)).await;
        let through = gateway.client().send(chat_bytes(body)).await;
        assert_eq!(direct.status, 200, "{name}: {}", direct.text());
        assert_eq!(through.status, direct.status, "{name}: {}", through.text());
        assert_eq!(through.text(), direct.text(), "{name}");
        for header in ["content-type", "openai-version", "openai-organization"] {
            assert_eq!(through.header(header), direct.header(header), "{name}");
        }
        assert!(through.header("x-request-id").is_some(), "{name}");
        assert_eq!(through.header("x-sluicegate-model"), Some("m"), "{name}");
    }
    gateway.idle().await;
}

#[tokio::test]
async fn requests_arrive_as_they_were_sent() {
    let front = Front::plain().await;
    let gateway = Gateway::start(&config(&format!("http://{}/v1", front.address))).await;
    for (name, body) in BODIES {
        let mut request = chat_bytes(body);
        let headers = request.headers_mut();
        headers.insert("authorization", "Bearer theirs".parse().unwrap());
        headers.insert("x-request-tag", "kept".parse().unwrap());
        headers.insert("x-sluicegate-max-wait", "5s".parse().unwrap());
        let answer = gateway.client().send(request).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        let arrived = front.take();
        assert_eq!(
            String::from_utf8_lossy(&arrived.body),
            body,
            "{name}: the body that arrived"
        );
        let header = |header: &str| {
            arrived
                .headers
                .get(header)
                .map(|value| value.to_str().unwrap())
        };
        assert_eq!(header("authorization"), Some("Bearer ours"), "{name}");
        assert_eq!(header("x-request-tag"), Some("kept"), "{name}");
        assert_eq!(header("x-sluicegate-max-wait"), None, "{name}");
        assert_eq!(
            header("content-length"),
            Some(&*body.len().to_string()),
            "{name}"
        );
    }
}

#[tokio::test]
async fn only_the_wish_for_usage_is_added_to_a_stream_and_its_answer_is_kept_back() {
    let front = Front::plain().await;
    let to_front = Gateway::start(&config(&format!("http://{}/v1", front.address))).await;
    let fake = Fake::start("answer: { output_tokens: 9 }").await;
    let to_fake = Gateway::start(&config(&fake.base_url())).await;
    for body in [
        "{\"model\":\"m\",\"stream\" : true,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}], \"u\":1.0}",
        "{\"stream_options\":{},\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
        "{\"stream_options\":{\"include_usage\":false},\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
        "{\"stream_options\":null,\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
    ] {
        let answer = to_front.client().send(chat_bytes(body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let arrived: serde_json::Value = serde_json::from_slice(&front.take().body).unwrap();
        let mut expected: serde_json::Value = serde_json::from_str(body).unwrap();
        expected["stream_options"] = json!({"include_usage": true});
        assert_eq!(arrived, expected, "{body}");
        assert_eq!(
            answer.events().len(),
            2,
            "the chunk and the end: {}",
            answer.text()
        );

        let direct = fake.client().send(chat_bytes(body)).await;
        let through = to_fake.client().send(chat_bytes(body)).await;
        let chunks = |answer: &Answer| {
            let events = answer.events();
            let (done, chunks) = events.split_last().unwrap();
            assert_eq!(done, "[DONE]");
            let parsed = chunks
                .iter()
                .map(|chunk| serde_json::from_str(chunk).unwrap());
            parsed.collect::<Vec<serde_json::Value>>()
        };
        for chunk in chunks(&through) {
            assert!(
                chunk.get("usage").is_none_or(serde_json::Value::is_null),
                "{chunk}"
            );
            assert_ne!(chunk["choices"], json!([]), "{chunk}");
        }
        assert_eq!(chunks(&through).len(), chunks(&direct).len(), "{body}");
        let metrics = to_fake.metrics().await;
        assert!(
            metrics.sum("llm_tokens_used_total", &[]) > 0.0,
            "the usage was read"
        );
    }
}
