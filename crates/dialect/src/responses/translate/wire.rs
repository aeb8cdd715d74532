//! The wire types of responses, as far as they are translated.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire_form::{TextOr, Unknown};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Request {
    pub(super) model: String,
    #[serde(skip_serializing)]
    pub(super) instructions: Option<String>,
    pub(super) input: Option<TextOr<Item>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<Tool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) include: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) store: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
    #[serde(skip_serializing)]
    pub(super) background: Option<bool>,
    #[serde(skip_serializing)]
    pub(super) truncation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_logprobs: Option<u64>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

/// What stands in an input or an output: a message, a call, its result, or thoughts.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    #[serde(skip_serializing)]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<TextOr<Part>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<TextOr<Part>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<Vec<Part>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encrypted_content: Option<String>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) image_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) filename: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_url: Option<String>,
    #[serde(skip_serializing)]
    pub(super) file_id: Option<String>,
    #[serde(skip_serializing)]
    pub(super) input_audio: Option<InputAudio>,
    /// Of a text of an answer.
    #[serde(skip_serializing)]
    pub(super) logprobs: Option<Box<RawValue>>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InputAudio {
    pub(super) data: String,
    pub(super) format: String,
}

/// Its parameters and whether they are strict are always written: what is left out is strict here.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tool {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) parameters: Option<Box<RawValue>>,
    pub(super) strict: Option<bool>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

/// A choice of one tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedTool {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) name: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Text {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format>,
    #[serde(skip_serializing)]
    pub(super) verbosity: Option<String>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Format {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) schema: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<String>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

/// A response, whole or as an event of a stream holds it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) status: Option<String>,
    pub(super) incomplete_details: Option<IncompleteDetails>,
    pub(super) output: Option<Vec<Item>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IncompleteDetails {
    pub(super) reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEvent {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) response: Option<Response>,
    pub(super) item: Option<Item>,
    pub(super) output_index: Option<u64>,
    pub(super) delta: Option<TextOr<IgnoredAny>>,
    pub(super) logprobs: Option<Box<RawValue>>,
    pub(super) arguments: Option<String>,
}
