//! A part of a content of a request.

use serde_json::Value;

use super::function_name::Calls;
use super::{carried, foreign_seal, wire};
use crate::canonical::seal::of_google;
use crate::canonical::{Address, Base64, MediaType, Part, Placed, SoundFormat, Source, Unsaid};

/// Members that change nothing that the other side could be told of.
const HINTS: [&str; 2] = ["partMetadata", "part_metadata"];

/// The part as the other side may be told it; `None` where it holds nothing, or what is named as
/// lost.
pub(super) fn part(
    mut wire: wire::Part,
    place: &str,
    calls: &mut Calls,
    unsaid: &mut Unsaid,
) -> Option<Placed> {
    unsaid.members(place, &wire.unknown, &HINTS);
    if wire.function_call.is_none()
        && let Some(response) = wire.function_response.take()
    {
        return Some(result(response, place, calls, unsaid));
    }
    said(wire, place, calls, unsaid).map(|part| Placed::new(part, place))
}

fn said(wire: wire::Part, place: &str, calls: &mut Calls, unsaid: &mut Unsaid) -> Option<Part> {
    if let Some(call) = wire.function_call {
        unsaid.members(&format!("{place}.functionCall"), &call.unknown, &[]);
        return Some(Part::ToolCall {
            id: calls.called(call.id, &call.name),
            name: call.name,
            arguments: call
                .args
                .map_or_else(String::new, |args| args.get().to_owned()),
            signature: foreign_seal::own(wire.thought_signature),
        });
    }
    if let Some(medium) = wire.inline_data {
        return inline(medium).or_else(|| lost(place, "inlineData", unsaid));
    }
    if let Some(file) = wire.file_data {
        let read = file_source(&file.file_uri).and_then(|source| {
            let kind = match file.mime_type {
                Some(media_type) => MediaType::parse(&media_type)?,
                None => MediaType::pdf(),
            };
            read_medium(&kind, source, file.display_name)
        });
        return read.or_else(|| lost(place, "fileData", unsaid));
    }
    let seal = wire.thought_signature.filter(|seal| !seal.is_empty());
    if let Some(carried) = seal.as_deref() {
        let thought = carried::read(wire.text.as_deref(), carried);
        if thought.is_some() {
            return thought;
        }
    }
    let text = wire.text?;
    if wire.thought == Some(true) {
        let signature = seal.as_deref().map(of_google);
        return Some(Part::Thinking { text, signature });
    }
    Some(Part::Text(text))
}

/// `None` for what is no base64 of a type, and for what no other dialect takes.
pub(super) fn inline(medium: wire::InlineData) -> Option<Part> {
    let media_type = MediaType::parse(&medium.mime_type)?;
    let data = Base64::parse(medium.data)?;
    let kind = media_type.clone();
    let source = Source::Base64 { media_type, data };
    read_medium(&kind, source, medium.display_name)
}

fn lost(place: &str, member: &str, unsaid: &mut Unsaid) -> Option<Part> {
    unsaid.name(format!("{place}.{member}"));
    None
}

/// `None` for what no other dialect takes: a film, a sound that lies elsewhere.
fn read_medium(media_type: &MediaType, source: Source, title: Option<String>) -> Option<Part> {
    let (kind, format) = media_type.names();
    match (kind, source) {
        ("image", source) => Some(Part::Image(source)),
        ("audio", Source::Base64 { data, .. }) => {
            let format = match format {
                "mpeg" => "mp3",
                "x-wav" | "wave" | "vnd.wave" => "wav",
                format => format,
            };
            let format = SoundFormat::parse(format)?;
            Some(Part::Audio { data, format })
        }
        ("audio" | "video", _) => None,
        (_, source) => Some(Part::Document { source, title }),
    }
}

/// A file of an account, or an address that anybody can load. `None` for a film's page.
fn file_source(uri: &str) -> Option<Source> {
    match web_host(uri) {
        Some(host) if is_film_host(host) => None,
        Some(host) if host != "generativelanguage.googleapis.com" => {
            Address::parse(uri.to_owned()).map(Source::Url)
        }
        _ => Some(Source::File(uri.to_owned())),
    }
}

/// Whether it is the address of a film's page, which Google takes for the film.
pub(super) fn is_film(uri: &str) -> bool {
    web_host(uri).is_some_and(is_film_host)
}

fn web_host(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_once("://")?;
    let is_web = scheme == "https" || scheme == "http";
    is_web.then(|| rest.split('/').next().unwrap_or_default())
}

fn is_film_host(host: &str) -> bool {
    host == "youtube.com" || host.ends_with(".youtube.com") || host == "youtu.be"
}

fn result(
    wire: wire::FunctionResponse,
    place: &str,
    calls: &mut Calls,
    unsaid: &mut Unsaid,
) -> Placed {
    let whole = place;
    let place = format!("{place}.functionResponse");
    unsaid.members(&place, &wire.unknown, &[]);
    let id = calls.answered(wire.id, &wire.name);
    let response = wire.response.map(|response| response.get().to_owned());
    let (text, is_error) = told(response.unwrap_or_default());
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(Placed::new(Part::Text(text), format!("{place}.response")));
    }
    for (index, wire) in wire.parts.0.into_iter().enumerate() {
        let place = format!("{place}.parts[{index}]");
        if wire.function_call.is_some() || wire.function_response.is_some() {
            unsaid.name(place);
            continue;
        }
        parts.extend(part(wire, &place, calls, unsaid));
    }
    Placed::result(id, parts, is_error, whole)
}

/// What a result says, and whether it is that of a failure. Google keeps two members for these, and
/// its SDKs a third; whatever else is an object of the tool's own.
fn told(response: String) -> (String, bool) {
    let members: serde_json::Map<String, Value> =
        serde_json::from_str(&response).unwrap_or_default();
    let mut all = members.iter();
    let (Some((name, value)), None) = (all.next(), all.next()) else {
        return (response, false);
    };
    match (name.as_str(), value) {
        ("output" | "result" | "error", Value::String(text)) => (text.clone(), name == "error"),
        ("error", value) => (value.to_string(), true),
        _ => (response, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_its_text_where_it_is_one() {
        for (response, text, is_error) in [
            (r#"{"output":"4.2"}"#, "4.2", false),
            (r#"{"result":"a\nb"}"#, "a\nb", false),
            (r#"{"error":"no gauge"}"#, "no gauge", true),
            (r#"{"error":{"code":1}}"#, r#"{"code":1}"#, true),
            (r#"{"output": 4.20}"#, r#"{"output": 4.20}"#, false),
            (r#"{"z":1,"a":2}"#, r#"{"z":1,"a":2}"#, false),
            ("", "", false),
        ] {
            assert_eq!(
                told(response.to_owned()),
                (text.to_owned(), is_error),
                "{response}"
            );
        }
    }

    #[test]
    fn files_are_told_from_addresses() {
        let file = |uri: &str| Some(Source::File(uri.to_owned()));
        let url = |uri: &str| Address::parse(uri.to_owned()).map(Source::Url);
        for (uri, expected) in [
            ("https://a.example/b.png", url("https://a.example/b.png")),
            ("gs://bucket/b.png", file("gs://bucket/b.png")),
            (
                "https://generativelanguage.googleapis.com/v1beta/files/x",
                file("https://generativelanguage.googleapis.com/v1beta/files/x"),
            ),
            ("files/x", file("files/x")),
            ("https://www.youtube.com/watch?v=x", None),
            ("https://a.example/b c.png", None),
        ] {
            assert_eq!(file_source(uri), expected, "{uri}");
        }
    }
}
