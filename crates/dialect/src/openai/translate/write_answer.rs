//! A canonical answer as a chat completion.

use bytes::Bytes;
use serde::Serialize;

use super::carried::{Carrier, ExtraContent};
use super::logprobs::ChoiceLogprobs;
use super::wire;
use crate::Usage;
use crate::canonical::{Answer, FinishReason, Part, Stamp};
use crate::wire_form::to_json;

/// Writes an answer. What it lacks of an id and a model's name is the stamp's.
pub fn write_answer(answer: &Answer, stamp: &Stamp) -> Bytes {
    let or = |told: &str, stamp: &str| if told.is_empty() { stamp } else { told }.to_owned();
    let finish = answer.finish.clone().with_calls(answer.calls_tools());
    let completion = Completion {
        id: or(&answer.id, &stamp.id),
        object: "chat.completion",
        created: stamp.created_s,
        model: or(&answer.model, &stamp.model),
        choices: [Choice {
            index: 0,
            message: message(&answer.parts),
            logprobs: ChoiceLogprobs::of(&answer.logprobs),
            finish_reason: finish_reason(&finish),
        }],
        usage: answer.usage.map(WireUsage::from),
    };
    Bytes::from(to_json(&completion))
}

/// How an answer's end is told here.
pub(super) const fn finish_reason(finish: &FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop | FinishReason::StopSequence(_) | FinishReason::Pause => "stop",
        FinishReason::Length | FinishReason::ContextFull => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Refusal => "content_filter",
    }
}

fn message(parts: &[Part]) -> Message {
    let mut message = Message {
        role: "assistant",
        content: None,
        reasoning_content: None,
        refusal: None,
        tool_calls: Vec::new(),
        extra_content: None,
    };
    let mut carrier = Carrier::default();
    let add = |place: &mut Option<String>, text: &str| {
        place.get_or_insert_default().push_str(text);
    };
    for part in parts {
        carrier.note_part(part);
        match part {
            Part::Text(text) => add(&mut message.content, text),
            Part::Thinking { text, .. } => add(&mut message.reasoning_content, text),
            Part::Refusal(text) => add(&mut message.refusal, text),
            Part::ToolCall {
                id,
                name,
                arguments,
                signature,
            } => {
                message.tool_calls.push(wire::Call {
                    index: None,
                    id: Some(id.clone()),
                    kind: Some("function".to_owned()),
                    function: Some(wire::CalledFunction {
                        name: Some(name.clone()),
                        arguments: Some(arguments.clone()),
                    }),
                    extra_content: signature.as_deref().map(wire::ExtraContent::sealed),
                });
            }
            // No answer of a provider holds the others, and sealed thoughts are carried.
            Part::SealedThinking(_)
            | Part::Image(_)
            | Part::Document { .. }
            | Part::Audio { .. }
            | Part::ToolResult { .. } => {}
        }
    }
    message.extra_content = carrier.finish();
    message
}

#[derive(Serialize)]
struct Completion {
    id: String,
    object: &'static str,
    created: u64,
    model: String,
    choices: [Choice; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<WireUsage>,
}

#[derive(Serialize)]
struct Choice {
    index: u32,
    message: Message,
    logprobs: Option<ChoiceLogprobs>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    refusal: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<wire::Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<ExtraContent>,
}

/// The usage of an answer or of a stream. The input includes what a cache held.
#[derive(Serialize)]
pub(super) struct WireUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Serialize)]
struct PromptDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

impl From<Usage> for WireUsage {
    fn from(usage: Usage) -> Self {
        Self {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            prompt_tokens_details: PromptDetails {
                cached_tokens: usage.cached_input_tokens,
                cache_write_tokens: usage.cache_write_input_tokens,
            },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: usage.reasoning_tokens,
            },
        }
    }
}
