//! Calls of tools, as the clients of each dialect read them of a stream: one after the other, each with its own arguments, and
//! none that was cut where arguments are an object.

use serde_json::{Value, json};

use crate::fixtures::{DIALECTS, play, stamp};

const CHAT: usize = 0;
const ANTHROPIC: usize = 1;
const RESPONSES: usize = 2;
const GEMINI: usize = 3;

/// A stream of chat completions with these deltas.
fn chat(deltas: &[Value], finish: &str) -> String {
    let chunk = |delta: &Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let said: String = deltas.iter().map(|delta| chunk(delta, None)).collect();
    format!("{said}{}data: [DONE]\n\n", chunk(&json!({}), Some(finish)))
}

fn begin(index: u32, name: &str, arguments: &str) -> Value {
    let function = json!({"name": name, "arguments": arguments});
    json!({"tool_calls": [{"index": index, "id": format!("call_{index}"), "type": "function", "function": function}]})
}

fn more(index: u32, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
}

fn text(text: &str) -> Value {
    json!({"content": text})
}

/// Two blocks of Claude's that are calls; the first has nothing but an empty delta.
fn claude() -> String {
    let mut said =
        vec![json!({"type": "message_start", "message": {"id": "m", "model": "claude"}})];
    for (index, name, partial) in [(0, "f", ""), (1, "g", "{\"a\":\"1\"}")] {
        let block =
            json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {}});
        said.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let delta = json!({"type": "input_json_delta", "partial_json": partial});
        said.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        said.push(json!({"type": "content_block_stop", "index": index}));
    }
    said.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}));
    said.push(json!({"type": "message_stop"}));
    said.iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect()
}

fn gemini() -> String {
    let parts = json!([{"functionCall": {"name": "f"}}, {"functionCall": {"name": "g"}}]);
    let candidate = json!({"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"});
    format!(
        "data: {}\n\n",
        json!({"candidates": [candidate], "responseId": "r"})
    )
}

/// What a client reads, in its order: texts, thoughts behind a `*`, calls as `name arguments`, and last why it ended. Fails where
/// a thing grows that is not the last one.
fn heard(from: usize, wire: &str, to: usize) -> Vec<String> {
    let (said, progress) = play(from, to, [wire.as_bytes()]);
    assert!(progress.is_complete(), "{said}");
    let mut heard = Heard::default();
    for data in said.lines().filter_map(|line| line.strip_prefix("data: ")) {
        if data == "[DONE]" {
            continue;
        }
        let event = serde_json::from_str(data).expect("JSON");
        match to {
            CHAT => heard.chat(&event),
            ANTHROPIC => heard.anthropic(&event),
            RESPONSES => heard.responses(&event),
            _ => heard.gemini(&event),
        }
    }
    heard.list
}

#[derive(Default)]
struct Heard {
    list: Vec<String>,
    /// The number of what grows, and what kind of thing it is.
    grows: Option<(u64, &'static str)>,
}

impl Heard {
    fn grow(&mut self, kind: &'static str, at: u64, said: &str) {
        if self.grows != Some((at, kind)) {
            self.grows = Some((at, kind));
            self.list.push(kind.to_owned());
        }
        let last = self.list.last_mut().expect("one was added");
        last.push_str(said);
    }

    fn chat(&mut self, event: &Value) {
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        let said = |member: &str| delta[member].as_str().filter(|said| !said.is_empty());
        if let Some(said) = said("content") {
            self.grow("", 0, said);
        }
        if let Some(said) = said("reasoning_content") {
            self.grow("*", 0, said);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = call["index"].as_u64().expect("an index");
            let function = &call["function"];
            if let Some(name) = function["name"].as_str() {
                self.list.push(format!("{name} "));
                self.grows = Some((index, "call"));
            }
            assert_eq!(
                self.grows,
                Some((index, "call")),
                "only the last call grows"
            );
            self.grow(
                "call",
                index,
                function["arguments"].as_str().expect("arguments"),
            );
        }
        self.end(&choice["finish_reason"]);
    }

    fn anthropic(&mut self, event: &Value) {
        let index = event["index"].as_u64();
        match event["type"].as_str().expect("a type") {
            "content_block_start" => {
                assert_eq!(self.grows, None, "the one before it has ended");
                let block = &event["content_block"];
                let kind = block["type"].as_str().expect("a type");
                self.list.push(match kind {
                    "tool_use" => format!("{} ", block["name"].as_str().expect("a name")),
                    "thinking" => "*".to_owned(),
                    _ => String::new(),
                });
                self.grows = index.map(|index| (index, ""));
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let said =
                    ["text", "thinking", "partial_json"].map(|member| delta[member].as_str());
                let said = said.into_iter().flatten().next().expect("a piece");
                self.grow("", index.expect("an index"), said);
            }
            "content_block_stop" => {
                assert_eq!(self.grows.take(), index.map(|index| (index, "")));
            }
            "message_delta" => self.end(&event["delta"]["stop_reason"]),
            _ => {}
        }
    }

    fn responses(&mut self, event: &Value) {
        let index = event["output_index"].as_u64();
        match event["type"].as_str().expect("a type") {
            "response.output_item.added" => {
                assert_eq!(self.grows, None, "the one before it has ended");
                let item = &event["item"];
                self.list
                    .push(match item["type"].as_str().expect("a type") {
                        "function_call" => format!("{} ", item["name"].as_str().expect("a name")),
                        "reasoning" => "*".to_owned(),
                        _ => String::new(),
                    });
                self.grows = index.map(|index| (index, ""));
            }
            "response.output_text.delta"
            | "response.reasoning_summary_text.delta"
            | "response.function_call_arguments.delta" => {
                let said = event["delta"].as_str().expect("a piece");
                self.grow("", index.expect("an index"), said);
            }
            "response.output_item.done" => {
                assert_eq!(self.grows.take(), index.map(|index| (index, "")));
                if let Some(arguments) = event["item"]["arguments"].as_str() {
                    let last = self.list.last().expect("a call");
                    assert!(
                        last.ends_with(&format!(" {arguments}")),
                        "{last} is {arguments}"
                    );
                }
            }
            "response.completed" | "response.incomplete" => self.end(&event["response"]["status"]),
            _ => {}
        }
    }

    fn gemini(&mut self, event: &Value) {
        let candidate = &event["candidates"][0];
        for part in candidate["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let call = &part["functionCall"];
            match (part["text"].as_str(), call["name"].as_str()) {
                (Some(said), _) if part["thought"] == true => self.grow("*", 0, said),
                (Some(said), _) => self.grow("", 0, said),
                (_, Some(name)) => {
                    self.list.push(format!("{name} {}", call["args"]));
                    self.grows = None;
                }
                _ => {}
            }
        }
        self.end(&candidate["finishReason"]);
    }

    fn end(&mut self, reason: &Value) {
        self.list.extend(reason.as_str().map(str::to_owned));
    }
}

/// How each dialect says that tools are to be called.
const CALLED: [&str; 4] = ["tool_calls", "tool_use", "completed", "STOP"];

/// Every client hears of `wire` what is `expected`, and that tools are to be called.
fn all_hear(from: usize, wire: &str, expected: &[&str]) {
    for to in 0..DIALECTS.len() {
        let mut expected = expected.to_vec();
        expected.push(CALLED[to]);
        assert_eq!(
            heard(from, wire, to),
            expected,
            "{:?}: {wire}",
            DIALECTS[to].0
        );
    }
}

#[test]
fn arguments_that_come_behind_something_else_are_kept() {
    let call = begin(0, "f", "");
    let whole = more(0, "{\"a\":\"1\"}");
    let expected = "f {\"a\":\"1\"}";
    let wire = chat(&[call.clone(), text("mid"), whole.clone()], "tool_calls");
    all_hear(CHAT, &wire, &[expected, "mid"]);
    let thought = json!({"reasoning_content": "hm"});
    let wire = chat(&[call.clone(), thought, whole], "tool_calls");
    all_hear(CHAT, &wire, &[expected, "*hm"]);
    let (half, rest) = (more(0, "{\"a\":"), more(0, "\"1\"}"));
    let said = [call, half, text("mi"), text("d"), rest, text("end")];
    all_hear(CHAT, &chat(&said, "tool_calls"), &[expected, "midend"]);
}

#[test]
fn calls_in_turns_with_a_text_between_keep_their_arguments() {
    let said = [
        begin(0, "f", "{\"a\":"),
        begin(1, "g", ""),
        text("mid"),
        more(1, "{\"b\":"),
        more(0, "1}"),
        more(1, "2}"),
    ];
    let expected = ["f {\"a\":1}", "g {\"b\":2}", "mid"];
    all_hear(CHAT, &chat(&said, "tool_calls"), &expected);
}

#[test]
fn a_call_without_arguments_ends_before_the_next_begins() {
    all_hear(ANTHROPIC, &claude(), &["f {}", "g {\"a\":\"1\"}"]);
    all_hear(GEMINI, &gemini(), &["f {}", "g {}"]);
    let said = [begin(0, "f", ""), begin(1, "g", "{\"a\":1}")];
    all_hear(CHAT, &chat(&said, "tool_calls"), &["f {}", "g {\"a\":1}"]);
}

#[test]
fn what_stands_for_no_arguments_is_an_empty_object() {
    for none in ["", "null", "\"\"", " "] {
        let said = [begin(0, "f", none), begin(1, "g", none)];
        all_hear(CHAT, &chat(&said, "tool_calls"), &["f {}", "g {}"]);
        let pieces: Vec<Value> = none
            .chars()
            .map(|piece| more(0, &piece.to_string()))
            .collect();
        let said = [vec![begin(0, "f", "")], pieces].concat();
        all_hear(CHAT, &chat(&said, "stop"), &["f {}"]);
    }
}

#[test]
fn a_name_that_comes_behind_the_id_is_told() {
    let name = json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]});
    let said = [begin(0, "", ""), name, more(0, "{\"a\":1}")];
    all_hear(CHAT, &chat(&said, "tool_calls"), &["f {\"a\":1}"]);
    let name = json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]});
    let said = [begin(0, "", ""), name, begin(1, "g", "{}")];
    all_hear(CHAT, &chat(&said, "tool_calls"), &["f {}", "g {}"]);
}

/// How each dialect says that the answer was cut.
const CUT: [&str; 4] = ["length", "max_tokens", "incomplete", "MAX_TOKENS"];

#[test]
fn a_call_of_a_stream_that_was_cut_is_not_made() {
    for cut in ["{\"a\": \"tmp/o", ""] {
        let said = [begin(0, "g", "{}"), begin(1, "f", cut)];
        let wire = chat(&said, "length");
        for (to, reason) in CUT.into_iter().enumerate() {
            let call = format!("f {cut}");
            let mut expected = vec!["g {}", &call, reason];
            if to == GEMINI {
                expected.remove(1);
            }
            assert_eq!(heard(CHAT, &wire, to), expected);
        }
    }
    // Nobody can make it either where the provider says that it is whole.
    let wire = chat(&[begin(0, "f", "{\"a\": \"tmp/o")], "tool_calls");
    assert_eq!(heard(CHAT, &wire, GEMINI), ["MAX_TOKENS"]);
    assert_eq!(
        heard(CHAT, &wire, ANTHROPIC),
        ["f {\"a\": \"tmp/o", "max_tokens"]
    );
}

/// What the clients of each dialect get of an answer that came whole, with these arguments of its last call.
fn answer(arguments: &str, finish: &str) -> [Value; 4] {
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": id, "arguments": arguments}});
    let calls = json!([call("g", "null"), call("f", arguments)]);
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let choice = json!({"index": 0, "finish_reason": finish, "message": message});
    let wire = json!({"id": "c", "model": "m", "choices": [choice]}).to_string();
    let read = DIALECTS[CHAT]
        .0
        .read_answer(wire.as_bytes())
        .expect("an answer");
    DIALECTS.map(|(to, _, _)| {
        serde_json::from_slice(&to.write_answer(&read, &stamp())).expect("a body is JSON")
    })
}

#[test]
fn a_call_of_a_whole_answer_that_was_cut_is_not_made() {
    for (cut, finish) in [
        ("{\"a\": \"tmp/o", "length"),
        ("{\"a\": \"tmp/o", "content_filter"),
        ("{\"a\": \"tmp/o", "tool_calls"),
        ("", "length"),
    ] {
        let [chat, anthropic, responses, gemini] = answer(cut, finish);
        let call = &chat["choices"][0]["message"]["tool_calls"][1];
        assert_eq!(call["function"]["arguments"], cut);
        assert_eq!(responses["output"][1]["arguments"], cut);
        let content = &anthropic["content"];
        assert_eq!(content.as_array().map(Vec::len), Some(1), "{content}");
        let parts = &gemini["candidates"][0]["content"]["parts"];
        assert_eq!(parts.as_array().map(Vec::len), Some(1), "{parts}");
        let refused = finish == "content_filter";
        let reason = if refused { "refusal" } else { "max_tokens" };
        assert_eq!(anthropic["stop_reason"], reason);
        let reason = if refused { "SAFETY" } else { "MAX_TOKENS" };
        assert_eq!(gemini["candidates"][0]["finishReason"], reason);
    }
}

#[test]
fn what_stands_for_no_arguments_of_a_whole_answer_is_an_empty_object() {
    for none in ["", "null", "\"\""] {
        let [chat, anthropic, responses, gemini] = answer(none, "tool_calls");
        for at in [0, 1] {
            let call = &chat["choices"][0]["message"]["tool_calls"][at];
            assert_eq!(call["function"]["arguments"], "{}");
            assert_eq!(anthropic["content"][at]["input"], json!({}));
            assert_eq!(responses["output"][at]["arguments"], "{}");
            let parts = &gemini["candidates"][0]["content"]["parts"];
            assert_eq!(parts[at]["functionCall"]["args"], json!({}));
        }
    }
}
