//! An answer of this dialect into the canonical form.

use super::function_name::made_id;
use super::read_part::inline;
use super::{logprobs, wire};
use crate::canonical::seal::of_google;
use crate::canonical::{Answer, FinishReason, Part};
use crate::gemini::endings::says_spoilt;
use crate::wire_form::parse_answer;
use crate::{RequestError, Usage};

/// Reads an answer that came whole: its first candidate by their indexes, as no more than one was asked for. What
/// tools that the provider runs have done is left out: no translated request asks for them.
///
/// # Errors
/// [`RequestError`] where it is no answer: not JSON, without a candidate though the prompt was not
/// refused, or spoilt by the model.
pub fn read_answer(body: &[u8]) -> Result<Answer, RequestError> {
    let wire: wire::Answer = parse_answer(body)?;
    let usage = Usage::from_generation(body);
    let id = wire.response_id.unwrap_or_default();
    let model = wire.model_version.unwrap_or_default();
    let answer = |parts, logprobs, finish| Answer {
        id: id.clone(),
        model,
        parts,
        logprobs,
        finish,
        usage,
    };
    let error = |message: String| RequestError {
        param: None,
        message,
    };
    let mut candidates = wire.candidates;
    let is_first = |candidate: &wire::Candidate| candidate.index.unwrap_or(0) == 0;
    let first = candidates.iter().position(is_first).unwrap_or(0);
    let Some(candidate) = candidates.drain(..).nth(first) else {
        let feedback = wire.prompt_feedback.unwrap_or_default();
        if feedback.block_reason.is_none() {
            return Err(error("the answer has no candidate".to_owned()));
        }
        let said = feedback.block_reason_message.into_iter();
        return Ok(answer(
            said.map(Part::Refusal).collect(),
            Vec::new(),
            FinishReason::Refusal,
        ));
    };
    let reason = candidate.finish_reason.as_deref();
    let mut parts = parts(candidate.content.unwrap_or_default(), &id);
    let is_spoilt = |reason: &&str| says_spoilt(reason) || parts.is_empty() && *reason == "OTHER";
    if let Some(reason) = reason.filter(is_spoilt) {
        return Err(error(format!("the model gave no usable answer: {reason}")));
    }
    let finish = finish(reason);
    if finish == FinishReason::Refusal {
        parts.extend(candidate.finish_message.map(Part::Refusal));
    }
    let logprobs = logprobs::read(candidate.logprobs_result.as_deref());
    let mut answer = answer(parts, logprobs, finish);
    answer.finish = answer.finish.clone().with_calls(answer.calls_tools());
    Ok(answer)
}

fn parts(content: wire::Content, answer_id: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut calls = 0;
    for part in content.parts.0 {
        if let Some(call) = part.function_call {
            parts.push(Part::ToolCall {
                id: call_id(call.id, answer_id, &call.name, calls),
                name: call.name,
                arguments: call
                    .args
                    .map_or_else(String::new, |args| args.get().to_owned()),
                signature: part.thought_signature,
            });
            calls += 1;
            continue;
        }
        // Images that it thought of are drafts of those that it shows.
        let shown = part.inline_data.filter(|_| part.thought != Some(true));
        parts.extend(shown.and_then(inline));
        let seal = part.thought_signature.filter(|seal| !seal.is_empty());
        let seal = seal.as_deref().map(of_google);
        let text = part.text.unwrap_or_default();
        if part.thought == Some(true) && !text.is_empty() {
            let signature = seal;
            parts.push(Part::Thinking { text, signature });
            continue;
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        parts.extend(seal.map(Part::SealedThinking));
    }
    parts
}

/// The id of a call, made where the provider gave none: without one no result can be given.
pub(super) fn call_id(given: Option<String>, answer_id: &str, name: &str, index: usize) -> String {
    let origin = if answer_id.is_empty() {
        name
    } else {
        answer_id
    };
    given
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| made_id(origin, index))
}

/// What a `finishReason` means. One that is not known is an end like others.
pub(super) fn finish(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("MAX_TOKENS") => FinishReason::Length,
        Some(
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "MODEL_ARMOR",
        ) => FinishReason::Refusal,
        _ => FinishReason::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_answer_is_an_error() {
        for body in [
            "",
            "{}",
            r#"{"candidates":[]}"#,
            r#"{"promptFeedback":{}}"#,
            r#"{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#,
            r#"{"candidates":[{"content":{},"finishReason":"OTHER"}]}"#,
        ] {
            assert!(read_answer(body.as_bytes()).is_err(), "{body}");
        }
        let cut =
            br#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"OTHER"}]}"#;
        let answer = read_answer(cut).expect("it says something");
        assert_eq!(answer.finish, FinishReason::Stop);
    }
}
