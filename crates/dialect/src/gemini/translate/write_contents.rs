//! The turns of a canonical request as contents.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::foreign_seal::{self, seal};
use super::read_part::is_film;
use super::wire;
use super::wire_value::Listed;
use crate::anthropic::call;
use crate::canonical::seal::{googles, open_turns};
use crate::canonical::{
    Base64, Feature, JsonText, Losses, MediaType, Part, Request, Role, Source, Target, ThinkingForm,
};

/// Instructions and contents. Where there are only instructions they are said by the user, as one
/// content has to be there.
pub(super) fn conversation(
    request: &Request,
    target: &Target,
    unsaid: &mut Losses,
) -> (Option<wire::Content>, Vec<wire::Content>) {
    let mut writer = Writer {
        names: super::function_name::names(request),
        is_new: target.thinking == ThinkingForm::Effort,
        unsaid,
    };
    let mut system = Vec::new();
    let mut contents: Vec<(Role, Vec<wire::Part>)> = Vec::new();
    for (index, turn) in request.turns.iter().enumerate() {
        writer.unsaid.at_turn(index);
        let parts = writer.parts(&turn.parts);
        if turn.role.instructs() {
            system.extend(parts);
        } else if let Some((_, last)) = contents.last_mut().filter(|(role, _)| *role == turn.role) {
            last.extend(parts);
        } else if !parts.is_empty() {
            contents.push((turn.role, parts));
        }
    }
    if contents.is_empty() && !system.is_empty() {
        contents.push((Role::User, std::mem::take(&mut system)));
    }
    let is_model = |(role, _): &(Role, Vec<wire::Part>)| *role == Role::Assistant;
    if contents.first().is_some_and(is_model) {
        writer.unsaid.assistant_first(request);
        contents.insert(0, (Role::User, vec![text_part(".".to_owned())]));
    }
    let is_new = writer.is_new;
    let content = |(role, mut parts): (Role, Vec<wire::Part>)| {
        if role == Role::User {
            parts.sort_by_key(|part| part.function_response.is_none());
        } else if is_new {
            seal(&mut parts, foreign_seal::ASKED);
        }
        wire::Content {
            role: Some(if role == Role::User { "user" } else { "model" }.to_owned()),
            parts: Listed(parts),
            ..wire::Content::default()
        }
    };
    let instruction = (!system.is_empty()).then(|| wire::Content {
        parts: Listed(system),
        ..wire::Content::default()
    });
    (instruction, contents.into_iter().map(content).collect())
}

/// Whether the model is in the middle of calls and does not get the seal of some: it goes on without
/// what it thought. Of the calls of one answer the first bears it.
pub(super) fn lacks_seals(request: &Request) -> bool {
    open_turns(request).iter().any(|turn| {
        let mut calls = turn.parts.iter().filter_map(|part| match part {
            Part::ToolCall { signature, .. } => Some(signature),
            _ => None,
        });
        turn.role == Role::Assistant && calls.next().is_some_and(Option::is_none)
    })
}

struct Writer<'a> {
    names: BTreeMap<&'a str, &'a str>,
    /// Whether the model is one of those that seal calls and take media in results.
    is_new: bool,
    unsaid: &'a mut Losses,
}

impl Writer<'_> {
    /// A seal that is no call's belongs to the text before it, or stands alone where there is none.
    /// (<https://ai.google.dev/gemini-api/docs/thought-signatures>)
    fn parts(&mut self, parts: &[Part]) -> Vec<wire::Part> {
        let mut written: Vec<wire::Part> = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            self.unsaid.at_part(index);
            let Part::SealedThinking(seal) = part else {
                written.extend(self.part(part));
                continue;
            };
            let Some(seal) = googles(seal) else { continue };
            let bears_none = |last: &&mut wire::Part| {
                last.text.is_some() && last.thought.is_none() && last.thought_signature.is_none()
            };
            match written.last_mut().filter(bears_none) {
                Some(last) => last.thought_signature = Some(seal.to_owned()),
                None => written.push(wire::Part {
                    thought_signature: Some(seal.to_owned()),
                    ..text_part(String::new())
                }),
            }
        }
        written
    }

    /// Texts that are empty are left out, and so are thoughts without a seal of Google's: another
    /// model's mean nothing here.
    fn part(&mut self, part: &Part) -> Option<wire::Part> {
        match part {
            Part::Text(text) | Part::Refusal(text) => {
                (!text.is_empty()).then(|| text_part(text.clone()))
            }
            Part::Image(source) => self.medium(source, "image/jpeg", Feature::Images),
            Part::Document { source, title } => match (source, title) {
                (Source::Text(text), Some(title)) => Some(text_part(format!("{title}\n\n{text}"))),
                (Source::Text(text), None) => Some(text_part(text.clone())),
                (source, _) => self.medium(source, "application/pdf", Feature::Documents),
            },
            Part::Audio { data, format } => {
                Some(inline(format!("audio/{}", format.as_str()), data))
            }
            Part::ToolCall {
                id,
                name,
                arguments,
                signature,
            } => {
                let args = call::input(arguments);
                if args.as_str() != arguments.trim() && !arguments.trim().is_empty() {
                    self.unsaid.push(Feature::ToolArguments);
                }
                Some(wire::Part {
                    function_call: Some(wire::FunctionCall {
                        id: Some(id.clone()),
                        name: name.clone(),
                        args: Some(args.raw()),
                        ..wire::FunctionCall::default()
                    }),
                    thought_signature: signature.clone(),
                    ..wire::Part::default()
                })
            }
            Part::ToolResult {
                id,
                parts,
                is_error,
            } => Some(self.result(id, parts, *is_error)),
            Part::Thinking { text, signature } => {
                let seal = signature.as_deref().and_then(googles)?;
                Some(wire::Part {
                    thought: Some(true),
                    thought_signature: Some(seal.to_owned()),
                    ..text_part(text.clone())
                })
            }
            Part::SealedThinking(_) => None,
        }
    }

    fn medium(&mut self, source: &Source, usual: &str, feature: Feature) -> Option<wire::Part> {
        match source {
            Source::Base64 { media_type, data } if is_still(media_type) => {
                Some(inline(media_type.as_str().to_owned(), data))
            }
            Source::Url(url) if !is_film(url.as_str()) => Some(wire::Part {
                file_data: Some(wire::FileData {
                    mime_type: Some(media_type_of(url.as_str()).unwrap_or(usual).to_owned()),
                    file_uri: url.as_str().to_owned(),
                    display_name: None,
                }),
                ..wire::Part::default()
            }),
            Source::Base64 { .. } | Source::Url(_) | Source::Text(_) => {
                self.unsaid.push(feature);
                None
            }
            Source::File(_) => {
                self.unsaid.push(Feature::Files);
                None
            }
        }
    }

    fn result(&mut self, id: &str, parts: &[Part], is_error: bool) -> wire::Part {
        let mut text = String::new();
        let mut media = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            self.unsaid.at_inside(index);
            let Some(part) = self.part(part) else {
                continue;
            };
            match part {
                wire::Part {
                    text: Some(more), ..
                } => {
                    let gap = if text.is_empty() { "" } else { "\n" };
                    text.push_str(gap);
                    text.push_str(&more);
                }
                part if part.inline_data.is_some() && self.is_new => media.push(part),
                _ => self.unsaid.push(Feature::ToolResultMedia),
            }
        }
        let name = self.names.get(id).copied().unwrap_or(id);
        wire::Part {
            function_response: Some(wire::FunctionResponse {
                id: Some(id.to_owned()),
                name: name.to_owned(),
                response: Some(response(&text, is_error)),
                parts: Listed(media),
                ..wire::FunctionResponse::default()
            }),
            ..wire::Part::default()
        }
    }
}

/// An object of the tool's own goes as it is; anything else in the members that are kept for it.
fn response(text: &str, is_error: bool) -> Box<RawValue> {
    let object = JsonText::parse(text).filter(JsonText::is_object);
    if let Some(object) = object.filter(|_| !is_error) {
        return object.raw();
    }
    let member = if is_error { "error" } else { "output" };
    let object = format!(r#"{{"{member}":{}}}"#, Value::from(text));
    RawValue::from_string(object).expect("an object of one string is valid JSON")
}

/// Whether it is the type of an image or of something to read.
fn is_still(media_type: &MediaType) -> bool {
    !matches!(media_type.names().0, "audio" | "video")
}

/// What a file at that address is, as far as its name says.
fn media_type_of(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        "txt" | "md" => "text/plain",
        "html" | "htm" => "text/html",
        "csv" => "text/csv",
        _ => return None,
    })
}

fn text_part(text: String) -> wire::Part {
    wire::Part {
        text: Some(text),
        ..wire::Part::default()
    }
}

pub(super) fn inline(mime_type: String, data: &Base64) -> wire::Part {
    wire::Part {
        inline_data: Some(wire::InlineData {
            mime_type,
            data: data.as_str().to_owned(),
            display_name: None,
        }),
        ..wire::Part::default()
    }
}
