//! Answers as clients put them together.

use serde_json::json;

use super::*;
use crate::dialect::Door;

fn ask(body: &Value) -> Ask {
    Ask::read(body.to_string().as_bytes(), &Door::to(Dialect::Chat)).unwrap()
}

fn chunks(completion: &Completion, include_usage: bool) -> Vec<Value> {
    let usage = if include_usage {
        ChunkUsage::Null
    } else {
        ChunkUsage::Absent
    };
    let progress = Progress {
        number: 0,
        tokens: 0,
        usage,
    };
    completion
        .steps(include_usage)
        .into_iter()
        .map(|step| serde_json::from_str(&completion.frame(step, progress).data).unwrap())
        .collect()
}

#[test]
fn a_stream_says_what_the_whole_says() {
    let ask = ask(
        &json!({"model": "m", "n": 2, "messages": [{"role": "user", "content": "안녕 🌊"}],
        "fake": {"output_tokens": 11}}),
    );
    let completion = Completion::new(&ask, 0, 32);
    let whole: Value = serde_json::from_str(&completion.whole(UsageFault::Normal)).unwrap();
    assert_eq!(whole["usage"]["completion_tokens"], 22);
    for index in 0..2 {
        let text: String = chunks(&completion, false)
            .iter()
            .map(|chunk| &chunk["choices"][0])
            .filter(|choice| choice["index"] == index)
            .filter_map(|choice| choice["delta"]["content"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(whole["choices"][index]["message"]["content"], text);
    }
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
}

#[test]
fn usage_comes_last_and_only_when_asked() {
    let ask = ask(
        &json!({"model": "m", "messages": [{"role": "user", "content": "x"}],
        "fake": {"output_tokens": 3, "prompt_tokens": 10, "cached_tokens": 4, "reasoning_tokens": 2}}),
    );
    let completion = Completion::new(&ask, 0, 32);
    let asked = chunks(&completion, true);
    let (last, others) = asked.split_last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["completion_tokens"], 3);
    assert_eq!(last["usage"]["total_tokens"], 13);
    assert_eq!(last["usage"]["prompt_tokens_details"]["cached_tokens"], 4);
    assert_eq!(
        last["usage"]["completion_tokens_details"]["reasoning_tokens"],
        2
    );
    assert!(
        others
            .iter()
            .all(|chunk| chunk.get("usage") == Some(&Value::Null))
    );
    assert!(
        chunks(&completion, false)
            .iter()
            .all(|chunk| chunk.get("usage").is_none())
    );
    // Role, one visible token, finish.
    assert_eq!(others.len(), 3);
}

#[test]
fn tool_calls_alternate_and_keep_their_index() {
    let ask = ask(
        &json!({"model": "m", "messages": [{"role": "user", "content": "x"}],
        "tools": [{"type": "function", "function": {"name": "look_up", "parameters":
            {"type": "object", "properties": {"city": {"type": "string"}}}}}],
        "fake": {"tools": 2}}),
    );
    let completion = Completion::new(&ask, 0, 32);
    let mut arguments = [String::new(), String::new()];
    let mut order = Vec::new();
    let mut ids = Vec::new();
    for chunk in chunks(&completion, false) {
        for call in chunk["choices"][0]["delta"]["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            match call.get("id") {
                Some(id) => ids.push(id.clone()),
                None => order.push(index),
            }
            arguments[index] += call["function"]["arguments"].as_str().unwrap();
        }
    }
    assert_eq!(order[..4], [0, 1, 0, 1]);
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    let whole: Value = serde_json::from_str(&completion.whole(UsageFault::Normal)).unwrap();
    let choice = &whole["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], Value::Null);
    for (index, text) in arguments.iter().enumerate() {
        assert!(serde_json::from_str::<Value>(text).unwrap()["city"].is_string());
        assert_eq!(
            choice["message"]["tool_calls"][index]["function"]["arguments"],
            *text
        );
        assert_eq!(choice["message"]["tool_calls"][index]["id"], ids[index]);
    }
}

#[test]
fn the_maximum_cuts_text_json_and_tool_calls() {
    let user = json!([{"role": "user", "content": "x"}]);
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters":
        {"type": "object", "properties": {"city": {"type": "string"}}}}}]);
    for extra in [
        json!({}),
        json!({"response_format": {"type": "json_object"}}),
        json!({"tools": tools, "fake": {"tools": 3}}),
    ] {
        let mut body = json!({"model": "m", "messages": user, "max_tokens": 4});
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        let completion = Completion::new(&ask(&body), 0, 32);
        let whole: Value = serde_json::from_str(&completion.whole(UsageFault::Normal)).unwrap();
        assert_eq!(whole["choices"][0]["finish_reason"], "length", "{extra}");
        assert_eq!(whole["usage"]["completion_tokens"], 4, "{extra}");
    }
}

#[test]
fn json_is_json_and_follows_its_schema() {
    let ask = ask(
        &json!({"model": "m", "messages": [{"role": "user", "content": "x"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema":
            {"type": "object", "properties": {"ok": {"type": "boolean"}}}}}}),
    );
    let whole = Completion::new(&ask, 0, 32).whole(UsageFault::Normal);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    let content = whole["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(serde_json::from_str::<Value>(content).unwrap()["ok"].is_boolean());
}

#[test]
fn unknown_fields_come_back_when_asked_for() {
    let ask = ask(
        &json!({"model": "m", "messages": [{"role": "user", "content": "x"}],
        "shiny": {"a": [1, null]}, "fake": {"echo": true, "extra": {"vendor_field": 1}}}),
    );
    let completion = Completion::new(&ask, 0, 1);
    let mut all = chunks(&completion, false);
    all.push(serde_json::from_str(&completion.whole(UsageFault::Missing)).unwrap());
    for answer in &all {
        assert_eq!(answer["vendor"], json!({"shiny": {"a": [1, null]}}));
        assert_eq!(answer["vendor_field"], 1);
    }
    assert_eq!(all.last().unwrap().get("usage"), None);
}

fn content(body: &Value) -> (String, Value) {
    let whole = Completion::new(&ask(body), 0, 32).whole(UsageFault::Normal);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    let choice = whole["choices"][0].clone();
    let content = choice["message"]["content"].as_str().unwrap_or_default();
    (content.to_owned(), choice)
}

#[test]
fn the_result_of_a_tool_is_repeated() {
    let (content, choice) = content(&json!({"model": "m", "messages": [
        {"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "c", "content": "12 degrees"}],
        "tools": [{"type": "function", "function": {"name": "f"}}]}));
    assert_eq!(content, "The tool says: 12 degrees");
    assert_eq!(choice["finish_reason"], "stop");
}

#[test]
fn a_stop_sequence_ends_the_text_before_it() {
    let user = json!([{"role": "user", "content": "x"}]);
    let (all, _) = content(&json!({"model": "m", "messages": user}));
    let word = all.split(' ').nth(4).unwrap();
    let (some, choice) = content(&json!({"model": "m", "messages": user, "stop": [word]}));
    assert!(
        all.starts_with(&some) && !some.contains(word),
        "{some} / {all}"
    );
    assert_eq!(choice["finish_reason"], "stop");
}

#[test]
fn wishes_in_the_prompt_fence_break_and_refuse() {
    let body = |wish: &str| {
        json!({"model": "m", "messages": [{"role": "user", "content": format!("x <fake>{wish}</fake>")}],
            "response_format": {"type": "json_object"}})
    };
    let (fenced, _) = content(&body(r#"{"json": "fence"}"#));
    let inner = fenced
        .split("```json\n")
        .nth(1)
        .unwrap()
        .split("\n```")
        .next()
        .unwrap();
    assert!(serde_json::from_str::<Value>(inner).unwrap()["answer"].is_string());
    let (broken, _) = content(&body(r#"{"json": "broken"}"#));
    assert!(serde_json::from_str::<Value>(&broken).is_err());
    let (_, refused) = content(&body(r#"{"refusal": true}"#));
    assert_eq!(refused["message"]["refusal"], "I cannot help with that.");
    let (_, thinking) = content(&body(r#"{"thinking": true, "reasoning_tokens": 3}"#));
    let thought = thinking["message"]["reasoning_content"].as_str().unwrap();
    assert_eq!(thought.split(' ').count(), 3);
}

#[test]
fn a_schema_in_the_prompt_is_followed() {
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
    let text = format!("Answer with JSON that fits this schema: {schema}");
    let (said, _) = content(&json!({"model": "m", "messages": [
        {"role": "system", "content": text}, {"role": "user", "content": "x"}]}));
    assert!(serde_json::from_str::<Value>(&said).unwrap()["ok"].is_boolean());
}
