//! A chat answer into the canonical form.

use super::wire;
use crate::canonical::{Answer, FinishReason, Part};
use crate::cohere::endings::failure_class;
use crate::wire_form::{TextOr, parse_answer};
use crate::{RequestError, Usage};

/// Reads an answer that came whole. It does not name its model. What the model plans to do by its
/// calls are its thoughts.
///
/// # Errors
/// [`RequestError`] where it is no answer: not JSON, without a message, or ended by an error.
pub fn read_answer(body: &[u8]) -> Result<Answer, RequestError> {
    let wire: wire::Answer = parse_answer(body)?;
    let none = |message: &str| RequestError {
        param: None,
        message: message.to_owned(),
    };
    let Some(message) = wire.message else {
        return Err(none("the answer has no message"));
    };
    let Some(finish) = finish(wire.finish_reason.as_deref()) else {
        return Err(none("the provider could not end the answer"));
    };
    let mut answer = Answer {
        id: wire.id.unwrap_or_default(),
        model: String::new(),
        parts: parts(message),
        logprobs: Vec::new(),
        finish,
        usage: Usage::from_cohere(body),
    };
    answer.finish = answer.finish.clone().with_calls(answer.calls_tools());
    Ok(answer)
}

fn parts(message: wire::Message) -> Vec<Part> {
    let mut parts = Vec::new();
    let is_some = |text: &String| !text.is_empty();
    let thought = |text| Part::Thinking {
        text,
        signature: None,
    };
    match message.content {
        Some(TextOr::Text(text)) if !text.is_empty() => parts.push(Part::Text(text)),
        Some(TextOr::List(list)) => {
            for part in list {
                parts.extend(part.thinking.filter(is_some).map(thought));
                parts.extend(part.text.filter(is_some).map(Part::Text));
            }
        }
        _ => {}
    }
    parts.extend(message.tool_plan.filter(is_some).map(thought));
    let calls = message.tool_calls.into_iter().flatten();
    parts.extend(calls.map(|call| Part::ToolCall {
        id: call.id,
        name: call.function.name,
        arguments: call.function.arguments,
        signature: None,
    }));
    parts
}

/// What a `finish_reason` means; `None` for an error. Which text the answer ended before is not told.
/// A reason that is not known is an end like others.
pub(super) fn finish(reason: Option<&str>) -> Option<FinishReason> {
    match reason {
        Some(reason) if failure_class(reason).is_some() => None,
        Some("STOP_SEQUENCE") => Some(FinishReason::StopSequence(None)),
        Some("MAX_TOKENS") => Some(FinishReason::Length),
        Some("ERROR_LIMIT") => Some(FinishReason::ContextFull),
        Some("ERROR_TOXIC") => Some(FinishReason::Refusal),
        Some("TOOL_CALL") => Some(FinishReason::ToolCalls),
        _ => Some(FinishReason::Stop),
    }
}
