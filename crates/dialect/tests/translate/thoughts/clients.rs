//! Clients as their SDKs are: what each keeps of an answer, and what it sends in the second turn.

use serde_json::{Value, json};
use sluicegate_dialect::{Operation, gemini};

pub(super) struct Client {
    pub(super) name: &'static str,
    pub(super) operation: Operation,
    /// What it keeps of an answer that came whole.
    pub(super) plain: fn(&[u8]) -> Vec<Value>,
    /// What it keeps of a stream.
    pub(super) streamed: fn(&str) -> Vec<Value>,
    pub(super) first_turn: fn() -> Value,
    /// The request with the result of the call.
    pub(super) second_turn: fn(Vec<Value>) -> Value,
}

pub(super) const CLIENTS: [Client; 4] = [
    Client {
        name: "chat",
        operation: Operation::ChatCompletions,
        plain: |body| vec![read(body)["choices"][0]["message"].clone()],
        streamed: |stream| {
            let mut message = json!({});
            for chunk in data(stream) {
                if let Some(delta) = chunk["choices"][0].get("delta") {
                    accumulate(&mut message, delta);
                }
            }
            for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
                call.as_object_mut().expect("a call").remove("index");
            }
            vec![message]
        },
        first_turn: || json!({"model": "m", "messages": [{"role": "user", "content": "q"}]}),
        second_turn: |said| {
            let id = said[0]["tool_calls"][0]["id"].clone();
            let result = json!({"role": "tool", "tool_call_id": id, "content": "4.2"});
            let question = json!({"role": "user", "content": "q"});
            json!({"model": "m", "messages": with(question, said, result), "tools": [
                {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]})
        },
    },
    Client {
        name: "messages",
        operation: Operation::Messages,
        plain: |body| content(&read(body)["content"]),
        streamed: |stream| {
            let mut blocks = Vec::new();
            for event in data(stream) {
                match event["type"].as_str() {
                    Some("content_block_start") => blocks.push(event["content_block"].clone()),
                    Some("content_block_delta") => {
                        let block = blocks.last_mut().expect("a block has begun");
                        let delta = &event["delta"];
                        for name in ["text", "thinking", "signature"] {
                            if let Some(text) = delta.get(name) {
                                let so_far = block[name].as_str().unwrap_or_default();
                                let more = text.as_str().unwrap_or_default();
                                block[name] = json!(format!("{so_far}{more}"));
                            }
                        }
                    }
                    _ => {}
                }
            }
            content(&json!(blocks))
        },
        first_turn: || json!({"model": "m", "max_tokens": 9000, "messages": [{"role": "user", "content": "q"}]}),
        second_turn: |said| {
            let blocks = said[0]["content"].as_array().expect("blocks");
            let call = blocks.iter().find(|block| block["type"] == "tool_use");
            let id = &call.expect("a call")["id"];
            let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "4.2"}]});
            let question = json!({"role": "user", "content": "q"});
            json!({"model": "m", "max_tokens": 9000, "thinking": {"type": "adaptive"},
                "messages": with(question, said, result),
                "tools": [{"name": "look", "input_schema": {"type": "object", "properties": {}}}]})
        },
    },
    Client {
        name: "responses",
        operation: Operation::Responses,
        plain: |body| items(&read(body)),
        streamed: |stream| {
            let last = data(stream).pop().expect("it has an end");
            items(&last["response"])
        },
        first_turn: || json!({"model": "m", "input": "q"}),
        second_turn: |said| {
            let call = said.iter().find(|item| item["type"] == "function_call");
            let id = call.expect("a call")["call_id"].clone();
            let result = json!({"type": "function_call_output", "call_id": id, "output": "4.2"});
            let question = json!({"role": "user", "content": "q"});
            json!({"model": "m", "input": with(question, said, result), "tools": [
                {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}]})
        },
    },
    Client {
        name: "gemini",
        operation: Operation::Content(gemini::Call::GenerateContent, gemini::Framing::Events),
        plain: |body| {
            vec![in_other_alphabet(
                read(body)["candidates"][0]["content"].clone(),
            )]
        },
        // Its SDK keeps the content of every piece.
        streamed: |stream| {
            let contents = data(stream)
                .into_iter()
                .map(|piece| piece["candidates"][0]["content"].clone());
            let says = |content: &Value| {
                content["parts"]
                    .as_array()
                    .is_some_and(|parts| !parts.is_empty())
            };
            contents.filter(says).map(in_other_alphabet).collect()
        },
        first_turn: || json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}]}),
        second_turn: |said| {
            let result = json!({"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "4.2"}}}]});
            let question = json!({"role": "user", "parts": [{"text": "q"}]});
            json!({"contents": with(question, said, result), "tools": [
                {"functionDeclarations": [{"name": "look"}]}]})
        },
    },
];

fn with(question: Value, said: Vec<Value>, result: Value) -> Vec<Value> {
    let said = said.into_iter();
    std::iter::once(question)
        .chain(said)
        .chain([result])
        .collect()
}

fn read(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("JSON")
}

/// The JSON of a stream's events.
fn data(stream: &str) -> Vec<Value> {
    let lines = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let read = |line| serde_json::from_str(line).expect("JSON");
    lines.filter(|line| *line != "[DONE]").map(read).collect()
}

fn content(blocks: &Value) -> Vec<Value> {
    vec![json!({"role": "assistant", "content": blocks})]
}

fn items(response: &Value) -> Vec<Value> {
    response["output"].as_array().expect("an output").clone()
}

/// As OpenAI's SDK puts deltas together: texts grow, lists are joined by `index`.
fn accumulate(kept: &mut Value, delta: &Value) {
    for (name, more) in delta.as_object().expect("an object") {
        match (&mut kept[name], more) {
            (so_far @ Value::Null, more) => *so_far = more.clone(),
            (_, Value::Null) => {}
            (so_far, more) if name == "index" || name == "type" => *so_far = more.clone(),
            (Value::String(so_far), Value::String(more)) => so_far.push_str(more),
            (so_far @ Value::Object(_), more @ Value::Object(_)) => accumulate(so_far, more),
            (Value::Array(so_far), Value::Array(list)) => {
                for more in list {
                    let same = so_far.iter_mut().find(|one| one["index"] == more["index"]);
                    match same {
                        Some(one) => accumulate(one, more),
                        None => so_far.push(more.clone()),
                    }
                }
            }
            (so_far, more) => *so_far = more.clone(),
        }
    }
}

/// As Google's SDK for Python sends seals of other providers back: the same bytes in the other alphabet.
/// Its own it would send back so too, which Google takes.
fn in_other_alphabet(mut content: Value) -> Value {
    for part in content["parts"].as_array_mut().into_iter().flatten() {
        if let Some(Value::String(seal)) = part.get_mut("thoughtSignature")
            && seal.starts_with("c2x1aWNlZ2F0ZS1")
        {
            *seal = seal.replace('+', "-").replace('/', "_");
        }
    }
    content
}
