//! A message of a chat completion request as a turn.

use super::{carried, wire};
use crate::canonical::{Base64, Part, Placed, PlacedTurn, Role, SoundFormat, Source, Unsaid};
use crate::data_url::{self, source};
use crate::wire_form::TextOr;

/// A message as a turn; `None` where nobody can tell who speaks.
pub(super) fn turn(
    mut message: wire::Message,
    place: &str,
    unsaid: &mut Unsaid,
) -> Option<PlacedTurn> {
    let role = match message.role.as_deref() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user" | "tool") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => {
            unsaid.name(place);
            return None;
        }
    };
    unsaid.members(place, &message.unknown, &["annotations"]);
    let made = [
        ("audio", message.audio.is_some()),
        ("images", message.images.is_some()),
    ];
    for (member, _) in made.iter().filter(|(_, is_there)| *is_there) {
        unsaid.name(format!("{place}.{member}"));
    }
    let is_result = message.role.as_deref() == Some("tool");
    if message.name.is_some() && !is_result {
        unsaid.name(format!("{place}.name"));
    }
    let (shown, thoughts) = carried::thoughts_of(&mut message);
    let shown = shown.map(|part| Placed::new(part, format!("{place}.reasoning_content")));
    let mut parts = Vec::from_iter(shown);
    content(message.content, place, &mut parts, unsaid);
    if let Some(text) = message.refusal {
        parts.push(Placed::new(Part::Refusal(text), format!("{place}.refusal")));
    }
    for (index, call) in message.tool_calls.into_iter().flatten().enumerate() {
        let place = format!("{place}.tool_calls[{index}]");
        let Some(function) = call.function else {
            unsaid.name(place);
            continue;
        };
        let part = Part::ToolCall {
            id: call.id.unwrap_or_default(),
            name: function.name.unwrap_or_default(),
            arguments: function.arguments.unwrap_or_default(),
            signature: call
                .extra_content
                .and_then(wire::ExtraContent::into_signature),
        };
        parts.push(Placed::new(part, place));
    }
    let mut parts = thoughts.among(parts, &format!("{place}.extra_content"));
    if is_result {
        let id = message.tool_call_id.unwrap_or_default();
        parts = vec![Placed::result(id, parts, false, place)];
    }
    Some(PlacedTurn {
        role,
        place: place.to_owned(),
        speaker: ".role",
        parts,
    })
}

fn content(
    content: Option<TextOr<wire::Part>>,
    place: &str,
    parts: &mut Vec<Placed>,
    unsaid: &mut Unsaid,
) {
    match content {
        None => {}
        Some(TextOr::Other) => unsaid.name(format!("{place}.content")),
        Some(TextOr::Text(text)) => {
            parts.push(Placed::new(Part::Text(text), format!("{place}.content")));
        }
        Some(TextOr::List(list)) => {
            for (index, mut wire) in list.into_iter().enumerate() {
                let place = format!("{place}.content[{index}]");
                let unknown = std::mem::take(&mut wire.unknown);
                let thinks = wire.thinking.is_some();
                match part(wire) {
                    Ok(part) => {
                        // What a cache may keep is a hint that some servers take.
                        unsaid.members(&place, &unknown, &["cache_control"]);
                        if thinks {
                            unsaid.name(format!("{place}.thinking"));
                        }
                        parts.push(Placed::new(part, place));
                    }
                    Err("") => unsaid.name(place),
                    Err(member) => unsaid.name(format!("{place}.{member}")),
                }
            }
        }
    }
}

/// # Errors
/// The member that cannot be read, empty for the part as a whole.
fn part(part: wire::Part) -> Result<Part, &'static str> {
    if let Some(text) = part.text {
        Ok(Part::Text(text))
    } else if let Some(refusal) = part.refusal {
        Ok(Part::Refusal(refusal))
    } else if let Some(image) = part.image_url {
        let source = source(image.url);
        source.map(Part::Image).ok_or("image_url")
    } else if let Some(audio) = part.input_audio {
        let read = Base64::parse(audio.data).zip(SoundFormat::parse(&audio.format));
        let sound = read.map(|(data, format)| Part::Audio { data, format });
        sound.ok_or("input_audio")
    } else if let Some(file) = part.file {
        let source = match (file.file_data, file.file_id) {
            (Some(data), _) => data_url::file(data),
            (None, Some(id)) => Some(Source::File(id)),
            (None, None) => None,
        };
        let title = file.filename;
        let document = source.map(|source| Part::Document { source, title });
        document.ok_or("file")
    } else {
        Err("")
    }
}
