//! What a request asks for, in the same words whatever its dialect, or the provider's complaint about it.
//!
//! Reads only what an answer depends on. Everything else a client may send is left alone, and shown back where `fake.echo`
//! asks for it. A file below reads each dialect into a [`Draft`]; what triggers what is decided here, once for all.

mod chat;
mod cohere;
mod completions;
mod content_id;
mod converse;
mod embed;
mod field;
mod gemini;
mod instruction;
mod messages;
mod prompt;
mod responses;
mod sampling;
mod talk;
mod wishes;

use serde_json::{Map, Value};

pub(crate) use content_id::text_id;
pub(crate) use embed::Embed;
pub(crate) use gemini::seals_calls;
pub(crate) use prompt::Prompt;
pub(crate) use wishes::{JsonWish, Wishes};

use crate::dialect::{Dialect, Door, Task};
use crate::settings;
use field::{invalid, missing, wrong_type};
use sampling::Sampling;
use talk::Talk;

/// Tokens of output over all choices at most, whatever is asked.
const OUTPUT_MAX: u64 = 200_000;
/// The longest name of a model, in bytes.
const MODEL_BYTES_MAX: usize = 256;
/// Choices at most, as OpenAI has it; also calls of tools.
const CHOICES_MAX: u64 = 128;

/// A request that can be answered.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) dialect: Dialect,
    pub(crate) task: Task,
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) include_usage: bool,
    pub(crate) choices: u64,
    pub(crate) best_of: u64,
    pub(crate) output_max: Option<u64>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) shape: Shape,
    /// What tools answered, if that is what the model is to go on from.
    pub(crate) results: Option<String>,
    /// Sequences before which the answer ends.
    pub(crate) stops: Vec<String>,
    /// Whether the answer shows what was thought.
    pub(crate) thinks: bool,
    sampling: Sampling,
    pub(crate) prompt: Prompt,
    /// Names what was asked, whatever its model and its way of delivery: equal for a request and for what a gateway makes
    /// of it.
    pub(crate) content_id: u64,
    /// Names the conversation by how it began.
    pub(crate) conversation: u64,
    pub(crate) unknown: Map<String, Value>,
    /// Prompts that the answer begins with, in turn.
    pub(crate) before: Vec<String>,
    /// Fields that the answer repeats.
    pub(crate) repeated: Map<String, Value>,
    /// What is to be embedded, if that is the task.
    pub(crate) embed: Embed,
    /// Whether the answer is a list also where only one thing was asked.
    pub(crate) batch: bool,
    pub(crate) wishes: Wishes,
}

/// The form of the answer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Shape {
    Text,
    /// JSON text, after a schema if there is one.
    Json(Option<Value>),
    /// So many calls of tools.
    Tools(u64),
}

/// A function that may be called.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) parameters: Value,
}

/// Whether tools are called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It may not.
    Never,
    /// It must.
    Any,
    /// It must, and this one.
    Only(String),
}

/// Why a request cannot be answered, in the provider's terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    pub(crate) param: Option<&'static str>,
    pub(crate) code: Option<&'static str>,
}

/// What one dialect's reader found.
#[derive(Debug, Default)]
struct Draft {
    model: Option<String>,
    stream: bool,
    include_usage: bool,
    choices: Option<u64>,
    best_of: Option<u64>,
    output_max: Option<u64>,
    tools: Vec<Tool>,
    choice: ToolChoice,
    /// JSON output, and the schema if there is one.
    json: Option<Option<Value>>,
    stops: Vec<String>,
    thinks: bool,
    sampling: Sampling,
    content_id: u64,
    /// Fields that the dialect does not know.
    unknown: Map<String, Value>,
    before: Vec<String>,
    repeated: Map<String, Value>,
    embed: Option<Embed>,
    /// The field with the wishes.
    fake: Option<Value>,
}

impl Ask {
    /// Reads the body of a request that came through `door`.
    pub(crate) fn read(body: &[u8], door: &Door) -> Result<Self, Complaint> {
        let body = field::object(body)?;
        let mut talk = Talk::new();
        let draft = match door.dialect {
            Dialect::Chat => chat::read(body, &mut talk),
            Dialect::Responses => responses::read(body, &mut talk),
            Dialect::Completions => completions::read(body, &mut talk),
            Dialect::Embeddings => completions::embeddings(body, &mut talk),
            Dialect::Messages => messages::read(body, door, &mut talk),
            Dialect::Gemini => gemini::read(body, door, &mut talk),
            Dialect::Converse => converse::read(body, &mut talk),
            Dialect::Cohere if door.task == Task::Embed => cohere::embed(body, &mut talk),
            Dialect::Cohere => cohere::read(body, &mut talk),
        }?;
        draft.finish(door, &talk)
    }

    /// Whether its model takes what it says of how tokens are to be chosen.
    pub(crate) fn check_sampling(&self, models: &settings::Sampling) -> Result<(), Complaint> {
        self.sampling.check(self.dialect, &self.model, models)
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

    /// Of `output` tokens those that were thought: as wished, or a quarter where the request wants to see them.
    pub(crate) fn reasoning(&self, output: u64) -> u64 {
        match self.wishes.reasoning_tokens {
            0 if self.thinks => output / 4,
            wished => wished.min(output),
        }
    }
}

impl Draft {
    fn finish(self, door: &Door, talk: &Talk) -> Result<Ask, Complaint> {
        let wishes = Wishes::read(talk.wishes()?, self.fake)?;
        let Some(model) = door.model.clone().or(self.model) else {
            return Err(missing("model"));
        };
        if model.len() > MODEL_BYTES_MAX {
            let message = format!("Invalid 'model': longer than {MODEL_BYTES_MAX} bytes.");
            return Err(invalid("model", message));
        }
        let choices = self.choices.unwrap_or(1);
        if choices > CHOICES_MAX {
            let message = format!("Invalid 'n': at most {CHOICES_MAX} choices.");
            return Err(invalid("n", message));
        }
        let mut tools = self.tools;
        if let ToolChoice::Only(name) = &self.choice {
            tools.retain(|tool| tool.name == *name);
            if tools.is_empty() {
                let message = format!("Tool choice '{name}' is not among the tools.");
                return Err(invalid("tool_choice", message));
            }
        }
        let json = self.json.or_else(|| talk.json_in_words());
        Ok(Ask {
            dialect: door.dialect,
            task: door.task,
            model,
            stream: door.stream.unwrap_or(self.stream),
            include_usage: self.include_usage,
            choices,
            best_of: self.best_of.unwrap_or(1),
            output_max: self.output_max,
            shape: shape(&tools, &self.choice, talk.answers_a_tool(), json, &wishes),
            tools,
            results: talk.results(),
            stops: self.stops,
            thinks: self.thinks || wishes.thinking,
            sampling: self.sampling,
            prompt: talk.prompt,
            content_id: self.content_id,
            conversation: talk.id(),
            unknown: if wishes.echo {
                self.unknown
            } else {
                Map::new()
            },
            before: self.before,
            repeated: self.repeated,
            embed: self.embed.unwrap_or_default(),
            batch: door.batch,
            wishes,
        })
    }
}

/// Tools are called when there are any, unless the last message brings the result of a call and no other is demanded, or
/// the caller says how many.
fn shape(
    tools: &[Tool],
    choice: &ToolChoice,
    answers_a_tool: bool,
    json: Option<Option<Value>>,
    wishes: &Wishes,
) -> Shape {
    let usual = match choice {
        ToolChoice::Never => 0,
        ToolChoice::Auto => u64::from(!answers_a_tool),
        ToolChoice::Any | ToolChoice::Only(_) => 1,
    };
    let calls = match choice {
        ToolChoice::Never => 0,
        _ => wishes.tools.unwrap_or(usual).min(CHOICES_MAX),
    };
    match json {
        _ if !tools.is_empty() && calls > 0 => Shape::Tools(calls),
        Some(schema) => Shape::Json(schema),
        None => Shape::Text,
    }
}

/// The name of a model in a body, where it has one.
fn model(body: &Map<String, Value>) -> Result<Option<String>, Complaint> {
    match body.get("model") {
        None => Ok(None),
        Some(Value::String(model)) if !model.is_empty() => Ok(Some(model.clone())),
        Some(_) => Err(wrong_type("model", "a non-empty string")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &[u8]) -> Result<Ask, Complaint> {
        Ask::read(body, &Door::to(Dialect::Chat))
    }

    fn ask(body: &Value) -> Result<Ask, Complaint> {
        read(body.to_string().as_bytes())
    }

    #[test]
    fn a_demanded_tool_is_called_also_after_a_result() {
        let tool = |name: &str| json!({"type": "function", "function": {"name": name}});
        let body = |choice: Value| {
            json!({"model": "m", "tools": [tool("a"), tool("b")], "tool_choice": choice, "messages": [
                {"role": "user", "content": "x"}, {"role": "tool", "content": "y"}]})
        };
        let only = ask(&body(
            json!({"type": "function", "function": {"name": "b"}}),
        ))
        .unwrap();
        assert_eq!(only.shape, Shape::Tools(1));
        assert_eq!(only.tools[0].name, "b");
        let auto = ask(&body(json!("auto"))).unwrap();
        assert_eq!(auto.shape, Shape::Text);
        assert_eq!(auto.results.as_deref(), Some("y"));
        assert_eq!(ask(&body(json!("none"))).unwrap().shape, Shape::Text);
        let unknown = body(json!({"type": "function", "function": {"name": "c"}}));
        assert_eq!(ask(&unknown).unwrap_err().param, Some("tool_choice"));
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
        let other = read(
            br#"{"stream":true,"stream_options":{"include_usage":true},"messages":[{"content":"x","role":"user"}],"model":"b"}"#,
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
        assert_eq!(read(b"{").unwrap_err().param, None);
    }
}
