//! The items of an input as turns of a conversation.

use super::{seal, wire};
use crate::canonical::seal::of_stored;
use crate::canonical::{
    Base64, Part, Placed, PlacedTurn, Places, Role, SoundFormat, Source, Turn, Unsaid,
};
use crate::data_url::{self, source};
use crate::wire_form::TextOr;

/// Members of an item that change nothing that an answer says.
const HINTS: [&str; 2] = ["status", "phase"];
/// The same of a part: what was cited, how closely to look, and what a cache may keep.
const HINTS_INSIDE: [&str; 3] = ["annotations", "detail", "prompt_cache_breakpoint"];

/// Reads the turns of an input. What the model said, thought and called in a row is one turn, and so are
/// the results of its calls.
pub(super) fn read_turns(
    items: Vec<wire::Item>,
    turns: &mut Vec<Turn>,
    places: &mut Places,
    unsaid: &mut Unsaid,
) {
    for (index, item) in items.into_iter().enumerate() {
        let place = format!("input[{index}]");
        let Some(turn) = turn(item, place, unsaid) else {
            continue;
        };
        if turns.last().is_some_and(|last| is_one(last, &turn)) {
            places.push_to_last(turn, turns);
        } else {
            places.push(turn, turns);
        }
    }
}

fn is_one(last: &Turn, next: &PlacedTurn) -> bool {
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    let are_results = || {
        let mut next = next.parts.iter();
        last.parts.iter().all(is_result) && next.all(|placed| is_result(&placed.part))
    };
    let both_say = !last.parts.is_empty() && !next.parts.is_empty();
    both_say && last.role == next.role && (next.role == Role::Assistant || are_results())
}

/// An item as a turn; `None` where it is named as lost, or holds nothing.
fn turn(item: wire::Item, place: String, unsaid: &mut Unsaid) -> Option<PlacedTurn> {
    match item.kind.as_deref() {
        None | Some("message") => message(item, place, unsaid),
        Some("function_call") => {
            unsaid.members(&place, &item.unknown, &HINTS);
            let call = Part::ToolCall {
                id: item.call_id.unwrap_or_default(),
                name: item.name.unwrap_or_default(),
                arguments: item.arguments.unwrap_or_default(),
                signature: None,
            };
            Some(alone(Role::Assistant, Placed::new(call, &*place), place))
        }
        Some("function_call_output") => {
            unsaid.members(&place, &item.unknown, &HINTS);
            let id = item.call_id.unwrap_or_default();
            let parts = content(item.output, &format!("{place}.output"), unsaid);
            let result = Placed::result(id, parts, false, &*place);
            Some(alone(Role::User, result, place))
        }
        Some("reasoning") => {
            unsaid.members(&place, &item.unknown, &HINTS);
            let thought = thought(item)?;
            Some(alone(Role::Assistant, Placed::new(thought, &*place), place))
        }
        Some("item_reference") if item.id.as_deref().is_some_and(is_thoughts) => {
            let seal = of_stored(item.id.as_deref().unwrap_or_default());
            let thought = Placed::new(Part::SealedThinking(seal), &*place);
            Some(alone(Role::Assistant, thought, place))
        }
        Some(_) => {
            unsaid.name(place);
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

/// An item that is no message: what it is says who speaks.
fn alone(role: Role, placed: Placed, place: String) -> PlacedTurn {
    PlacedTurn {
        role,
        place,
        speaker: ".type",
        parts: vec![placed],
    }
}

fn message(item: wire::Item, place: String, unsaid: &mut Unsaid) -> Option<PlacedTurn> {
    let role = match item.role.as_deref() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => {
            unsaid.name(place);
            return None;
        }
    };
    unsaid.members(&place, &item.unknown, &HINTS);
    Some(PlacedTurn {
        role,
        parts: content(item.content, &format!("{place}.content"), unsaid),
        place,
        speaker: ".role",
    })
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

fn content(content: Option<TextOr<wire::Part>>, place: &str, unsaid: &mut Unsaid) -> Vec<Placed> {
    let mut parts = Vec::new();
    match content {
        None => {}
        Some(TextOr::Other) => unsaid.name(place),
        Some(TextOr::Text(text)) => parts.push(Placed::new(Part::Text(text), place)),
        Some(TextOr::List(list)) => {
            for (index, mut wire) in list.into_iter().enumerate() {
                let place = format!("{place}[{index}]");
                let unknown = std::mem::take(&mut wire.unknown);
                match part(wire) {
                    Ok(part) => {
                        unsaid.members(&place, &unknown, &HINTS_INSIDE);
                        parts.push(Placed::new(part, place));
                    }
                    Err("") => unsaid.name(place),
                    Err(member) => unsaid.name(format!("{place}.{member}")),
                }
            }
        }
    }
    parts
}

/// # Errors
/// The member that cannot be read, empty for the part as a whole.
fn part(part: wire::Part) -> Result<Part, &'static str> {
    match part.kind.as_str() {
        "input_text" | "output_text" | "text" => part.text.map(Part::Text).ok_or("text"),
        "refusal" => part.refusal.map(Part::Refusal).ok_or("refusal"),
        "input_image" => {
            let at = part.image_url.and_then(source);
            let image = at.or(part.file_id.map(Source::File));
            image.map(Part::Image).ok_or("image_url")
        }
        "input_file" => {
            let (at, member) = match (part.file_data, part.file_url, part.file_id) {
                (Some(data), _, _) => (data_url::file(data), "file_data"),
                (None, Some(url), _) => (source(url), "file_url"),
                (None, None, id) => (id.map(Source::File), "file_id"),
            };
            let title = part.filename;
            let document = at.map(|source| Part::Document { source, title });
            document.ok_or(member)
        }
        "input_audio" => {
            let read = part
                .input_audio
                .and_then(|audio| Base64::parse(audio.data).zip(SoundFormat::parse(&audio.format)));
            let sound = read.map(|(data, format)| Part::Audio { data, format });
            sound.ok_or("input_audio")
        }
        _ => Err(""),
    }
}
