//! Cohere's second interface, chat and embeddings, as they are asked for.

use serde_json::{Map, Value};

use super::content_id::content_id;
use super::embed::Embed;
use super::field::{complain, flag, given, list, texts};
use super::talk::{Role, Talk};
use super::{Complaint, Draft, Tool, ToolChoice, model};

const CONTENT: [&str; 5] = [
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "seed",
];
const TEXTS_MAX: usize = 96;

/// Reads a request for a chat.
pub(super) fn read(mut body: Map<String, Value>, talk: &mut Talk) -> Result<Draft, Complaint> {
    let fake = body.remove("fake");
    let Some(messages) = given(&body, "messages").and_then(Value::as_array) else {
        return Err(complain(
            "invalid request: message must be at least 1 token long or tool results must be specified.",
        ));
    };
    if messages.is_empty() {
        return Err(complain(
            "invalid request: list of messages must not be empty",
        ));
    }
    for (index, message) in messages.iter().enumerate() {
        hear(index, message, talk)?;
    }
    let output_max = match given(&body, "max_tokens").map(Value::as_u64) {
        None | Some(Some(0)) => None,
        Some(Some(most)) => Some(most),
        Some(None) => {
            return Err(complain(
                "invalid type: parameter max_tokens is of type string but should be of type integer.",
            ));
        }
    };
    let format = body.get("response_format").unwrap_or(&Value::Null);
    let schemas = [&format["json_schema"], &format["schema"]];
    let schema = schemas.into_iter().find(|schema| schema.is_object());
    Ok(Draft {
        model: named(&body)?,
        stream: flag(&body, "stream")?,
        include_usage: true,
        output_max,
        tools: tools(&body)?,
        choice: match body.get("tool_choice").and_then(Value::as_str) {
            Some("NONE") => ToolChoice::Never,
            Some("REQUIRED") => ToolChoice::Any,
            _ => ToolChoice::Auto,
        },
        json: (format["type"] == "json_object").then(|| schema.cloned()),
        stops: texts(body.get("stop_sequences")),
        thinks: body
            .get("thinking")
            .is_some_and(|thinking| thinking["type"] == "enabled"),
        content_id: content_id(&body, &CONTENT),
        fake,
        ..Draft::default()
    })
}

/// Reads a request for embeddings.
pub(super) fn embed(mut body: Map<String, Value>, talk: &mut Talk) -> Result<Draft, Complaint> {
    let fake = body.remove("fake");
    if !body.contains_key("input_type") {
        return Err(complain(
            "invalid request: valid input_type must be provided with the provided model",
        ));
    }
    let mut embed = Embed {
        dimensions: given(&body, "output_dimension").and_then(Value::as_u64),
        forms: match texts(body.get("embedding_types")) {
            none if none.is_empty() => vec!["float".to_owned()],
            forms => forms,
        },
        ..Embed::default()
    };
    let inputs = list(&body, "inputs")?.iter().map(|input| {
        let parts = input["content"].as_array().into_iter().flatten();
        parts
            .filter_map(|part| part["text"].as_str())
            .collect::<String>()
    });
    for text in texts(body.get("texts")).into_iter().chain(inputs) {
        embed.hear(text, talk);
    }
    if embed.texts.is_empty() {
        return Err(complain(
            "invalid request: must provide one of 'texts', 'images' or 'inputs'",
        ));
    }
    if embed.texts.len() > TEXTS_MAX {
        return Err(complain(format!(
            "invalid request: total number of texts must be at most {TEXTS_MAX}"
        )));
    }
    Ok(Draft {
        model: named(&body)?,
        content_id: content_id(&body, &["texts", "inputs"]),
        embed: Some(embed),
        fake,
        ..Draft::default()
    })
}

fn named(body: &Map<String, Value>) -> Result<Option<String>, Complaint> {
    match model(body) {
        Ok(Some(model)) => Ok(Some(model)),
        _ => Err(complain("invalid request: model is required")),
    }
}

fn hear(index: usize, message: &Value, talk: &mut Talk) -> Result<(), Complaint> {
    let (role, name) = match message["role"].as_str() {
        Some("system") => (Role::System, "system"),
        Some("user") => (Role::User, "user"),
        Some("assistant") => (Role::Assistant, "assistant"),
        Some("tool") => (Role::Tool, "tool"),
        other => {
            let other = other.unwrap_or_default();
            return Err(complain(format!(
                "invalid request: invalid role '{other}' at messages[{index}]"
            )));
        }
    };
    if role == Role::Tool && message["tool_call_id"].as_str().is_none() {
        return Err(complain(format!(
            "invalid request: tool_call_id must be provided at messages[{index}]"
        )));
    }
    talk.turn(role, name);
    let mut say = |text: &str| match role {
        Role::Tool => talk.result(text),
        _ => talk.text(text),
    };
    match &message["content"] {
        Value::String(text) => say(text),
        Value::Array(parts) => {
            for part in parts {
                if let Some(text) = part["text"].as_str() {
                    say(text);
                } else if let Some(data) = part["document"].get("data") {
                    match data.as_str() {
                        Some(text) => say(text),
                        None => say(&data.to_string()),
                    }
                }
            }
            let images = parts.iter().filter(|part| part["type"] == "image_url");
            images.for_each(|_| talk.image());
        }
        _ => {}
    }
    Ok(())
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Complaint> {
    list(body, "tools")?
        .iter()
        .map(|tool| match tool["function"]["name"].as_str() {
            Some(name) => Ok(Tool {
                name: name.to_owned(),
                parameters: tool["function"]["parameters"].clone(),
            }),
            None => Err(complain(
                "invalid request: tools must have a function with a name",
            )),
        })
        .collect()
}
