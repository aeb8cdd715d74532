//! The wire types of chat completions, as far as they are translated.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::canonical::seal::{googles, of_google};
use crate::lenient;
use crate::wire_form::{TextOr, Unknown};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Request {
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<TextOr<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_logprobs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logit_bias: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<Tool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<ResponseFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_effort: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
    #[serde(skip_serializing)]
    pub(super) n: Option<u64>,
    #[serde(skip_serializing)]
    pub(super) store: Option<bool>,
    #[serde(skip_serializing)]
    pub(super) modalities: Option<Vec<String>>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StreamOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) include_usage: Option<bool>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

/// A message of a request or of an answer, or what a chunk of a stream adds to one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<TextOr<Part>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<String>,
    #[serde(skip_serializing)]
    pub(super) reasoning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_calls: Option<Vec<Call>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
    #[serde(skip_serializing)]
    pub(super) name: Option<String>,
    #[serde(skip_serializing)]
    pub(super) extra_content: Option<Box<RawValue>>,
    /// What a model made: a list of parts, as OpenRouter answers.
    #[serde(skip_serializing)]
    pub(super) images: Option<Box<RawValue>>,
    /// What a model says aloud: [`Audio`] in an answer.
    #[serde(skip_serializing)]
    pub(super) audio: Option<Box<RawValue>>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Audio {
    pub(super) data: String,
    /// The words that are said.
    pub(super) transcript: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing)]
    pub(super) refusal: Option<String>,
    /// Of an answer of Mistral's models: parts of what they thought.
    #[serde(skip_serializing)]
    pub(super) thinking: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) image_url: Option<ImageUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_audio: Option<InputAudio>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<File>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

impl Part {
    /// What was thought, where this is a thought. Mistral's stand among the content
    /// (<https://docs.mistral.ai/capabilities/reasoning>).
    pub(super) fn thought(&self) -> Option<String> {
        let thinking = self.thinking.as_deref()?.get();
        let text = match lenient::from_slice(thinking.as_bytes()).ok()? {
            TextOr::Text(text) => text,
            TextOr::List(parts) => {
                let texts = parts.into_iter().filter_map(|part: Self| part.text);
                texts.collect()
            }
            TextOr::Other => String::new(),
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ImageUrl {
    pub(super) url: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct InputAudio {
    pub(super) data: String,
    pub(super) format: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct File {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) filename: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_data: Option<String>,
    #[serde(skip_serializing)]
    pub(super) file_id: Option<String>,
}

/// A call of a tool, or what a chunk of a stream adds to one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Call {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function: Option<CalledFunction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extra_content: Option<ExtraContent>,
}

/// What a provider adds to a call that OpenAI has no place for. Google's servers for OpenAI's clients
/// put their seal here (<https://ai.google.dev/gemini-api/docs/thought-signatures>). Those that we write
/// bear Google's name, so that they are kept from other providers of this dialect.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ExtraContent {
    #[serde(skip_serializing_if = "Option::is_none")]
    google: Option<GoogleContent>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct GoogleContent {
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<String>,
}

impl ExtraContent {
    pub(super) fn sealed(signature: &str) -> Self {
        let thought_signature = Some(of_google(signature));
        Self {
            google: Some(GoogleContent { thought_signature }),
        }
    }

    pub(super) fn into_signature(self) -> Option<String> {
        let seal = self.google?.thought_signature?;
        Some(googles(&seal).map(str::to_owned).unwrap_or(seal))
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CalledFunction {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tool {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function: Option<Function>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Function {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
    #[serde(flatten, skip_serializing)]
    pub(super) unknown: Unknown,
}

/// A choice of one tool.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct NamedTool {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function: Option<CalledFunction>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ResponseFormat {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) json_schema: Option<JsonSchema>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct JsonSchema {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) schema: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

/// An answer, or a chunk of one that is streamed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) choices: Option<Vec<Choice>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub(super) index: Option<u64>,
    pub(super) message: Option<Message>,
    /// What a chunk adds; some servers repeat all until then as the message beside it.
    pub(super) delta: Option<Message>,
    pub(super) finish_reason: Option<String>,
    /// What failed, where OpenRouter ends a choice with an error.
    pub(super) error: Option<Box<RawValue>>,
    pub(super) logprobs: Option<Box<RawValue>>,
}

impl Choice {
    pub(super) fn has_failed(&self) -> bool {
        self.finish_reason.as_deref() == Some("error")
    }
}
