//! OpenAI's responses, as they are asked for.

use serde_json::{Map, Value, json};

use super::content_id::content_id;
use super::field::{count, flag, given, invalid, list, missing, wrong_type};
use super::sampling::Sampling;
use super::talk::{Role, Talk};
use super::{Complaint, Draft, Tool, ToolChoice, model};

const CONTENT: [&str; 5] = ["input", "instructions", "tools", "tool_choice", "text"];
/// The interface takes no smaller maximum.
const OUTPUT_MAX_LEAST: u64 = 16;
/// Fields that the answer repeats, with what stands there if they are missing.
const REPEATED: [(&str, &str); 14] = [
    ("instructions", "null"),
    ("max_output_tokens", "null"),
    ("metadata", "{}"),
    ("parallel_tool_calls", "true"),
    ("previous_response_id", "null"),
    ("reasoning", r#"{"effort": null, "summary": null}"#),
    ("store", "true"),
    ("temperature", "1.0"),
    ("text", r#"{"format": {"type": "text"}}"#),
    ("tool_choice", r#""auto""#),
    ("tools", "[]"),
    ("top_p", "1.0"),
    ("truncation", r#""disabled""#),
    ("user", "null"),
];

/// Reads a body.
pub(super) fn read(mut body: Map<String, Value>, talk: &mut Talk) -> Result<Draft, Complaint> {
    let fake = body.remove("fake");
    if let Some(id) = given(&body, "previous_response_id") {
        // Nothing is kept, whatever `store` says.
        return Err(Complaint {
            message: format!(
                "Previous response with id '{}' not found.",
                id.as_str().unwrap_or_default()
            ),
            param: Some("previous_response_id"),
            code: Some("previous_response_not_found"),
        });
    }
    let output_max = count(&body, "max_output_tokens")?;
    if output_max.is_some_and(|most| most < OUTPUT_MAX_LEAST) {
        return Err(Complaint {
            message: format!(
                "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {OUTPUT_MAX_LEAST}."
            ),
            param: Some("max_output_tokens"),
            code: Some("integer_below_min_value"),
        });
    }
    if let Some(instructions) = given(&body, "instructions").and_then(Value::as_str) {
        talk.turn(Role::System, "system");
        talk.text(instructions);
    }
    match body.get("input") {
        Some(Value::String(text)) => {
            talk.turn(Role::User, "user");
            talk.text(text);
        }
        Some(Value::Array(items)) => {
            for item in items {
                hear(item, talk)?;
            }
        }
        None => return Err(missing("input")),
        Some(_) => return Err(wrong_type("input", "a string or an array of items")),
    }
    let reasoning = body.get("reasoning").unwrap_or(&Value::Null);
    Ok(Draft {
        model: model(&body)?,
        stream: flag(&body, "stream")?,
        include_usage: true,
        output_max,
        tools: tools(&body)?,
        choice: choice(body.get("tool_choice").unwrap_or(&Value::Null)),
        json: json_of(&body),
        thinks: !reasoning["summary"].is_null(),
        sampling: Sampling::of(&body, ["temperature", "top_p"], &["top_logprobs"]),
        content_id: content_id(&body, &CONTENT),
        repeated: repeated(&body),
        fake,
        ..Draft::default()
    })
}

fn hear(item: &Value, talk: &mut Talk) -> Result<(), Complaint> {
    match item["type"].as_str() {
        None | Some("message") => hear_message(item, talk),
        Some("function_call_output") => {
            if item["call_id"].as_str().is_none() {
                return Err(missing("input[].call_id"));
            }
            talk.turn(Role::Tool, "tool");
            match &item["output"] {
                Value::Array(parts) => {
                    let texts = parts.iter().filter_map(|part| part["text"].as_str());
                    talk.result(&texts.collect::<Vec<_>>().join(" "));
                }
                output => talk.result(output.as_str().unwrap_or_default()),
            }
            Ok(())
        }
        Some("function_call" | "reasoning") => {
            talk.turn(Role::Assistant, "assistant");
            Ok(())
        }
        Some(other) => Err(invalid("input", format!("Invalid value: '{other}'."))),
    }
}

fn hear_message(item: &Value, talk: &mut Talk) -> Result<(), Complaint> {
    let (role, name) = match item["role"].as_str() {
        Some("system" | "developer") => (Role::System, "system"),
        Some("assistant") => (Role::Assistant, "assistant"),
        Some("user") => (Role::User, "user"),
        Some(other) => {
            return Err(invalid(
                "input[].role",
                format!("Invalid value: '{other}'."),
            ));
        }
        None => return Err(missing("input[].role")),
    };
    talk.turn(role, name);
    match &item["content"] {
        Value::String(text) => talk.text(text),
        Value::Array(parts) => {
            for part in parts {
                match part["type"].as_str() {
                    Some("input_text" | "output_text") => {
                        talk.text(part["text"].as_str().unwrap_or_default());
                    }
                    Some("input_image" | "input_file") => talk.image(),
                    Some("refusal") => {}
                    other => {
                        let other = other.unwrap_or_default();
                        let message = format!(
                            "Invalid value: '{other}'. Supported values are: 'input_text', 'input_image', 'output_text', \
                             'refusal', and 'input_file'."
                        );
                        return Err(invalid("input[].content[].type", message));
                    }
                }
            }
        }
        _ => return Err(missing("input[].content")),
    }
    Ok(())
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Complaint> {
    list(body, "tools")?
        .iter()
        .filter(|tool| tool["type"] == "function")
        .map(|tool| match tool["name"].as_str() {
            Some(name) => Ok(Tool {
                name: name.to_owned(),
                parameters: tool["parameters"].clone(),
            }),
            None => Err(missing("tools[].name")),
        })
        .collect()
}

fn choice(choice: &Value) -> ToolChoice {
    match (choice.as_str(), choice["name"].as_str()) {
        (Some("none"), _) => ToolChoice::Never,
        (Some("required"), _) => ToolChoice::Any,
        (None, Some(name)) => ToolChoice::Only(name.to_owned()),
        _ => ToolChoice::Auto,
    }
}

fn json_of(body: &Map<String, Value>) -> Option<Option<Value>> {
    let format = &body.get("text")?["format"];
    match format["type"].as_str() {
        Some("json_schema") => Some(Some(format["schema"].clone())),
        Some("json_object") => Some(None),
        _ => None,
    }
}

fn repeated(body: &Map<String, Value>) -> Map<String, Value> {
    let fields = REPEATED.iter().map(|(name, usual)| {
        let usual = || serde_json::from_str(usual).unwrap_or(json!(null));
        let value = given(body, name).cloned().unwrap_or_else(usual);
        ((*name).to_owned(), value)
    });
    fields.collect()
}
