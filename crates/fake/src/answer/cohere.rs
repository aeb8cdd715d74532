//! An answer as Cohere's second interface writes it: chat, its events, and embeddings.

use serde_json::{Value, json};

use super::said::{Choice, Finish, Part, ToolCall};
use super::{ChunkUsage, Completion, Frame, Progress, Step, blocks, vector};
use crate::fault::UsageFault;

const DIMENSIONS: u64 = 1_536;

/// The answer in one piece.
pub(super) fn whole(said: &Completion, usage: UsageFault) -> String {
    let choice = &said.choices[0];
    let mut message = json!({"role": "assistant"});
    let content: Vec<Value> = choice.parts.iter().filter_map(content).collect();
    if !content.is_empty() {
        message["content"] = json!(content);
    }
    let calls: Vec<Value> = choice
        .calls()
        .map(|it| call(it, &it.fragments.concat()))
        .collect();
    if !calls.is_empty() {
        message["tool_plan"] = json!(plan(choice));
        message["tool_calls"] = json!(calls);
    }
    let mut answer = json!({
        "id": said.id, "message": message, "finish_reason": finish_reason(&choice.finish),
    });
    if usage != UsageFault::Missing {
        answer["usage"] = usage_of(said);
    }
    if let Some(object) = answer.as_object_mut() {
        object.extend(said.extra.clone());
    }
    answer.to_string()
}

/// The events, in order; a plan goes before calls.
pub(super) fn steps(said: &Completion) -> Vec<Step> {
    blocks::steps(said, |step| match step {
        Step::Ping => said.choices[0].calls().next().is_some(),
        Step::Begin(_) | Step::Open(..) | Step::Piece(..) | Step::Close(..) | Step::End => true,
        _ => false,
    })
}

/// The event of one step.
pub(super) fn frame(said: &Completion, step: Step, progress: Progress) -> Frame {
    let choice = &said.choices[0];
    let (name, mut data) = match step {
        Step::Begin(_) => {
            let message = json!({"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []});
            (
                "message-start",
                json!({"id": said.id, "delta": {"message": message}}),
            )
        }
        Step::Ping => {
            let message = json!({"tool_plan": plan(choice)});
            ("tool-plan-delta", json!({"delta": {"message": message}}))
        }
        Step::Open(_, at) => match &choice.parts[at] {
            Part::Call(it) => {
                let message = json!({"tool_calls": call(it, "")});
                ("tool-call-start", json!({"delta": {"message": message}}))
            }
            part => ("content-start", delta(part, "", true)),
        },
        Step::Piece(_, at, n) => match &choice.parts[at] {
            Part::Call(it) => {
                let message = json!({"tool_calls": {"function": {"arguments": it.fragments[n]}}});
                ("tool-call-delta", json!({"delta": {"message": message}}))
            }
            part => ("content-delta", delta(part, &part.pieces()[n], false)),
        },
        Step::Close(_, at) => match &choice.parts[at] {
            Part::Call(_) => ("tool-call-end", json!({})),
            _ => ("content-end", json!({})),
        },
        _ => {
            let mut delta = json!({"finish_reason": finish_reason(&choice.finish)});
            if progress.usage != ChunkUsage::Absent {
                delta["usage"] = usage_of(said);
            }
            ("message-end", json!({"id": said.id, "delta": delta}))
        }
    };
    if let Step::Open(_, at) | Step::Piece(_, at, _) | Step::Close(_, at) = step {
        data["index"] = match choice.parts[at] {
            Part::Call(_) => json!(choice.call_index(at)),
            _ => json!(at),
        };
    }
    data["type"] = json!(name);
    Frame {
        name: Some(name),
        data: data.to_string(),
    }
}

/// All vectors, in each of the forms that were asked for.
pub(super) fn embeddings(said: &Completion) -> String {
    let dimensions = said.embed.dimensions.unwrap_or(DIMENSIONS);
    let texts = &said.embed.texts;
    let vectors: Vec<Vec<f32>> = texts
        .iter()
        .map(|text| vector::vector(text, dimensions))
        .collect();
    let mut embeddings = json!({});
    for form in &said.embed.forms {
        let of = |vector: &Vec<f32>| formed(form, vector);
        embeddings[form] = vectors.iter().map(of).collect();
    }
    json!({
        "id": said.id, "embeddings": embeddings, "texts": texts, "response_type": "embeddings_by_type",
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": said.prompt_tokens}},
    })
    .to_string()
}

/// A vector as `float`, `base64`, whole numbers (`int8`, `uint8`), or a bit for each sign (`binary`, `ubinary`).
fn formed(form: &str, vector: &[f32]) -> Value {
    let scaled = |shift: f32| {
        let whole = vector.iter().map(|n| (n * 127.0).round() + shift);
        // Between -128 and 255 a float is its whole number.
        json!(
            whole
                .map(|n| n.to_string().parse().unwrap_or(0))
                .collect::<Vec<i64>>()
        )
    };
    let bits = |shift: i64| {
        let bytes = vector.chunks(8).map(|eight| {
            let byte = eight
                .iter()
                .fold(0, |byte, n| byte << 1 | i64::from(*n > 0.0));
            byte - shift
        });
        json!(bytes.collect::<Vec<i64>>())
    };
    match form {
        "base64" => json!(vector::base64(vector)),
        "int8" => scaled(0.0),
        "uint8" => scaled(128.0),
        "binary" => bits(128),
        "ubinary" => bits(0),
        _ => json!(vector),
    }
}

fn content(part: &Part) -> Option<Value> {
    match part {
        Part::Thought(thought) => {
            Some(json!({"type": "thinking", "thinking": thought.pieces.concat()}))
        }
        Part::Text(pieces) | Part::Refusal(pieces) => {
            Some(json!({"type": "text", "text": pieces.concat()}))
        }
        Part::Call(_) => None,
    }
}

fn delta(part: &Part, text: &str, begins: bool) -> Value {
    let kind = match part {
        Part::Thought(_) => "thinking",
        _ => "text",
    };
    let mut content = json!({kind: text});
    if begins {
        content["type"] = json!(kind);
    }
    json!({"delta": {"message": {"content": content}}})
}

fn call(call: &ToolCall, arguments: &str) -> Value {
    json!({
        "id": format!("{}_{}", call.name, call.id), "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    })
}

fn plan(choice: &Choice) -> String {
    let names: Vec<&str> = choice.calls().map(|call| call.name.as_str()).collect();
    format!("I will use {}.", names.join(", "))
}

fn finish_reason(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop => "COMPLETE",
        Finish::StopSequence(_) => "STOP_SEQUENCE",
        Finish::Length => "MAX_TOKENS",
        Finish::Tools => "TOOL_CALL",
        Finish::Refused => "ERROR",
    }
}

fn usage_of(said: &Completion) -> Value {
    let (input, output) = (said.prompt_tokens, said.output_tokens());
    json!({
        "billed_units": {"input_tokens": input, "output_tokens": output},
        "tokens": {"input_tokens": input, "output_tokens": output},
        "cached_tokens": said.cached_tokens,
    })
}
