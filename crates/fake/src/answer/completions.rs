//! An answer as OpenAI's older completion of a prompt.

use serde_json::{Value, json};

use super::said::{Choice, Finish};
use super::{ChunkUsage, Completion, Frame, Progress, Step, blocks};
use crate::fault::UsageFault;

/// The answer in one piece.
pub(super) fn whole(said: &Completion, usage: UsageFault) -> String {
    let choices = said.choices.iter().enumerate().map(|(index, choice)| {
        let text = before(said, index).to_owned() + &spoken(choice);
        entry(index, &text, Some(choice))
    });
    let mut answer = envelope(said, &choices.collect::<Vec<_>>());
    if usage != UsageFault::Missing {
        answer["usage"] = usage_of(said, said.output_tokens());
    }
    answer.to_string()
}

/// The chunks of a stream: the prompt where it is repeated, a token each, the ends, the usage where it is asked for.
pub(super) fn steps(said: &Completion, include_usage: bool) -> Vec<Step> {
    blocks::steps(said, |step| match step {
        Step::Begin(index) => !before(said, index).is_empty(),
        Step::Piece(..) | Step::Finish(_) => true,
        Step::End => include_usage,
        _ => false,
    })
}

/// The chunk of one step.
pub(super) fn frame(said: &Completion, step: Step, progress: Progress) -> Frame {
    let choices = match step {
        Step::Begin(index) => vec![entry(index, before(said, index), None)],
        Step::Piece(index, part, n) => {
            let piece = &said.choices[index].parts[part].pieces()[n];
            vec![entry(index, piece, None)]
        }
        Step::Finish(index) => vec![entry(index, "", Some(&said.choices[index]))],
        _ => Vec::new(),
    };
    let mut chunk = envelope(said, &choices);
    match (step, progress.usage) {
        (Step::End, _) => chunk["usage"] = usage_of(said, said.output_tokens()),
        (_, ChunkUsage::Null) => chunk["usage"] = Value::Null,
        (_, ChunkUsage::Absent) => {}
        (_, ChunkUsage::Cumulative) => {
            chunk["usage"] = usage_of(said, progress.tokens + said.silent_tokens());
        }
    }
    Frame {
        name: None,
        data: chunk.to_string(),
    }
}

/// The prompt of a choice, where it is repeated.
fn before(said: &Completion, index: usize) -> &str {
    match said.before.len() {
        0 => "",
        prompts => &said.before[index / (said.choices.len() / prompts).max(1)],
    }
}

fn spoken(choice: &Choice) -> String {
    choice
        .parts
        .iter()
        .map(|part| part.pieces().concat())
        .collect()
}

fn entry(index: usize, text: &str, ended: Option<&Choice>) -> Value {
    let finish_reason = ended.map(|choice| match choice.finish {
        Finish::Length => "length",
        _ => "stop",
    });
    json!({"index": index, "text": text, "logprobs": null, "finish_reason": finish_reason})
}

fn envelope(said: &Completion, choices: &[Value]) -> Value {
    let mut envelope = json!({
        "id": format!("cmpl-{}", said.id), "object": "text_completion", "created": said.created,
        "model": said.model, "system_fingerprint": said.fingerprint, "choices": choices,
    });
    if let Some(object) = envelope.as_object_mut() {
        object.extend(said.extra.clone());
    }
    envelope
}

fn usage_of(said: &Completion, output: u64) -> Value {
    json!({
        "prompt_tokens": said.prompt_tokens, "completion_tokens": output,
        "total_tokens": said.prompt_tokens + output,
    })
}
