//! OpenAI's chat completions, as they are asked for.

use serde_json::{Map, Value};

use super::content_id::content_id;
use super::field::{count, flag, given, invalid, list, missing, texts, wrong_type};
use super::talk::{Role, Talk};
use super::{Complaint, Draft, Tool, ToolChoice, model};

/// Fields of the chat interface; all others are unknown to it.
const KNOWN: [&str; 39] = [
    "audio",
    "best_of",
    "fake",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "suffix",
    "temperature",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// Fields that say what is asked.
const CONTENT: [&str; 6] = [
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "n",
    "seed",
];

/// Reads a body.
pub(super) fn read(mut body: Map<String, Value>, talk: &mut Talk) -> Result<Draft, Complaint> {
    let fake = body.remove("fake");
    let model = model(&body)?;
    match body.get("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => hear(messages, talk)?,
        Some(Value::Array(_)) => {
            let message = "Invalid 'messages': empty array. Expected at least one message.";
            return Err(invalid("messages", message.to_owned()));
        }
        None => return Err(missing("messages")),
        Some(_) => return Err(wrong_type("messages", "an array of messages")),
    }
    let stream = flag(&body, "stream")?;
    let stream_options = given(&body, "stream_options");
    if stream_options.is_some() && !stream {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(invalid("stream_options", message.to_owned()));
    }
    Ok(Draft {
        model,
        stream,
        include_usage: stream_options
            .is_some_and(|options| options["include_usage"] == Value::Bool(true)),
        choices: count(&body, "n")?,
        best_of: count(&body, "best_of")?,
        output_max: count(&body, "max_tokens")?.max(count(&body, "max_completion_tokens")?),
        tools: tools(&body)?,
        choice: choice(body.get("tool_choice").unwrap_or(&Value::Null)),
        json: json(body.get("response_format").unwrap_or(&Value::Null)),
        stops: texts(body.get("stop")),
        content_id: content_id(&body, &CONTENT),
        unknown: unknown(&body),
        fake,
        ..Draft::default()
    })
}

fn hear(messages: &[Value], talk: &mut Talk) -> Result<(), Complaint> {
    for message in messages {
        let Some(role) = message.get("role").and_then(Value::as_str) else {
            return Err(missing("messages[].role"));
        };
        talk.turn(role_of(role), role);
        match message.get("content") {
            Some(Value::String(text)) => say(talk, role, text),
            Some(Value::Array(parts)) => {
                for part in parts {
                    match part.get("text").and_then(Value::as_str) {
                        Some(text) => say(talk, role, text),
                        None if part["type"] == "image_url" => {
                            talk.image();
                        }
                        None => {}
                    }
                }
            }
            None | Some(Value::Null) => {}
            Some(_) => {
                return Err(wrong_type(
                    "messages[].content",
                    "a string or an array of parts",
                ));
            }
        }
    }
    Ok(())
}

fn say(talk: &mut Talk, role: &str, text: &str) {
    match role_of(role) {
        Role::Tool => talk.result(text),
        _ => talk.text(text),
    }
}

fn role_of(role: &str) -> Role {
    match role {
        "system" | "developer" => Role::System,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::User,
    }
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Complaint> {
    list(body, "tools")?
        .iter()
        .filter(|tool| tool["type"] == "function")
        .map(|tool| match tool["function"]["name"].as_str() {
            Some(name) => Ok(Tool {
                name: name.to_owned(),
                parameters: tool["function"]["parameters"].clone(),
            }),
            None => Err(missing("tools[].function.name")),
        })
        .collect()
}

fn choice(choice: &Value) -> ToolChoice {
    match choice.as_str() {
        Some("none") => ToolChoice::Never,
        Some("required") => ToolChoice::Any,
        _ => match choice["function"]["name"].as_str() {
            Some(name) => ToolChoice::Only(name.to_owned()),
            None => ToolChoice::Auto,
        },
    }
}

fn json(format: &Value) -> Option<Option<Value>> {
    match format["type"].as_str() {
        Some("json_schema") => Some(Some(format["json_schema"]["schema"].clone())),
        Some("json_object") => Some(None),
        _ => None,
    }
}

fn unknown(body: &Map<String, Value>) -> Map<String, Value> {
    body.iter()
        .filter(|(name, _)| KNOWN.binary_search(&name.as_str()).is_err())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_fields_are_sorted_for_the_search() {
        assert!(KNOWN.is_sorted());
    }
}
