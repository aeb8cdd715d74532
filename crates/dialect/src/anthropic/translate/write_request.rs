//! A canonical request as a messages request.

use serde_json::value::RawValue;

use super::write_thinking::thinking;
use super::{call, wire};
use crate::canonical::seal::is_claudes;
use crate::canonical::{
    Feature, Losses, MediaType, OutputForm, Part, Request, Role, Sampling, Source, Spot, Target,
    Tool, ToolChoice, WrittenRequest,
};
use crate::wire_form::{TextOr, to_json};

/// Writes `request` for `target`.
///
/// Instructions go to `system`, wherever they stood; turns of one side in a row become one, results
/// of tools first, as this dialect wants them. Thoughts without a seal of Claude's are left out, since
/// their provider was another. How much to think is a wish: it is left out where it would make the
/// request illegal (a tool is forced, a temperature is set, the maximum leaves no room, or the model is
/// in the middle of calls that it began without thinking).
pub fn write_request(request: &Request, target: &Target) -> WrittenRequest {
    let mut unsaid = Losses::default();
    let (system, messages) = conversation(request, &mut unsaid);
    let mut foregone = Vec::new();
    let sampling = target.sampling(&request.sampling, &mut unsaid, &mut foregone);
    name_sampling(&sampling, &mut unsaid);
    let is_blank = |text: &String| text.trim().is_empty();
    for (index, _) in request
        .stop
        .iter()
        .enumerate()
        .filter(|(_, text)| is_blank(text))
    {
        unsaid.push_at(Spot::Stop(index), Feature::StopSequences);
    }
    let stop: Vec<_> = request
        .stop
        .iter()
        .filter(|text| !is_blank(text))
        .cloned()
        .collect();
    let max_tokens = request.output_cap.unwrap_or(target.output_cap_default);
    target.name_thinking(request.thinking, &mut unsaid, &mut foregone);
    let (thinking, effort) = thinking(request, target, max_tokens, &mut foregone);
    let (format, must_instruct) = format(&request.output, target);
    let tools = tools(&request.tools, target, &mut unsaid);
    let wire = wire::Request {
        model: target.model.clone(),
        max_tokens: Some(max_tokens),
        system,
        messages,
        tool_choice: (!tools.is_empty()).then(|| tool_choice(request)).flatten(),
        tools: (!tools.is_empty()).then_some(tools),
        output_config: (effort.is_some() || format.is_some()).then_some(wire::OutputConfig {
            effort,
            format,
            ..wire::OutputConfig::default()
        }),
        thinking,
        temperature: sampling
            .temperature
            .filter(|temperature| *temperature <= 1.0),
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        stop_sequences: (!stop.is_empty()).then_some(stop),
        stream: request.stream.then_some(true),
        metadata: request.user.clone().map(|user| wire::Metadata {
            user_id: Some(user),
            ..wire::Metadata::default()
        }),
        ..wire::Request::default()
    };
    WrittenRequest::new(to_json(&wire), unsaid, must_instruct).without(foregone)
}

fn name_sampling(sampling: &Sampling, unsaid: &mut Losses) {
    let lost = [
        (
            sampling.temperature.is_some_and(|it| it > 1.0),
            Feature::Temperature,
        ),
        (
            sampling.frequency_penalty.is_some(),
            Feature::FrequencyPenalty,
        ),
        (
            sampling.presence_penalty.is_some(),
            Feature::PresencePenalty,
        ),
        (sampling.seed.is_some(), Feature::Seed),
        (sampling.logprobs.is_some(), Feature::Logprobs),
        (sampling.logit_bias.is_some(), Feature::LogitBias),
    ];
    let lost = lost.into_iter().filter(|(is_lost, _)| *is_lost);
    unsaid.extend(lost.map(|(_, feature)| feature));
}

/// Instructions and messages. Where there are only instructions they are said by the user, as one
/// message has to be there.
fn conversation(
    request: &Request,
    unsaid: &mut Losses,
) -> (Option<TextOr<wire::Block>>, Vec<wire::Message>) {
    let mut system = Vec::new();
    let mut messages: Vec<(Role, Vec<wire::Block>)> = Vec::new();
    for (index, turn) in request.turns.iter().enumerate() {
        unsaid.at_turn(index);
        let parts = turn.parts.iter().enumerate();
        let blocks: Vec<_> = parts
            .filter_map(|(index, part)| {
                unsaid.at_part(index);
                block(part, unsaid)
            })
            .collect();
        if turn.role.instructs() {
            system.extend(blocks);
        } else if let Some((_, last)) = messages.last_mut().filter(|(role, _)| *role == turn.role) {
            last.extend(blocks);
        } else if !blocks.is_empty() {
            messages.push((turn.role, blocks));
        }
    }
    if messages.is_empty() && !system.is_empty() {
        messages.push((Role::User, std::mem::take(&mut system)));
    }
    let is_assistant = |(role, _): &(Role, Vec<wire::Block>)| *role == Role::Assistant;
    if messages.first().is_some_and(is_assistant) {
        unsaid.assistant_first(request);
        messages.insert(0, (Role::User, vec![opening()]));
    }
    let message = |(role, mut blocks): (Role, Vec<wire::Block>)| {
        blocks.sort_by_key(|block| block.kind != "tool_result" && role == Role::User);
        wire::Message {
            role: if role == Role::User {
                "user"
            } else {
                "assistant"
            }
            .to_owned(),
            content: content_of(blocks),
            ..wire::Message::default()
        }
    };
    (
        content_of(system),
        messages.into_iter().map(message).collect(),
    )
}

/// What stands for what a user said before the model spoke first: a user has to.
fn opening() -> wire::Block {
    wire::Block {
        kind: "text".to_owned(),
        text: Some(".".to_owned()),
        ..wire::Block::default()
    }
}

/// One text is written as a text.
fn content_of(mut blocks: Vec<wire::Block>) -> Option<TextOr<wire::Block>> {
    match blocks.as_mut_slice() {
        [] => None,
        [block] if block.kind == "text" => block.text.take().map(TextOr::Text),
        _ => Some(TextOr::List(blocks)),
    }
}

/// Texts must not be blank here, so that blank ones are left out.
fn block(part: &Part, unsaid: &mut Losses) -> Option<wire::Block> {
    let block = |kind: &str| wire::Block {
        kind: kind.to_owned(),
        ..wire::Block::default()
    };
    match part {
        Part::Text(text) | Part::Refusal(text) => (!text.trim().is_empty()).then(|| wire::Block {
            text: Some(text.clone()),
            ..block("text")
        }),
        Part::Image(source) => {
            let source = written_source(source, is_image, Feature::Images, unsaid);
            source.map(|source| wire::Block {
                source: Some(source),
                ..block("image")
            })
        }
        Part::Document { source, title } => {
            let source = written_source(source, is_document, Feature::Documents, unsaid);
            source.map(|source| wire::Block {
                source: Some(source),
                title: title.clone(),
                ..block("document")
            })
        }
        Part::Audio { .. } => {
            unsaid.push(Feature::Audio);
            None
        }
        Part::ToolCall {
            id,
            name,
            arguments,
            ..
        } => {
            let input = call::input(arguments);
            if input.as_str() != arguments.trim() && !arguments.trim().is_empty() {
                unsaid.push(Feature::ToolArguments);
            }
            Some(wire::Block {
                id: Some(call::legal_id(id).into_owned()),
                name: Some(name.clone()),
                input: Some(input.raw()),
                ..block("tool_use")
            })
        }
        Part::ToolResult {
            id,
            parts,
            is_error,
        } => Some(wire::Block {
            tool_use_id: Some(call::legal_id(id).into_owned()),
            content: content_of(
                (parts.iter().enumerate())
                    .filter_map(|(index, part)| {
                        unsaid.at_inside(index);
                        self::block(part, unsaid)
                    })
                    .collect(),
            ),
            is_error: is_error.then_some(true),
            ..block("tool_result")
        }),
        Part::Thinking { text, signature } => {
            let signature = signature.clone();
            let signature = signature.filter(|seal| is_claudes(seal))?;
            Some(wire::Block {
                thinking: Some(text.clone()),
                signature: Some(signature),
                ..block("thinking")
            })
        }
        Part::SealedThinking(data) => is_claudes(data).then(|| wire::Block {
            data: Some(data.clone()),
            ..block("redacted_thinking")
        }),
    }
}

fn is_image(media_type: &MediaType) -> bool {
    media_type.names().0 == "image"
}

fn is_document(media_type: &MediaType) -> bool {
    media_type.as_str() == "application/pdf"
}

fn written_source(
    source: &Source,
    takes: fn(&MediaType) -> bool,
    feature: Feature,
    unsaid: &mut Losses,
) -> Option<Box<RawValue>> {
    let source_of = |kind: &str| wire::Source {
        kind: kind.to_owned(),
        ..wire::Source::default()
    };
    let wire = match source {
        Source::Base64 { media_type, data } if takes(media_type) => wire::Source {
            media_type: Some(media_type.as_str().to_owned()),
            data: Some(data.as_str().to_owned()),
            ..source_of("base64")
        },
        Source::Text(text) if feature == Feature::Documents => wire::Source {
            media_type: Some("text/plain".to_owned()),
            data: Some(text.clone()),
            ..source_of("text")
        },
        Source::Url(url) => wire::Source {
            url: Some(url.as_str().to_owned()),
            ..source_of("url")
        },
        Source::File(_) => {
            unsaid.push(Feature::Files);
            return None;
        }
        Source::Base64 { .. } | Source::Text(_) => {
            unsaid.push(feature);
            return None;
        }
    };
    let raw = serde_json::value::to_raw_value(&wire);
    Some(raw.expect("strings always have a JSON form"))
}

fn tools(tools: &[Tool], target: &Target, unsaid: &mut Losses) -> Vec<wire::Tool> {
    let mut written = Vec::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        unsaid.at_tool(index);
        let is_strict = tool.strict == Some(true);
        if is_strict && !target.follows_schema {
            unsaid.push(Feature::StrictTools);
        }
        written.push(wire::Tool {
            kind: None,
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: Some(tool.object_schema().raw()),
            strict: (is_strict && target.follows_schema).then_some(true),
            ..wire::Tool::default()
        });
    }
    written
}

/// That calls must come one by one is said with the choice here.
fn tool_choice(request: &Request) -> Option<wire::ToolChoice> {
    let one_by_one = request.parallel_tool_calls == Some(false);
    let (kind, name) = match &request.tool_choice {
        ToolChoice::Unsaid if !one_by_one => return None,
        ToolChoice::Unsaid | ToolChoice::Auto => ("auto", None),
        ToolChoice::None => ("none", None),
        ToolChoice::Any => ("any", None),
        ToolChoice::Named(name) => ("tool", Some(name.clone())),
    };
    Some(wire::ToolChoice {
        kind: kind.to_owned(),
        name,
        disable_parallel_tool_use: (one_by_one && kind != "none").then_some(true),
    })
}

/// The format of the answer, and whether the caller has to see to it. Only a schema that is meant to
/// the letter is one that the model is made to follow: others may allow what it cannot be made to.
fn format(output: &OutputForm, target: &Target) -> (Option<wire::OutputFormat>, bool) {
    match output {
        OutputForm::Text => (None, false),
        OutputForm::Schema { schema, strict, .. } if *strict && target.follows_schema => {
            let format = wire::OutputFormat {
                kind: "json_schema".to_owned(),
                schema: Some(schema.raw()),
            };
            (Some(format), false)
        }
        OutputForm::Json | OutputForm::Schema { .. } => (None, true),
    }
}
