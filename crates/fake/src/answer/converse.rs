//! An answer as Bedrock's Converse output, or as its events.

use serde_json::{Value, json};

use super::said::{Finish, Part};
use super::{ChunkUsage, Completion, Frame, Progress, Step, blocks};
use crate::fault::UsageFault;

/// The answer in one piece.
pub(super) fn whole(said: &Completion, usage: UsageFault) -> String {
    let choice = &said.choices[0];
    let content: Vec<Value> = choice.parts.iter().map(block).collect();
    let mut output = json!({
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop_reason(&choice.finish),
        "metrics": {"latencyMs": 1},
    });
    if usage != UsageFault::Missing {
        output["usage"] = usage_of(said);
    }
    if let Some(object) = output.as_object_mut() {
        object.extend(said.extra.clone());
    }
    output.to_string()
}

/// The events, in order: only calls of tools have a beginning.
pub(super) fn steps(said: &Completion) -> Vec<Step> {
    blocks::steps(said, |step| match step {
        Step::Open(choice, at) => matches!(said.choices[choice].parts[at], Part::Call(_)),
        Step::Begin(_)
        | Step::Piece(..)
        | Step::Sign(..)
        | Step::Close(..)
        | Step::Finish(_)
        | Step::End => true,
        Step::Ping | Step::OpenInner(..) | Step::Say(..) | Step::CloseInner(..) => false,
    })
}

/// The event of one step.
pub(super) fn frame(said: &Completion, step: Step, progress: Progress) -> Frame {
    let part = |choice: usize, at: usize| &said.choices[choice].parts[at];
    let delta = |at: usize, delta: Value| {
        let data = json!({"contentBlockIndex": at, "delta": delta});
        ("contentBlockDelta", data)
    };
    let (name, data) = match step {
        Step::Open(choice, at) => {
            let start = match part(choice, at) {
                Part::Call(call) => {
                    json!({"toolUse": {"toolUseId": id(&call.id), "name": call.name}})
                }
                _ => json!({}),
            };
            (
                "contentBlockStart",
                json!({"contentBlockIndex": at, "start": start}),
            )
        }
        Step::Piece(choice, at, n) => {
            let part = part(choice, at);
            let text = &part.pieces()[n];
            delta(
                at,
                match part {
                    Part::Thought(_) => json!({"reasoningContent": {"text": text}}),
                    Part::Text(_) | Part::Refusal(_) => json!({"text": text}),
                    Part::Call(_) => json!({"toolUse": {"input": text}}),
                },
            )
        }
        Step::Sign(choice, at) => {
            let signature = match part(choice, at) {
                Part::Thought(thought) => thought.signature.as_str(),
                _ => "",
            };
            delta(at, json!({"reasoningContent": {"signature": signature}}))
        }
        Step::Close(_, at) => ("contentBlockStop", json!({"contentBlockIndex": at})),
        Step::Finish(choice) => (
            "messageStop",
            json!({"stopReason": stop_reason(&said.choices[choice].finish)}),
        ),
        Step::End => {
            let mut data = json!({"metrics": {"latencyMs": 1}});
            if progress.usage != ChunkUsage::Absent {
                data["usage"] = usage_of(said);
            }
            ("metadata", data)
        }
        Step::Begin(_)
        | Step::Ping
        | Step::OpenInner(..)
        | Step::Say(..)
        | Step::CloseInner(..) => ("messageStart", json!({"role": "assistant"})),
    };
    Frame {
        name: Some(name),
        data: data.to_string(),
    }
}

fn block(part: &Part) -> Value {
    match part {
        Part::Thought(thought) => json!({"reasoningContent": {"reasoningText": {
            "text": thought.pieces.concat(), "signature": thought.signature,
        }}}),
        Part::Text(pieces) | Part::Refusal(pieces) => json!({"text": pieces.concat()}),
        Part::Call(call) => json!({"toolUse": {
            "toolUseId": id(&call.id), "name": call.name, "input": call.input(),
        }}),
    }
}

fn id(id: &str) -> String {
    format!("tooluse_{id}")
}

fn stop_reason(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::StopSequence(_) => "stop_sequence",
        Finish::Length => "max_tokens",
        Finish::Tools => "tool_use",
        Finish::Refused => "content_filtered",
    }
}

/// Input counts without what was read from or written to the cache; the total counts everything.
fn usage_of(said: &Completion) -> Value {
    let output = said.output_tokens();
    let cache = said.cached_tokens + said.cache_written_tokens;
    json!({
        "inputTokens": said.prompt_tokens.saturating_sub(cache),
        "outputTokens": output,
        "totalTokens": said.prompt_tokens.max(cache) + output,
        "cacheReadInputTokens": said.cached_tokens,
        "cacheWriteInputTokens": said.cache_written_tokens,
    })
}
