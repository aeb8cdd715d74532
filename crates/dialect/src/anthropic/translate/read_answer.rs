//! A message into the canonical form.

use super::wire;
use crate::anthropic::endings::refusal_explained;
use crate::canonical::{Answer, FinishReason, Part};
use crate::json::Cursor;
use crate::wire_form::parse_answer;
use crate::{RequestError, Usage};

/// Reads an answer that came whole. Blocks of tools that the provider runs itself are left out: no
/// translated request asks for them.
///
/// # Errors
/// [`RequestError`] where it is no answer: not JSON, or without content.
pub fn read_answer(body: &[u8]) -> Result<Answer, RequestError> {
    let wire: wire::Answer = parse_answer(body)?;
    let Some(content) = wire.content else {
        return Err(RequestError {
            param: None,
            message: "the answer has no content".to_owned(),
        });
    };
    let mut parts: Vec<Part> = content.into_iter().filter_map(part).collect();
    let finish = finish(wire.stop_reason.as_deref(), wire.stop_sequence);
    if finish == FinishReason::Refusal {
        let explained = refusal_explained(body, Cursor::new(body).position());
        parts.extend(explained.map(Part::Refusal));
    }
    Ok(Answer {
        id: wire.id.unwrap_or_default(),
        model: wire.model.unwrap_or_default(),
        parts,
        logprobs: Vec::new(),
        finish,
        usage: Usage::from_message(body),
    })
}

fn part(block: wire::Block) -> Option<Part> {
    match block.kind.as_str() {
        "text" => block.text.filter(|text| !text.is_empty()).map(Part::Text),
        "thinking" => Some(Part::Thinking {
            text: block.thinking.unwrap_or_default(),
            signature: block.signature,
        }),
        "redacted_thinking" => block.data.map(Part::SealedThinking),
        "tool_use" => Some(Part::ToolCall {
            id: block.id.unwrap_or_default(),
            name: block.name.unwrap_or_default(),
            arguments: block
                .input
                .map(|input| input.get().to_owned())
                .unwrap_or_default(),
            signature: None,
        }),
        _ => None,
    }
}

/// What a `stop_reason` means. One that is not known is an end like others.
pub(super) fn finish(reason: Option<&str>, sequence: Option<String>) -> FinishReason {
    match (reason, sequence) {
        (Some("stop_sequence"), sequence) => FinishReason::StopSequence(sequence),
        (Some("max_tokens"), _) => FinishReason::Length,
        (Some("model_context_window_exceeded"), _) => FinishReason::ContextFull,
        (Some("tool_use"), _) => FinishReason::ToolCalls,
        (Some("refusal"), _) => FinishReason::Refusal,
        (Some("pause_turn"), _) => FinishReason::Pause,
        _ => FinishReason::Stop,
    }
}
