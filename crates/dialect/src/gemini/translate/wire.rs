//! The wire types of this dialect, as far as they are translated.
//!
//! Every member of a request is read in both of its spellings and written in the first.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::wire_value::{Listed, Number};
use crate::wire_form::Unknown;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Request {
    #[serde(alias = "system_instruction", skip_serializing_if = "Option::is_none")]
    pub(super) system_instruction: Option<Content>,
    pub(super) contents: Listed<Content>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(super) tools: Listed<Tool>,
    #[serde(alias = "tool_config", skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig>,
    #[serde(alias = "generation_config", skip_serializing_if = "Option::is_none")]
    pub(super) generation_config: Option<GenerationConfig>,
    /// The path names it too.
    #[serde(skip_serializing)]
    pub(super) model: Option<String>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Content {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(super) parts: Listed<Part>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Part {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought: Option<bool>,
    #[serde(alias = "thought_signature", skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<String>,
    #[serde(alias = "inline_data", skip_serializing_if = "Option::is_none")]
    pub(super) inline_data: Option<InlineData>,
    #[serde(alias = "file_data", skip_serializing_if = "Option::is_none")]
    pub(super) file_data: Option<FileData>,
    #[serde(alias = "function_call", skip_serializing_if = "Option::is_none")]
    pub(super) function_call: Option<FunctionCall>,
    #[serde(alias = "function_response", skip_serializing_if = "Option::is_none")]
    pub(super) function_response: Option<FunctionResponse>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct InlineData {
    #[serde(alias = "mime_type")]
    pub(super) mime_type: String,
    pub(super) data: String,
    #[serde(alias = "display_name", skip_serializing)]
    pub(super) display_name: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FileData {
    #[serde(alias = "mime_type", skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<String>,
    #[serde(alias = "file_uri")]
    pub(super) file_uri: String,
    #[serde(alias = "display_name", skip_serializing)]
    pub(super) display_name: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FunctionCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) args: Option<Box<RawValue>>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FunctionResponse {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(super) parts: Listed<Part>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tool {
    #[serde(
        alias = "function_declarations",
        skip_serializing_if = "Listed::is_empty"
    )]
    pub(super) function_declarations: Listed<FunctionDeclaration>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FunctionDeclaration {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    /// In Google's own form.
    #[serde(skip_serializing)]
    pub(super) parameters: Option<Box<RawValue>>,
    #[serde(
        alias = "parameters_json_schema",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) parameters_json_schema: Option<Box<RawValue>>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolConfig {
    #[serde(
        alias = "function_calling_config",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) function_calling_config: Option<FunctionCallingConfig>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FunctionCallingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<String>,
    #[serde(
        alias = "allowed_function_names",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) allowed_function_names: Option<Vec<String>>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct GenerationConfig {
    #[serde(alias = "max_output_tokens", skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<Number>,
    #[serde(alias = "top_p", skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<Number>,
    #[serde(alias = "top_k", skip_serializing_if = "Option::is_none")]
    pub(super) top_k: Option<Number>,
    #[serde(alias = "presence_penalty", skip_serializing_if = "Option::is_none")]
    pub(super) presence_penalty: Option<Number>,
    #[serde(alias = "frequency_penalty", skip_serializing_if = "Option::is_none")]
    pub(super) frequency_penalty: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<Number>,
    #[serde(alias = "stop_sequences", skip_serializing_if = "Option::is_none")]
    pub(super) stop_sequences: Option<Vec<String>>,
    #[serde(alias = "response_mime_type", skip_serializing_if = "Option::is_none")]
    pub(super) response_mime_type: Option<String>,
    /// In Google's own form.
    #[serde(alias = "response_schema", skip_serializing)]
    pub(super) response_schema: Option<Box<RawValue>>,
    #[serde(
        alias = "response_json_schema",
        alias = "_responseJsonSchema",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) response_json_schema: Option<Box<RawValue>>,
    #[serde(alias = "thinking_config", skip_serializing_if = "Option::is_none")]
    pub(super) thinking_config: Option<ThinkingConfig>,
    #[serde(alias = "candidate_count", skip_serializing)]
    pub(super) candidate_count: Option<Number>,
    #[serde(alias = "response_modalities", skip_serializing)]
    pub(super) response_modalities: Option<Vec<String>>,
    #[serde(alias = "response_logprobs", skip_serializing_if = "Option::is_none")]
    pub(super) response_logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logprobs: Option<Number>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(alias = "include_thoughts", skip_serializing_if = "Option::is_none")]
    pub(super) include_thoughts: Option<bool>,
    #[serde(alias = "thinking_budget", skip_serializing_if = "Option::is_none")]
    pub(super) thinking_budget: Option<Number>,
    #[serde(alias = "thinking_level", skip_serializing_if = "Option::is_none")]
    pub(super) thinking_level: Option<String>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

/// An answer, or a chunk of one that is streamed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Answer {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) candidates: Vec<Candidate>,
    #[serde(skip_serializing)]
    pub(super) prompt_feedback: Option<PromptFeedback>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) usage_metadata: Option<UsageMetadata>,
    /// A member of ours: what is to be known of the usage.
    #[serde(
        rename = "x-sluicegate-usage",
        skip_deserializing,
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) usage_note: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_id: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) finish_reason: Option<String>,
    #[serde(skip_serializing)]
    pub(super) finish_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logprobs_result: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptFeedback {
    pub(super) block_reason: Option<String>,
    pub(super) block_reason_message: Option<String>,
}

/// The usage as it is written; it is read by its place.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageMetadata {
    pub(super) prompt_token_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cached_content_token_count: Option<u64>,
    pub(super) candidates_token_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thoughts_token_count: Option<u64>,
    pub(super) total_token_count: u64,
}
