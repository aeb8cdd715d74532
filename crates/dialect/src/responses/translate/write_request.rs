//! A canonical request as a request for a response.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::write_input::write_turn;
use super::{seal, wire};
use crate::canonical::seal::loses_thoughts;
use crate::canonical::{
    Feature, Losses, OutputForm, Request, Sampling, Target, ThinkingForm, Tool, ToolChoice,
    WrittenRequest,
};
use crate::openai::{effort, fits_strict, sampling};
use crate::responses::rewrite::OUTPUT_CAP_MIN;
use crate::wire_form::{TextOr, to_json};

/// The longest id of a user, in characters.
const USER_CHARS_MAX: usize = 64;

/// Writes `request` for `target`.
///
/// Instructions stay where they stood. Nothing is to be kept by the provider, as no other dialect
/// has it kept; so a model that thinks is asked for its thoughts under seal, to go on with them.
pub fn write_request(request: &Request, target: &Target) -> WrittenRequest {
    let mut unsaid = Losses::default();
    let mut items = Vec::new();
    for (index, turn) in request.turns.iter().enumerate() {
        unsaid.at_turn(index);
        write_turn(turn, &mut items, &mut unsaid);
    }
    unsaid.at_request();
    let mut foregone = Vec::new();
    let sampling = target.sampling(&request.sampling, &mut unsaid, &mut foregone);
    name_what_is_lost(request, &sampling, &mut unsaid);
    target.name_thinking(request.thinking, &mut unsaid, &mut foregone);
    let thinks = target.thinking != ThinkingForm::None;
    if thinks && loses_thoughts(request, |seal| seal::own(seal).is_some()) {
        foregone.push(Feature::Thoughts);
    }
    let has_tools = !request.tools.is_empty();
    let (format, must_instruct) = format(&request.output, target);
    let effort = effort::write(request.thinking, target);
    let sampling = sampling::beside(effort.as_deref(), sampling, target, &mut foregone);
    let wanted = [
        (thinks, "reasoning.encrypted_content"),
        (sampling.logprobs.is_some(), "message.output_text.logprobs"),
    ];
    let wanted = wanted.into_iter().filter(|(is_wanted, _)| *is_wanted);
    let include: Vec<_> = wanted.map(|(_, name)| name.to_owned()).collect();
    let user = request.user.clone();
    let wire = wire::Request {
        model: target.model.clone(),
        input: Some(TextOr::List(items)),
        max_output_tokens: request.output_cap.map(|cap| cap.max(OUTPUT_CAP_MIN)),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        tools: has_tools.then(|| tools(&request.tools, target, &mut unsaid)),
        tool_choice: has_tools
            .then(|| tool_choice(&request.tool_choice))
            .flatten(),
        parallel_tool_calls: request.parallel_tool_calls.filter(|_| has_tools),
        text: format.map(|format| wire::Text {
            format: Some(format),
            ..wire::Text::default()
        }),
        reasoning: effort.map(|effort| wire::Reasoning {
            effort: Some(effort),
            ..wire::Reasoning::default()
        }),
        include: (!include.is_empty()).then_some(include),
        top_logprobs: sampling.logprobs.filter(|count| *count > 0),
        store: Some(false),
        stream: request.stream.then_some(true),
        user: user.filter(|user| user.chars().count() <= USER_CHARS_MAX),
        ..wire::Request::default()
    };
    WrittenRequest::new(to_json(&wire), unsaid, must_instruct).without(foregone)
}

fn name_what_is_lost(request: &Request, sampling: &Sampling, unsaid: &mut Losses) {
    let lost = [
        (!request.stop.is_empty(), Feature::StopSequences),
        (sampling.top_k.is_some(), Feature::TopK),
        (
            sampling.frequency_penalty.is_some(),
            Feature::FrequencyPenalty,
        ),
        (
            sampling.presence_penalty.is_some(),
            Feature::PresencePenalty,
        ),
        (sampling.seed.is_some(), Feature::Seed),
        (sampling.logit_bias.is_some(), Feature::LogitBias),
        (
            request.output_cap.is_some_and(|cap| cap < OUTPUT_CAP_MIN),
            Feature::OutputCap,
        ),
    ];
    let lost = lost.into_iter().filter(|(is_lost, _)| *is_lost);
    unsaid.extend(lost.map(|(_, feature)| feature));
}

fn tools(tools: &[Tool], target: &Target, unsaid: &mut Losses) -> Vec<wire::Tool> {
    let mut written = Vec::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        unsaid.at_tool(index);
        let fits = target.follows_schema && tool.parameters.as_ref().is_none_or(fits_strict);
        let is_strict = tool.strict == Some(true);
        if is_strict && !fits {
            unsaid.push(Feature::StrictTools);
        }
        written.push(wire::Tool {
            kind: "function".to_owned(),
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: Some(tool.object_schema().raw()),
            strict: Some(is_strict && fits && tool.parameters.is_some()),
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
            Cow::Owned(format!(r#"{{"type":"function","name":{name}}}"#))
        }
    };
    let raw = RawValue::from_string(text.into_owned());
    Some(raw.expect("the four choices are valid JSON"))
}

/// The form of the answer, and whether the caller has to see to it.
fn format(output: &OutputForm, target: &Target) -> (Option<wire::Format>, bool) {
    let json = wire::Format {
        kind: "json_object".to_owned(),
        ..wire::Format::default()
    };
    match output {
        OutputForm::Text => (None, false),
        // Models refuse this form where no message mentions JSON.
        OutputForm::Json => (Some(json), true),
        OutputForm::Schema { .. } if !target.follows_schema => (Some(json), true),
        OutputForm::Schema {
            name,
            description,
            schema,
            strict,
        } => {
            let is_strict = *strict && fits_strict(schema);
            let format = wire::Format {
                kind: "json_schema".to_owned(),
                name: Some(name.clone().unwrap_or_else(|| "answer".to_owned())),
                description: description.clone(),
                schema: Some(schema.raw()),
                strict: Some(is_strict),
            };
            (Some(format), !is_strict)
        }
    }
}
