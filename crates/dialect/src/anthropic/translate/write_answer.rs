//! A canonical answer as a message, and a failure as this dialect tells it.

use bytes::Bytes;
use serde::Serialize;

use super::wire::Block;
use super::{call, kind_of};
use crate::anthropic::{ErrorOut, error_body, error_kind};
use crate::canonical::seal::before_call;
use crate::canonical::{Answer, FinishReason, Part, Stamp};
use crate::wire_form::to_json;
use crate::{UpstreamError, Usage};

/// Writes an answer. What it lacks of an id and a model's name is the stamp's. A refusal is text
/// here, and told by the reason of the end. A call that was cut is left out, as its input would be made up.
pub fn write_answer(answer: &Answer, stamp: &Stamp) -> Bytes {
    let answer = answer.without_cut_calls();
    let or = |told: &str, stamp: &str| if told.is_empty() { stamp } else { told }.to_owned();
    let mut finish = answer.finish.clone().with_calls(answer.calls_tools());
    if finish == FinishReason::Stop
        && answer
            .parts
            .iter()
            .any(|part| matches!(part, Part::Refusal(_)))
    {
        finish = FinishReason::Refusal;
    }
    let (stop_reason, stop_sequence) = stop_reason(&finish);
    Bytes::from(to_json(&Message {
        id: or(&answer.id, &stamp.id),
        kind: "message",
        role: "assistant",
        model: or(&answer.model, &stamp.model),
        content: answer.parts.iter().flat_map(blocks).collect(),
        stop_reason: Some(stop_reason),
        stop_sequence,
        usage: WireUsage::from(answer.usage.unwrap_or_default()),
    }))
}

/// Writes a provider's failure.
pub fn write_error(error: &UpstreamError) -> Bytes {
    error_body(&error_out(error))
}

/// The failure in the words of this dialect; its message stays the provider's. Its kind is the one of
/// the status that it came with; in a stream its class says it.
pub(crate) fn error_out(error: &UpstreamError) -> ErrorOut<'_> {
    ErrorOut {
        kind: error
            .status
            .map_or_else(|| kind_of(error.class), error_kind),
        message: error.said(),
    }
}

/// How an answer's end is told here, and the text that caused it.
pub(super) fn stop_reason(finish: &FinishReason) -> (&'static str, Option<&str>) {
    match finish {
        FinishReason::Stop => ("end_turn", None),
        FinishReason::StopSequence(sequence) => ("stop_sequence", sequence.as_deref()),
        FinishReason::Length => ("max_tokens", None),
        FinishReason::ContextFull => ("model_context_window_exceeded", None),
        FinishReason::ToolCalls => ("tool_use", None),
        FinishReason::Refusal => ("refusal", None),
        FinishReason::Pause => ("pause_turn", None),
    }
}

/// A call that bears a seal has a block more before it: no block of a call has a place for one.
fn blocks(part: &Part) -> impl Iterator<Item = Block> {
    let seal = match part {
        Part::ToolCall { signature, .. } => signature.as_deref().map(sealed_before_call),
        _ => None,
    };
    seal.into_iter().chain(block(part))
}

/// The block that bears the seal of the call that follows. Clients send it back as it is, as they do
/// with the thoughts of Claude that are not shown.
/// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>)
pub(super) fn sealed_before_call(seal: &str) -> Block {
    Block {
        kind: "redacted_thinking".to_owned(),
        data: Some(before_call(seal)),
        ..Block::default()
    }
}

fn block(part: &Part) -> Option<Block> {
    let block = |kind: &str| Block {
        kind: kind.to_owned(),
        ..Block::default()
    };
    Some(match part {
        Part::Text(text) | Part::Refusal(text) => Block {
            text: Some(text.clone()),
            ..block("text")
        },
        Part::Thinking { text, signature } => Block {
            thinking: Some(text.clone()),
            // SDKs expect the member, though another provider's thoughts bear no seal.
            signature: Some(signature.clone().unwrap_or_default()),
            ..block("thinking")
        },
        Part::SealedThinking(data) => Block {
            data: Some(data.clone()),
            ..block("redacted_thinking")
        },
        Part::ToolCall {
            id,
            name,
            arguments,
            ..
        } => Block {
            id: Some(call::legal_id(id).into_owned()),
            name: Some(name.clone()),
            input: Some(call::input(arguments).raw()),
            ..block("tool_use")
        },
        Part::Image(_) | Part::Document { .. } | Part::Audio { .. } | Part::ToolResult { .. } => {
            return None;
        }
    })
}

#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) role: &'static str,
    pub(super) model: String,
    pub(super) content: Vec<Block>,
    pub(super) stop_reason: Option<&'static str>,
    pub(super) stop_sequence: Option<&'a str>,
    pub(super) usage: WireUsage,
}

/// The usage of an answer or of a stream. The input leaves out what a cache held.
#[derive(Serialize)]
pub(super) struct WireUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

impl From<Usage> for WireUsage {
    fn from(usage: Usage) -> Self {
        let cached = usage
            .cached_input_tokens
            .saturating_add(usage.cache_write_input_tokens);
        Self {
            input_tokens: usage.input_tokens.saturating_sub(cached),
            cache_creation_input_tokens: usage.cache_write_input_tokens,
            cache_read_input_tokens: usage.cached_input_tokens,
            output_tokens: usage.output_tokens,
        }
    }
}
