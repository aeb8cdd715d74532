//! The JSON of chat completions: fields and their order as the real interface has them.

use serde::Serialize;
use serde_json::{Map, Value};

impl<'a> CallPiece<'a> {
    /// A later piece of the call at `index`: only the first carries its id and name.
    pub(super) fn of(index: usize, fragment: &str) -> Self {
        let function = Function {
            name: None,
            arguments: fragment.to_owned(),
        };
        Self {
            index,
            id: None,
            r#type: None,
            function,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Whole<'a> {
    pub(super) id: &'a str,
    pub(super) object: &'static str,
    pub(super) created: u64,
    pub(super) model: &'a str,
    pub(super) choices: Vec<WholeChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Usage>,
    pub(super) service_tier: &'static str,
    pub(super) system_fingerprint: &'a str,
    #[serde(flatten)]
    pub(super) extra: &'a Map<String, Value>,
}

#[derive(Serialize)]
pub(super) struct WholeChoice<'a> {
    pub(super) index: usize,
    pub(super) message: Message<'a>,
    pub(super) logprobs: Option<()>,
    pub(super) finish_reason: &'static str,
}

#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    pub(super) content: Option<String>,
    pub(super) refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<String>,
    pub(super) annotations: [(); 0],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<WholeCall<'a>>,
}

#[derive(Serialize)]
pub(super) struct WholeCall<'a> {
    pub(super) id: String,
    pub(super) r#type: &'static str,
    pub(super) function: Function<'a>,
}

#[derive(Serialize)]
pub(super) struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
    pub(super) arguments: String,
}

#[derive(Serialize)]
pub(super) struct Chunk<'a> {
    pub(super) id: &'a str,
    pub(super) object: &'static str,
    pub(super) created: u64,
    pub(super) model: &'a str,
    pub(super) service_tier: &'static str,
    pub(super) system_fingerprint: &'a str,
    pub(super) choices: Vec<ChunkChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Option<Usage>>,
    #[serde(flatten)]
    pub(super) extra: &'a Map<String, Value>,
}

#[derive(Serialize)]
pub(super) struct ChunkChoice<'a> {
    pub(super) index: usize,
    pub(super) delta: Delta<'a>,
    pub(super) logprobs: Option<()>,
    pub(super) finish_reason: Option<&'static str>,
}

#[derive(Default, Serialize)]
pub(super) struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_calls: Option<[CallPiece<'a>; 1]>,
}

#[derive(Serialize)]
pub(super) struct CallPiece<'a> {
    pub(super) index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) r#type: Option<&'static str>,
    pub(super) function: Function<'a>,
}

#[derive(Serialize)]
pub(super) struct Usage {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) total_tokens: u64,
    pub(super) prompt_tokens_details: PromptDetails,
    pub(super) completion_tokens_details: CompletionDetails,
}

#[derive(Serialize)]
pub(super) struct PromptDetails {
    pub(super) cached_tokens: u64,
    pub(super) audio_tokens: u64,
}

#[derive(Serialize)]
pub(super) struct CompletionDetails {
    pub(super) reasoning_tokens: u64,
    pub(super) audio_tokens: u64,
    pub(super) accepted_prediction_tokens: u64,
    pub(super) rejected_prediction_tokens: u64,
}
