//! A canonical request as a chat completion request.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::effort;
use super::sampling;
use super::strict_schema::fits_strict;
use super::wire;
use crate::canonical::{
    CapName, Feature, Losses, OutputForm, Part, Request, Role, Source, Target, Tool, ToolChoice,
    Turn, WrittenRequest,
};
use crate::canonical::{call_id, failed_tool};
use crate::data_url::data_url;
use crate::wire_form::{TextOr, to_json};

/// The most stop sequences of a request.
const STOP_MAX: usize = 4;
/// The longest id of a call.
const ID_BYTES_MAX: usize = 40;
/// The longest id of a user, in characters.
const USER_CHARS_MAX: usize = 64;

/// Writes `request` for `target`.
///
/// Thoughts of earlier turns are left out: no model of this dialect takes them back. That a tool
/// failed is said by its result only.
pub fn write_request(request: &Request, target: &Target) -> WrittenRequest {
    let mut unsaid = Losses::default();
    let mut messages = Vec::new();
    for (index, turn) in request.turns.iter().enumerate() {
        unsaid.at_turn(index);
        write_turn(turn, &mut messages, &mut unsaid);
    }
    unsaid.at_request();
    let mut foregone = Vec::new();
    let sampling = target.sampling(&request.sampling, &mut unsaid, &mut foregone);
    if sampling.top_k.is_some() {
        unsaid.push(Feature::TopK);
    }
    target.name_thinking(request.thinking, &mut unsaid, &mut foregone);
    let reasoning_effort = effort::write_for_chat(request, target, &mut foregone);
    let sampling = sampling::beside(reasoning_effort.as_deref(), sampling, target, &mut foregone);
    let has_tools = !request.tools.is_empty();
    let (response_format, must_instruct) = response_format(&request.output, target);
    let (max_tokens, max_completion_tokens) = match target.cap_name {
        CapName::MaxTokens => (request.output_cap, None),
        CapName::MaxCompletionTokens => (None, request.output_cap),
    };
    let wire = wire::Request {
        model: target.model.clone(),
        messages,
        max_tokens,
        max_completion_tokens,
        stop: stop(&request.stop, &mut unsaid),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        frequency_penalty: sampling.frequency_penalty,
        presence_penalty: sampling.presence_penalty,
        seed: sampling.seed,
        logprobs: sampling.logprobs.map(|_| true),
        top_logprobs: sampling.logprobs.filter(|count| *count > 0),
        logit_bias: sampling.logit_bias.as_ref().map(|bias| bias.raw()),
        tools: has_tools.then(|| tools(&request.tools, target, &mut unsaid)),
        tool_choice: has_tools
            .then(|| tool_choice(&request.tool_choice))
            .flatten(),
        parallel_tool_calls: request.parallel_tool_calls.filter(|_| has_tools),
        response_format,
        reasoning_effort,
        stream: request.stream.then_some(true),
        stream_options: request.stream.then(|| wire::StreamOptions {
            include_usage: Some(true),
            ..wire::StreamOptions::default()
        }),
        user: request
            .user
            .clone()
            .filter(|user| user.chars().count() <= USER_CHARS_MAX),
        ..wire::Request::default()
    };
    WrittenRequest::new(to_json(&wire), unsaid, must_instruct).without(foregone)
}

fn write_turn(turn: &Turn, messages: &mut Vec<wire::Message>, unsaid: &mut Losses) {
    let mut message = wire::Message::default();
    let mut content = Vec::new();
    let mut calls = Vec::new();
    for (index, part) in turn.parts.iter().enumerate() {
        unsaid.at_part(index);
        match part {
            Part::ToolCall {
                id,
                name,
                arguments,
                // A server that has not sealed it may refuse the member.
                signature: _,
            } => calls.push(call(id, name, arguments)),
            Part::ToolResult {
                id,
                parts,
                is_error,
            } => messages.push(result(id, parts, *is_error, unsaid)),
            Part::Refusal(text) => message.refusal = Some(text.clone()),
            Part::Thinking { .. } | Part::SealedThinking(_) => {}
            part => content.extend(write_part(part, unsaid)),
        }
    }
    message.content = content_of(content);
    message.tool_calls = (!calls.is_empty()).then_some(calls);
    let says =
        message.content.is_some() || message.tool_calls.is_some() || message.refusal.is_some();
    if says {
        let role = match turn.role {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        message.role = Some(role.to_owned());
        messages.push(message);
    }
}

/// One text is written as a text, which every server takes.
fn content_of(mut parts: Vec<wire::Part>) -> Option<TextOr<wire::Part>> {
    match parts.as_mut_slice() {
        [] => None,
        [part] if part.kind == "text" => part.text.take().map(TextOr::Text),
        _ => Some(TextOr::List(parts)),
    }
}

fn call(id: &str, name: &str, arguments: &str) -> wire::Call {
    let arguments = if arguments.is_empty() {
        "{}"
    } else {
        arguments
    };
    wire::Call {
        index: None,
        id: Some(legal_id(id)),
        kind: Some("function".to_owned()),
        function: Some(wire::CalledFunction {
            name: Some(name.to_owned()),
            arguments: Some(arguments.to_owned()),
        }),
        extra_content: None,
    }
}

fn result(id: &str, parts: &[Part], is_error: bool, unsaid: &mut Losses) -> wire::Message {
    let mut texts = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        unsaid.at_inside(index);
        match write_part(part, unsaid) {
            Some(part) if part.kind == "text" => texts.push(part),
            Some(_) => unsaid.push(Feature::ToolResultMedia),
            None => {}
        }
    }
    if is_error {
        match texts.iter_mut().find_map(|part| part.text.as_mut()) {
            Some(text) => failed_tool::mark(text),
            None => texts.push(text_part(failed_tool::NOTHING_SAID.to_owned())),
        }
    }
    wire::Message {
        role: Some("tool".to_owned()),
        tool_call_id: Some(legal_id(id)),
        content: content_of(texts).or_else(|| Some(TextOr::Text(String::new()))),
        ..wire::Message::default()
    }
}

fn legal_id(id: &str) -> String {
    call_id::legal(id, ID_BYTES_MAX, |_| true).into_owned()
}

fn write_part(part: &Part, unsaid: &mut Losses) -> Option<wire::Part> {
    let mut unless = |said: Option<wire::Part>, feature| {
        if said.is_none() {
            unsaid.push(feature);
        }
        said
    };
    let default = wire::Part::default();
    match part {
        Part::Text(text) | Part::Refusal(text) => Some(text_part(text.clone())),
        Part::Image(source) => {
            let url = match source {
                Source::Base64 { media_type, data } => Some(data_url(media_type, data)),
                Source::Url(url) => Some(url.as_str().to_owned()),
                Source::Text(_) => None,
                Source::File(_) => return unless(None, Feature::Files),
            };
            let said = url.map(|url| wire::Part {
                kind: "image_url".to_owned(),
                image_url: Some(wire::ImageUrl { url }),
                ..default
            });
            unless(said, Feature::Images)
        }
        Part::Document { source, title } => match source {
            Source::Base64 { media_type, data } => Some(wire::Part {
                kind: "file".to_owned(),
                file: Some(wire::File {
                    filename: Some(title.clone().unwrap_or_else(|| "document.pdf".to_owned())),
                    file_data: Some(data_url(media_type, data)),
                    file_id: None,
                }),
                ..default
            }),
            Source::Text(text) => Some(text_part(match title {
                Some(title) => format!("{title}\n\n{text}"),
                None => text.clone(),
            })),
            Source::Url(_) => unless(None, Feature::Documents),
            Source::File(_) => unless(None, Feature::Files),
        },
        Part::Audio { data, format } => Some(wire::Part {
            kind: "input_audio".to_owned(),
            input_audio: Some(wire::InputAudio {
                data: data.as_str().to_owned(),
                format: format.as_str().to_owned(),
            }),
            ..default
        }),
        Part::ToolCall { .. } | Part::ToolResult { .. } => None,
        Part::Thinking { .. } | Part::SealedThinking(_) => None,
    }
}

fn text_part(text: String) -> wire::Part {
    wire::Part {
        kind: "text".to_owned(),
        text: Some(text),
        ..wire::Part::default()
    }
}

fn stop(texts: &[String], unsaid: &mut Losses) -> Option<TextOr<String>> {
    unsaid.stops_from(STOP_MAX, texts.len());
    let kept = &texts[..texts.len().min(STOP_MAX)];
    (!kept.is_empty()).then(|| TextOr::List(kept.to_vec()))
}

fn tools(tools: &[Tool], target: &Target, unsaid: &mut Losses) -> Vec<wire::Tool> {
    let mut written = Vec::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        unsaid.at_tool(index);
        let fits = target.follows_schema && tool.parameters.as_ref().is_none_or(fits_strict);
        if tool.strict == Some(true) && !fits {
            unsaid.push(Feature::StrictTools);
        }
        written.push(wire::Tool {
            kind: "function".to_owned(),
            function: Some(wire::Function {
                name: tool.name.clone(),
                description: tool.description.clone(),
                parameters: tool.parameters.as_ref().map(|schema| schema.raw()),
                strict: tool.strict.filter(|strict| !strict || fits),
                ..wire::Function::default()
            }),
            ..wire::Tool::default()
        });
    }
    written
}

fn tool_choice(choice: &ToolChoice) -> Option<Box<RawValue>> {
    let text = match choice {
        ToolChoice::Unsaid => return None,
        ToolChoice::Auto => Cow::Borrowed("\"auto\""),
        ToolChoice::None => Cow::Borrowed("\"none\""),
        ToolChoice::Any => Cow::Borrowed("\"required\""),
        ToolChoice::Named(name) => {
            let name = serde_json::Value::from(name.as_str());
            Cow::Owned(format!(
                r#"{{"type":"function","function":{{"name":{name}}}}}"#
            ))
        }
    };
    let raw = RawValue::from_string(text.into_owned());
    Some(raw.expect("the four choices are valid JSON"))
}

/// The form of the answer, and whether the caller has to see to it.
fn response_format(output: &OutputForm, target: &Target) -> (Option<wire::ResponseFormat>, bool) {
    let json = |instruct| {
        let format = wire::ResponseFormat {
            kind: "json_object".to_owned(),
            json_schema: None,
        };
        (Some(format), instruct)
    };
    match output {
        OutputForm::Text => (None, false),
        // Models refuse this form where no message mentions JSON.
        OutputForm::Json => json(true),
        OutputForm::Schema { .. } if !target.follows_schema => json(true),
        OutputForm::Schema {
            name,
            description,
            schema,
            strict,
        } => {
            let is_strict = *strict && fits_strict(schema);
            let format = wire::ResponseFormat {
                kind: "json_schema".to_owned(),
                json_schema: Some(wire::JsonSchema {
                    name: name.clone().unwrap_or_else(|| "answer".to_owned()),
                    description: description.clone(),
                    schema: Some(schema.raw()),
                    strict: Some(is_strict),
                }),
            };
            (Some(format), !is_strict)
        }
    }
}
