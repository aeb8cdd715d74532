//! What a response repeats of its request, as its client wrote it.
//!
//! Not what the canonical form holds: a number stays as it is written, and a tool keeps the members that nobody knows. Whether the
//! response is stored and what it goes on from are not repeated: nothing is stored here.

use serde::Deserialize;
use serde_json::value::RawValue;

type Raw = Option<Box<RawValue>>;

/// The members that are repeated; `None` where one was not written, or is a null.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    pub(super) instructions: Raw,
    pub(super) max_output_tokens: Raw,
    pub(super) max_tool_calls: Raw,
    pub(super) metadata: Raw,
    pub(super) parallel_tool_calls: Raw,
    pub(super) prompt_cache_key: Raw,
    pub(super) reasoning: Option<Reasoning>,
    pub(super) safety_identifier: Raw,
    pub(super) temperature: Raw,
    pub(super) text: Option<Text>,
    pub(super) tool_choice: Raw,
    pub(super) tools: Raw,
    pub(super) top_logprobs: Raw,
    pub(super) top_p: Raw,
    pub(super) truncation: Raw,
    pub(super) user: Raw,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Reasoning {
    pub(super) effort: Raw,
    pub(super) summary: Raw,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Text {
    pub(super) format: Raw,
    pub(super) verbosity: Raw,
}

impl Asked {
    /// Of the request in `body`. Nothing where it is none, or empty.
    pub(super) fn of(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }
}
