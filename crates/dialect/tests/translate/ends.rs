//! How an answer ended, as the clients of each dialect read it.

use bytes::{Bytes, BytesMut};
use serde_json::{Value, json};
use sluicegate_dialect::openai::UsageChunk;
use sluicegate_dialect::{Dialect, ProviderDialect, StreamTranslation};

use crate::fixtures::{row, stamp};
use crate::frames::framed;

fn written(from: ProviderDialect, answer: &Value, to: Dialect) -> Value {
    let answer = from.read_answer(answer.to_string().as_bytes());
    let body = to.write_answer(&answer.expect("an answer"), &stamp());
    serde_json::from_slice(&body).expect("a body is JSON")
}

fn converse(reason: &str, more: &Value) -> Value {
    json!({"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}},
        "stopReason": reason, "additionalModelResponseFields": more})
}

#[test]
fn a_text_that_ended_an_answer_is_told_also_where_nobody_says_which() {
    let cohere = json!({"message": {"content": [{"type": "text", "text": "hi"}]}, "finish_reason": "STOP_SEQUENCE"});
    let untold = converse("stop_sequence", &Value::Null);
    let told = converse("stop_sequence", &json!({"stop_sequence": "END"}));
    for (from, answer, sequence) in [
        (ProviderDialect::Cohere, cohere, Value::Null),
        (ProviderDialect::Bedrock, untold, Value::Null),
        (ProviderDialect::Bedrock, told, json!("END")),
    ] {
        let message = written(from, &answer, Dialect::Anthropic);
        assert_eq!(message["stop_reason"], "stop_sequence", "{answer}");
        assert_eq!(message["stop_sequence"], sequence, "{answer}");
        let completion = written(from, &answer, Dialect::OpenAiChat);
        assert_eq!(
            completion["choices"][0]["finish_reason"], "stop",
            "{answer}"
        );
    }
}

/// What chat clients get of a stream of `from`: the chunks, in one list.
fn chat_chunks((from, id): (ProviderDialect, &str), wire: Vec<u8>) -> Vec<Value> {
    let to = Dialect::OpenAiChat;
    let mut stream = StreamTranslation::new((from, row(id)), to, stamp(), UsageChunk::Pass);
    let mut out = BytesMut::new();
    stream.push(Bytes::from(wire), &mut out).expect("small");
    stream.finish(&mut out);
    let text = String::from_utf8(out.to_vec()).expect("what is written is UTF-8");
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = events.filter(|data| *data != "[DONE]");
    events
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect()
}

#[test]
fn why_claude_refuses_is_told() {
    let details = |explanation: &Value| json!({"type": "refusal", "category": "cyber", "explanation": explanation});
    let why = json!("This was about hacking.");
    for (details, told) in [
        (details(&why), &why),
        (details(&Value::Null), &Value::Null),
        (json!("refusal"), &Value::Null),
        (Value::Null, &Value::Null),
    ] {
        let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [],
            "stop_reason": "refusal", "stop_details": details, "usage": {"input_tokens": 3, "output_tokens": 1}});
        let from = ProviderDialect::from(Dialect::Anthropic);
        let completion = written(from, &message, Dialect::OpenAiChat);
        assert_eq!(completion["choices"][0]["message"]["refusal"], *told);
        assert_eq!(completion["choices"][0]["finish_reason"], "content_filter");
        let response = written(from, &message, Dialect::OpenAiResponses);
        assert_eq!(response["output"][0]["content"][0]["refusal"], *told);

        let start = json!({"type": "message_start", "message": {"id": "m", "model": "claude", "content": [], "usage": {"input_tokens": 3}}});
        let end = json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details},
            "usage": {"output_tokens": 1}});
        let wire =
            format!("data: {start}\n\ndata: {end}\n\ndata: {{\"type\":\"message_stop\"}}\n\n");
        let chunks = chat_chunks((from, "anthropic"), wire.into_bytes());
        let mut refusals = chunks
            .iter()
            .filter_map(|chunk| chunk["choices"][0]["delta"].get("refusal"));
        assert_eq!(refusals.next().unwrap_or(&Value::Null), told);
        assert_eq!(refusals.next(), None);
    }
}

/// A call that the model has spoilt is none to an agent, and the text before it no answer.
#[test]
fn what_the_model_has_spoilt_ends_with_an_error() {
    let gemini = |reason: &str, parts: &Value| {
        let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": reason,
            "finishMessage": "Malformed function call: f("});
        format!("data: {}\n\n", json!({"candidates": [candidate]})).into_bytes()
    };
    let text = b"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}\n\n";
    let malformed = "MALFORMED_FUNCTION_CALL";
    let with_text = gemini(malformed, &json!([{"text": "b"}]));
    let bedrock = |reason: &str| {
        let lines = format!(
            "event messageStart {{\"role\":\"assistant\"}}\nevent contentBlockDelta {{\"delta\":{{\"text\":\"a\"}}}}\nevent messageStop {{\"stopReason\":\"{reason}\"}}\n"
        );
        framed(lines.as_bytes())
    };
    let google = (ProviderDialect::from(Dialect::Gemini), "gemini");
    let amazon = (ProviderDialect::Bedrock, "bedrock");
    let said = "MALFORMED_FUNCTION_CALL: Malformed function call: f(";
    for (from, wire, content, said) in [
        (google, gemini(malformed, &json!([])), "", said),
        (google, with_text.clone(), "", said),
        (google, [&text[..], &with_text].concat(), "a", said),
        (
            amazon,
            bedrock("malformed_tool_use"),
            "a",
            "malformed_tool_use",
        ),
        (
            amazon,
            bedrock("malformed_model_output"),
            "a",
            "malformed_model_output",
        ),
    ] {
        let chunks = chat_chunks(from, wire);
        let told = |chunk: &Value| {
            chunk["choices"][0]["delta"]["content"]
                .as_str()
                .map(str::to_owned)
        };
        let told: String = chunks.iter().filter_map(told).collect();
        assert_eq!(told, content);
        let error = &chunks.last().expect("an event")["error"];
        let expected = format!("the model gave no usable answer: {said}");
        assert_eq!(error["message"], expected);
        let is_end = |chunk: &Value| chunk["choices"][0]["finish_reason"].is_string();
        assert!(!chunks.iter().any(is_end));
    }
    let other = [&text[..], &gemini("OTHER", &json!([]))].concat();
    let chunks = chat_chunks(google, other);
    let end = chunks
        .iter()
        .find_map(|chunk| chunk["choices"][0]["finish_reason"].as_str());
    assert_eq!(end, Some("stop"));
}

/// A text and a call, and why it ended.
fn completion(finish: &str) -> Value {
    let call =
        json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"q\":"}});
    json!({"id": "c", "model": "m", "choices": [{"index": 0, "finish_reason": finish,
        "message": {"role": "assistant", "content": "hi", "tool_calls": [call]}}]})
}

fn statuses(items: &Value) -> Vec<&str> {
    let items = items.as_array().expect("a list of items");
    items
        .iter()
        .filter_map(|item| item["status"].as_str())
        .collect()
}

const ENDS: [(&str, &str, &str); 3] = [
    ("length", "incomplete", "incomplete"),
    ("content_filter", "incomplete", "incomplete"),
    ("tool_calls", "completed", "completed"),
];

#[test]
fn the_item_that_was_cut_is_incomplete() {
    for (finish, whole, last) in ENDS {
        let from = ProviderDialect::from(Dialect::OpenAiChat);
        let response = written(from, &completion(finish), Dialect::OpenAiResponses);
        assert_eq!(response["status"], whole, "{finish}");
        assert_eq!(
            statuses(&response["output"]),
            ["completed", last],
            "{finish}"
        );
    }
}

#[test]
fn the_item_of_a_stream_that_was_cut_is_incomplete() {
    for (finish, whole, last) in ENDS {
        let chunk = json!({"id": "c", "model": "m", "choices": [{"index": 0, "finish_reason": finish,
            "delta": {"content": "hi", "tool_calls": [{"index": 0, "id": "a", "type": "function",
                "function": {"name": "f", "arguments": "{\"q\":"}}]}}]});
        let wire = format!("data: {chunk}\n\ndata: [DONE]\n\n");
        let from = ProviderDialect::from(Dialect::OpenAiChat);
        let to = Dialect::OpenAiResponses;
        let mut stream =
            StreamTranslation::new((from, row("openai")), to, stamp(), UsageChunk::Pass);
        let mut out = BytesMut::new();
        stream
            .push(Bytes::from(wire), &mut out)
            .expect("no event is too large");
        stream.finish(&mut out);
        let text = String::from_utf8(out.to_vec()).expect("what is written is UTF-8");
        let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let events: Vec<Value> = events
            .map(|data| serde_json::from_str(data).expect("JSON"))
            .collect();
        let done = events
            .iter()
            .filter(|event| event["type"] == "response.output_item.done");
        let done: Vec<&str> = done
            .filter_map(|event| event["item"]["status"].as_str())
            .collect();
        assert_eq!(done, ["completed", last], "{finish}");
        let end = &events.last().expect("an end")["response"];
        assert_eq!(end["status"], whole, "{finish}");
        assert_eq!(statuses(&end["output"]), ["completed", last], "{finish}");
    }
}
