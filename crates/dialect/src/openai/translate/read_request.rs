//! A chat completion request into the canonical form.

use serde_json::value::RawValue;

use super::effort;
use super::read_message::turn;
use super::wire;
use crate::RequestError;
use crate::canonical::{
    JsonText, OutputForm, Places, ReadRequest, Request, Sampling, Thinking, Tool, ToolChoice,
    Unsaid,
};
use crate::object_only;
use crate::wire_form::{TextOr, parse};

/// Members that change nothing that an answer says: where it is kept, charged or cached, and what
/// only makes it faster. Another provider has no use for them.
const HINTS: [&str; 7] = [
    "metadata",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
];

/// Reads a request that is to be written in another dialect.
///
/// A member that says what holds without it (`n` of 1, a penalty of 0) is left out. An image's
/// `detail` is left out too: no other dialect knows it.
///
/// # Errors
/// [`RequestError`] where a member that is read here has a type that it cannot have.
pub fn read_request(body: &[u8]) -> Result<ReadRequest, RequestError> {
    let wire: wire::Request = parse(body)?;
    let mut unsaid = Unsaid::default();
    name_what_is_ours_alone(&wire, &mut unsaid);
    if matches!(wire.stop, Some(TextOr::Other)) {
        unsaid.name("stop");
    }
    let (stream, usage_wanted) = streaming(&wire, &mut unsaid);
    let (mut turns, mut places) = (Vec::new(), Places::default());
    for (index, message) in wire.messages.into_iter().enumerate() {
        let place = format!("messages[{index}]");
        if let Some(turn) = turn(message, &place, &mut unsaid) {
            places.push(turn, &mut turns);
        }
    }
    let logprobs = wire.logprobs.unwrap_or(false);
    let request = Request {
        model: wire.model,
        turns,
        tools: tools(wire.tools.unwrap_or_default(), &mut places, &mut unsaid),
        tool_choice: tool_choice(wire.tool_choice.as_deref(), &mut unsaid),
        parallel_tool_calls: wire.parallel_tool_calls,
        output: output(wire.response_format, &mut unsaid),
        output_cap: wire.max_tokens.max(wire.max_completion_tokens),
        stop: match wire.stop {
            Some(TextOr::Text(text)) => vec![text],
            Some(TextOr::List(list)) => list,
            Some(TextOr::Other) | None => Vec::new(),
        },
        sampling: Sampling {
            temperature: wire.temperature,
            top_p: wire.top_p,
            top_k: None,
            frequency_penalty: wire.frequency_penalty.filter(|penalty| *penalty != 0.0),
            presence_penalty: wire.presence_penalty.filter(|penalty| *penalty != 0.0),
            seed: wire.seed,
            logprobs: logprobs.then(|| wire.top_logprobs.unwrap_or(0)),
            logit_bias: wire.logit_bias.as_deref().and_then(bias),
        },
        thinking: thinking(wire.reasoning_effort.as_deref(), &mut unsaid),
        stream,
        usage_wanted,
        user: wire.user,
    };
    Ok(ReadRequest {
        request,
        inexpressible: unsaid.into_fields(),
        places,
    })
}

fn name_what_is_ours_alone(wire: &wire::Request, unsaid: &mut Unsaid) {
    if wire.n.is_some_and(|n| n != 1) {
        unsaid.name("n");
    }
    if wire.store == Some(true) {
        unsaid.name("store");
    }
    let only_text = |kinds: &Vec<String>| kinds.iter().all(|kind| kind == "text");
    if !wire.modalities.as_ref().is_none_or(only_text) {
        unsaid.name("modalities");
    }
    unsaid.members("", &wire.unknown, &HINTS);
}

fn streaming(wire: &wire::Request, unsaid: &mut Unsaid) -> (bool, bool) {
    let Some(options) = &wire.stream_options else {
        return (wire.stream.unwrap_or(false), false);
    };
    let hints = ["include_obfuscation"];
    unsaid.members("stream_options", &options.unknown, &hints);
    let wanted = options.include_usage.unwrap_or(false);
    (wire.stream.unwrap_or(false), wanted)
}

fn tools(wire: Vec<wire::Tool>, places: &mut Places, unsaid: &mut Unsaid) -> Vec<Tool> {
    let mut tools = Vec::new();
    for (index, tool) in wire.into_iter().enumerate() {
        let place = format!("tools[{index}]");
        let Some(function) = tool.function.filter(|_| tool.kind == "function") else {
            unsaid.name(place);
            continue;
        };
        unsaid.members(&place, &tool.unknown, &["cache_control"]);
        unsaid.members(&format!("{place}.function"), &function.unknown, &[]);
        tools.push(Tool {
            name: function.name,
            description: function.description,
            parameters: function.parameters.as_deref().map(JsonText::from),
            strict: function.strict,
        });
        places.push_tool(place);
    }
    tools
}

fn tool_choice(wire: Option<&RawValue>, unsaid: &mut Unsaid) -> ToolChoice {
    let Some(wire) = wire else {
        return ToolChoice::Unsaid;
    };
    match wire.get() {
        "\"auto\"" => return ToolChoice::Auto,
        "\"none\"" => return ToolChoice::None,
        "\"required\"" => return ToolChoice::Any,
        _ => {}
    }
    let named = object_only::from_str::<wire::NamedTool>(wire.get()).ok();
    let name = named.and_then(|named| named.function?.name);
    name.map_or_else(
        || {
            unsaid.name("tool_choice");
            ToolChoice::Unsaid
        },
        ToolChoice::Named,
    )
}

fn output(wire: Option<wire::ResponseFormat>, unsaid: &mut Unsaid) -> OutputForm {
    let Some(wire) = wire else {
        return OutputForm::Text;
    };
    match (wire.kind.as_str(), wire.json_schema) {
        ("text", _) => OutputForm::Text,
        ("json_object", _) => OutputForm::Json,
        ("json_schema", Some(format)) => match format.schema {
            Some(schema) => OutputForm::Schema {
                name: Some(format.name).filter(|name| !name.is_empty()),
                description: format.description,
                schema: JsonText::from(&*schema),
                strict: format.strict.unwrap_or(false),
            },
            None => OutputForm::Json,
        },
        _ => {
            unsaid.name("response_format");
            OutputForm::Text
        }
    }
}

fn thinking(word: Option<&str>, unsaid: &mut Unsaid) -> Thinking {
    let Some(word) = word else {
        return Thinking::Unsaid;
    };
    effort::read(word).unwrap_or_else(|| {
        unsaid.name("reasoning_effort");
        Thinking::Unsaid
    })
}

/// `None` where nothing is made likelier.
fn bias(wire: &RawValue) -> Option<JsonText> {
    let bias = JsonText::from(wire);
    let inner = bias.as_str().trim_matches(['{', '}']);
    (!inner.trim().is_empty()).then_some(bias)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> ReadRequest {
        read_request(body.as_bytes()).expect("a request")
    }

    fn named(body: &str) -> Vec<String> {
        let read = read(body);
        let fields = read.inexpressible.into_iter();
        fields.map(|inexpressible| inexpressible.field).collect()
    }

    #[test]
    fn what_holds_anyway_is_no_loss() {
        let body = r#"{"model":"m","messages":[],"n":1,"logprobs":false,"presence_penalty":0,"frequency_penalty":0.0,
            "logit_bias":{ },"store":false,"modalities":["text"],"metadata":{"a":"b"},"service_tier":"auto","foo":null,
            "stream_options":{"include_obfuscation":false},"response_format":{"type":"text"}}"#;
        let read = read(body);
        assert_eq!(read.inexpressible, []);
        let model = "m".to_owned();
        assert_eq!(
            read.request,
            Request {
                model,
                ..Request::default()
            }
        );
    }

    #[test]
    fn what_is_lost_is_named() {
        let body = r#"{"model":"m","n":2,"store":true,"modalities":["text","audio"],"verbosity":"low","reasoning_effort":"huge",
            "tool_choice":{"type":"allowed_tools","allowed_tools":{}},"tools":[{"type":"custom","custom":{}}],
            "messages":[{"role":"function","name":"f","content":"x"},
              {"role":"user","name":"kim","content":[{"type":"text","text":"a","weight":1},{"type":"hologram","hologram":{}},
                {"type":"image_url","image_url":{"url":"data:image/svg+xml,<svg/>"}}]},
              {"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{}}]}]}"#;
        let expected = [
            "n",
            "store",
            "modalities",
            "verbosity",
            "messages[0]",
            "messages[1].name",
            "messages[1].content[0].weight",
            "messages[1].content[1]",
            "messages[1].content[2].image_url",
            "messages[2].tool_calls[0]",
            "tools[0]",
            "tool_choice",
            "reasoning_effort",
        ];
        assert_eq!(named(body), expected);
    }

    #[test]
    fn names_are_bounded() {
        let members: Vec<_> = (0..100)
            .map(|at| format!(r#""{}{at}":1"#, "é".repeat(100)))
            .collect();
        let fields = named(&format!(r#"{{"messages":[],{}}}"#, members.join(",")));
        assert_eq!(fields.len(), 16);
        assert!(fields.iter().all(|field| field.len() <= 128));
    }

    #[test]
    fn a_wrong_type_is_an_error() {
        let error = read_request(br#"{"model":"m","messages":[{"role":7}]}"#).expect_err("no role");
        assert_eq!(error.message, "`messages[0].role` must be a string, not 7");
    }
}
