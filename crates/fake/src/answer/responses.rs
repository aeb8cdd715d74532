//! An answer as OpenAI's response, or as its events.

use serde_json::{Value, json};

use super::said::{Finish, Part};
use super::{ChunkUsage, Completion, Frame, Progress, Step, blocks};
use crate::fault::UsageFault;

/// The answer in one piece.
pub(super) fn whole(said: &Completion, usage: UsageFault) -> String {
    complete(said, usage != UsageFault::Missing).to_string()
}

/// The events, in order.
pub(super) fn steps(said: &Completion) -> Vec<Step> {
    let is_call =
        |choice: usize, at: usize| matches!(said.choices[choice].parts[at], Part::Call(_));
    blocks::steps(said, |step| match step {
        Step::Begin(0) | Step::Ping => true,
        Step::Open(..) | Step::Piece(..) | Step::Say(..) | Step::Close(..) | Step::End => true,
        Step::OpenInner(choice, at) | Step::CloseInner(choice, at) => !is_call(choice, at),
        Step::Begin(_) | Step::Sign(..) | Step::Finish(_) => false,
    })
}

/// The event of one step.
pub(super) fn frame(said: &Completion, step: Step, progress: Progress) -> Frame {
    let (name, mut data) = match step {
        Step::Begin(_) => ("response.created", json!({"response": begun(said)})),
        Step::Open(choice, at) => (
            "response.output_item.added",
            json!({"output_index": at, "item": item(said, &said.choices[choice].parts[at], at, false)}),
        ),
        Step::Close(choice, at) => (
            "response.output_item.done",
            json!({"output_index": at, "item": item(said, &said.choices[choice].parts[at], at, true)}),
        ),
        Step::OpenInner(choice, at) | Step::CloseInner(choice, at) => {
            let part = &said.choices[choice].parts[at];
            inner(part, matches!(step, Step::CloseInner(..)))
        }
        Step::Piece(choice, at, n) => {
            let part = &said.choices[choice].parts[at];
            let (delta, _) = names(part);
            (delta, json!({"delta": part.pieces()[n]}))
        }
        Step::Say(choice, at) => said_whole(&said.choices[choice].parts[at]),
        Step::End => {
            let response = complete(said, progress.usage != ChunkUsage::Absent);
            let name = match said.choices[0].finish {
                Finish::Length => "response.incomplete",
                _ => "response.completed",
            };
            (name, json!({"response": response}))
        }
        Step::Ping | Step::Sign(..) | Step::Finish(_) => {
            ("response.in_progress", json!({"response": begun(said)}))
        }
    };
    if let Step::OpenInner(choice, at)
    | Step::CloseInner(choice, at)
    | Step::Piece(choice, at, _)
    | Step::Say(choice, at) = step
    {
        let part = &said.choices[choice].parts[at];
        data["item_id"] = json!(item_id(said, part, at));
        data["output_index"] = json!(at);
        match part {
            Part::Thought(_) => data["summary_index"] = json!(0),
            Part::Text(_) | Part::Refusal(_) => data["content_index"] = json!(0),
            Part::Call(_) => {}
        }
        if matches!(
            (step, part),
            (Step::Piece(..) | Step::Say(..), Part::Text(_))
        ) {
            data["logprobs"] = json!([]);
        }
    }
    data["type"] = json!(name);
    data["sequence_number"] = json!(progress.number);
    Frame {
        name: Some(name),
        data: data.to_string(),
    }
}

/// The events of a part's pieces and of all of it.
fn names(part: &Part) -> (&'static str, &'static str) {
    match part {
        Part::Thought(_) => (
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
        ),
        Part::Text(_) => ("response.output_text.delta", "response.output_text.done"),
        Part::Refusal(_) => ("response.refusal.delta", "response.refusal.done"),
        Part::Call(_) => (
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
        ),
    }
}

fn said_whole(part: &Part) -> (&'static str, Value) {
    let text = part.pieces().concat();
    let data = match part {
        Part::Thought(_) | Part::Text(_) => json!({"text": text}),
        Part::Refusal(_) => json!({"refusal": text}),
        Part::Call(call) => json!({"name": call.name, "arguments": text}),
    };
    (names(part).1, data)
}

fn inner(part: &Part, complete: bool) -> (&'static str, Value) {
    let name = match (part, complete) {
        (Part::Thought(_), false) => "response.reasoning_summary_part.added",
        (Part::Thought(_), true) => "response.reasoning_summary_part.done",
        (_, false) => "response.content_part.added",
        (_, true) => "response.content_part.done",
    };
    (name, json!({"part": content(part, complete)}))
}

fn content(part: &Part, complete: bool) -> Value {
    let text = match complete {
        true => part.pieces().concat(),
        false => String::new(),
    };
    match part {
        Part::Thought(_) => json!({"type": "summary_text", "text": text}),
        Part::Refusal(_) => json!({"type": "refusal", "refusal": text}),
        Part::Text(_) | Part::Call(_) => {
            json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
        }
    }
}

fn item_id(said: &Completion, part: &Part, at: usize) -> String {
    match part {
        Part::Thought(_) => format!("rs_{}{at}", said.id),
        Part::Text(_) | Part::Refusal(_) => format!("msg_{}{at}", said.id),
        Part::Call(call) => format!("fc_{}", call.id),
    }
}

fn item(said: &Completion, part: &Part, at: usize, complete: bool) -> Value {
    let id = item_id(said, part, at);
    let status = match (complete, &said.choices[0].finish) {
        (false, _) => "in_progress",
        (true, Finish::Length) => "incomplete",
        (true, _) => "completed",
    };
    let parts = match complete {
        true => json!([content(part, true)]),
        false => json!([]),
    };
    match part {
        Part::Thought(_) => json!({"id": id, "type": "reasoning", "summary": parts}),
        Part::Text(_) | Part::Refusal(_) => json!({
            "id": id, "type": "message", "status": status, "role": "assistant", "content": parts,
        }),
        Part::Call(call) => {
            let arguments = match complete {
                true => call.fragments.concat(),
                false => String::new(),
            };
            json!({
                "id": id, "type": "function_call", "status": status, "call_id": format!("call_{}", call.id),
                "name": call.name, "arguments": arguments,
            })
        }
    }
}

fn begun(said: &Completion) -> Value {
    let mut response = json!({
        "id": format!("resp_{}", said.id), "object": "response", "created_at": said.created,
        "status": "in_progress", "model": said.model, "output": [], "error": null,
        "incomplete_details": null, "usage": null, "service_tier": "default",
    });
    if let Some(object) = response.as_object_mut() {
        object.extend(said.repeated.clone());
        object.extend(said.extra.clone());
    }
    response
}

fn complete(said: &Completion, with_usage: bool) -> Value {
    let mut response = begun(said);
    let choice = &said.choices[0];
    let parts = choice.parts.iter().enumerate();
    response["output"] = parts.map(|(at, part)| item(said, part, at, true)).collect();
    match choice.finish {
        Finish::Length => {
            response["status"] = json!("incomplete");
            response["incomplete_details"] = json!({"reason": "max_output_tokens"});
        }
        _ => response["status"] = json!("completed"),
    }
    if with_usage {
        let output = said.output_tokens();
        response["usage"] = json!({
            "input_tokens": said.prompt_tokens,
            "input_tokens_details": {"cached_tokens": said.cached_tokens},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": said.reasoning_tokens},
            "total_tokens": said.prompt_tokens + output,
        });
    }
    response
}
