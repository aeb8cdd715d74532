//! An answer of Converse into the canonical form.

use super::wire;
use crate::bedrock::endings::says_spoilt;
use crate::canonical::{Answer, Base64, FinishReason, MediaType, Part, Source};
use crate::wire_form::parse_answer;
use crate::{RequestError, Usage};

/// Reads an answer that came whole. It names neither itself nor its model. Calls of tools that the
/// provider runs itself are left out: no translated request asks for them.
///
/// # Errors
/// [`RequestError`] where it is no answer: not JSON, without a message, or spoilt by the model.
pub fn read_answer(body: &[u8]) -> Result<Answer, RequestError> {
    let wire: wire::Answer = parse_answer(body)?;
    let error = |message: String| RequestError {
        param: None,
        message,
    };
    let Some(message) = wire.output.and_then(|output| output.message) else {
        return Err(error("the answer has no message".to_owned()));
    };
    let reason = wire.stop_reason.as_deref();
    if let Some(reason) = reason.filter(|reason| says_spoilt(reason)) {
        return Err(error(format!("the model gave no usable answer: {reason}")));
    }
    let stop = wire
        .additional_model_response_fields
        .and_then(|fields| fields.stop_sequence);
    let mut answer = Answer {
        id: String::new(),
        model: String::new(),
        parts: message.content.into_iter().flat_map(parts).collect(),
        logprobs: Vec::new(),
        finish: finish(reason, stop),
        usage: Usage::from_converse(body),
    };
    answer.finish = answer.finish.clone().with_calls(answer.calls_tools());
    Ok(answer)
}

fn parts(block: wire::Block) -> Vec<Part> {
    let mut parts = Vec::new();
    let is_some = |text: &String| !text.is_empty();
    if let Some(reasoning) = block.reasoning_content {
        parts.extend(reasoning.reasoning_text.map(|thought| Part::Thinking {
            text: thought.text,
            signature: thought.signature,
        }));
        parts.extend(reasoning.redacted_content.map(Part::SealedThinking));
    }
    parts.extend(block.text.filter(is_some).map(Part::Text));
    parts.extend(block.made_image.and_then(image));
    let cited = block.citations_content.map(|cited| cited.content);
    let cited = cited.into_iter().flatten().filter_map(|piece| piece.text);
    parts.extend(cited.filter(is_some).map(Part::Text));
    if let Some(call) = block.tool_use.filter(|call| call.kind.is_none()) {
        parts.push(Part::ToolCall {
            id: call.tool_use_id,
            name: call.name,
            arguments: call
                .input
                .map(|input| input.get().to_owned())
                .unwrap_or_default(),
            signature: None,
        });
    }
    parts
}

fn image(image: wire::MadeImage) -> Option<Part> {
    let media_type = MediaType::parse(&format!("image/{}", image.format))?;
    let data = Base64::parse(image.source.bytes)?;
    Some(Part::Image(Source::Base64 { media_type, data }))
}

/// What a `stopReason` means. One that is not known is an end like others.
pub(super) fn finish(reason: Option<&str>, sequence: Option<String>) -> FinishReason {
    match (reason, sequence) {
        (Some("stop_sequence"), sequence) => FinishReason::StopSequence(sequence),
        (Some("max_tokens"), _) => FinishReason::Length,
        (Some("model_context_window_exceeded"), _) => FinishReason::ContextFull,
        (Some("tool_use"), _) => FinishReason::ToolCalls,
        (Some("content_filtered" | "guardrail_intervened" | "refusal"), _) => FinishReason::Refusal,
        _ => FinishReason::Stop,
    }
}
