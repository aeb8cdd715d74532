//! The items of an input as turns of a conversation.

use super::{seal, wire};
use crate::canonical::seal::{give_to_calls, of_stored};
use crate::canonical::{Part, Role, Source, Turn, Unsaid};
use crate::data_url::source;
use crate::wire_form::TextOr;

/// Members of an item that change nothing that an answer says.
const HINTS: [&str; 2] = ["status", "phase"];
/// The same of a part: what was cited, how closely to look, and what a cache may keep.
const HINTS_INSIDE: [&str; 3] = ["annotations", "detail", "prompt_cache_breakpoint"];

/// The turns of an input. What the model said, thought and called in a row is one turn, and so are
/// the results of its calls.
pub(super) fn turns(items: Vec<wire::Item>, unsaid: &mut Unsaid) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let place = format!("input[{index}]");
        let Some(turn) = turn(item, &place, unsaid) else {
            continue;
        };
        match turns.last_mut().filter(|last| is_one(last, &turn)) {
            Some(last) => last.parts.extend(turn.parts),
            None => turns.push(turn),
        }
    }
    for turn in &mut turns {
        give_to_calls(&mut turn.parts);
    }
    turns
}

fn is_one(last: &Turn, next: &Turn) -> bool {
    let is_results = |turn: &Turn| {
        let mut parts = turn.parts.iter();
        parts.all(|part| matches!(part, Part::ToolResult { .. }))
    };
    last.role == next.role && (next.role == Role::Assistant || is_results(last) && is_results(next))
}

/// An item as a turn; `None` where it is named as lost, or holds nothing.
fn turn(item: wire::Item, place: &str, unsaid: &mut Unsaid) -> Option<Turn> {
    match item.kind.as_deref() {
        None | Some("message") => message(item, place, unsaid),
        Some("function_call") => {
            unsaid.members(place, &item.unknown, &HINTS);
            Some(assistant(Part::ToolCall {
                id: item.call_id.unwrap_or_default(),
                name: item.name.unwrap_or_default(),
                arguments: item.arguments.unwrap_or_default(),
                signature: None,
            }))
        }
        Some("function_call_output") => {
            unsaid.members(place, &item.unknown, &HINTS);
            let result = Part::ToolResult {
                id: item.call_id.unwrap_or_default(),
                parts: content(item.output, &format!("{place}.output"), unsaid),
                is_error: false,
            };
            Some(Turn {
                role: Role::User,
                parts: vec![result],
            })
        }
        Some("reasoning") => {
            unsaid.members(place, &item.unknown, &HINTS);
            thought(item).map(assistant)
        }
        Some("item_reference") if item.id.as_deref().is_some_and(is_thoughts) => {
            let seal = of_stored(item.id.as_deref().unwrap_or_default());
            Some(assistant(Part::SealedThinking(seal)))
        }
        Some(kind) => {
            unsaid.name(format!("{place}.{kind}"));
            None
        }
    }
}

/// Whether an item of that id is one of thoughts. Some clients name those instead of sending them back,
/// for their provider to look up; another one goes on without them, as without others of which it
/// does not take the seal.
fn is_thoughts(id: &str) -> bool {
    id.starts_with("rs_")
}

fn assistant(part: Part) -> Turn {
    Turn {
        role: Role::Assistant,
        parts: vec![part],
    }
}

fn message(item: wire::Item, place: &str, unsaid: &mut Unsaid) -> Option<Turn> {
    let role = match item.role.as_deref() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => {
            unsaid.name(format!("{place}.role"));
            return None;
        }
    };
    unsaid.members(place, &item.unknown, &HINTS);
    let parts = content(item.content, &format!("{place}.content"), unsaid);
    Some(Turn { role, parts })
}

/// What an item of thoughts holds: the summary, or the thoughts themselves where a server shows them.
pub(super) fn thought(item: wire::Item) -> Option<Part> {
    let joined = |parts: Vec<wire::Part>| {
        let texts = parts.into_iter().filter_map(|part| part.text);
        texts.collect::<Vec<_>>().join("\n\n")
    };
    let summary = joined(item.summary.unwrap_or_default());
    let text = match item.content {
        Some(TextOr::List(parts)) if summary.is_empty() => joined(parts),
        _ => summary,
    };
    seal::read(text, item.encrypted_content)
}

fn content(content: Option<TextOr<wire::Part>>, place: &str, unsaid: &mut Unsaid) -> Vec<Part> {
    let mut parts = Vec::new();
    match content {
        None => {}
        Some(TextOr::Other) => unsaid.name(place),
        Some(TextOr::Text(text)) => parts.push(Part::Text(text)),
        Some(TextOr::List(list)) => {
            for (index, wire) in list.into_iter().enumerate() {
                let place = format!("{place}[{index}]");
                unsaid.members(&place, &wire.unknown, &HINTS_INSIDE);
                match part(wire) {
                    Ok(part) => parts.push(part),
                    Err(member) => unsaid.name(format!("{place}.{member}")),
                }
            }
        }
    }
    parts
}

/// # Errors
/// The member that cannot be read.
fn part(part: wire::Part) -> Result<Part, String> {
    match part.kind.as_str() {
        "input_text" | "output_text" | "text" => part.text.map(Part::Text).ok_or("text"),
        "refusal" => part.refusal.map(Part::Refusal).ok_or("refusal"),
        "input_image" => {
            let at = part.image_url.and_then(source);
            let image = at.or(part.file_id.map(Source::File));
            image.map(Part::Image).ok_or("image_url")
        }
        "input_file" => {
            let inline = |data: String| {
                if data.starts_with("data:") {
                    return source(data);
                }
                let media_type = "application/pdf".to_owned();
                Some(Source::Base64 { media_type, data })
            };
            let at = match (part.file_data, part.file_url, part.file_id) {
                (Some(data), _, _) => inline(data),
                (None, Some(url), _) => source(url),
                (None, None, id) => id.map(Source::File),
            };
            let title = part.filename;
            let document = at.map(|source| Part::Document { source, title });
            document.ok_or("file_data")
        }
        "input_audio" => {
            let audio = part.input_audio.map(|audio| Part::Audio {
                data: audio.data,
                format: audio.format,
            });
            audio.ok_or("input_audio")
        }
        "" => Err("type"),
        kind => return Err(kind.to_owned()),
    }
    .map_err(str::to_owned)
}
