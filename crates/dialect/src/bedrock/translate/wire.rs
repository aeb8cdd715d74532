//! The wire types of Converse, as far as they are translated.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::anthropic::Thinking;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system: Option<Vec<Block>>,
    pub(super) messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inference_config: Option<InferenceConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) additional_model_request_fields: Option<ModelFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) additional_model_response_field_paths: Option<[&'static str; 1]>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InferenceConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop_sequences: Option<Vec<String>>,
}

/// What only some models understand, in the words of their makers.
#[derive(Debug, Default, Serialize)]
pub(super) struct ModelFields {
    /// Claude's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Thinking>,
    /// Claude's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_k: Option<u64>,
    /// Nova's.
    #[serde(rename = "inferenceConfig", skip_serializing_if = "Option::is_none")]
    pub(super) nova: Option<NovaConfig>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NovaConfig {
    pub(super) top_k: u64,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text_format: Option<TextFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct TextFormat {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) structure: Structure,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Structure {
    pub(super) json_schema: JsonSchema,
}

#[derive(Debug, Serialize)]
pub(super) struct JsonSchema {
    /// The schema's JSON as a string.
    pub(super) schema: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig {
    pub(super) tools: Vec<Tool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<ToolChoice>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tool {
    pub(super) tool_spec: ToolSpec,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolSpec {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    pub(super) input_schema: InputSchema,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

#[derive(Debug, Serialize)]
pub(super) struct InputSchema {
    pub(super) json: Box<RawValue>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ToolChoice {
    Auto {},
    Any {},
    Tool { name: String },
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) role: String,
    pub(super) content: Vec<Block>,
}

/// A piece of a message: one of the members is there.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Block {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(super) image: Option<Media>,
    /// One that a model made.
    #[serde(rename = "image", skip_serializing)]
    pub(super) made_image: Option<MadeImage>,
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(super) document: Option<Media>,
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(super) audio: Option<Media>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_use: Option<ToolUse>,
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(super) tool_result: Option<ToolResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<Reasoning>,
    /// Text of which the sources are told.
    #[serde(skip_serializing)]
    pub(super) citations_content: Option<Cited>,
}

#[derive(Debug, Serialize)]
pub(super) struct Media {
    pub(super) format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) source: MediaSource,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MadeImage {
    pub(super) format: String,
    pub(super) source: MadeSource,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MadeSource {
    /// In base64.
    pub(super) bytes: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum MediaSource {
    /// In base64.
    Bytes(String),
    Text(String),
    S3Location {
        uri: String,
    },
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolUse {
    pub(super) tool_use_id: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Box<RawValue>>,
    /// That the provider runs the tool itself.
    #[serde(rename = "type", skip_serializing)]
    pub(super) kind: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult {
    pub(super) tool_use_id: String,
    pub(super) content: Vec<Block>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_text: Option<ReasoningText>,
    /// In base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) redacted_content: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReasoningText {
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cited {
    pub(super) content: Vec<Block>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Answer {
    pub(super) output: Option<Output>,
    pub(super) stop_reason: Option<String>,
    pub(super) additional_model_response_fields: Option<ResponseFields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Output {
    pub(super) message: Option<Message>,
}

/// What was asked for of the model's own answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseFields {
    /// Claude's.
    pub(super) stop_sequence: Option<String>,
}

/// The payload of any event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct StreamEvent {
    pub(super) content_block_index: u64,
    pub(super) start: Option<Start>,
    pub(super) delta: Option<Delta>,
    pub(super) stop_reason: Option<String>,
    pub(super) additional_model_response_fields: Option<ResponseFields>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Start {
    pub(super) tool_use: Option<ToolUse>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Delta {
    pub(super) text: Option<String>,
    pub(super) tool_use: Option<ToolUseDelta>,
    pub(super) reasoning_content: Option<ReasoningDelta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolUseDelta {
    pub(super) input: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ReasoningDelta {
    pub(super) text: Option<String>,
    pub(super) redacted_content: Option<String>,
    pub(super) signature: Option<String>,
}
