//! A response into the canonical form.

use super::read_input::thought;
use super::wire;
use crate::canonical::{Answer, FinishReason, Logprob, Part};
use crate::openai::{call_id, logprobs};
use crate::wire_form::{TextOr, parse_answer};
use crate::{RequestError, Usage};

/// Reads a response that came whole. Items of tools that the provider runs itself are left out: no
/// translated request asks for them.
///
/// # Errors
/// [`RequestError`] where it is no answer: not JSON, without an output, failed, or not there yet.
pub fn read_answer(body: &[u8]) -> Result<Answer, RequestError> {
    let wire: wire::Response = parse_answer(body)?;
    let status = wire.status.as_deref().unwrap_or("completed");
    let output = match (status, wire.output) {
        ("completed" | "incomplete", Some(output)) => output,
        ("completed" | "incomplete", None) => return no_answer("the answer has no output"),
        (status, _) => return no_answer(&format!("the answer is {status}")),
    };
    let id = wire.id.unwrap_or_default();
    let mut answer = Answer {
        logprobs: told_logprobs(&output),
        parts: parts(output, &id),
        id,
        model: wire.model.unwrap_or_default(),
        finish: finish(wire.incomplete_details),
        usage: Usage::from_response(body),
    };
    answer.finish = answer.finish.clone().with_calls(answer.calls_tools());
    Ok(answer)
}

fn no_answer(message: &str) -> Result<Answer, RequestError> {
    Err(RequestError {
        param: None,
        message: message.to_owned(),
    })
}

fn parts(output: Vec<wire::Item>, answer_id: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut calls = 0;
    for item in output {
        match item.kind.as_deref() {
            Some("message") => parts.extend(said(item)),
            Some("reasoning") => parts.extend(thought(item)),
            Some("function_call") => {
                parts.push(Part::ToolCall {
                    id: call_id(item.call_id, answer_id, calls),
                    name: item.name.unwrap_or_default(),
                    arguments: item.arguments.unwrap_or_default(),
                    signature: None,
                });
                calls += 1;
            }
            _ => {}
        }
    }
    parts
}

/// How likely the tokens of all texts were.
fn told_logprobs(output: &[wire::Item]) -> Vec<Logprob> {
    let contents = output.iter().filter_map(|item| match &item.content {
        Some(TextOr::List(parts)) => Some(parts),
        _ => None,
    });
    let told = contents
        .flatten()
        .map(|part| logprobs::read(part.logprobs.as_deref()));
    told.flatten().collect()
}

fn said(item: wire::Item) -> Vec<Part> {
    let is_some = |text: &String| !text.is_empty();
    match item.content {
        Some(TextOr::Text(text)) => vec![Part::Text(text)],
        Some(TextOr::List(list)) => {
            let part = |part: wire::Part| match part.refusal {
                Some(refusal) => Some(Part::Refusal(refusal)),
                None => part.text.filter(is_some).map(Part::Text),
            };
            list.into_iter().filter_map(part).collect()
        }
        _ => Vec::new(),
    }
}

/// What an end means. One that is not known is an end like others.
pub(super) fn finish(details: Option<wire::IncompleteDetails>) -> FinishReason {
    let reason = details.and_then(|details| details.reason);
    match reason.as_deref() {
        Some("max_output_tokens") => FinishReason::Length,
        Some("content_filter") => FinishReason::Refusal,
        _ => FinishReason::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_answer_is_told() {
        let cases = [
            (r#"{"status":"failed","output":[]}"#, "the answer is failed"),
            (r#"{"status":"queued","output":[]}"#, "the answer is queued"),
            (r#"{"id":"x"}"#, "the answer has no output"),
        ];
        for (body, message) in cases {
            let error = read_answer(body.as_bytes()).expect_err(body);
            assert_eq!(error.message, message);
        }
    }
}
