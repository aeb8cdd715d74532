//! A request for a response into the canonical form.

use serde_json::value::RawValue;

use super::read_input::read_turns;
use super::wire;
use crate::RequestError;
use crate::canonical::seal::give_to_calls;
use crate::canonical::{
    JsonText, OutputForm, Part, Placed, PlacedTurn, Places, ReadRequest, Request, Role, Sampling,
    Thinking, Tool, ToolChoice, Unsaid,
};
use crate::object_only;
use crate::openai::effort;
use crate::wire_form::{TextOr, parse};

/// Members that change nothing that an answer says: where it is kept, charged, cached or padded, and
/// how often tools may be called that only this provider runs.
const HINTS: [&str; 9] = [
    "max_tool_calls",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "stream_options",
];
/// How thoughts are told, which other dialects have no choice of.
const REASONING_HINTS: [&str; 2] = ["summary", "generate_summary"];

/// That a client wants to see how likely tokens were.
const LOGPROBS: &str = "message.output_text.logprobs";

/// What a client may want to see beside the answer without its saying another thing.
const INCLUDE_HINTS: [&str; 4] = [
    LOGPROBS,
    "reasoning.encrypted_content",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
];

/// Reads a request that is to be written in another dialect.
///
/// That a response is kept is the default here and no obstacle; to go on with one that was kept is.
///
/// # Errors
/// [`RequestError`] where a member that is read here has a type that it cannot have.
pub fn read_request(body: &[u8]) -> Result<ReadRequest, RequestError> {
    let wire: wire::Request = parse(body)?;
    let mut unsaid = Unsaid::default();
    name_what_is_ours_alone(&wire, &mut unsaid);
    let say = |role, text, place: &str| PlacedTurn {
        role,
        place: place.to_owned(),
        speaker: "",
        parts: vec![Placed::new(Part::Text(text), place)],
    };
    let (mut said, mut places) = (Vec::new(), Places::default());
    if let Some(text) = wire.instructions {
        places.push(say(Role::System, text, "instructions"), &mut said);
    }
    match wire.input {
        Some(TextOr::Text(text)) => places.push(say(Role::User, text, "input"), &mut said),
        Some(TextOr::List(items)) => read_turns(items, &mut said, &mut places, &mut unsaid),
        Some(TextOr::Other) => unsaid.name("input"),
        None => {}
    }
    give_to_calls(&mut said, &mut places);
    let text = wire.text.unwrap_or_default();
    let top_logprobs = wire.top_logprobs.filter(|count| *count > 0);
    let includes = |name: &String| name == LOGPROBS;
    let wants_logprobs = top_logprobs.is_some() || wire.include.iter().flatten().any(includes);
    let request = Request {
        model: wire.model,
        turns: said,
        tools: tools(wire.tools.unwrap_or_default(), &mut places, &mut unsaid),
        tool_choice: tool_choice(wire.tool_choice.as_deref(), &mut unsaid),
        parallel_tool_calls: wire.parallel_tool_calls,
        output: output(text.format, &mut unsaid),
        output_cap: wire.max_output_tokens,
        stop: Vec::new(),
        sampling: Sampling {
            temperature: wire.temperature,
            top_p: wire.top_p,
            logprobs: wants_logprobs.then(|| top_logprobs.unwrap_or(0)),
            ..Sampling::default()
        },
        thinking: thinking(wire.reasoning.unwrap_or_default(), &mut unsaid),
        stream: wire.stream.unwrap_or(false),
        // Every stream of this dialect tells it.
        usage_wanted: true,
        user: wire.user,
    };
    Ok(ReadRequest {
        request,
        inexpressible: unsaid.into_fields(),
        places,
    })
}

fn name_what_is_ours_alone(wire: &wire::Request, unsaid: &mut Unsaid) {
    if wire.background == Some(true) {
        unsaid.name("background");
    }
    if wire
        .truncation
        .as_deref()
        .is_some_and(|it| it != "disabled")
    {
        unsaid.name("truncation");
    }
    let include = wire.include.iter().flatten().enumerate();
    for (index, _) in include.filter(|(_, name)| !INCLUDE_HINTS.contains(&name.as_str())) {
        unsaid.name(format!("include[{index}]"));
    }
    if let Some(text) = &wire.text {
        unsaid.members("text", &text.unknown, &[]);
        if text.verbosity.as_deref().is_some_and(|it| it != "medium") {
            unsaid.name("text.verbosity");
        }
    }
    unsaid.members("", &wire.unknown, &HINTS);
}

fn tools(wire: Vec<wire::Tool>, places: &mut Places, unsaid: &mut Unsaid) -> Vec<Tool> {
    let mut tools = Vec::new();
    for (index, tool) in wire.into_iter().enumerate() {
        let place = format!("tools[{index}]");
        if tool.kind != "function" {
            unsaid.name(place);
            continue;
        }
        unsaid.members(&place, &tool.unknown, &[]);
        tools.push(Tool {
            name: tool.name,
            description: tool.description,
            parameters: tool.parameters.as_deref().map(JsonText::from),
            strict: tool.strict,
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
    let named = named.filter(|named| named.kind == "function");
    named.and_then(|named| named.name).map_or_else(
        || {
            unsaid.name("tool_choice");
            ToolChoice::Unsaid
        },
        ToolChoice::Named,
    )
}

fn output(wire: Option<wire::Format>, unsaid: &mut Unsaid) -> OutputForm {
    let Some(wire) = wire else {
        return OutputForm::Text;
    };
    match (wire.kind.as_str(), wire.schema) {
        ("text", _) => OutputForm::Text,
        ("json_object", _) => OutputForm::Json,
        ("json_schema", Some(schema)) => OutputForm::Schema {
            name: wire.name.filter(|name| !name.is_empty()),
            description: wire.description,
            schema: JsonText::from(&*schema),
            strict: wire.strict.unwrap_or(false),
        },
        _ => {
            unsaid.name("text.format");
            OutputForm::Text
        }
    }
}

fn thinking(wire: wire::Reasoning, unsaid: &mut Unsaid) -> Thinking {
    unsaid.members("reasoning", &wire.unknown, &REASONING_HINTS);
    let Some(word) = wire.effort else {
        return Thinking::Unsaid;
    };
    effort::read(&word).unwrap_or_else(|| {
        unsaid.name("reasoning.effort");
        Thinking::Unsaid
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> ReadRequest {
        read_request(body.as_bytes()).expect("a request")
    }

    #[test]
    fn what_holds_anyway_is_no_loss() {
        let body = r#"{"model":"m","store":true,"background":false,"previous_response_id":null,"conversation":null,
            "include":["reasoning.encrypted_content"],"truncation":"disabled","top_logprobs":0,"metadata":{"a":"b"},
            "text":{"format":{"type":"text"},"verbosity":"medium"},"reasoning":{"effort":null,"summary":"auto"},
            "stream_options":{"include_obfuscation":false},"service_tier":"auto","prompt":null,"input":[]}"#;
        let read = read(body);
        assert_eq!(read.inexpressible, []);
        let expected = Request {
            model: "m".to_owned(),
            usage_wanted: true,
            ..Request::default()
        };
        assert_eq!(read.request, expected);
    }

    #[test]
    fn what_is_lost_is_named() {
        let body = r#"{"model":"m","background":true,"previous_response_id":"resp_1","conversation":"conv_1","truncation":"auto",
            "prompt":{"id":"pmpt_1"},"include":["message.output_text.logprobs","file_search_call.results"],"top_logprobs":2,"text":{"verbosity":"low"},
            "reasoning":{"effort":"huge","mode":"pro"},"tool_choice":{"type":"web_search"},
            "tools":[{"type":"web_search","search_context_size":"low"},{"type":"mcp","server_label":"x"},
              {"type":"function","name":"f","parameters":{},"defer_loading":true}],
            "input":[{"type":"item_reference","id":"msg_1"},{"type":"web_search_call","id":"ws_1","status":"completed"},
              {"role":"critic","content":"x"},
              {"role":"user","content":[{"type":"input_text","text":"a","weight":1},{"type":"hologram"},
                {"type":"input_image","image_url":"data:image/svg+xml,<svg/>"}]},
              {"type":"function_call","call_id":"c","name":"f","arguments":"{}","namespace":"n"}]}"#;
        assert_eq!(read(body).request.sampling.logprobs, Some(2));
        let fields = read(body).inexpressible.into_iter();
        let fields: Vec<_> = fields.map(|inexpressible| inexpressible.field).collect();
        let expected = [
            "background",
            "truncation",
            "include[1]",
            "text.verbosity",
            "previous_response_id",
            "conversation",
            "prompt",
            "input[0]",
            "input[1]",
            "input[2]",
            "input[3].content[0].weight",
            "input[3].content[1]",
            "input[3].content[2].image_url",
            "input[4].namespace",
            "tools[0]",
            "tools[1]",
            "tools[2].defer_loading",
            "tool_choice",
            "reasoning.mode",
            "reasoning.effort",
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn what_the_model_did_in_a_row_is_one_turn() {
        let body = r#"{"model":"m","input":[{"role":"user","content":"go"},
            {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"so","annotations":[]}]},
            {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
            {"type":"function_call","call_id":"c2","name":"f","arguments":"{}"},
            {"type":"function_call_output","call_id":"c1","output":"1"},
            {"type":"function_call_output","call_id":"c2","output":"2"},
            {"role":"user","content":"and"}]}"#;
        let turns = read(body).request.turns.into_iter();
        let shape: Vec<_> = turns.map(|turn| (turn.role, turn.parts.len())).collect();
        let expected = [
            (Role::User, 1),
            (Role::Assistant, 4),
            (Role::User, 2),
            (Role::User, 1),
        ];
        assert_eq!(shape, expected);
    }

    #[test]
    fn a_wrong_type_is_an_error() {
        let error = read_request(br#"{"model":"m","input":[{"role":7}]}"#).expect_err("no role");
        assert_eq!(error.message, "`input[0].role` must be a string, not 7");
    }
}
