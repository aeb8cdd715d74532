//! OpenAI's chat completions, as they are asked for.

use serde_json::{Map, Value};

use super::content_id::content_id;
use super::field::{count, flag, given, invalid, list, missing, texts, wrong_type};
use super::sampling::Sampling;
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

/// Fields that say more of how tokens are chosen.
const FINER: [&str; 4] = [
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "logit_bias",
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
    let tools = tools(&body)?;
    if !tools.is_empty() {
        check_effort(
            model.as_deref().unwrap_or_default(),
            given(&body, "reasoning_effort"),
        )?;
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
        tools,
        choice: choice(body.get("tool_choice").unwrap_or(&Value::Null)),
        json: json(body.get("response_format").unwrap_or(&Value::Null)),
        stops: texts(body.get("stop")),
        sampling: Sampling::of(&body, ["temperature", "top_p"], &FINER),
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

/// Some models take tools here only where they do not think, which the last of them does unless it is told not to.
fn check_effort(model: &str, effort: Option<&Value>) -> Result<(), Complaint> {
    let thinks = match effort {
        None => model.starts_with("gpt-5.6"),
        Some(effort) => {
            effort != "none"
                && ["gpt-5.4", "gpt-5.5", "gpt-5.6"]
                    .iter()
                    .any(|it| model.starts_with(it))
        }
    };
    if !thinks {
        return Ok(());
    }
    Err(Complaint {
        message: format!(
            "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use function tools, \
             use /v1/responses or set reasoning_effort to 'none'."
        ),
        param: Some("reasoning_effort"),
        code: None,
    })
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

    #[test]
    fn some_models_take_tools_only_where_they_do_not_think() {
        for (model, effort, is_taken) in [
            ("gpt-5.5", None, true),
            ("gpt-5.5", Some("low"), false),
            ("gpt-5.5", Some("none"), true),
            ("gpt-5.6-terra", None, false),
            ("gpt-5.6-terra", Some("none"), true),
            ("gpt-5.2", Some("high"), true),
        ] {
            let effort = effort.map(Value::from);
            let checked = check_effort(model, effort.as_ref());
            assert_eq!(checked.is_ok(), is_taken, "{model} {effort:?}");
        }
    }
}
