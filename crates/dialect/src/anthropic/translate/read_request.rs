//! A messages request into the canonical form.

use serde_json::value::RawValue;

use super::wire;
use crate::RequestError;
use crate::canonical::seal::give_to_calls;
use crate::canonical::{
    Base64, JsonText, MediaType, OutputForm, Part, Placed, PlacedTurn, Places, ReadRequest,
    Request, Role, Sampling, Source, Thinking, ThinkingEffort, Tool, ToolChoice, Unsaid,
};
use crate::data_url;
use crate::object_only;
use crate::wire_form::{TextOr, parse};

/// Members that change nothing that an answer says: where it runs, and how it is charged and cached.
const HINTS: [&str; 4] = ["cache_control", "inference_geo", "service_tier", "speed"];
/// The same inside blocks and tools. Who calls a tool is said of tools that the provider runs.
const HINTS_INSIDE: [&str; 3] = ["cache_control", "caller", "eager_input_streaming"];

/// Reads a request that is to be written in another dialect.
///
/// # Errors
/// [`RequestError`] where a member that is read here has a type that it cannot have.
pub fn read_request(body: &[u8]) -> Result<ReadRequest, RequestError> {
    let wire: wire::Request = parse(body)?;
    let mut unsaid = Unsaid::default();
    unsaid.members("", &wire.unknown, &HINTS);
    let (mut turns, mut places) = (Vec::new(), Places::default());
    if let Some(system) = wire.system {
        let system = PlacedTurn {
            role: Role::System,
            place: "system".to_owned(),
            speaker: "",
            parts: content(Some(system), "system", &mut unsaid),
        };
        places.push(system, &mut turns);
    }
    for (index, message) in wire.messages.into_iter().enumerate() {
        if let Some(turn) = turn(message, format!("messages[{index}]"), &mut unsaid) {
            places.push(turn, &mut turns);
        }
    }
    give_to_calls(&mut turns, &mut places);
    let config = wire.output_config.unwrap_or_default();
    unsaid.members("output_config", &config.unknown, &[]);
    let metadata = wire.metadata.unwrap_or_default();
    unsaid.members("metadata", &metadata.unknown, &[]);
    let choice = wire.tool_choice.unwrap_or_default();
    let request = Request {
        model: wire.model,
        turns,
        tools: tools(wire.tools.unwrap_or_default(), &mut places, &mut unsaid),
        parallel_tool_calls: choice.disable_parallel_tool_use.map(|disabled| !disabled),
        tool_choice: tool_choice(choice, &mut unsaid),
        output: output(config.format.or(wire.output_format), &mut unsaid),
        output_cap: wire.max_tokens,
        stop: wire.stop_sequences.unwrap_or_default(),
        sampling: Sampling {
            temperature: wire.temperature,
            top_p: wire.top_p,
            top_k: wire.top_k,
            ..Sampling::default()
        },
        thinking: thinking(wire.thinking, config.effort.as_deref(), &mut unsaid),
        stream: wire.stream.unwrap_or(false),
        // Every stream of this dialect tells it.
        usage_wanted: true,
        user: metadata.user_id,
    };
    Ok(ReadRequest {
        request,
        inexpressible: unsaid.into_fields(),
        places,
    })
}

fn turn(message: wire::Message, place: String, unsaid: &mut Unsaid) -> Option<PlacedTurn> {
    let role = match message.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => {
            unsaid.name(place);
            return None;
        }
    };
    unsaid.members(&place, &message.unknown, &[]);
    Some(PlacedTurn {
        role,
        parts: content(message.content, &format!("{place}.content"), unsaid),
        place,
        speaker: ".role",
    })
}

fn content(wire: Option<TextOr<wire::Block>>, place: &str, unsaid: &mut Unsaid) -> Vec<Placed> {
    match wire {
        None => Vec::new(),
        Some(TextOr::Other) => {
            unsaid.name(place);
            Vec::new()
        }
        Some(TextOr::Text(text)) => vec![Placed::new(Part::Text(text), place)],
        Some(TextOr::List(list)) => {
            let mut parts = Vec::with_capacity(list.len());
            for (index, block) in list.into_iter().enumerate() {
                let place = format!("{place}[{index}]");
                name_members(&block, &place, unsaid);
                match part(block, &place, unsaid) {
                    Ok(part) => parts.push(part),
                    Err("") => unsaid.name(place),
                    Err(member) => unsaid.name(format!("{place}.{member}")),
                }
            }
            parts
        }
    }
}

/// That citations are wanted, or what was cited, is said in members of their own.
fn name_members(block: &wire::Block, place: &str, unsaid: &mut Unsaid) {
    let is_known = matches!(
        block.kind.as_str(),
        "text"
            | "image"
            | "document"
            | "tool_use"
            | "tool_result"
            | "thinking"
            | "redacted_thinking"
    );
    // What an earlier answer has cited stands in its text; only asking for more would be lost.
    let was_cited: &[&str] = if block.kind == "text" {
        &["citations"]
    } else {
        &[]
    };
    if is_known {
        let hints = [&HINTS_INSIDE, was_cited].concat();
        unsaid.members(place, &block.unknown, &hints);
    }
    if is_known && block.context.is_some() {
        unsaid.name(format!("{place}.context"));
    }
}

/// # Errors
/// The member that cannot be read, empty for the block as a whole.
fn part(block: wire::Block, place: &str, unsaid: &mut Unsaid) -> Result<Placed, &'static str> {
    if block.kind == "tool_result" {
        let id = block.tool_use_id.unwrap_or_default();
        let parts = content(block.content, &format!("{place}.content"), unsaid);
        let is_error = block.is_error.unwrap_or(false);
        return Ok(Placed::result(id, parts, is_error, place));
    }
    said(block).map(|part| Placed::new(part, place))
}

/// # Errors
/// The same.
fn said(block: wire::Block) -> Result<Part, &'static str> {
    let whole = |part: Option<Part>| part.ok_or("");
    match block.kind.as_str() {
        "text" => whole(block.text.map(Part::Text)),
        "image" => block
            .source
            .as_deref()
            .and_then(source)
            .map(Part::Image)
            .ok_or("source"),
        "document" => {
            let source = block.source.as_deref().and_then(source).ok_or("source")?;
            let title = block.title;
            Ok(Part::Document { source, title })
        }
        "tool_use" => Ok(Part::ToolCall {
            id: block.id.unwrap_or_default(),
            name: block.name.unwrap_or_default(),
            arguments: block
                .input
                .map(|input| input.get().to_owned())
                .unwrap_or_default(),
            signature: None,
        }),
        "thinking" => Ok(Part::Thinking {
            text: block.thinking.unwrap_or_default(),
            signature: block.signature,
        }),
        "redacted_thinking" => whole(block.data.map(Part::SealedThinking)),
        _ => Err(""),
    }
}

fn source(raw: &RawValue) -> Option<Source> {
    let wire: wire::Source = object_only::from_str(raw.get()).ok()?;
    match wire.kind.as_str() {
        "base64" => Some(Source::Base64 {
            media_type: MediaType::parse(&wire.media_type?)?,
            data: Base64::parse(wire.data?)?,
        }),
        "text" => wire.data.map(Source::Text),
        "url" => wire.url.and_then(data_url::source),
        "file" => wire.file_id.map(Source::File),
        _ => None,
    }
}

fn tools(wire: Vec<wire::Tool>, places: &mut Places, unsaid: &mut Unsaid) -> Vec<Tool> {
    let mut tools = Vec::new();
    for (index, tool) in wire.into_iter().enumerate() {
        let place = format!("tools[{index}]");
        if !matches!(tool.kind.as_deref(), None | Some("custom")) {
            // A tool that the provider runs: its name says which.
            unsaid.name(place);
            continue;
        }
        unsaid.members(&place, &tool.unknown, &HINTS_INSIDE);
        tools.push(Tool {
            name: tool.name,
            description: tool.description,
            parameters: tool.input_schema.as_deref().map(JsonText::from),
            strict: tool.strict,
        });
        places.push_tool(place);
    }
    tools
}

fn tool_choice(wire: wire::ToolChoice, unsaid: &mut Unsaid) -> ToolChoice {
    match (wire.kind.as_str(), wire.name) {
        ("", _) => ToolChoice::Unsaid,
        ("auto", _) => ToolChoice::Auto,
        ("any", _) => ToolChoice::Any,
        ("none", _) => ToolChoice::None,
        ("tool", Some(name)) => ToolChoice::Named(name),
        _ => {
            unsaid.name("tool_choice");
            ToolChoice::Unsaid
        }
    }
}

fn output(wire: Option<wire::OutputFormat>, unsaid: &mut Unsaid) -> OutputForm {
    let Some(wire) = wire else {
        return OutputForm::Text;
    };
    match (wire.kind.as_str(), wire.schema) {
        ("json_schema", Some(schema)) => OutputForm::Schema {
            name: None,
            description: None,
            schema: JsonText::from(&*schema),
            strict: true,
        },
        _ => {
            unsaid.name("output_config.format");
            OutputForm::Text
        }
    }
}

fn thinking(wire: Option<wire::Thinking>, effort: Option<&str>, unsaid: &mut Unsaid) -> Thinking {
    let effort = match effort {
        None => None,
        Some("low") => Some(ThinkingEffort::Low),
        Some("medium") => Some(ThinkingEffort::Medium),
        Some("high") => Some(ThinkingEffort::High),
        Some("xhigh") => Some(ThinkingEffort::ExtraHigh),
        Some("max") => Some(ThinkingEffort::Max),
        Some(_) => {
            unsaid.name("output_config.effort");
            None
        }
    };
    let wire = wire.unwrap_or_default();
    match (wire.kind.as_str(), wire.budget_tokens) {
        ("disabled", _) => Thinking::Off,
        ("enabled", Some(tokens)) => Thinking::Budget(tokens),
        ("adaptive", _) => Thinking::Adaptive(effort),
        ("", _) => effort.map_or(Thinking::Unsaid, |effort| Thinking::Adaptive(Some(effort))),
        _ => {
            unsaid.name("thinking");
            Thinking::Unsaid
        }
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
    fn hints_are_no_loss() {
        let body = r#"{"model":"m","max_tokens":1,"service_tier":"auto","metadata":{"user_id":"u"},
            "system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}],
            "tools":[{"type":"custom","name":"t","input_schema":{},"cache_control":{"type":"ephemeral"}}],
            "messages":[{"role":"assistant","content":[{"type":"text","text":"b","citations":[{}]}]}]}"#;
        assert_eq!(named(body), Vec::<String>::new());
    }

    #[test]
    fn what_is_lost_is_named() {
        let body = r#"{"model":"m","mcp_servers":[],"container":"c","thinking":{"type":"deep"},"metadata":{"team":"x"},
            "output_config":{"effort":"huge","task_budget":{},"format":{"type":"grammar"}},
            "tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2},{"name":"t","defer_loading":true}],
            "tool_choice":{"type":"some"},
            "messages":[{"role":"tool","content":"x"},{"role":"user","content":[
              {"type":"document","source":{"type":"url","url":"https://a.example/d.pdf"},"citations":{"enabled":true},"context":"c"},
              {"type":"search_result","source":"https://a.example","content":{}},
              {"type":"image","source":{"type":"hologram"}},
              {"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"x"}]}]}]}"#;
        let expected = [
            "mcp_servers",
            "container",
            "messages[0]",
            "messages[1].content[0].citations",
            "messages[1].content[0].context",
            "messages[1].content[1]",
            "messages[1].content[2].source",
            "messages[1].content[3].content[0]",
            "output_config.task_budget",
            "metadata.team",
            "tools[0]",
            "tools[1].defer_loading",
            "tool_choice",
            "output_config.format",
            "output_config.effort",
            "thinking",
        ];
        assert_eq!(named(body), expected);
    }
}
