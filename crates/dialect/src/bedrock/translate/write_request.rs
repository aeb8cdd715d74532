//! A canonical request as the body of Converse and ConverseStream.

use super::family::Family;
use super::wire;
use super::write_turns::TurnWriter;
use crate::anthropic::thinking;
use crate::canonical::{
    Feature, JsonText, Losses, OutputForm, Part, Request, Sampling, Spot, Target, Thinking,
    ThinkingEffort, ThinkingForm, Tool, ToolChoice, WrittenRequest,
};
use crate::wire_form::to_json;

/// The most effort of a model that was not told to think; more is refused.
/// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_OutputConfig.html>)
const MOST_WITHOUT_THINKING: &str = "high";

/// Writes `request` for `target`. The model's name and whether to stream stand in the address.
///
/// Instructions go to `system`, wherever they stood; turns of one side in a row become one, results
/// of tools first. Thoughts go back to Claude only, with their seal. How much to think is a wish, as
/// it is for Anthropic. Of whom the request is made for nothing is told.
pub fn write_request(request: &Request, target: &Target) -> WrittenRequest {
    let family = Family::of(&target.model);
    let mut writer = TurnWriter::new(family);
    let (system, messages) = writer.conversation(request);
    let mut unsaid = writer.unsaid;
    unsaid.at_request();
    let mut foregone = Vec::new();
    let sampling = target.sampling(&request.sampling, &mut unsaid, &mut foregone);
    let config = inference_config(request, &sampling, &mut unsaid);
    let names_stops = family == Family::Claude && config.stop_sequences.is_some();
    target.name_thinking(request.thinking, &mut unsaid, &mut foregone);
    let (thinking, effort) = thinking_of(request, target, family, &mut foregone);
    let (text_format, must_instruct) = text_format(&request.output, target);
    let fields = model_fields(sampling.top_k, family, thinking, &mut unsaid);
    let wire = wire::Request {
        system: (!system.is_empty()).then_some(system),
        messages,
        inference_config: (config != wire::InferenceConfig::default()).then_some(config),
        tool_config: tool_config(request, target, &mut unsaid),
        output_config: (effort.is_some() || text_format.is_some()).then_some(wire::OutputConfig {
            text_format,
            effort,
        }),
        additional_model_request_fields: fields,
        // Which text it was is not told otherwise.
        additional_model_response_field_paths: names_stops.then_some(["/stop_sequence"]),
    };
    WrittenRequest::new(to_json(&wire), unsaid, must_instruct).without(foregone)
}

fn inference_config(
    request: &Request,
    sampling: &Sampling,
    unsaid: &mut Losses,
) -> wire::InferenceConfig {
    let is_hot = sampling.temperature.is_some_and(|it| it > 1.0);
    let is_blank = |text: &&String| text.trim().is_empty();
    let lost = [
        (is_hot, Feature::Temperature),
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
    for (index, _) in (request.stop.iter().enumerate()).filter(|(_, text)| is_blank(text)) {
        unsaid.push_at(Spot::Stop(index), Feature::StopSequences);
    }
    let stop: Vec<_> = request
        .stop
        .iter()
        .filter(|text| !is_blank(text))
        .cloned()
        .collect();
    wire::InferenceConfig {
        max_tokens: request.output_cap,
        temperature: sampling.temperature.filter(|_| !is_hot),
        top_p: sampling.top_p,
        stop_sequences: (!stop.is_empty()).then_some(stop),
    }
}

/// How to think in Claude's own words, and with how much effort, which is a word of this dialect.
fn thinking_of(
    request: &Request,
    target: &Target,
    family: Family,
    foregone: &mut Vec<Feature>,
) -> (Option<crate::anthropic::Thinking>, Option<String>) {
    if family == Family::Claude {
        let cap = request.output_cap.unwrap_or(target.output_cap_default);
        let (thinking, effort) = thinking(request, target, cap, foregone);
        let effort = effort.map(|effort| match &*effort {
            "xhigh" | "max" if thinking.is_none() => MOST_WITHOUT_THINKING.to_owned(),
            _ => effort,
        });
        return (thinking, effort);
    }
    let effort = match request.thinking {
        Thinking::Unsaid | Thinking::Off => return (None, None),
        Thinking::Adaptive(Some(effort)) if target.thinking == ThinkingForm::Effort => effort,
        // There is no word for a number of tokens, nor for as the model sees fit.
        Thinking::Adaptive(_) | Thinking::Budget(_) => {
            if target.thinking != ThinkingForm::None {
                foregone.push(Feature::Thinking);
            }
            return (None, None);
        }
    };
    let word = match effort {
        ThinkingEffort::Minimal | ThinkingEffort::Low => "low",
        ThinkingEffort::Medium => "medium",
        ThinkingEffort::High | ThinkingEffort::ExtraHigh | ThinkingEffort::Max => {
            MOST_WITHOUT_THINKING
        }
    };
    (None, Some(word.to_owned()))
}

fn model_fields(
    top_k: Option<u64>,
    family: Family,
    thinking: Option<crate::anthropic::Thinking>,
    unsaid: &mut Losses,
) -> Option<wire::ModelFields> {
    let mut fields = wire::ModelFields {
        thinking,
        ..wire::ModelFields::default()
    };
    match (top_k, family) {
        (None, _) => {}
        (Some(top_k), Family::Claude) => fields.top_k = Some(top_k),
        (Some(top_k), Family::Nova) => fields.nova = Some(wire::NovaConfig { top_k }),
        (Some(_), Family::Other) => unsaid.push(Feature::TopK),
    }
    let says = fields.thinking.is_some() || fields.top_k.is_some() || fields.nova.is_some();
    says.then_some(fields)
}

/// The tools. Calls in the conversation are refused where no tool is defined: those that were called
/// are then defined by their names, though none is offered now.
fn tool_config(
    request: &Request,
    target: &Target,
    unsaid: &mut Losses,
) -> Option<wire::ToolConfig> {
    let called = called(request);
    let forbids = request.tool_choice == ToolChoice::None;
    if forbids && called.is_empty() {
        return None;
    }
    let tools: Vec<_> = if request.tools.is_empty() {
        called.into_iter().map(nameless_schema).collect()
    } else {
        let tools = request.tools.iter().enumerate();
        tools
            .map(|(index, tool)| {
                unsaid.at_tool(index);
                written(tool, target, unsaid)
            })
            .collect()
    };
    unsaid.at_request();
    if tools.is_empty() {
        return None;
    }
    if forbids && !request.tools.is_empty() {
        unsaid.push(Feature::ToolChoice);
    }
    if request.parallel_tool_calls == Some(false) && !request.tools.is_empty() {
        unsaid.push(Feature::ParallelToolCalls);
    }
    let tool_choice = match &request.tool_choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Unsaid | ToolChoice::None => None,
        ToolChoice::Auto => Some(wire::ToolChoice::Auto {}),
        ToolChoice::Any => Some(wire::ToolChoice::Any {}),
        ToolChoice::Named(name) => Some(wire::ToolChoice::Tool { name: name.clone() }),
    };
    Some(wire::ToolConfig { tools, tool_choice })
}

/// The names of the tools that were called, each once.
fn called(request: &Request) -> Vec<&str> {
    let mut names = Vec::new();
    for part in request.turns.iter().flat_map(|turn| &turn.parts) {
        if let Part::ToolCall { name, .. } = part
            && !names.contains(&name.as_str())
        {
            names.push(name.as_str());
        }
    }
    names
}

fn nameless_schema(name: &str) -> wire::Tool {
    spec(name, None, &JsonText::empty_object(), None)
}

fn written(tool: &Tool, target: &Target, unsaid: &mut Losses) -> wire::Tool {
    let is_strict = tool.strict == Some(true);
    if is_strict && !target.follows_schema {
        unsaid.push(Feature::StrictTools);
    }
    let description = tool.description.clone();
    let description = description.filter(|text| !text.is_empty());
    let strict = (is_strict && target.follows_schema).then_some(true);
    spec(&tool.name, description, &tool.object_schema(), strict)
}

fn spec(
    name: &str,
    description: Option<String>,
    schema: &JsonText,
    strict: Option<bool>,
) -> wire::Tool {
    wire::Tool {
        tool_spec: wire::ToolSpec {
            name: name.to_owned(),
            description,
            input_schema: wire::InputSchema { json: schema.raw() },
            strict,
        },
    }
}

/// The format of the answer, and whether the caller has to see to it. Only a schema that is meant to
/// the letter is one that the model is made to follow.
fn text_format(output: &OutputForm, target: &Target) -> (Option<wire::TextFormat>, bool) {
    match output {
        OutputForm::Text => (None, false),
        OutputForm::Schema {
            name,
            description,
            schema,
            strict: true,
        } if target.follows_schema => {
            let format = wire::TextFormat {
                kind: "json_schema",
                structure: wire::Structure {
                    json_schema: wire::JsonSchema {
                        schema: schema.as_str().to_owned(),
                        name: name.clone(),
                        description: description.clone(),
                    },
                },
            };
            (Some(format), false)
        }
        OutputForm::Json | OutputForm::Schema { .. } => (None, true),
    }
}
