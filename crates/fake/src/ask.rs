//! What a chat completion request asks for, read from its JSON, or the provider's complaint about it.
//!
//! Reads only what an answer depends on. Everything else a client may send is left alone, and shown back where `fake.echo`
//! asks for it.

mod content_id;
mod prompt;

use serde::Deserialize;
use serde_json::{Map, Value};

use content_id::content_id;
pub(crate) use prompt::Prompt;

use crate::Millis;
use crate::fault::Fault;

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

/// Tokens of output over all choices at most, whatever is asked.
const OUTPUT_MAX: u64 = 200_000;
/// The longest name of a model, in bytes.
const MODEL_BYTES_MAX: usize = 256;
/// Choices at most, as OpenAI has it.
const CHOICES_MAX: u64 = 128;

/// A request that can be answered.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) include_usage: bool,
    pub(crate) choices: u64,
    pub(crate) best_of: u64,
    pub(crate) output_max: Option<u64>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) shape: Shape,
    pub(crate) prompt: Prompt,
    /// Names what was asked, whatever its model and its way of delivery: equal for a request and for what a gateway makes
    /// of it.
    pub(crate) content_id: u64,
    pub(crate) unknown: Map<String, Value>,
    pub(crate) wishes: Wishes,
}

/// The form of the answer.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Text,
    /// JSON text, after a schema if there is one.
    Json(Option<Value>),
    /// So many calls of tools.
    Tools(u64),
}

/// A function that may be called.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) parameters: Value,
}

/// The `fake` field of a request: what its sender wants the answer to be like.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wishes {
    pub(crate) output_tokens: Option<u64>,
    pub(crate) reasoning_tokens: u64,
    pub(crate) prompt_tokens: Option<u64>,
    pub(crate) cached_tokens: u64,
    pub(crate) ms_per_token: Option<Millis>,
    pub(crate) head_ms: Option<Millis>,
    pub(crate) tools: Option<u64>,
    pub(crate) echo: bool,
    pub(crate) extra: Map<String, Value>,
    pub(crate) fault: Option<Fault>,
}

/// Why a request cannot be answered, in the provider's terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    pub(crate) param: Option<&'static str>,
    pub(crate) code: Option<&'static str>,
}

impl Ask {
    /// Reads a body. `deployment` is the model that the path names, where it does.
    pub(crate) fn read(body: &[u8], deployment: Option<&str>) -> Result<Self, Complaint> {
        let Ok(Value::Object(mut body)) = serde_json::from_slice(body) else {
            return Err(Complaint {
                message:
                    "We could not parse the JSON body of your request: expected a JSON object."
                        .to_owned(),
                param: None,
                code: None,
            });
        };
        let wishes = match body.remove("fake") {
            None => Wishes::default(),
            Some(wishes) => serde_json::from_value(wishes)
                .map_err(|error| invalid("fake", format!("Invalid 'fake': {error}.")))?,
        };
        let model = match (deployment, body.get("model")) {
            (Some(deployment), _) => deployment.to_owned(),
            (None, Some(Value::String(model))) if !model.is_empty() => model.clone(),
            (None, None) => return Err(missing("model")),
            (None, Some(_)) => return Err(wrong_type("model", "a non-empty string")),
        };
        if model.len() > MODEL_BYTES_MAX {
            let message = format!("Invalid 'model': longer than {MODEL_BYTES_MAX} bytes.");
            return Err(invalid("model", message));
        }
        let messages = match body.get("messages") {
            Some(Value::Array(messages)) if !messages.is_empty() => messages,
            Some(Value::Array(_)) => {
                let message = "Invalid 'messages': empty array. Expected at least one message.";
                return Err(invalid("messages", message.to_owned()));
            }
            None => return Err(missing("messages")),
            Some(_) => return Err(wrong_type("messages", "an array of messages")),
        };
        let stream = flag(&body, "stream")?;
        let stream_options = body
            .get("stream_options")
            .filter(|options| !options.is_null());
        if stream_options.is_some() && !stream {
            let message =
                "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
            return Err(invalid("stream_options", message.to_owned()));
        }
        let choices = count(&body, "n")?.unwrap_or(1);
        if choices > CHOICES_MAX {
            return Err(invalid(
                "n",
                format!("Invalid 'n': at most {CHOICES_MAX} choices."),
            ));
        }
        let tools = tools(&body)?;
        Ok(Self {
            model,
            stream,
            include_usage: stream_options
                .is_some_and(|options| options["include_usage"] == Value::Bool(true)),
            choices,
            best_of: count(&body, "best_of")?.unwrap_or(1),
            output_max: count(&body, "max_tokens")?.max(count(&body, "max_completion_tokens")?),
            shape: shape(&body, messages, &tools, &wishes),
            tools,
            prompt: Prompt::of(messages)?,
            content_id: content_id(&body),
            unknown: if wishes.echo {
                unknown(&body)
            } else {
                Map::new()
            },
            wishes,
        })
    }

    /// Tokens of the prompt as usage reports them.
    pub(crate) fn prompt_tokens(&self) -> u64 {
        self.wishes.prompt_tokens.unwrap_or(self.prompt.tokens)
    }

    /// Tokens of output per choice, reasoning included, and whether that is all that there was to say.
    pub(crate) fn output(&self, usual: u64) -> (u64, bool) {
        let wanted = self.wishes.output_tokens.unwrap_or(usual);
        let wanted = wanted
            .max(self.wishes.reasoning_tokens)
            .min(OUTPUT_MAX / self.choices);
        match self.output_max {
            Some(most) if wanted > most => (most, false),
            _ => (wanted, true),
        }
    }
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Complaint> {
    let tools = match body.get("tools") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(tools)) => tools,
        Some(_) => return Err(wrong_type("tools", "an array of tools")),
    };
    tools
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

/// Tools are called when there are any, unless the last message brings the result of a call or the caller says how many.
fn shape(body: &Map<String, Value>, messages: &[Value], tools: &[Tool], wishes: &Wishes) -> Shape {
    let answers_a_tool = messages
        .last()
        .is_some_and(|message| message["role"] == "tool");
    let refused = body
        .get("tool_choice")
        .is_some_and(|choice| choice == "none");
    let calls = wishes
        .tools
        .unwrap_or(u64::from(!answers_a_tool))
        .min(CHOICES_MAX);
    if !tools.is_empty() && !refused && calls > 0 {
        return Shape::Tools(calls);
    }
    let format = body.get("response_format").unwrap_or(&Value::Null);
    match format["type"].as_str() {
        Some("json_schema") => Shape::Json(Some(format["json_schema"]["schema"].clone())),
        Some("json_object") => Shape::Json(None),
        _ => Shape::Text,
    }
}

fn unknown(body: &Map<String, Value>) -> Map<String, Value> {
    body.iter()
        .filter(|(name, _)| KNOWN.binary_search(&name.as_str()).is_err())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn flag(body: &Map<String, Value>, name: &'static str) -> Result<bool, Complaint> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(wrong_type(name, "a boolean")),
    }
}

fn count(body: &Map<String, Value>, name: &'static str) -> Result<Option<u64>, Complaint> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(0) => Err(Complaint {
                message: format!(
                    "Invalid '{name}': integer below minimum value. Expected a value >= 1."
                ),
                param: Some(name),
                code: Some("integer_below_min_value"),
            }),
            Some(count) => Ok(Some(count)),
            None => Err(wrong_type(name, "a positive integer")),
        },
    }
}

fn missing(param: &'static str) -> Complaint {
    Complaint {
        message: format!("Missing required parameter: '{param}'."),
        param: Some(param),
        code: Some("missing_required_parameter"),
    }
}

fn wrong_type(param: &'static str, expected: &str) -> Complaint {
    Complaint {
        message: format!("Invalid type for '{param}': expected {expected}."),
        param: Some(param),
        code: Some("invalid_type"),
    }
}

fn invalid(param: &'static str, message: String) -> Complaint {
    Complaint {
        message,
        param: Some(param),
        code: Some("invalid_value"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(body: &Value) -> Result<Ask, Complaint> {
        Ask::read(body.to_string().as_bytes(), None)
    }

    #[test]
    fn known_fields_are_sorted_for_the_search() {
        assert!(KNOWN.is_sorted());
    }

    #[test]
    fn the_prompt_is_counted_in_bytes_of_content_and_roles() {
        let ask = ask(&json!({"model": "m", "messages": [
            {"role": "user", "content": "안녕 🚀"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "abc"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ]},
        ]}))
        .unwrap();
        // user 4 + 11, assistant 9 + 3; the image by its own rule.
        assert_eq!((ask.prompt.bytes, ask.prompt.image_tokens), (27, 765));
        assert!(ask.prompt.hangul && ask.prompt.emoji);
    }

    #[test]
    fn the_content_id_ignores_delivery_and_order_of_keys() {
        let message = json!({"role": "user", "content": "x"});
        let one = ask(&json!({"model": "a", "messages": [message]})).unwrap();
        let other = Ask::read(
            br#"{"stream":true,"stream_options":{"include_usage":true},"messages":[{"content":"x","role":"user"}],"model":"b"}"#,
            None,
        )
        .unwrap();
        assert_eq!(one.content_id, other.content_id);
        let third = ask(&json!({"model": "a", "messages": [message, message]})).unwrap();
        assert_ne!(one.content_id, third.content_id);
    }

    #[test]
    fn the_larger_maximum_counts_and_cuts() {
        let ask = ask(
            &json!({"model": "m", "messages": [{"role": "user", "content": "x"}],
            "max_tokens": 5, "max_completion_tokens": 9}),
        )
        .unwrap();
        assert_eq!(ask.output_max, Some(9));
        assert_eq!(ask.output(32), (9, false));
        assert_eq!(ask.output(9), (9, true));
    }

    #[test]
    fn complaints_name_the_parameter() {
        let user = json!([{"role": "user", "content": "x"}]);
        for (body, param) in [
            (json!({"messages": user}), "model"),
            (json!({"model": "m".repeat(257), "messages": user}), "model"),
            (json!({"model": "m"}), "messages"),
            (json!({"model": "m", "messages": []}), "messages"),
            (
                json!({"model": "m", "messages": [{"content": "x"}]}),
                "messages[].role",
            ),
            (
                json!({"model": "m", "messages": user, "max_tokens": 0}),
                "max_tokens",
            ),
            (json!({"model": "m", "messages": user, "n": 129}), "n"),
            (
                json!({"model": "m", "messages": user, "stream_options": {}}),
                "stream_options",
            ),
            (
                json!({"model": "m", "messages": user, "fake": {"outputs": 3}}),
                "fake",
            ),
        ] {
            assert_eq!(ask(&body).unwrap_err().param, Some(param), "{body}");
        }
        assert_eq!(Ask::read(b"{", None).unwrap_err().param, None);
    }
}
