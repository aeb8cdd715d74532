//! A chat completion into the canonical form.

use super::{logprobs, read_media, wire};
use crate::canonical::{Answer, FinishReason, Part};
use crate::openai::CHOICE_FAILED;
use crate::wire_form::{TextOr, parse_answer};
use crate::{RequestError, Usage};

/// So much of an answer's id is in the ids that are made up for its calls.
const ANSWER_ID_BYTES_MAX: usize = 64;

/// Reads an answer that came whole: its first choice by their indexes, as no more than one was asked for.
///
/// # Errors
/// [`RequestError`] where it is no answer: not JSON, without a choice, or with one that ended with an error.
pub fn read_answer(body: &[u8]) -> Result<Answer, RequestError> {
    let wire: wire::Answer = parse_answer(body)?;
    let mut choices = wire.choices.unwrap_or_default();
    let is_first = |choice: &wire::Choice| choice.index.unwrap_or(0) == 0;
    let first = choices.iter().position(is_first).unwrap_or(0);
    let Some(choice) = choices.drain(..).nth(first) else {
        return Err(RequestError {
            param: None,
            message: "the answer has no choice".to_owned(),
        });
    };
    if choice.has_failed() {
        return Err(RequestError {
            param: None,
            message: CHOICE_FAILED.to_owned(),
        });
    }
    let id = wire.id.unwrap_or_default();
    let message = choice.message.or(choice.delta);
    let parts = parts(message.unwrap_or_default(), &id);
    let mut answer = Answer {
        id,
        model: wire.model.unwrap_or_default(),
        parts,
        logprobs: logprobs::read_choice(choice.logprobs.as_deref()),
        finish: finish(choice.finish_reason.as_deref()),
        usage: Usage::from_completion(body),
    };
    answer.finish = answer.finish.clone().with_calls(answer.calls_tools());
    Ok(answer)
}

fn parts(message: wire::Message, answer_id: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let thought = |text| Part::Thinking {
        text,
        signature: None,
    };
    let thoughts = message.reasoning_content.or(message.reasoning);
    parts.extend(thoughts.filter(|text| !text.is_empty()).map(thought));
    match message.content {
        Some(TextOr::Text(text)) if !text.is_empty() => parts.push(Part::Text(text)),
        Some(TextOr::List(list)) => {
            for part in list {
                parts.extend(part.thought().map(thought));
                match part.text {
                    Some(text) => parts.push(Part::Text(text)),
                    None => parts.extend(read_media::image(part)),
                }
            }
        }
        _ => {}
    }
    let audio = message.audio.as_deref();
    parts.extend(read_media::transcript(audio).map(Part::Text));
    parts.extend(read_media::sound(audio));
    parts.extend(read_media::images(message.images.as_deref()));
    parts.extend(message.refusal.map(Part::Refusal));
    for (index, call) in message.tool_calls.into_iter().flatten().enumerate() {
        let function = call.function.unwrap_or_default();
        parts.push(Part::ToolCall {
            id: call_id(call.id, answer_id, index),
            name: function.name.unwrap_or_default(),
            arguments: function.arguments.unwrap_or_default(),
            signature: call
                .extra_content
                .and_then(wire::ExtraContent::into_signature),
        });
    }
    parts
}

/// The id of a call, made up where the server gave none: without one no result can be given.
pub(crate) fn call_id(given: Option<String>, answer_id: &str, index: usize) -> String {
    given.filter(|id| !id.is_empty()).unwrap_or_else(|| {
        let end = answer_id.floor_char_boundary(ANSWER_ID_BYTES_MAX);
        format!("call_{}_{index}", &answer_id[..end])
    })
}

/// What a `finish_reason` means. One that is not known is an end like others.
pub(super) fn finish(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("length" | "model_length") => FinishReason::Length,
        Some("tool_calls" | "function_call") => FinishReason::ToolCalls,
        Some("content_filter") => FinishReason::Refusal,
        _ => FinishReason::Stop,
    }
}
