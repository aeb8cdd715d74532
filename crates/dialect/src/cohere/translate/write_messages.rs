//! Turns of a conversation as messages.

use super::wire::{Call, CalledFunction, Document, DocumentData, ImageUrl, Message, Part as Wire};
use crate::canonical::failed_tool;
use crate::canonical::{Feature, Losses, Part, Role, Source, Turn};
use crate::data_url::data_url;
use crate::wire_form::TextOr;

/// Writes a turn. Calls of the model bear its words as their plan, where a call stands beside words:
/// thoughts and texts. Else thoughts of earlier turns are left out, since their provider was another
/// or does not want them back.
pub(super) fn write_turn(turn: &Turn, messages: &mut Vec<Message>, unsaid: &mut Losses) {
    let mut content = Vec::new();
    let mut plan = Vec::new();
    let mut calls = Vec::new();
    for (index, part) in turn.parts.iter().enumerate() {
        unsaid.at_part(index);
        match part {
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => calls.push(call(id, name, arguments)),
            Part::ToolResult {
                id,
                parts,
                is_error,
            } => messages.push(result(id, parts, *is_error, unsaid)),
            Part::Thinking {
                text,
                signature: None,
            } => plan.push(text.clone()),
            Part::Thinking { .. } | Part::SealedThinking(_) => {}
            part => content.extend(write_part(part, turn.role, unsaid)),
        }
    }
    let role = match turn.role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let mut message = Message {
        role: role.to_owned(),
        ..Message::default()
    };
    if calls.is_empty() {
        message.content = content_of(content);
    } else {
        plan.extend(content.into_iter().filter_map(|part| part.text));
        plan.retain(|text| !text.is_empty());
        message.tool_plan = (!plan.is_empty()).then(|| plan.join("\n"));
        message.tool_calls = Some(calls);
    }
    if message.content.is_some() || message.tool_calls.is_some() {
        messages.push(message);
    }
}

/// One text is written as a text.
fn content_of(mut parts: Vec<Wire>) -> Option<TextOr<Wire>> {
    match parts.as_mut_slice() {
        [] => None,
        [part] if part.kind == "text" => part.text.take().map(TextOr::Text),
        _ => Some(TextOr::List(parts)),
    }
}

fn call(id: &str, name: &str, arguments: &str) -> Call {
    let arguments = if arguments.is_empty() {
        "{}"
    } else {
        arguments
    };
    Call {
        id: id.to_owned(),
        kind: "function",
        function: CalledFunction {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        },
    }
}

/// That a tool failed is said by its result only.
fn result(id: &str, parts: &[Part], is_error: bool, unsaid: &mut Losses) -> Message {
    let mut said = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        unsaid.at_inside(index);
        match part {
            Part::Document {
                source: Source::Text(text),
                title,
            } => said.push(Wire {
                kind: "document".to_owned(),
                document: Some(Document {
                    data: DocumentData {
                        title: title.clone(),
                        text: text.clone(),
                    },
                }),
                ..Wire::default()
            }),
            part => match write_part(part, Role::User, unsaid) {
                Some(part) if part.kind == "text" => said.push(part),
                Some(_) => unsaid.push(Feature::ToolResultMedia),
                None => {}
            },
        }
    }
    if is_error {
        match said.iter_mut().find_map(|part| part.text.as_mut()) {
            Some(text) => failed_tool::mark(text),
            None => said.insert(0, text(failed_tool::NOTHING_SAID.to_owned())),
        }
    }
    Message {
        role: "tool".to_owned(),
        tool_call_id: Some(id.to_owned()),
        content: content_of(said).or_else(|| Some(TextOr::Text(String::new()))),
        ..Message::default()
    }
}

/// Images are said by the user only. A document that is text is written as one.
fn write_part(part: &Part, role: Role, unsaid: &mut Losses) -> Option<Wire> {
    let lost = match part {
        Part::Text(said) | Part::Refusal(said) => {
            return (!said.is_empty()).then(|| text(said.clone()));
        }
        Part::Image(Source::Base64 { media_type, data }) if role == Role::User => {
            return Some(image(data_url(media_type, data)));
        }
        Part::Image(Source::Url(url)) if role == Role::User => {
            return Some(image(url.as_str().to_owned()));
        }

        Part::Document {
            source: Source::Text(said),
            title,
        } => {
            return Some(text(match title {
                Some(title) => format!("{title}\n\n{said}"),
                None => said.clone(),
            }));
        }
        Part::Image(Source::File(_))
        | Part::Document {
            source: Source::File(_),
            ..
        } => Feature::Files,
        Part::Image(_) => Feature::Images,
        Part::Document { .. } => Feature::Documents,
        Part::Audio { .. } => Feature::Audio,
        Part::ToolCall { .. }
        | Part::ToolResult { .. }
        | Part::Thinking { .. }
        | Part::SealedThinking(_) => return None,
    };
    unsaid.push(lost);
    None
}

fn text(text: String) -> Wire {
    Wire {
        kind: "text".to_owned(),
        text: Some(text),
        ..Wire::default()
    }
}

fn image(url: String) -> Wire {
    Wire {
        kind: "image_url".to_owned(),
        image_url: Some(ImageUrl { url }),
        ..Wire::default()
    }
}
