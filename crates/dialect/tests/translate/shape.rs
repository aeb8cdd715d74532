//! A conversation that began with one provider and goes on with another: with calls of tools in it, and JSON as its answer.

use bytes::{Bytes, BytesMut};
use serde_json::{Value, json};
use sluicegate_dialect::gemini::{Call, Framing};
use sluicegate_dialect::openai::UsageChunk;
use sluicegate_dialect::{Changes, Crossing, Envelope, Misshapen, Operation, Outbound, Owed};

use crate::fixtures::{row, stamp};

fn schema() -> Value {
    json!({
        "type": "object", "properties": { "river": { "type": "string" }, "level": { "type": "number" } },
        "required": ["river", "level"], "additionalProperties": false
    })
}

/// A question, a call that the first provider's model made, and what it brought.
fn conversation(model: &str) -> Envelope {
    let call = json!({ "id": "call_1", "type": "function", "function": { "name": "gauge", "arguments": "{\"at\":\"Hannam\"}" } });
    let parameters = json!({ "type": "object", "properties": { "at": { "type": "string" } } });
    let tool =
        json!({ "type": "function", "function": { "name": "gauge", "parameters": parameters } });
    let format = json!({ "name": "level", "strict": true, "schema": schema() });
    let request = json!({
        "model": model,
        "messages": [
            { "role": "user", "content": "How high is the Han?" },
            { "role": "assistant", "content": null, "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "call_1", "content": "2.5 m" },
        ],
        "tools": [tool],
        "response_format": { "type": "json_schema", "json_schema": format },
    });
    let body = Bytes::from(request.to_string());
    Envelope::decode(Operation::ChatCompletions, "", &body).expect("a request")
}

/// The conversation as it goes to a fallback at `provider`.
fn outbound(envelope: &Envelope, provider: &str, model: &str, owed: Owed) -> (Crossing, Outbound) {
    let provider = row(provider);
    let crossing = Crossing::to(Operation::ChatCompletions, &provider).expect("a way");
    let changes = Changes {
        model: Some(model),
        ..Changes::default()
    };
    let outbound = crossing.outbound(envelope, &changes, owed, &provider);
    (crossing, outbound.expect("a request"))
}

#[test]
fn claude_goes_on_with_a_conversation_of_another_in_its_clients_words() {
    let envelope = conversation("gpt-5.5");
    let (_, outbound) = outbound(&envelope, "anthropic", "claude-haiku-4-5", Owed::TheForm);
    assert!(outbound.inexpressible.is_empty());
    let sent: Value = serde_json::from_slice(&outbound.body).expect("JSON");
    assert_eq!(sent["output_config"]["format"]["schema"], schema());
    assert_eq!(sent["messages"][1]["content"][0]["type"], "tool_use");
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], "call_1");
    let answer = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "content": [{ "type": "text", "text": "```json\n{\"river\": \"Han\", \"level\": 2.50}\n```" }],
        "stop_reason": "end_turn",
        "usage": { "input_tokens": 40, "cache_read_input_tokens": 10, "output_tokens": 12 },
    });
    let whole = outbound
        .crossing
        .whole(answer.to_string().into(), outbound.shape.as_deref(), stamp)
        .expect("an answer");
    assert_eq!(whole.misshapen, None);
    let got: Value = serde_json::from_slice(&whole.body).expect("JSON");
    let choice = &got["choices"][0];
    assert_eq!(
        choice["message"]["content"],
        "{\"river\": \"Han\", \"level\": 2.50}"
    );
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(got["object"], "chat.completion");
    let usage = &got["usage"];
    assert_eq!(usage["prompt_tokens"], 50);
    assert_eq!(usage["completion_tokens"], 12);
    assert_eq!(usage["total_tokens"], 62);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 10);
}

#[test]
fn the_primary_of_the_same_dialect_gets_the_very_bytes_and_is_not_checked() {
    let envelope = conversation("m");
    for provider in ["openai", "deepseek"] {
        let (crossing, outbound) = outbound(&envelope, provider, "m", Owed::AsTheProvider);
        assert_eq!(outbound.crossing, crossing);
        assert!(crossing.is_same() && outbound.shape.is_none());
        assert_eq!(&outbound.body, envelope.body());
    }
}

#[test]
fn a_fallback_of_the_same_dialect_is_instructed_where_it_follows_no_schema_and_always_checked() {
    let envelope = conversation("m");
    let (_, native) = outbound(&envelope, "openai", "m", Owed::TheForm);
    assert_eq!(&native.body, envelope.body(), "the very bytes");
    let (_, instructed) = outbound(&envelope, "deepseek", "m", Owed::TheForm);
    let sent: Value = serde_json::from_slice(&instructed.body).expect("JSON");
    assert_eq!(sent["response_format"], json!({ "type": "json_object" }));
    let told = sent["messages"][0]["content"].as_str().expect("a text");
    assert!(told.contains(&schema()["required"].to_string()), "{told}");
    for outbound in [native, instructed] {
        let shape = outbound.shape.as_deref().expect("it is checked");
        assert!(shape.json_in("{\"river\":\"Han\"}").is_err());
        let untouched = Bytes::from_static(
            br#"{"own":1,"choices":[{"message":{"content":"{\"river\":\"Han\",\"level\":2}"},"finish_reason":"stop"}]}"#,
        );
        let whole = outbound
            .crossing
            .whole(untouched.clone(), Some(shape), stamp);
        let whole = whole.expect("an answer");
        assert_eq!(whole.body, untouched, "what is right stays as it came");
    }
}

#[test]
fn what_only_the_dialect_itself_can_say_keeps_a_fallback_unchecked() {
    let mut request: Value = serde_json::from_slice(conversation("m").body()).expect("JSON");
    request["n"] = json!(2);
    let body = Bytes::from(request.to_string());
    let envelope = Envelope::decode(Operation::ChatCompletions, "", &body).expect("a request");
    let (crossing, outbound) = outbound(&envelope, "deepseek", "m", Owed::TheForm);
    assert_eq!(outbound.crossing, crossing);
    assert!(outbound.shape.is_none());
    assert_eq!(outbound.body, body);
}

#[test]
fn a_repair_holds_the_conversation_the_answer_and_what_is_wrong_with_it() {
    let envelope = conversation("m");
    let (_, outbound) = outbound(&envelope, "anthropic", "claude-haiku-4-5", Owed::TheForm);
    let shape = outbound.shape.as_deref().expect("it is checked");
    let wrong = shape.json_in("{\"river\":1}").expect_err("no string");
    let (row, model) = (row("anthropic"), "claude-haiku-4-5");
    let body = outbound.crossing.repair(&envelope, &wrong, &row, model);
    let sent: Value = serde_json::from_slice(&body.expect("a body")).expect("JSON");
    let messages = sent["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 5);
    assert_eq!(messages[3]["role"], "assistant");
    assert!(
        messages[3].to_string().contains(r#"{\"river\":1}"#),
        "{sent}"
    );
    assert_eq!(messages[4]["role"], "user");
    assert!(messages[4].to_string().contains("/river"), "{sent}");
}

/// The same text, and the same failure, wherever the stream breaks.
/// What the model was not told before it is not told by its answer's repair, nor what only makes sense with that.
#[test]
fn a_repair_leaves_out_what_was_left_out() {
    let kept_elsewhere = json!({ "type": "file", "file": { "file_id": "file-1" } });
    let request = json!({
        "model": "m",
        "messages": [
            { "role": "user", "content": "How high is the Han?" },
            { "role": "assistant", "content": "Where?" },
            { "role": "user", "content": [kept_elsewhere] },
        ],
        "tool_choice": "required",
        "response_format": { "type": "json_object" },
    });
    let body = Bytes::from(request.to_string());
    let envelope = Envelope::decode(Operation::ChatCompletions, "", &body).expect("a request");
    for (provider, model) in [
        ("anthropic", "claude-haiku-4-5"),
        ("bedrock", "amazon.nova-lite-v1:0"),
        ("cohere", "command-a-03-2025"),
    ] {
        let (_, outbound) = outbound(&envelope, provider, model, Owed::TheForm);
        let wrong = Misshapen {
            said: "2.5 m".to_owned(),
            problem: "it is no JSON".to_owned(),
        };
        let body = outbound
            .crossing
            .repair(&envelope, &wrong, &row(provider), model);
        let roles = |body: &Bytes| {
            let sent: Value = serde_json::from_slice(body).expect("JSON");
            assert!(sent.get("tool_choice").is_none(), "{sent}");
            let messages = sent["messages"].as_array().expect("messages").clone();
            let roles = messages.into_iter().map(|it| it["role"].clone());
            roles.filter(|role| role != "system").collect::<Vec<_>>()
        };
        assert_eq!(roles(&outbound.body), ["user"], "{provider}");
        let repaired = body.expect("it is asked again");
        assert_eq!(
            roles(&repaired),
            ["user", "assistant", "user"],
            "{provider}"
        );
        assert!(
            !String::from_utf8_lossy(&repaired).contains("Where?"),
            "{provider}"
        );
    }
}

#[test]
fn a_checked_stream_does_not_care_where_it_breaks() {
    let envelope = conversation("m");
    let (_, outbound) = outbound(&envelope, "anthropic", "claude-haiku-4-5", Owed::TheForm);
    for (text, is_right) in [
        ("Here: {\"river\":\"한강\", \"level\":1}\n\nDone.", true),
        ("{\"river\":\"한강\"}", false),
        ("None.", false),
    ] {
        let mut wire = String::new();
        let mut event = |name: &str, data: Value| {
            wire.push_str(&format!("event: {name}\ndata: {data}\n\n"));
        };
        let message = json!({ "id": "msg_1", "model": "m", "usage": { "input_tokens": 3, "output_tokens": 1 } });
        event(
            "message_start",
            json!({ "type": "message_start", "message": message }),
        );
        let block = json!({ "type": "text", "text": "" });
        event(
            "content_block_start",
            json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        );
        for character in text.chars() {
            let delta = json!({ "type": "text_delta", "text": character.to_string() });
            event(
                "content_block_delta",
                json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
            );
        }
        event(
            "content_block_stop",
            json!({ "type": "content_block_stop", "index": 0 }),
        );
        event(
            "message_delta",
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 9 } }),
        );
        event("message_stop", json!({ "type": "message_stop" }));
        let play = |size: usize| {
            let shape = outbound.shape.as_ref();
            let mut stream =
                outbound
                    .crossing
                    .stream(&row("anthropic"), shape, stamp, UsageChunk::Pass);
            let mut out = BytesMut::new();
            for chunk in wire.as_bytes().chunks(size) {
                let chunk = Bytes::copy_from_slice(chunk);
                stream.push(chunk, &mut out).expect("small events");
            }
            stream.finish(&mut out);
            assert_eq!(stream.misshapen().is_none(), is_right, "{text}");
            assert_eq!(stream.progress().is_complete(), is_right, "{text}");
            assert_eq!(
                stream.progress().usage.map(|usage| usage.output_tokens),
                Some(9)
            );
            String::from_utf8(out.to_vec()).expect("UTF-8")
        };
        let whole = play(wire.len());
        assert_eq!(play(1), whole);
        assert_eq!(whole.contains("[DONE]"), is_right, "{whole}");
        assert_eq!(
            whole.matches("\"error\"").count(),
            usize::from(!is_right),
            "{whole}"
        );
        assert!(
            !whole.contains("Here") && !whole.contains("one."),
            "{whole}"
        );
    }
}

/// A request of each dialect that asks for JSON of `schema`, and what its client calls that.
fn asking(schema: &str) -> [(Operation, &'static str, String); 6] {
    let messages = r#""messages":[{"role":"user","content":"hi"}]"#;
    let contents = r#""contents":[{"parts":[{"text":"hi"}]}]"#;
    let content = Operation::Content(Call::GenerateContent, Framing::Events);
    [
        (
            Operation::ChatCompletions,
            "response_format.json_schema.schema",
            format!(
                r#"{{"model":"m",{messages},"response_format":{{"type":"json_schema","json_schema":{{"name":"n","schema":{schema}}}}}}}"#
            ),
        ),
        (
            Operation::Responses,
            "text.format.schema",
            format!(
                r#"{{"model":"m","input":"hi","text":{{"format":{{"type":"json_schema","name":"n","schema":{schema}}}}}}}"#
            ),
        ),
        (
            Operation::Messages,
            "output_config.format.schema",
            format!(
                r#"{{"model":"m","max_tokens":9,{messages},"output_config":{{"format":{{"type":"json_schema","schema":{schema}}}}}}}"#
            ),
        ),
        (
            Operation::Messages,
            "output_format.schema",
            format!(
                r#"{{"model":"m","max_tokens":9,{messages},"output_format":{{"type":"json_schema","schema":{schema}}}}}"#
            ),
        ),
        (
            content,
            "generationConfig.responseJsonSchema",
            format!(
                r#"{{{contents},"generationConfig":{{"responseMimeType":"application/json","responseJsonSchema":{schema}}}}}"#
            ),
        ),
        (
            content,
            "generation_config.response_json_schema",
            format!(r#"{{{contents},"generation_config":{{"response_json_schema":{schema}}}}}"#),
        ),
    ]
}

/// Models that are asked in words: one without a feature for schemas, in the dialect of the client too where that is OpenAI's, and one
/// that another chose.
const IN_WORDS: [(&str, &str, Owed); 4] = [
    ("anthropic", "claude-3-haiku-20240307", Owed::AsTheProvider),
    (
        "bedrock",
        "meta.llama3-70b-instruct-v1:0",
        Owed::AsTheProvider,
    ),
    ("deepseek", "deepseek-chat", Owed::TheForm),
    ("openai", "gpt-5.5", Owed::TheForm),
];

#[test]
fn a_schema_that_is_none_is_refused_by_the_name_that_its_client_gave_it() {
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(200), "}".repeat(200));
    for (schema, why) in [
        ("5", "it must be an object"),
        ("[]", "it must be an object"),
        (r#"{"type":"banana"}"#, "\"banana\""),
        (r##"{"$ref":"#/$defs/none"}"##, "leads nowhere"),
        (r#"{"$ref":"https://schemas.example/a"}"#, "is an address"),
        (&deep, "nested deeper"),
    ] {
        for (operation, name, body) in asking(schema) {
            let body = Bytes::from(body);
            let envelope = Envelope::decode(operation, "m", &body).expect("a request");
            for (provider, model, owed) in IN_WORDS {
                let provider = row(provider);
                let crossing = Crossing::to(operation, &provider).expect("a way");
                if crossing.is_same() && owed == Owed::AsTheProvider {
                    continue;
                }
                let changes = Changes {
                    model: Some(model),
                    ..Changes::default()
                };
                let error = crossing.outbound(&envelope, &changes, owed, &provider);
                let error = error.expect_err(&format!("{schema} for {model}"));
                let begin = format!("`{name}` is no JSON Schema");
                assert!(error.message.starts_with(&begin), "{error}");
                assert!(error.message.contains(why), "{error}");
                let param = error
                    .param
                    .expect("a member")
                    .replace("generationConfig", "generation_config");
                assert!(name.starts_with(&param[..9]), "{param} for {name}");
            }
        }
    }
}

/// Whose feature it is says what a schema is.
#[test]
fn a_provider_with_its_own_feature_judges_the_schema_of_a_client_that_speaks_its_dialect() {
    for (operation, _, body) in asking("5") {
        let body = Bytes::from(body);
        let envelope = Envelope::decode(operation, "m", &body).expect("a request");
        let provider = match operation {
            Operation::ChatCompletions | Operation::Responses => "openai",
            Operation::Messages => "anthropic",
            _ => "gemini",
        };
        let provider = row(provider);
        let crossing = Crossing::to(operation, &provider).expect("a way");
        let changes = Changes::default();
        let outbound = crossing.outbound(&envelope, &changes, Owed::AsTheProvider, &provider);
        assert_eq!(outbound.expect("it passes").body, body);
    }
}
