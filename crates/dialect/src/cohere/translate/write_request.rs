//! A canonical request as a chat request.

use super::wire;
use super::write_messages::write_turn;
use crate::anthropic::thinking_budget;
use crate::canonical::seal::lacks_stored;
use crate::canonical::{
    Feature, JsonText, Losses, OutputForm, Request, Spot, Target, Thinking, ThinkingForm, Tool,
    ToolChoice, WrittenRequest,
};
use crate::wire_form::to_json;

/// The most stop sequences of a request.
const STOP_MAX: usize = 5;
/// The most tokens to choose the next one from.
const K_MAX: u64 = 500;

/// Writes `request` for `target`.
///
/// A tool that is forced by its name is the only one that is offered, since no other word is there
/// for it. `p` is kept within its bounds, 0.01 and 0.99, beyond which it means as good as the same.
/// Of whom the request is made for nothing is told.
/// (<https://docs.cohere.com/v2/reference/chat>)
pub fn write_request(request: &Request, target: &Target) -> WrittenRequest {
    let mut unsaid = Losses::default();
    let mut messages = Vec::new();
    for (index, turn) in request.turns.iter().enumerate() {
        unsaid.at_turn(index);
        write_turn(turn, &mut messages, &mut unsaid);
    }
    unsaid.at_request();
    let (response_format, must_instruct) = response_format(request, target);
    let tools = offered(request);
    let strict_tools = strict_tools(request, &tools, target, &mut unsaid);
    if request.parallel_tool_calls == Some(false) && !tools.is_empty() {
        unsaid.push(Feature::ParallelToolCalls);
    }
    let tool_choice = match &request.tool_choice {
        _ if tools.is_empty() => None,
        ToolChoice::Unsaid | ToolChoice::Auto => None,
        ToolChoice::None => Some("NONE"),
        ToolChoice::Any | ToolChoice::Named(_) => Some("REQUIRED"),
    };
    name_sampling(request, &mut unsaid);
    let mut foregone = Vec::new();
    target.name_thinking(request.thinking, &mut unsaid, &mut foregone);
    // A plan of its own, as far as anybody can tell.
    if lacks_stored(request) {
        foregone.push(Feature::Thoughts);
    }
    let stop = &request.stop[..request.stop.len().min(STOP_MAX)];
    let sampling = &request.sampling;
    let wire = wire::Request {
        model: target.model.clone(),
        messages,
        tools: (!tools.is_empty()).then(|| tools.into_iter().map(tool).collect()),
        strict_tools,
        tool_choice,
        response_format,
        thinking: thinking(request, target.thinking),
        max_tokens: request.output_cap,
        stop_sequences: (!stop.is_empty()).then(|| stop.to_vec()),
        temperature: sampling.temperature,
        p: sampling.top_p.map(|p| p.clamp(0.01, 0.99)),
        k: sampling.top_k.filter(|k| *k <= K_MAX),
        frequency_penalty: sampling.frequency_penalty.filter(is_penalty),
        presence_penalty: sampling.presence_penalty.filter(is_penalty),
        seed: sampling.seed.filter(|seed| *seed >= 0),
        stream: request.stream.then_some(true),
    };
    WrittenRequest::new(to_json(&wire), unsaid, must_instruct).without(foregone)
}

/// Probabilities are told by the numbers of tokens here, which say nothing elsewhere.
fn name_sampling(request: &Request, unsaid: &mut Losses) {
    let sampling = &request.sampling;
    let is_beyond = |penalty: Option<f64>| penalty.is_some_and(|penalty| !is_penalty(&penalty));
    let lost = [
        (sampling.top_k.is_some_and(|k| k > K_MAX), Feature::TopK),
        (
            is_beyond(sampling.frequency_penalty),
            Feature::FrequencyPenalty,
        ),
        (
            is_beyond(sampling.presence_penalty),
            Feature::PresencePenalty,
        ),
        (sampling.seed.is_some_and(|seed| seed < 0), Feature::Seed),
        (sampling.logprobs.is_some(), Feature::Logprobs),
        (sampling.logit_bias.is_some(), Feature::LogitBias),
    ];
    let lost = lost.into_iter().filter(|(is_lost, _)| *is_lost);
    unsaid.extend(lost.map(|(_, feature)| feature));
    unsaid.stops_from(STOP_MAX, request.stop.len());
}

fn is_penalty(penalty: &f64) -> bool {
    (0.0..=1.0).contains(penalty)
}

/// The tools to offer: all, or the one that has to be called.
fn offered(request: &Request) -> Vec<&Tool> {
    let is_named = |tool: &&Tool| matches!(&request.tool_choice, ToolChoice::Named(name) if *name == tool.name);
    let named: Vec<_> = request.tools.iter().filter(is_named).collect();
    if named.is_empty() {
        request.tools.iter().collect()
    } else {
        named
    }
}

/// All tools are strict here, or none.
fn strict_tools(
    request: &Request,
    tools: &[&Tool],
    target: &Target,
    unsaid: &mut Losses,
) -> Option<bool> {
    let is_strict = |tool: &&Tool| tool.strict == Some(true);
    if !tools.iter().any(is_strict) {
        return None;
    }
    let all = target.follows_schema && tools.iter().all(is_strict);
    let tools = request.tools.iter().enumerate();
    for (index, _) in tools.filter(|(_, tool)| !all && is_strict(tool)) {
        unsaid.push_at(Spot::Tool(index), Feature::StrictTools);
    }
    all.then_some(true)
}

fn tool(tool: &Tool) -> wire::Tool {
    wire::Tool {
        kind: "function",
        function: wire::Function {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.object_schema().raw(),
        },
    }
}

/// The form of the answer, and whether the caller has to see to it. With tools no form can be asked
/// for, and without a schema the model goes on for ever where nobody tells it to write JSON.
/// (<https://docs.cohere.com/docs/structured-outputs>)
fn response_format(request: &Request, target: &Target) -> (Option<wire::ResponseFormat>, bool) {
    let format = |json_schema| {
        let kind = "json_object";
        wire::ResponseFormat { kind, json_schema }
    };
    let takes_form = request.tools.is_empty();
    match &request.output {
        OutputForm::Text => (None, false),
        OutputForm::Schema { schema, .. }
            if takes_form && target.follows_schema && requires_members(schema) =>
        {
            (Some(format(Some(schema.raw()))), false)
        }
        _ => (takes_form.then(|| format(None)), true),
    }
}

/// A schema is of an object that requires a member, or it is refused.
fn requires_members(schema: &JsonText) -> bool {
    let schema = serde_json::from_str::<serde_json::Value>(schema.as_str());
    schema.is_ok_and(|schema| {
        let required = schema["required"].as_array();
        schema["type"] == "object" && required.is_some_and(|names| !names.is_empty())
    })
}

/// How much to think is a wish: some of the maximum has to be left for the answer.
fn thinking(request: &Request, form: ThinkingForm) -> Option<wire::Thinking> {
    let (kind, wished) = match request.thinking {
        _ if form == ThinkingForm::None => return None,
        Thinking::Unsaid => return None,
        Thinking::Off => ("disabled", None),
        Thinking::Adaptive(effort) => ("enabled", effort.map(thinking_budget)),
        Thinking::Budget(tokens) => ("enabled", Some(tokens)),
    };
    let most = request.output_cap.map_or(u64::MAX, |cap| cap / 2);
    let token_budget = wished.map(|tokens| tokens.min(most).max(1));
    Some(wire::Thinking { kind, token_budget })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_followed_whether_it_is_to_the_letter_or_not() {
        let row = sluicegate_catalog::provider("cohere").expect("a row");
        let target = Target::of(row, "command-a-03-2025");
        for strict in ["", r#""strict":false,"#, r#""strict":true,"#] {
            let body = format!(
                r#"{{"model":"m","messages":[{{"role":"user","content":"hi"}}],"response_format":{{"type":"json_schema","json_schema":{{{strict}"name":"n","schema":{{"type":"object","properties":{{"a":{{"type":"string"}}}},"required":["a"],"additionalProperties":false}}}}}}}}"#
            );
            let read = crate::openai::read_request(body.as_bytes()).expect("a request");
            let written = write_request(&read.request, &target);
            let sent: serde_json::Value = serde_json::from_slice(&written.body).expect("JSON");
            let schema = &sent["response_format"]["json_schema"];
            assert_eq!(schema["required"][0], "a", "{strict}: {sent}");
            assert!(!written.must_instruct, "{strict}");
        }
    }
}
