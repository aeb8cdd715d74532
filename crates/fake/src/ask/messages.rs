//! Anthropic's messages, as they are asked for: directly, or through a cloud that names the model in the path.

mod thoughts;

use serde_json::{Map, Value};

use super::content_id::content_id;
use super::field::{complain, flag, given, list, texts};
use super::sampling::Sampling;
use super::talk::{Role, Talk};
use super::{Complaint, Draft, Tool, ToolChoice, model};
use crate::dialect::{Door, Task};
use thoughts::{check_thoughts, thinks};

/// Fields of the interface; others are refused.
const KNOWN: [&str; 25] = [
    "anthropic_beta",
    "anthropic_version",
    "cache_control",
    "container",
    "context_management",
    "fake",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];
const CONTENT: [&str; 6] = [
    "system",
    "messages",
    "tools",
    "tool_choice",
    "output_config",
    "output_format",
];
/// What a cloud takes in the body in place of the header: the documented version, and the one that the official SDK sends.
const CLOUD_VERSIONS: [&str; 2] = ["vertex-2023-10-16", "2026-10-21"];

/// Reads a body.
pub(super) fn read(
    mut body: Map<String, Value>,
    door: &Door,
    talk: &mut Talk,
) -> Result<Draft, Complaint> {
    let fake = body.remove("fake");
    let echo = fake.as_ref().is_some_and(|fake| fake["echo"] == true);
    let unknown: Map<String, Value> = body
        .iter()
        .filter(|(name, _)| KNOWN.binary_search(&name.as_str()).is_err())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(name) = unknown.keys().next().filter(|_| !echo) {
        return Err(complain(format!("{name}: Extra inputs are not permitted")));
    }
    if door.model.is_some() {
        from_a_cloud(&body, door.task)?;
    } else if !body.contains_key("model") {
        return Err(required("model"));
    }
    let output_max = match body.get("max_tokens").map(Value::as_u64) {
        None if door.task == Task::Count => None,
        None => return Err(required("max_tokens")),
        Some(None) => return Err(complain("max_tokens: Input should be a valid integer")),
        Some(Some(0)) => {
            return Err(complain(
                "max_tokens: Input should be greater than or equal to 1",
            ));
        }
        Some(most) => most,
    };
    if body
        .get("temperature")
        .and_then(Value::as_f64)
        .is_some_and(|t| !(0.0..=1.0).contains(&t))
    {
        return Err(complain("temperature: range: 0..1"));
    }
    instruct(&body, talk)?;
    match body.get("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => {
            hear(messages, talk)?;
            check_thoughts(messages, body.get("thinking").unwrap_or(&Value::Null))?;
        }
        Some(Value::Array(_)) => {
            return Err(complain("messages: at least one message is required"));
        }
        None => return Err(required("messages")),
        Some(_) => return Err(complain("messages: Input should be a valid list")),
    }
    Ok(Draft {
        model: model(&body)?,
        stream: flag(&body, "stream")?,
        include_usage: true,
        output_max,
        tools: tools(&body)?,
        choice: choice(&body),
        json: json(&body),
        stops: texts(body.get("stop_sequences")),
        thinks: thinks(&body, output_max)?,
        sampling: Sampling::of(&body, ["temperature", "top_p"], &["top_k"]),
        content_id: content_id(&body, &CONTENT),
        unknown,
        fake,
        ..Draft::default()
    })
}

/// Where tokens are only counted, the path names no real model.
fn from_a_cloud(body: &Map<String, Value>, task: Task) -> Result<(), Complaint> {
    if task == Task::Generate && body.contains_key("model") {
        return Err(complain("model: Extra inputs are not permitted"));
    }
    match body.get("anthropic_version").and_then(Value::as_str) {
        Some(version) if CLOUD_VERSIONS.contains(&version) => Ok(()),
        Some(_) => Err(complain(format!(
            "anthropic_version: Input should be '{}'",
            CLOUD_VERSIONS.join("' or '")
        ))),
        None => Err(required("anthropic_version")),
    }
}

fn instruct(body: &Map<String, Value>, talk: &mut Talk) -> Result<(), Complaint> {
    match given(body, "system") {
        None => return Ok(()),
        Some(Value::String(text)) => {
            talk.turn(Role::System, "system");
            talk.text(text);
        }
        Some(Value::Array(blocks)) => {
            talk.turn(Role::System, "system");
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.for_each(|text| talk.text(text));
        }
        Some(_) => return Err(complain("system: Input should be a valid string")),
    }
    Ok(())
}

/// Hears the messages. A result needs its call in the message before, and a call its result in the one after.
fn hear(messages: &[Value], talk: &mut Talk) -> Result<(), Complaint> {
    let mut called: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = match message["role"].as_str() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => {
                return Err(complain(format!(
                    "messages.{index}.role: Input should be 'user' or 'assistant'"
                )));
            }
        };
        talk.turn(role, message["role"].as_str().unwrap_or_default());
        let blocks = match &message["content"] {
            Value::String(text) => {
                talk.text(text);
                &[]
            }
            Value::Array(blocks) => blocks.as_slice(),
            _ => {
                return Err(complain(format!(
                    "messages.{index}.content: Input should be a valid string or list"
                )));
            }
        };
        let mut answered = Vec::new();
        let mut calls = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            match block["type"].as_str() {
                Some("text") => talk.text(block["text"].as_str().unwrap_or_default()),
                Some("image" | "document") => talk.image(),
                Some("tool_use") => calls.push(block["id"].as_str().unwrap_or_default()),
                Some("tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    if !called.contains(&id) {
                        return Err(complain(format!(
                            "messages.{index}.content.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. \
                             Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                        )));
                    }
                    answered.push(id);
                    hear_result(&block["content"], talk);
                }
                Some(_) => {}
                None => {
                    return Err(complain(format!(
                        "messages.{index}.content.{at}.type: Field required"
                    )));
                }
            }
        }
        let open: Vec<&str> = called
            .iter()
            .filter(|id| !answered.contains(id))
            .copied()
            .collect();
        if !open.is_empty() {
            return Err(complain(format!(
                "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
                 `tool_use` block must have a corresponding `tool_result` block in the next message.",
                open.join(", ")
            )));
        }
        called = calls;
    }
    Ok(())
}

fn hear_result(content: &Value, talk: &mut Talk) {
    match content {
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            talk.result(&texts.collect::<Vec<_>>().join(" "));
            let images = blocks.iter().filter(|block| block["type"] == "image");
            images.for_each(|_| talk.image());
        }
        content => talk.result(content.as_str().unwrap_or_default()),
    }
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Complaint> {
    let tools = list(body, "tools")?.iter().enumerate();
    // Those of another type run at the provider.
    let custom = tools.filter(|(_, tool)| tool.get("type").is_none_or(|kind| kind == "custom"));
    custom
        .map(
            |(index, tool)| match (tool["name"].as_str(), tool.get("input_schema")) {
                (Some(name), Some(schema)) if schema["type"] == "object" => Ok(Tool {
                    name: name.to_owned(),
                    parameters: schema.clone(),
                }),
                (Some(_), Some(_)) => Err(complain(format!(
                    "tools.{index}.custom.input_schema.type: Input should be 'object'"
                ))),
                (Some(_), None) => Err(complain(format!(
                    "tools.{index}.custom.input_schema: Field required"
                ))),
                (None, _) => Err(complain(format!(
                    "tools.{index}.custom.name: Field required"
                ))),
            },
        )
        .collect()
}

fn choice(body: &Map<String, Value>) -> ToolChoice {
    let choice = body.get("tool_choice").unwrap_or(&Value::Null);
    match (choice["type"].as_str(), choice["name"].as_str()) {
        (Some("none"), _) => ToolChoice::Never,
        (Some("any"), _) => ToolChoice::Any,
        (Some("tool"), Some(name)) => ToolChoice::Only(name.to_owned()),
        _ => ToolChoice::Auto,
    }
}

fn json(body: &Map<String, Value>) -> Option<Option<Value>> {
    let newer = body.get("output_config").map(|config| &config["format"]);
    let format = newer.or_else(|| body.get("output_format"))?;
    (format["type"] == "json_schema").then(|| Some(format["schema"].clone()))
}

fn required(field: &str) -> Complaint {
    complain(format!("{field}: Field required"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Ask, Shape};
    use super::*;
    use crate::dialect::Dialect;
    use crate::seal::Sealer;

    fn read_body(changes: &Value) -> Result<Ask, Complaint> {
        let mut body = json!({"model": "m", "max_tokens": 2_000, "messages": [{"role": "user", "content": "x"}]});
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        Ask::read(body.to_string().as_bytes(), &Door::to(Dialect::Messages))
    }

    #[test]
    fn known_fields_are_sorted_for_the_search() {
        assert!(KNOWN.is_sorted());
    }

    #[test]
    fn complaints_say_what_the_provider_says() {
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "y"}]});
        for (changes, words) in [
            (
                json!({"max_tokens": null}),
                "max_tokens: Input should be a valid integer",
            ),
            (
                json!({"messages": []}),
                "messages: at least one message is required",
            ),
            (json!({"shiny": 1}), "shiny: Extra inputs are not permitted"),
            (json!({"temperature": 1.5}), "temperature: range: 0..1"),
            (
                json!({"messages": [{"role": "system", "content": "x"}]}),
                "messages.0.role",
            ),
            (
                json!({"messages": [call, result]}),
                "unexpected `tool_use_id`",
            ),
            (
                json!({"messages": [call, {"role": "user", "content": "x"}]}),
                "without `tool_result` blocks immediately after: a",
            ),
            (
                json!({"tools": [{"name": "f"}]}),
                "tools.0.custom.input_schema: Field required",
            ),
            (
                json!({"messages": [call, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}],
                    "thinking": {"type": "enabled", "budget_tokens": 1_024}}),
                "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
            ),
            (
                json!({"messages": [{"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "t", "signature": Sealer::Google.seal(7)}]}]}),
                "Invalid `signature` in `thinking` block",
            ),
            (
                json!({"thinking": {"type": "enabled", "budget_tokens": 2_000}}),
                "`max_tokens` must be greater",
            ),
        ] {
            let complaint = read_body(&changes).unwrap_err();
            assert!(
                complaint.message.contains(words),
                "{changes}: {complaint:?}"
            );
        }
    }

    #[test]
    fn a_forced_tool_and_a_schema_are_understood() {
        let tools = json!([{"name": "f", "input_schema": {"type": "object"}}]);
        let forced = json!({"tools": tools, "tool_choice": {"type": "tool", "name": "f"}});
        assert_eq!(read_body(&forced).unwrap().shape, Shape::Tools(1));
        let schema = json!({"type": "object"});
        let format =
            json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}});
        assert_eq!(read_body(&format).unwrap().shape, Shape::Json(Some(schema)));
    }
}
