//! The wire types of chat, version 2, as far as they are translated.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire_form::TextOr;

#[derive(Debug, Default, Serialize)]
pub(super) struct Request {
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<Tool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict_tools: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<ResponseFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop_sequences: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) k: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(super) struct Thinking {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_budget: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct ResponseFormat {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) json_schema: Option<Box<RawValue>>,
}

#[derive(Debug, Serialize)]
pub(super) struct Tool {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) function: Function,
}

#[derive(Debug, Serialize)]
pub(super) struct Function {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) parameters: Box<RawValue>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<TextOr<Part>>,
    /// What the model means to do by its calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_plan: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_calls: Option<Vec<Call>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing)]
    pub(super) thinking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(super) image_url: Option<ImageUrl>,
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(super) document: Option<Document>,
}

#[derive(Debug, Serialize)]
pub(super) struct ImageUrl {
    pub(super) url: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) data: DocumentData,
}

#[derive(Debug, Serialize)]
pub(super) struct DocumentData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    pub(super) text: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Call {
    pub(super) id: String,
    #[serde(rename = "type", skip_deserializing)]
    pub(super) kind: &'static str,
    pub(super) function: CalledFunction,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CalledFunction {
    pub(super) name: String,
    pub(super) arguments: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    pub(super) id: Option<String>,
    pub(super) finish_reason: Option<String>,
    pub(super) message: Option<Message>,
}

/// An event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEvent {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) id: Option<String>,
    pub(super) index: u64,
    pub(super) delta: Option<Delta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub(super) message: Option<MessageDelta>,
    pub(super) finish_reason: Option<String>,
    pub(super) error: Option<String>,
}

/// What is added: one of these.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageDelta {
    pub(super) content: Option<ContentDelta>,
    pub(super) tool_plan: Option<String>,
    pub(super) tool_calls: Option<CallDelta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContentDelta {
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallDelta {
    pub(super) id: Option<String>,
    pub(super) function: FunctionDelta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionDelta {
    pub(super) name: Option<String>,
    pub(super) arguments: Option<String>,
}
