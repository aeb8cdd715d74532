//! An answer as an Anthropic message, or as its events.

use serde_json::{Map, Value, json};

use super::blocks;
use super::said::{Finish, Part};
use super::{ChunkUsage, Completion, Frame, Progress, Step};
use crate::fault::UsageFault;

/// The answer in one piece.
pub(super) fn whole(said: &Completion, usage: UsageFault) -> String {
    let choice = &said.choices[0];
    let mut message = begun(said);
    message["content"] = choice.parts.iter().map(whole_block).collect();
    message["stop_reason"] = json!(stop_reason(&choice.finish));
    message["stop_sequence"] = stop_sequence(&choice.finish);
    message["usage"] = usage_of(said, said.output_tokens());
    if usage == UsageFault::Missing {
        without(&mut message, "usage");
    }
    extend(&mut message, &said.extra);
    message.to_string()
}

/// Tokens of a prompt.
pub(super) fn count(said: &Completion) -> String {
    json!({"input_tokens": said.prompt_tokens}).to_string()
}

/// The events, in order.
pub(super) fn steps(said: &Completion) -> Vec<Step> {
    blocks::steps(said, |step| {
        !matches!(
            step,
            Step::OpenInner(..) | Step::Say(..) | Step::CloseInner(..)
        )
    })
}

/// The event of one step.
pub(super) fn frame(said: &Completion, step: Step, progress: Progress) -> Frame {
    let (name, mut data) = match step {
        Step::Begin(_) => {
            let mut message = begun(said);
            message["usage"] = usage_of(said, 1);
            if progress.usage == ChunkUsage::Absent {
                without(&mut message, "usage");
            }
            ("message_start", json!({"message": message}))
        }
        Step::Open(choice, at) => {
            let block = empty_block(&said.choices[choice].parts[at]);
            (
                "content_block_start",
                json!({"index": at, "content_block": block}),
            )
        }
        Step::Piece(choice, at, n) => {
            let delta = delta(&said.choices[choice].parts[at], n);
            ("content_block_delta", json!({"index": at, "delta": delta}))
        }
        Step::Sign(choice, at) => {
            let Part::Thought(thought) = &said.choices[choice].parts[at] else {
                return ping();
            };
            let delta = json!({"type": "signature_delta", "signature": thought.signature});
            ("content_block_delta", json!({"index": at, "delta": delta}))
        }
        Step::Close(_, at) => ("content_block_stop", json!({"index": at})),
        Step::Finish(choice) => {
            let finish = &said.choices[choice].finish;
            let mut data = json!({
                "delta": {"stop_reason": stop_reason(finish), "stop_sequence": stop_sequence(finish)},
                "usage": usage_of(said, said.output_tokens()),
            });
            if progress.usage == ChunkUsage::Absent {
                without(&mut data, "usage");
            }
            ("message_delta", data)
        }
        Step::End => ("message_stop", json!({})),
        Step::Ping | Step::OpenInner(..) | Step::Say(..) | Step::CloseInner(..) => return ping(),
    };
    data["type"] = json!(name);
    extend(&mut data, &said.extra);
    Frame {
        name: Some(name),
        data: data.to_string(),
    }
}

fn ping() -> Frame {
    Frame {
        name: Some("ping"),
        data: json!({"type": "ping"}).to_string(),
    }
}

fn begun(said: &Completion) -> Value {
    json!({
        "id": format!("msg_{}", said.id), "type": "message", "role": "assistant", "model": said.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
    })
}

fn whole_block(part: &Part) -> Value {
    match part {
        Part::Thought(thought) => json!({
            "type": "thinking", "thinking": thought.pieces.concat(), "signature": thought.signature,
        }),
        Part::Text(pieces) | Part::Refusal(pieces) => {
            json!({"type": "text", "text": pieces.concat()})
        }
        Part::Call(call) => json!({
            "type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": call.input(),
        }),
    }
}

fn empty_block(part: &Part) -> Value {
    match part {
        Part::Thought(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Part::Text(_) | Part::Refusal(_) => json!({"type": "text", "text": ""}),
        Part::Call(call) => json!({
            "type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": {},
        }),
    }
}

fn delta(part: &Part, n: usize) -> Value {
    let text = &part.pieces()[n];
    match part {
        Part::Thought(_) => json!({"type": "thinking_delta", "thinking": text}),
        Part::Text(_) | Part::Refusal(_) => json!({"type": "text_delta", "text": text}),
        Part::Call(_) => json!({"type": "input_json_delta", "partial_json": text}),
    }
}

fn stop_reason(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::StopSequence(_) => "stop_sequence",
        Finish::Length => "max_tokens",
        Finish::Tools => "tool_use",
        Finish::Refused => "refusal",
    }
}

fn stop_sequence(finish: &Finish) -> Value {
    match finish {
        Finish::StopSequence(stop) => json!(stop),
        _ => Value::Null,
    }
}

/// Input counts without what was read from or written to the cache.
fn usage_of(said: &Completion, output: u64) -> Value {
    json!({
        "input_tokens": said.prompt_tokens.saturating_sub(said.cached_tokens + said.cache_written_tokens),
        "cache_creation_input_tokens": said.cache_written_tokens,
        "cache_read_input_tokens": said.cached_tokens,
        "output_tokens": output,
        "service_tier": "standard",
    })
}

fn without(value: &mut Value, name: &str) {
    if let Some(object) = value.as_object_mut() {
        object.remove(name);
    }
}

fn extend(value: &mut Value, extra: &Map<String, Value>) {
    if let Some(object) = value.as_object_mut() {
        object.extend(extra.clone());
    }
}
