//! Bedrock's Converse, as it is asked for. Fields for one model alone may carry the wishes, since SDKs send no others.

use serde_json::{Map, Value};

use super::content_id::content_id;
use super::field::{complain, texts};
use super::sampling::Sampling;
use super::talk::{Role, Talk};
use super::{Complaint, Draft, Tool, ToolChoice};

const CONTENT: [&str; 4] = ["messages", "system", "toolConfig", "outputConfig"];

/// Reads a body.
pub(super) fn read(body: Map<String, Value>, talk: &mut Talk) -> Result<Draft, Complaint> {
    let content_id = content_id(&body, &CONTENT);
    let body = Value::Object(body);
    let system = body["system"].as_array().into_iter().flatten();
    let system: Vec<&str> = system.filter_map(|block| block["text"].as_str()).collect();
    if !system.is_empty() {
        talk.turn(Role::System, "system");
        system.iter().for_each(|text| talk.text(text));
    }
    let Some(messages) = body["messages"].as_array().filter(|list| !list.is_empty()) else {
        return Err(complain(
            "1 validation error detected: Value at 'messages' failed to satisfy constraint: Member must have length greater \
             than or equal to 1",
        ));
    };
    if messages[0]["role"] != "user" {
        return Err(complain(
            "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
        ));
    }
    let has_tools = body["toolConfig"].is_object();
    for message in messages {
        hear(message, has_tools, talk)?;
    }
    let config = &body["inferenceConfig"];
    let output_max = match &config["maxTokens"] {
        Value::Null => None,
        most => match most.as_u64().filter(|most| *most > 0) {
            Some(most) => Some(most),
            None => {
                return Err(complain(
                    "1 validation error detected: Value at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member \
                     must have value greater than or equal to 1",
                ));
            }
        },
    };
    let own = &body["additionalModelRequestFields"];
    let top_k = (!own["top_k"].is_null()).then_some("top_k");
    let fake = [&body["fake"], &own["fake"]];
    Ok(Draft {
        include_usage: true,
        output_max,
        tools: tools(&body["toolConfig"])?,
        choice: choice(&body["toolConfig"]["toolChoice"]),
        json: json(&body["outputConfig"]["textFormat"])?,
        stops: texts(Some(&config["stopSequences"])),
        thinks: thinks(&own["thinking"]) || thinks(&own["reasoning_config"]),
        sampling: config
            .as_object()
            .map_or_else(Sampling::default, |config| {
                Sampling::of(config, ["temperature", "topP"], &[])
            })
            .or(top_k),
        content_id,
        fake: fake.into_iter().find(|fake| !fake.is_null()).cloned(),
        ..Draft::default()
    })
}

fn hear(message: &Value, has_tools: bool, talk: &mut Talk) -> Result<(), Complaint> {
    let (role, name) = match message["role"].as_str() {
        Some("user") => (Role::User, "user"),
        Some("assistant") => (Role::Assistant, "assistant"),
        _ => {
            return Err(complain(
                "1 validation error detected: Value at 'messages.1.member.role' failed to satisfy constraint: Member must \
                 satisfy enum value set: [user, assistant]",
            ));
        }
    };
    let Some(blocks) = message["content"].as_array() else {
        return Err(complain(
            "The content field in the Message object is empty. Add a ContentBlock object to the content field and try again.",
        ));
    };
    talk.turn(role, name);
    for block in blocks {
        let is_tools = block.get("toolUse").or_else(|| block.get("toolResult"));
        if is_tools.is_some() && !has_tools {
            return Err(complain(
                "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
            ));
        }
        if let Some(text) = block["text"].as_str() {
            talk.text(text);
        } else if block.get("image").is_some() || block.get("document").is_some() {
            talk.image();
        } else if let Some(result) = block.get("toolResult") {
            let parts = result["content"].as_array().into_iter().flatten();
            let texts = parts.map(|part| match part["text"].as_str() {
                Some(text) => text.to_owned(),
                None => part["json"].to_string(),
            });
            talk.result(&texts.collect::<Vec<_>>().join(" "));
        }
    }
    Ok(())
}

fn tools(config: &Value) -> Result<Vec<Tool>, Complaint> {
    let tools = config["tools"].as_array().into_iter().flatten();
    tools
        .filter_map(|tool| tool.get("toolSpec"))
        .map(|tool| match (tool["name"].as_str(), &tool["inputSchema"]["json"]) {
            (Some(name), schema @ Value::Object(_)) => Ok(Tool {
                name: name.to_owned(),
                parameters: schema.clone(),
            }),
            _ => Err(complain(
                "The value at toolConfig.tools.0.toolSpec.inputSchema.json is not a JSON schema object.",
            )),
        })
        .collect()
}

fn choice(choice: &Value) -> ToolChoice {
    match choice["tool"]["name"].as_str() {
        Some(name) => ToolChoice::Only(name.to_owned()),
        None if choice.get("any").is_some() => ToolChoice::Any,
        None => ToolChoice::Auto,
    }
}

/// The schema comes as a text.
fn json(format: &Value) -> Result<Option<Option<Value>>, Complaint> {
    if format["type"] != "json_schema" {
        return Ok(None);
    }
    let schema = &format["structure"]["jsonSchema"]["schema"];
    match schema.as_str().map(serde_json::from_str) {
        Some(Ok(schema)) => Ok(Some(Some(schema))),
        _ => Err(complain(
            "The value at outputConfig.textFormat.structure.jsonSchema.schema is not a JSON schema.",
        )),
    }
}

fn thinks(thinking: &Value) -> bool {
    thinking["type"] == "enabled" || thinking["type"] == "adaptive"
}
