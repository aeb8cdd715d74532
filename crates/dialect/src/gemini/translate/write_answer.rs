//! A canonical answer as one of this dialect, and a failure as it tells it.

use bytes::Bytes;

use super::foreign_seal::{self, seal};
use super::status_of;
use super::wire_value::Listed;
use super::write_contents::inline;
use super::{carried, logprobs, wire};
use crate::anthropic::call;
use crate::canonical::{Answer, FinishReason, Part, Source, Stamp};
use crate::gemini::{ErrorOut, error_body, error_status};
use crate::wire_form::to_json;
use crate::{UpstreamError, Usage};

/// Writes an answer. What it lacks of an id and a model's name is the stamp's. A refusal is text
/// here, and told by the reason of the end. A call that was cut is left out: the SDK would make it.
pub fn write_answer(answer: &Answer, stamp: &Stamp) -> Bytes {
    let answer = answer.without_cut_calls();
    let or = |told: &str, stamp: &str| if told.is_empty() { stamp } else { told }.to_owned();
    let refuses = answer
        .parts
        .iter()
        .any(|part| matches!(part, Part::Refusal(_)));
    let finish = match &answer.finish {
        FinishReason::Stop if refuses => FinishReason::Refusal,
        finish => finish.clone(),
    };
    let mut parts: Vec<_> = answer.parts.iter().filter_map(part).collect();
    seal(&mut parts, foreign_seal::ANSWERED);
    Bytes::from(to_json(&wire::Answer {
        candidates: vec![wire::Candidate {
            logprobs_result: logprobs::write(&answer.logprobs),
            ..candidate(parts, Some(finish_reason(&finish)))
        }],
        usage_metadata: answer.usage.map(wire::UsageMetadata::from),
        model_version: Some(or(&answer.model, &stamp.model)),
        response_id: Some(or(&answer.id, &stamp.id)),
        ..wire::Answer::default()
    }))
}

/// Writes a provider's failure.
pub fn write_error(error: &UpstreamError) -> Bytes {
    error_body(&error_out(error))
}

/// The failure in the words of this dialect; its message stays the provider's. It repeats the status
/// that it came with; in a stream its class stands for one.
pub(super) fn error_out(error: &UpstreamError) -> ErrorOut<'_> {
    let (code, status) = match error.status {
        Some(status) => (status.as_u16(), error_status(status)),
        None => status_of(error.class),
    };
    ErrorOut {
        code,
        message: error.said(),
        status,
        retry_after_ms: None,
    }
}

pub(super) fn candidate(
    parts: Vec<wire::Part>,
    finish_reason: Option<&'static str>,
) -> wire::Candidate {
    wire::Candidate {
        content: Some(wire::Content {
            parts: Listed(parts),
            role: Some("model".to_owned()),
            ..wire::Content::default()
        }),
        finish_reason: finish_reason.map(str::to_owned),
        index: Some(0),
        ..wire::Candidate::default()
    }
}

/// How an answer's end is told here. That tools are to be called is no reason of its own.
pub(super) const fn finish_reason(finish: &FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop
        | FinishReason::StopSequence(_)
        | FinishReason::ToolCalls
        | FinishReason::Pause => "STOP",
        FinishReason::Length | FinishReason::ContextFull => "MAX_TOKENS",
        FinishReason::Refusal => "SAFETY",
    }
}

fn part(part: &Part) -> Option<wire::Part> {
    match part {
        Part::Text(text) | Part::Refusal(text) => Some(text_part(text.clone(), false)),
        Part::Thinking {
            text,
            signature: Some(seal),
        } => Some(carried::thought(text, seal)),
        Part::Thinking { text, .. } => Some(text_part(text.clone(), true)),
        Part::SealedThinking(data) => Some(carried::sealed(data)),
        Part::ToolCall {
            id,
            name,
            arguments,
            signature,
        } => Some(call_part(id, name, arguments, signature.as_deref())),
        Part::Image(Source::Base64 { media_type, data }) => {
            Some(inline(media_type.as_str().to_owned(), data))
        }
        Part::Audio { data, format } => Some(inline(format!("audio/{}", format.as_str()), data)),
        // What lies elsewhere, or no answer of a provider holds.
        Part::Image(_) | Part::Document { .. } | Part::ToolResult { .. } => None,
    }
}

pub(super) fn text_part(text: String, is_thought: bool) -> wire::Part {
    wire::Part {
        text: Some(text),
        thought: is_thought.then_some(true),
        ..wire::Part::default()
    }
}

/// SDKs take the seal for base64, and Google makes no other.
pub(super) fn call_part(
    id: &str,
    name: &str,
    arguments: &str,
    signature: Option<&str>,
) -> wire::Part {
    let in_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte);
    let is_base64 = |seal: &&str| seal.len().is_multiple_of(4) && seal.bytes().all(in_alphabet);
    wire::Part {
        function_call: Some(wire::FunctionCall {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            args: Some(call::input(arguments).raw()),
            ..wire::FunctionCall::default()
        }),
        thought_signature: signature.filter(is_base64).map(str::to_owned),
        ..wire::Part::default()
    }
}

impl From<Usage> for wire::UsageMetadata {
    fn from(usage: Usage) -> Self {
        let unless_none = |count: u64| (count > 0).then_some(count);
        Self {
            prompt_token_count: usage.input_tokens,
            cached_content_token_count: unless_none(usage.cached_input_tokens),
            candidates_token_count: usage.output_tokens.saturating_sub(usage.reasoning_tokens),
            thoughts_token_count: unless_none(usage.reasoning_tokens),
            total_token_count: usage.input_tokens.saturating_add(usage.output_tokens),
        }
    }
}
