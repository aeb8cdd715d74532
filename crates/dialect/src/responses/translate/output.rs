//! What we say as a response: its items, whole or as far as they have come, and what is around them.

use serde::Serialize;
use serde_json::value::RawValue;

use super::asked::Asked;
use crate::Usage;
use crate::canonical::{FinishReason, Stamp};
use crate::openai::logprobs::WireLogprob;

/// So much of an answer's id is in the ids that are made up for its items, of which none may be longer
/// than 64 where a client sends it back.
const ANSWER_ID_BYTES_MAX: usize = 48;

/// An item of an output.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Item {
    Message {
        id: String,
        status: &'static str,
        role: &'static str,
        content: Vec<Content>,
    },
    Reasoning {
        id: String,
        summary: Vec<Summary>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<String>,
    },
    FunctionCall {
        id: String,
        status: &'static str,
        call_id: String,
        name: String,
        arguments: String,
    },
}

/// A part of a message.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Content {
    OutputText {
        text: String,
        annotations: [(); 0],
        logprobs: Vec<WireLogprob>,
    },
    Refusal {
        refusal: String,
    },
}

/// What is shown of a thought.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Summary {
    SummaryText { text: String },
}

impl Content {
    pub(super) const fn text(text: String) -> Self {
        Self::OutputText {
            text,
            annotations: [],
            logprobs: Vec::new(),
        }
    }

    /// Adds how likely the tokens of a text were.
    pub(super) fn tell(&mut self, told: Vec<WireLogprob>) {
        if let Self::OutputText { logprobs, .. } = self {
            logprobs.extend(told);
        }
    }
}

impl Summary {
    pub(super) fn said(&self) -> &str {
        let Self::SummaryText { text } = self;
        text
    }
}

impl Item {
    /// The next item of an answer that has so many already, begun.
    pub(super) fn message(answer_id: &str, index: usize) -> Self {
        Self::Message {
            id: id("msg", answer_id, index),
            status: "in_progress",
            role: "assistant",
            content: Vec::new(),
        }
    }

    pub(super) fn thought(answer_id: &str, index: usize) -> Self {
        Self::Reasoning {
            id: id("rs", answer_id, index),
            summary: Vec::new(),
            encrypted_content: None,
        }
    }

    pub(super) fn call(answer_id: &str, index: usize, call_id: &str, name: &str) -> Self {
        Self::FunctionCall {
            id: id("fc", answer_id, index),
            status: "in_progress",
            call_id: call_id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
        }
    }

    pub(super) fn id(&self) -> &str {
        match self {
            Self::Message { id, .. }
            | Self::Reasoning { id, .. }
            | Self::FunctionCall { id, .. } => id,
        }
    }

    /// Nothing comes for it any more, and its `end` is its status.
    pub(super) fn complete(&mut self, end: &'static str) {
        match self {
            Self::Message { status, .. } | Self::FunctionCall { status, .. } => *status = end,
            Self::Reasoning { .. } => {}
        }
    }
}

fn id(kind: &str, answer_id: &str, index: usize) -> String {
    let end = answer_id.floor_char_boundary(ANSWER_ID_BYTES_MAX);
    format!("{kind}_{}_{index}", &answer_id[..end])
}

/// A response. What was not asked for is told as OpenAI tells it, as far as that is true here.
#[derive(Debug, Serialize)]
pub(super) struct Response<'a> {
    pub(super) id: &'a str,
    object: &'static str,
    created_at: u64,
    status: &'static str,
    error: Option<()>,
    incomplete_details: Option<Incomplete>,
    instructions: Option<&'a RawValue>,
    max_output_tokens: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tool_calls: Option<&'a RawValue>,
    metadata: &'a RawValue,
    model: &'a str,
    output: &'a [Item],
    parallel_tool_calls: &'a RawValue,
    previous_response_id: Option<()>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a RawValue>,
    reasoning: Reasoning<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    safety_identifier: Option<&'a RawValue>,
    store: bool,
    temperature: Option<&'a RawValue>,
    text: Text<'a>,
    tool_choice: &'a RawValue,
    tools: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<&'a RawValue>,
    top_p: Option<&'a RawValue>,
    truncation: &'a RawValue,
    usage: Option<WireUsage>,
    user: Option<&'a RawValue>,
}

#[derive(Debug, Serialize)]
struct Incomplete {
    reason: &'static str,
}

#[derive(Debug, Serialize)]
struct Reasoning<'a> {
    effort: Option<&'a RawValue>,
    summary: Option<&'a RawValue>,
}

#[derive(Debug, Serialize)]
struct Text<'a> {
    format: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<&'a RawValue>,
}

impl<'a> Response<'a> {
    /// The response that `stamp` names, to what was `asked`; without a `finish` it goes on.
    pub(super) fn new(
        stamp: &'a Stamp,
        asked: &'a Asked,
        output: &'a [Item],
        finish: Option<&FinishReason>,
        usage: Option<Usage>,
    ) -> Self {
        let (status, reason) = finish.map_or(("in_progress", None), status);
        let reasoning = asked.reasoning.as_ref();
        let text = asked.text.as_ref();
        Self {
            id: &stamp.id,
            object: "response",
            created_at: stamp.created_s,
            status,
            error: None,
            incomplete_details: reason.map(|reason| Incomplete { reason }),
            instructions: asked.instructions.as_deref(),
            max_output_tokens: asked.max_output_tokens.as_deref(),
            max_tool_calls: asked.max_tool_calls.as_deref(),
            metadata: asked.metadata.as_deref().unwrap_or_else(|| json("{}")),
            model: &stamp.model,
            output,
            parallel_tool_calls: (asked.parallel_tool_calls.as_deref())
                .unwrap_or_else(|| json("true")),
            previous_response_id: None,
            prompt_cache_key: asked.prompt_cache_key.as_deref(),
            reasoning: Reasoning {
                effort: reasoning.and_then(|it| it.effort.as_deref()),
                summary: reasoning.and_then(|it| it.summary.as_deref()),
            },
            safety_identifier: asked.safety_identifier.as_deref(),
            store: false,
            temperature: asked.temperature.as_deref(),
            text: Text {
                format: (text.and_then(|it| it.format.as_deref()))
                    .unwrap_or_else(|| json(r#"{"type":"text"}"#)),
                verbosity: text.and_then(|it| it.verbosity.as_deref()),
            },
            tool_choice: asked
                .tool_choice
                .as_deref()
                .unwrap_or_else(|| json(r#""auto""#)),
            tools: asked.tools.as_deref().unwrap_or_else(|| json("[]")),
            top_logprobs: asked.top_logprobs.as_deref(),
            top_p: asked.top_p.as_deref(),
            truncation: asked
                .truncation
                .as_deref()
                .unwrap_or_else(|| json(r#""disabled""#)),
            usage: usage.map(WireUsage::from),
            user: asked.user.as_deref(),
        }
    }

    /// Whether it ended before the model was done.
    pub(super) const fn is_incomplete(&self) -> bool {
        self.incomplete_details.is_some()
    }
}

/// What stands where nothing was asked for.
fn json(text: &'static str) -> &'static RawValue {
    serde_json::from_str(text).expect("what we write here is JSON")
}

/// The status of an item that ended before another of its answer.
pub(super) const COMPLETED: &str = "completed";

/// How an answer's end is told here, also of the item that it ended.
pub(super) const fn status(finish: &FinishReason) -> (&'static str, Option<&'static str>) {
    match finish {
        FinishReason::Stop
        | FinishReason::StopSequence(_)
        | FinishReason::ToolCalls
        | FinishReason::Pause => (COMPLETED, None),
        FinishReason::Length | FinishReason::ContextFull => {
            ("incomplete", Some("max_output_tokens"))
        }
        FinishReason::Refusal => ("incomplete", Some("content_filter")),
    }
}

/// The input includes what a cache held.
#[derive(Debug, Serialize)]
struct WireUsage {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

#[derive(Debug, Serialize)]
struct InputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Debug, Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl From<Usage> for WireUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            input_tokens_details: InputDetails {
                cached_tokens: usage.cached_input_tokens,
                cache_write_tokens: usage.cache_write_input_tokens,
            },
            output_tokens: usage.output_tokens,
            output_tokens_details: OutputDetails {
                reasoning_tokens: usage.reasoning_tokens,
            },
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        }
    }
}
