//! Turns of a conversation as items of an input.

use super::{seal, wire};
use crate::canonical::{Feature, Losses, Part, Role, Source, Turn};
use crate::canonical::{call_id, failed_tool};
use crate::data_url::data_url;
use crate::wire_form::TextOr;

/// The longest id of a call.
const ID_BYTES_MAX: usize = 64;

/// Appends the items of `turn`, in the order of its parts.
///
/// Thoughts without a seal of OpenAI's are left out: their provider was another. That a tool failed is
/// said by its result only.
pub(super) fn write_turn(turn: &Turn, items: &mut Vec<wire::Item>, unsaid: &mut Losses) {
    let mut content = Vec::new();
    for (index, part) in turn.parts.iter().enumerate() {
        unsaid.at_part(index);
        let item = match part {
            Part::ToolCall {
                id,
                name,
                arguments,
                ..
            } => Some(call(id, name, arguments)),
            Part::ToolResult {
                id,
                parts,
                is_error,
            } => Some(result(id, parts, *is_error, unsaid)),
            Part::Thinking { text, signature } => {
                thought(text, signature.as_deref().unwrap_or_default())
            }
            Part::SealedThinking(data) => thought("", data),
            part => {
                content.extend(write_part(part, turn.role, unsaid));
                continue;
            }
        };
        if let Some(item) = item {
            items.extend(message(turn.role, &mut content));
            items.push(item);
        }
    }
    items.extend(message(turn.role, &mut content));
}

/// What was said until now as a message; one text is written as a text.
fn message(role: Role, content: &mut Vec<wire::Part>) -> Option<wire::Item> {
    let role = match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    Some(wire::Item {
        kind: Some("message".to_owned()),
        role: Some(role.to_owned()),
        content: Some(content_of(std::mem::take(content))?),
        ..wire::Item::default()
    })
}

fn content_of(mut parts: Vec<wire::Part>) -> Option<TextOr<wire::Part>> {
    match parts.as_mut_slice() {
        [] => None,
        [part] if part.text.is_some() => part.text.take().map(TextOr::Text),
        _ => Some(TextOr::List(parts)),
    }
}

fn thought(text: &str, seal: &str) -> Option<wire::Item> {
    let encrypted = seal::own(seal)?.to_owned();
    let shown = (!text.is_empty()).then(|| text_part("summary_text", text.to_owned()));
    Some(wire::Item {
        kind: Some("reasoning".to_owned()),
        summary: Some(shown.into_iter().collect()),
        encrypted_content: Some(encrypted),
        ..wire::Item::default()
    })
}

fn call(id: &str, name: &str, arguments: &str) -> wire::Item {
    let arguments = if arguments.is_empty() {
        "{}"
    } else {
        arguments
    };
    wire::Item {
        kind: Some("function_call".to_owned()),
        call_id: Some(legal_id(id)),
        name: Some(name.to_owned()),
        arguments: Some(arguments.to_owned()),
        ..wire::Item::default()
    }
}

fn legal_id(id: &str) -> String {
    call_id::legal(id, ID_BYTES_MAX, |_| true).into_owned()
}

fn result(id: &str, parts: &[Part], is_error: bool, unsaid: &mut Losses) -> wire::Item {
    let parts = parts.iter().enumerate();
    let written = parts.filter_map(|(index, part)| {
        unsaid.at_inside(index);
        write_part(part, Role::User, unsaid)
    });
    let mut said: Vec<_> = written.collect();
    if is_error {
        match said.iter_mut().find_map(|part| part.text.as_mut()) {
            Some(text) => failed_tool::mark(text),
            None => said.insert(
                0,
                text_part("input_text", failed_tool::NOTHING_SAID.to_owned()),
            ),
        }
    }
    wire::Item {
        kind: Some("function_call_output".to_owned()),
        call_id: Some(legal_id(id)),
        output: content_of(said).or_else(|| Some(TextOr::Text(String::new()))),
        ..wire::Item::default()
    }
}

fn write_part(part: &Part, role: Role, unsaid: &mut Losses) -> Option<wire::Part> {
    let says = if role == Role::Assistant {
        "output_text"
    } else {
        "input_text"
    };
    let written = match part {
        Part::Text(text) => Ok(text_part(says, text.clone())),
        Part::Refusal(text) if role == Role::Assistant => Ok(wire::Part {
            refusal: Some(text.clone()),
            ..part_of("refusal")
        }),
        Part::Refusal(text) => Ok(text_part(says, text.clone())),
        // A model says only texts here.
        Part::Image(_) if role == Role::Assistant => Err(Feature::Images),
        Part::Document { .. } if role == Role::Assistant => Err(Feature::Documents),
        Part::Image(source) => image(source),
        Part::Document { source, title } => document(source, title.as_deref()),
        Part::Audio { .. } => Err(Feature::Audio),
        Part::ToolCall { .. }
        | Part::ToolResult { .. }
        | Part::Thinking { .. }
        | Part::SealedThinking(_) => return None,
    };
    written.map_err(|feature| unsaid.push(feature)).ok()
}

fn image(source: &Source) -> Result<wire::Part, Feature> {
    let url = match source {
        Source::Base64 { media_type, data } => data_url(media_type, data),
        Source::Url(url) => url.as_str().to_owned(),
        Source::Text(_) => return Err(Feature::Images),
        Source::File(_) => return Err(Feature::Files),
    };
    Ok(wire::Part {
        image_url: Some(url),
        detail: Some("auto".to_owned()),
        ..part_of("input_image")
    })
}

fn document(source: &Source, title: Option<&str>) -> Result<wire::Part, Feature> {
    match source {
        Source::Base64 { media_type, data } => Ok(wire::Part {
            filename: Some(title.unwrap_or("document.pdf").to_owned()),
            file_data: Some(data_url(media_type, data)),
            ..part_of("input_file")
        }),
        // A name and an address are not taken together.
        Source::Url(url) => Ok(wire::Part {
            file_url: Some(url.as_str().to_owned()),
            ..part_of("input_file")
        }),
        Source::Text(text) => Ok(text_part(
            "input_text",
            match title {
                Some(title) => format!("{title}\n\n{text}"),
                None => text.clone(),
            },
        )),
        Source::File(_) => Err(Feature::Files),
    }
}

fn part_of(kind: &str) -> wire::Part {
    wire::Part {
        kind: kind.to_owned(),
        ..wire::Part::default()
    }
}

fn text_part(kind: &str, text: String) -> wire::Part {
    wire::Part {
        text: Some(text),
        ..part_of(kind)
    }
}
