//! A canonical answer as a response.

use bytes::Bytes;

use super::output::{COMPLETED, Content, Item, Response, Summary, status};
use super::seal;
use crate::canonical::seal::before_call;
use crate::canonical::{Answer, Part, Stamp};
use crate::openai::logprobs;
use crate::wire_form::to_json;

/// Writes an answer. What it lacks of an id and a model's name is the stamp's. What was said in a row
/// is one message.
pub fn write_answer(answer: &Answer, stamp: &Stamp) -> Bytes {
    let or = |told: &str, stamp: &str| if told.is_empty() { stamp } else { told }.to_owned();
    let stamp = Stamp {
        id: or(&answer.id, &stamp.id),
        model: or(&answer.model, &stamp.model),
        ..stamp.clone()
    };
    let mut items = Vec::new();
    for part in &answer.parts {
        add(part, &stamp.id, &mut items);
    }
    let texts = items.iter_mut().find_map(|item| match item {
        Item::Message { content, .. } => content
            .iter_mut()
            .find(|part| matches!(part, Content::OutputText { .. })),
        _ => None,
    });
    if let Some(text) = texts {
        text.tell(logprobs::write(&answer.logprobs));
    }
    let finish = answer.finish.clone().with_calls(answer.calls_tools());
    if let Some((last, others)) = items.split_last_mut() {
        others.iter_mut().for_each(|item| item.complete(COMPLETED));
        last.complete(status(&finish).0);
    }
    let response = Response::new(&stamp, &items, Some(&finish), answer.usage);
    Bytes::from(to_json(&response))
}

fn add(part: &Part, id: &str, items: &mut Vec<Item>) {
    let index = items.len();
    match part {
        Part::Text(text) => say(Content::text(text.clone()), id, items),
        Part::Refusal(refusal) => {
            let refusal = refusal.clone();
            say(Content::Refusal { refusal }, id, items);
        }
        Part::Thinking { text, signature } => {
            let mut item = Item::thought(id, index);
            if let Item::Reasoning {
                summary,
                encrypted_content,
                ..
            } = &mut item
            {
                if !text.is_empty() {
                    summary.push(Summary::SummaryText { text: text.clone() });
                }
                *encrypted_content = signature.as_deref().map(seal::of_thought);
            }
            items.push(item);
        }
        Part::SealedThinking(data) => items.push(sealed(data, id, index)),
        Part::ToolCall {
            id: call_id,
            name,
            arguments: written,
            signature,
        } => {
            let seal = signature.as_deref().map(before_call);
            items.extend(seal.map(|seal| sealed(&seal, id, index)));
            let mut item = Item::call(id, items.len(), call_id, name);
            if let Item::FunctionCall { arguments, .. } = &mut item {
                arguments.clone_from(written);
            }
            items.push(item);
        }
        // No answer of a provider holds the others.
        Part::Image(_) | Part::Document { .. } | Part::Audio { .. } | Part::ToolResult { .. } => {}
    }
}

fn say(part: Content, id: &str, items: &mut Vec<Item>) {
    if !matches!(items.last(), Some(Item::Message { .. })) {
        items.push(Item::message(id, items.len()));
    }
    if let Some(Item::Message { content, .. }) = items.last_mut() {
        content.push(part);
    }
}

/// An item of thoughts that are not shown.
pub(super) fn sealed(data: &str, answer_id: &str, index: usize) -> Item {
    let mut item = Item::thought(answer_id, index);
    if let Item::Reasoning {
        encrypted_content, ..
    } = &mut item
    {
        *encrypted_content = Some(seal::of_sealed(data));
    }
    item
}
