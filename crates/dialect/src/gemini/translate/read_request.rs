//! A request of this dialect into the canonical form.

use super::function_name::Calls;
use super::open_api::{Others, json_schema};
use super::read_tools::{tool_choice, tools};
use super::wire_value::Number;
use super::{read_part, wire};
use crate::RequestError;
use crate::canonical::{
    JsonText, OutputForm, Part, Placed, PlacedTurn, Places, ReadRequest, Request, Role, Sampling,
    Thinking, ThinkingEffort, Turn, Unsaid,
};
use crate::openai::fits_strict;
use crate::wire_form::parse;

/// Reads a request that is to be written in another dialect.
///
/// Which model is asked, and whether the answer is streamed, stands in the path: the request says
/// neither, and the caller adds both. Seals of Google's on texts are left out, as only the model that
/// made them reads them.
///
/// # Errors
/// [`RequestError`] where a member that is read here has a type that it cannot have.
pub fn read_request(body: &[u8]) -> Result<ReadRequest, RequestError> {
    let wire: wire::Request = parse(body)?;
    let mut unsaid = Unsaid::default();
    unsaid.members("", &wire.unknown, &[]);
    let mut calls = Calls::default();
    let (mut turns, mut places) = (Vec::new(), Places::default());
    if let Some(system) = wire.system_instruction {
        let place = "systemInstruction";
        let system = PlacedTurn {
            role: Role::System,
            parts: parts(system, place, &mut calls, &mut unsaid),
            place: place.to_owned(),
            speaker: "",
        };
        places.push(system, &mut turns);
    }
    for (index, content) in wire.contents.0.into_iter().enumerate() {
        let place = format!("contents[{index}]");
        let role = match content.role.as_deref() {
            None | Some("" | "user" | "function" | "tool") => Role::User,
            Some("model") => Role::Assistant,
            Some(_) => {
                unsaid.name(place);
                continue;
            }
        };
        let turn = PlacedTurn {
            role,
            parts: parts(content, &place, &mut calls, &mut unsaid),
            place,
            speaker: ".role",
        };
        // What a model said in a row is one turn: of a stream it comes back in as many contents as it had pieces.
        let goes_on = |last: &Turn| last.role == role && role == Role::Assistant;
        let is_empty = |last: &Turn| last.parts.is_empty() || turn.parts.is_empty();
        if turns
            .last()
            .is_some_and(|last| goes_on(last) && !is_empty(last))
        {
            places.push_to_last(turn, &mut turns);
        } else {
            places.push(turn, &mut turns);
        }
    }
    join_thoughts(&mut turns, &mut places);
    let mut tools = tools(wire.tools, &mut places, &mut unsaid);
    let tool_choice = tool_choice(wire.tool_config, &mut tools, &mut unsaid);
    let mut config = wire.generation_config.unwrap_or_default();
    name_what_is_ours_alone(&config, &mut unsaid);
    let request = Request {
        model: wire.model.unwrap_or_default(),
        turns,
        tools,
        tool_choice,
        parallel_tool_calls: None,
        output_cap: config.max_output_tokens.as_ref().and_then(Number::whole),
        stop: config.stop_sequences.take().unwrap_or_default(),
        sampling: sampling(&config),
        thinking: thinking(config.thinking_config.take(), &mut unsaid),
        output: output(config, &mut unsaid),
        stream: false,
        // Every stream of this dialect tells it.
        usage_wanted: true,
        user: None,
    };
    Ok(ReadRequest {
        request,
        inexpressible: unsaid.into_fields(),
        places,
    })
}

fn parts(
    content: wire::Content,
    place: &str,
    calls: &mut Calls,
    unsaid: &mut Unsaid,
) -> Vec<Placed> {
    unsaid.members(place, &content.unknown, &[]);
    let mut parts = Vec::with_capacity(content.parts.0.len());
    for (index, part) in content.parts.0.into_iter().enumerate() {
        let place = format!("{place}.parts[{index}]");
        parts.extend(read_part::part(part, &place, calls, unsaid));
    }
    parts
}

/// A thought comes back from a stream in as many parts as it had pieces, of which the last bears the seal, and it is of all of them.
fn join_thoughts(turns: &mut [Turn], places: &mut Places) {
    for (at, turn) in turns.iter_mut().enumerate() {
        places.join_parts(at, &mut turn.parts, |part, before| match (part, before) {
            (
                Part::Thinking {
                    text: more,
                    signature: seal,
                },
                Part::Thinking {
                    text,
                    signature: signature @ None,
                },
            ) => {
                text.push_str(more);
                *signature = seal.take();
                true
            }
            _ => false,
        });
    }
}

fn name_what_is_ours_alone(config: &wire::GenerationConfig, unsaid: &mut Unsaid) {
    let candidates = config.candidate_count.as_ref();
    if candidates.is_some_and(|count| count.whole() != Some(1)) {
        unsaid.name("generationConfig.candidateCount");
    }
    let only_text = |kinds: &Vec<String>| kinds.iter().all(|kind| kind == "TEXT");
    if !config.response_modalities.as_ref().is_none_or(only_text) {
        unsaid.name("generationConfig.responseModalities");
    }
    let is_broken = |number: &Option<Number>| {
        number
            .as_ref()
            .is_some_and(|number| number.whole::<i64>().is_none())
    };
    for (name, number) in [
        ("maxOutputTokens", &config.max_output_tokens),
        ("topK", &config.top_k),
        ("seed", &config.seed),
    ] {
        if is_broken(number) {
            unsaid.name(format!("generationConfig.{name}"));
        }
    }
    unsaid.members("generationConfig", &config.unknown, &[]);
}

fn sampling(config: &wire::GenerationConfig) -> Sampling {
    let value = |number: &Option<Number>| number.as_ref().and_then(Number::value);
    let penalty = |number| value(number).filter(|penalty| *penalty != 0.0);
    let alternatives = config.logprobs.as_ref().and_then(Number::whole);
    let wants_logprobs = config.response_logprobs == Some(true);
    Sampling {
        temperature: value(&config.temperature),
        top_p: value(&config.top_p),
        top_k: config.top_k.as_ref().and_then(Number::whole),
        frequency_penalty: penalty(&config.frequency_penalty),
        presence_penalty: penalty(&config.presence_penalty),
        seed: config.seed.as_ref().and_then(Number::whole),
        logprobs: wants_logprobs.then(|| alternatives.unwrap_or(0)),
        logit_bias: None,
    }
}

fn output(config: wire::GenerationConfig, unsaid: &mut Unsaid) -> OutputForm {
    let own = config.response_schema;
    let own = own.map(|schema| json_schema(&schema, Others::Closed));
    let json = config.response_json_schema;
    let json = json.map(|schema| JsonText::from(&*schema));
    match (config.response_mime_type.as_deref(), json.or(own)) {
        (None | Some("" | "text/plain"), None) => OutputForm::Text,
        (None | Some("application/json"), Some(schema)) => OutputForm::Schema {
            name: None,
            description: None,
            // Every schema is followed here; whether one can be to the letter is another's to say.
            strict: fits_strict(&schema),
            schema,
        },
        (Some("application/json"), None) => OutputForm::Json,
        _ => {
            unsaid.name("generationConfig.responseMimeType");
            OutputForm::Text
        }
    }
}

fn thinking(wire: Option<wire::ThinkingConfig>, unsaid: &mut Unsaid) -> Thinking {
    let Some(wire) = wire else {
        return Thinking::Unsaid;
    };
    let place = "generationConfig.thinkingConfig";
    unsaid.members(place, &wire.unknown, &[]);
    let level = wire.thinking_level.map(|level| level.to_uppercase());
    let effort = match level.as_deref() {
        None | Some("THINKING_LEVEL_UNSPECIFIED") => None,
        Some("MINIMAL") => Some(ThinkingEffort::Minimal),
        Some("LOW") => Some(ThinkingEffort::Low),
        Some("MEDIUM") => Some(ThinkingEffort::Medium),
        Some("HIGH") => Some(ThinkingEffort::High),
        Some("XHIGH") => Some(ThinkingEffort::ExtraHigh),
        Some(_) => {
            unsaid.name(format!("{place}.thinkingLevel"));
            None
        }
    };
    if effort.is_some() {
        return Thinking::Adaptive(effort);
    }
    let budget: Option<i64> = wire.thinking_budget.as_ref().and_then(Number::whole);
    match budget {
        Some(0) => Thinking::Off,
        // A negative one leaves it to the model.
        Some(budget) => u64::try_from(budget).map_or(Thinking::Adaptive(None), Thinking::Budget),
        None if wire.include_thoughts == Some(true) => Thinking::Adaptive(None),
        None => Thinking::Unsaid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(body: &str) -> Vec<String> {
        let read = read_request(body.as_bytes()).expect("a request");
        let fields = read.inexpressible.into_iter();
        fields.map(|inexpressible| inexpressible.field).collect()
    }

    #[test]
    fn what_holds_anyway_is_no_loss() {
        let body = r#"{"model":"models/m","contents":[],"generation_config":{"candidate_count":1,"presence_penalty":0,
            "response_mime_type":"text/plain","response_modalities":["TEXT"],"response_schema":null,"seed":null},
            "tool_config":{"function_calling_config":{}}}"#;
        let read = read_request(body.as_bytes()).expect("a request");
        assert_eq!(read.inexpressible, []);
        let expected = Request {
            model: "models/m".to_owned(),
            usage_wanted: true,
            ..Request::default()
        };
        assert_eq!(read.request, expected);
    }

    #[test]
    fn what_is_lost_is_named() {
        let body = r#"{"safetySettings":[],"cachedContent":"c","labels":{},
            "contents":[{"role":"system","parts":[]},{"parts":[
                {"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}},
                {"inlineData":{"mimeType":"video/mp4","data":"AA"},"videoMetadata":{"fps":1}},
                {"fileData":{"mimeType":"audio/mp3","fileUri":"https://a.example/a.mp3"}},
                {"functionResponse":{"name":"f","response":{},"willContinue":true,"parts":[{"functionCall":{}}]}}]}],
            "tools":[{"googleSearch":{}},{"codeExecution":{},"functionDeclarations":[{"name":"f","behavior":"BLOCKING"},{"name":"g"},{"name":"h"}]}],
            "toolConfig":{"retrievalConfig":{},"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f","g"]}},
            "generationConfig":{"candidateCount":2,"topK":1.5,"responseModalities":["IMAGE"],"speechConfig":{},
                "responseMimeType":"text/x.enum","thinkingConfig":{"thinkingLevel":"deep","x":1}}}"#;
        let expected = [
            "safetySettings",
            "cachedContent",
            "labels",
            "contents[0]",
            "contents[1].parts[0].executableCode",
            "contents[1].parts[1].codeExecutionResult",
            "contents[1].parts[2].videoMetadata",
            "contents[1].parts[2].inlineData",
            "contents[1].parts[3].fileData",
            "contents[1].parts[4].functionResponse.willContinue",
            "contents[1].parts[4].functionResponse.parts[0]",
            "tools[0].googleSearch",
            "tools[1].codeExecution",
            "tools[1].functionDeclarations[0].behavior",
            "toolConfig.retrievalConfig",
            "toolConfig.functionCallingConfig.allowedFunctionNames",
            "generationConfig.candidateCount",
            "generationConfig.responseModalities",
            "generationConfig.topK",
            "generationConfig.speechConfig",
            "generationConfig.thinkingConfig.x",
            "generationConfig.thinkingConfig.thinkingLevel",
            "generationConfig.responseMimeType",
        ];
        assert_eq!(named(body), expected);
    }

    #[test]
    fn thinking_is_read_in_all_its_forms() {
        for (config, expected) in [
            (r#"{"thinkingBudget":0}"#, Thinking::Off),
            (r#"{"thinkingBudget":-1}"#, Thinking::Adaptive(None)),
            (r#"{"thinking_budget":"512"}"#, Thinking::Budget(512)),
            (
                r#"{"thinkingLevel":"low","includeThoughts":true}"#,
                Thinking::Adaptive(Some(ThinkingEffort::Low)),
            ),
            (r#"{"includeThoughts":true}"#, Thinking::Adaptive(None)),
            ("{}", Thinking::Unsaid),
        ] {
            let body =
                format!(r#"{{"contents":[],"generationConfig":{{"thinkingConfig":{config}}}}}"#);
            let read = read_request(body.as_bytes()).expect("a request");
            assert_eq!(read.request.thinking, expected, "{config}");
        }
    }
}
