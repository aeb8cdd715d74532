//! A message of a chat completion request as a turn.

use super::{carried, wire};
use crate::canonical::{Part, Role, Source, Turn, Unsaid};
use crate::data_url::source;
use crate::wire_form::TextOr;

/// A message as a turn; `None` where nobody can tell who speaks.
pub(super) fn turn(mut message: wire::Message, place: &str, unsaid: &mut Unsaid) -> Option<Turn> {
    let role = match message.role.as_deref() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user" | "tool") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => {
            unsaid.name(format!("{place}.role"));
            return None;
        }
    };
    unsaid.members(place, &message.unknown, &["annotations"]);
    let is_result = message.role.as_deref() == Some("tool");
    if message.name.is_some() && !is_result {
        unsaid.name(format!("{place}.name"));
    }
    let (shown, thoughts) = carried::thoughts_of(&mut message);
    let mut parts = Vec::from_iter(shown);
    content(message.content, place, &mut parts, unsaid);
    parts.extend(message.refusal.map(Part::Refusal));
    for (index, call) in message.tool_calls.into_iter().flatten().enumerate() {
        match call.function {
            Some(function) => parts.push(Part::ToolCall {
                id: call.id.unwrap_or_default(),
                name: function.name.unwrap_or_default(),
                arguments: function.arguments.unwrap_or_default(),
                signature: call
                    .extra_content
                    .and_then(wire::ExtraContent::into_signature),
            }),
            None => unsaid.name(format!("{place}.tool_calls[{index}]")),
        }
    }
    let mut parts = thoughts.among(parts);
    if is_result {
        parts = vec![Part::ToolResult {
            id: message.tool_call_id.unwrap_or_default(),
            parts,
            is_error: false,
        }];
    }
    Some(Turn { role, parts })
}

fn content(
    content: Option<TextOr<wire::Part>>,
    place: &str,
    parts: &mut Vec<Part>,
    unsaid: &mut Unsaid,
) {
    match content {
        None => {}
        Some(TextOr::Other) => unsaid.name(format!("{place}.content")),
        Some(TextOr::Text(text)) => parts.push(Part::Text(text)),
        Some(TextOr::List(list)) => {
            for (index, wire) in list.into_iter().enumerate() {
                let place = format!("{place}.content[{index}]");
                // What a cache may keep is a hint that some servers take.
                unsaid.members(&place, &wire.unknown, &["cache_control"]);
                match part(wire) {
                    Ok(part) => parts.push(part),
                    Err(member) => unsaid.name(format!("{place}.{member}")),
                }
            }
        }
    }
}

/// # Errors
/// The member that cannot be read.
fn part(part: wire::Part) -> Result<Part, &'static str> {
    if let Some(text) = part.text {
        Ok(Part::Text(text))
    } else if let Some(refusal) = part.refusal {
        Ok(Part::Refusal(refusal))
    } else if let Some(image) = part.image_url {
        let source = source(image.url);
        source.map(Part::Image).ok_or("image_url")
    } else if let Some(audio) = part.input_audio {
        Ok(Part::Audio {
            data: audio.data,
            format: audio.format,
        })
    } else if let Some(file) = part.file {
        let source = match (file.file_data, file.file_id) {
            (Some(data), _) if data.starts_with("data:") => source(data),
            (Some(data), _) => Some(Source::Base64 {
                media_type: "application/pdf".to_owned(),
                data,
            }),
            (None, Some(id)) => Some(Source::File(id)),
            (None, None) => None,
        };
        let title = file.filename;
        let document = source.map(|source| Part::Document { source, title });
        document.ok_or("file")
    } else {
        Err("type")
    }
}
