//! A canonical request as one of this dialect.

use super::wire;
use super::wire_value::{Listed, Number};
use super::write_contents::{conversation, lacks_seals};
use crate::canonical::{
    Feature, Losses, OutputForm, Request, Target, Thinking, ThinkingEffort, ThinkingForm, Tool,
    ToolChoice, WrittenRequest,
};
use crate::wire_form::to_json;

/// The most stop sequences of a request.
const STOP_MAX: usize = 5;
/// The highest temperature.
const TEMPERATURE_MAX: f64 = 2.0;
/// The least tokens that a model may be told to think that always does.
/// (<https://ai.google.dev/gemini-api/docs/thinking>)
const BUDGET_MIN: u64 = 128;
/// The most tokens that a model may be told to think.
const BUDGET_MAX: u64 = 24_576;

/// Writes `request` for `target`, whose model and whether it streams the caller says in the path.
///
/// Turns of one side in a row become one, results of tools first. Thoughts are left out: no model
/// takes back those of another, and Google's are not needed. Whom the request is made for has no
/// place here. How much to think is a wish, told as the model takes it.
pub fn write_request(request: &Request, target: &Target) -> WrittenRequest {
    let mut unsaid = Losses::default();
    let (system_instruction, contents) = conversation(request, target, &mut unsaid);
    let declarations = tools(&request.tools, target, &mut unsaid);
    let has_tools = !declarations.is_empty();
    unsaid.at_request();
    if has_tools && request.parallel_tool_calls == Some(false) {
        unsaid.push(Feature::ParallelToolCalls);
    }
    let mut foregone = Vec::new();
    target.name_thinking(request.thinking, &mut unsaid, &mut foregone);
    // Models that take an effort are those that seal calls.
    if target.thinking == ThinkingForm::Effort && lacks_seals(request) {
        foregone.push(Feature::Thoughts);
    }
    let (config, must_instruct) = generation_config(request, target, &mut unsaid);
    let wire = wire::Request {
        system_instruction,
        contents: Listed(contents),
        tools: Listed(if has_tools {
            vec![wire::Tool {
                function_declarations: Listed(declarations),
                ..wire::Tool::default()
            }]
        } else {
            Vec::new()
        }),
        tool_config: has_tools.then(|| tool_config(request, target)).flatten(),
        generation_config: config,
        ..wire::Request::default()
    };
    WrittenRequest::new(to_json(&wire), unsaid, must_instruct).without(foregone)
}

fn tools(tools: &[Tool], target: &Target, unsaid: &mut Losses) -> Vec<wire::FunctionDeclaration> {
    let mut written = Vec::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        unsaid.at_tool(index);
        if tool.strict == Some(true) && !target.follows_schema {
            unsaid.push(Feature::StrictTools);
        }
        written.push(wire::FunctionDeclaration {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters_json_schema: tool.parameters.as_ref().map(|schema| schema.raw()),
            ..wire::FunctionDeclaration::default()
        });
    }
    written
}

/// A model that has to call is held to the schemas; one that may, only if it is told so.
fn tool_config(request: &Request, target: &Target) -> Option<wire::ToolConfig> {
    let is_strict = |tool: &Tool| tool.strict == Some(true);
    let holds = target.follows_schema && request.tools.iter().any(is_strict);
    let (mode, allowed) = match &request.tool_choice {
        ToolChoice::Unsaid | ToolChoice::Auto if holds => ("VALIDATED", None),
        ToolChoice::Unsaid => return None,
        ToolChoice::Auto => ("AUTO", None),
        ToolChoice::None => ("NONE", None),
        ToolChoice::Any => ("ANY", None),
        ToolChoice::Named(name) => ("ANY", Some(vec![name.clone()])),
    };
    Some(wire::ToolConfig {
        function_calling_config: Some(wire::FunctionCallingConfig {
            mode: Some(mode.to_owned()),
            allowed_function_names: allowed,
            ..wire::FunctionCallingConfig::default()
        }),
        ..wire::ToolConfig::default()
    })
}

/// How to go on; `None` where nothing is said. And whether the caller has to see to the form of the
/// answer.
fn generation_config(
    request: &Request,
    target: &Target,
    unsaid: &mut Losses,
) -> (Option<wire::GenerationConfig>, bool) {
    let sampling = &request.sampling;
    let seed = sampling.seed.filter(|seed| i32::try_from(*seed).is_ok());
    let is_hot = |temperature: &f64| *temperature > TEMPERATURE_MAX;
    let lost = [
        (
            sampling.temperature.as_ref().is_some_and(is_hot),
            Feature::Temperature,
        ),
        (sampling.seed != seed, Feature::Seed),
        (sampling.logit_bias.is_some(), Feature::LogitBias),
    ];
    let lost = lost.into_iter().filter(|(is_lost, _)| *is_lost);
    unsaid.extend(lost.map(|(_, feature)| feature));
    unsaid.stops_from(STOP_MAX, request.stop.len());
    let number = |number: Option<f64>| number.and_then(Number::of);
    let stop = &request.stop[..request.stop.len().min(STOP_MAX)];
    let (mime_type, schema, must_instruct) = form(request, target);
    let config = wire::GenerationConfig {
        max_output_tokens: request.output_cap.map(Number::from),
        temperature: number(sampling.temperature.filter(|it| !is_hot(it))),
        top_p: number(sampling.top_p),
        top_k: sampling.top_k.map(Number::from),
        presence_penalty: number(sampling.presence_penalty),
        frequency_penalty: number(sampling.frequency_penalty),
        seed: seed.map(Number::from),
        response_logprobs: sampling.logprobs.map(|_| true),
        logprobs: sampling
            .logprobs
            .filter(|count| *count > 0)
            .map(Number::from),
        stop_sequences: (!stop.is_empty()).then(|| stop.to_vec()),
        response_mime_type: mime_type.map(str::to_owned),
        response_json_schema: schema,
        thinking_config: thinking(request.thinking, target),
        ..wire::GenerationConfig::default()
    };
    let says = to_json(&config) != b"{}";
    (says.then_some(config), must_instruct)
}

/// The form of the answer: its media type, its schema, and whether the caller has to see to it.
/// Older models refuse a form beside tools.
fn form(
    request: &Request,
    target: &Target,
) -> (
    Option<&'static str>,
    Option<Box<serde_json::value::RawValue>>,
    bool,
) {
    let json = Some("application/json");
    let takes_both = target.thinking == ThinkingForm::Effort;
    match &request.output {
        OutputForm::Text => (None, None, false),
        _ if !request.tools.is_empty() && !takes_both => (None, None, true),
        OutputForm::Schema { schema, strict, .. } if target.follows_schema => {
            (json, Some(schema.raw()), !strict)
        }
        // JSON is what it will be, but not of which kind.
        OutputForm::Json | OutputForm::Schema { .. } => (json, None, true),
    }
}

/// Newer models take a level, and a number of tokens still; none of them can be told not to think, nor
/// can the largest of the older ones.
fn thinking(wish: Thinking, target: &Target) -> Option<wire::ThinkingConfig> {
    let form = target.thinking;
    let level = |level: &str| wire::ThinkingConfig {
        thinking_level: Some(level.to_owned()),
        ..wire::ThinkingConfig::default()
    };
    let budget = |tokens: i64| wire::ThinkingConfig {
        thinking_budget: Some(Number::from(tokens)),
        ..wire::ThinkingConfig::default()
    };
    let least = if target.always_thinks { BUDGET_MIN } else { 0 };
    let tokens = |tokens: u64| i64::try_from(tokens.clamp(least, BUDGET_MAX)).unwrap_or(-1);
    let config = match (form, wish) {
        (ThinkingForm::None, _) | (_, Thinking::Unsaid) => return None,
        (ThinkingForm::Effort, Thinking::Off) => return Some(level("low")),
        (ThinkingForm::Budget, Thinking::Off) => return Some(budget(tokens(0))),
        (_, Thinking::Budget(wished)) => budget(tokens(wished)),
        (ThinkingForm::Effort, Thinking::Adaptive(effort)) => match effort {
            None => wire::ThinkingConfig::default(),
            // Not every model has a lower level.
            Some(ThinkingEffort::Minimal | ThinkingEffort::Low) => level("low"),
            Some(ThinkingEffort::Medium) => level("medium"),
            Some(ThinkingEffort::High | ThinkingEffort::ExtraHigh | ThinkingEffort::Max) => {
                level("high")
            }
        },
        (ThinkingForm::Budget, Thinking::Adaptive(effort)) => budget(match effort {
            None => -1,
            Some(ThinkingEffort::Minimal | ThinkingEffort::Low) => 1_024,
            Some(ThinkingEffort::Medium) => 8_192,
            Some(_) => tokens(BUDGET_MAX),
        }),
    };
    Some(wire::ThinkingConfig {
        include_thoughts: Some(true),
        ..config
    })
}
