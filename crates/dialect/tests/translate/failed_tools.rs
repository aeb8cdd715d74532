//! That a tool failed reaches the model of every provider, also where no member says it.

use serde_json::{Value, json};
use sluicegate_dialect::{Dialect, ProviderDialect, translate_request};

use crate::fixtures::targets;

/// What a provider that speaks `to` is sent of the results of failed tools with these contents.
fn sent(to: ProviderDialect, contents: &[Value]) -> Value {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for (index, content) in contents.iter().enumerate() {
        let id = format!("toolu_{index}");
        calls.push(json!({"type": "tool_use", "id": id, "name": "read", "input": {}}));
        results.push(
            json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": true}),
        );
    }
    let body = json!({"model": "m", "max_tokens": 64, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results}]});
    let [(_, target), _] = targets();
    let translation =
        translate_request(Dialect::Anthropic, to, body.to_string().as_bytes(), &target);
    let translation = translation.expect("a request");
    assert_eq!(translation.inexpressible, [], "{to:?}");
    serde_json::from_slice(&translation.body).expect("JSON")
}

const TOLD: [&str; 4] = [
    "Error: no gauge",
    "Error: it broke",
    "error",
    "Error: {\"code\":7}",
];

fn contents() -> [Value; 4] {
    [
        json!("no gauge"),
        json!([{"type": "text", "text": "Error: it broke"}]),
        json!([]),
        json!("{\"code\":7}"),
    ]
}

#[test]
fn a_failed_tool_says_so_in_its_result_where_nothing_else_can() {
    let chat = sent(Dialect::OpenAiChat.into(), &contents());
    let cohere = sent(ProviderDialect::Cohere, &contents());
    let responses = sent(Dialect::OpenAiResponses.into(), &contents());
    for (index, told) in TOLD.iter().enumerate() {
        for messages in [&chat, &cohere] {
            let of_tools = messages["messages"].as_array().expect("messages").iter();
            let result = of_tools
                .filter(|message| message["role"] == "tool")
                .nth(index);
            assert_eq!(result.expect("each has one")["content"], *told);
        }
        let items = responses["input"].as_array().expect("items").iter();
        let result = items
            .filter(|item| item["type"] == "function_call_output")
            .nth(index);
        assert_eq!(result.expect("each has one")["output"], *told);
    }
}

#[test]
fn an_image_of_a_failed_tool_stands_behind_the_word() {
    let image = json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}}]);
    let body = sent(Dialect::OpenAiResponses.into(), &[image]);
    let mut items = body["input"].as_array().expect("items").iter();
    let result = items.rfind(|item| item["type"] == "function_call_output");
    let output = &result.expect("it is there")["output"];
    assert_eq!(output[0], json!({"type": "input_text", "text": "error"}));
    assert_eq!(output[1]["type"], "input_image");
}

#[test]
fn what_has_a_member_for_it_keeps_the_words() {
    let body = sent(Dialect::Gemini.into(), &contents());
    let said = body.to_string();
    assert!(said.contains(r#"{"error":"no gauge"}"#), "{said}");
}
