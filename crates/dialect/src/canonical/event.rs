//! A streamed answer, piece by piece.

use super::{FinishReason, Logprob};
use crate::{UpstreamError, Usage};

/// The next piece of a stream. All but the first are of one answer: several to one request are not
/// translated.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// It begins. Comes once, before anything else.
    Start {
        /// The provider's id, empty where it has none.
        id: String,
        /// The model in the provider's words, empty where it does not say.
        model: String,
        /// What is known of the usage now: the input, where the provider tells it first.
        usage: Option<Usage>,
    },
    /// The connection lives.
    Ping,
    /// More text.
    Text(String),
    /// How likely the tokens of the text just told were.
    Logprobs(Vec<Logprob>),
    /// More of what the model thought.
    Thinking(String),
    /// The seal of the thoughts before it.
    Signature(String),
    /// The thought before it is whole without a seal: what is thought next is another.
    ThoughtEnds,
    /// Thoughts that are not shown.
    SealedThinking(String),
    /// More of why the model will not answer.
    Refusal(String),
    /// A tool is called; its arguments follow.
    ToolCall {
        /// Numbers the calls of an answer from 0.
        index: u32,
        /// Names the call, for its result.
        id: String,
        /// Of the tool.
        name: String,
        /// The seal that its provider put on the call, without which it may not take it back.
        signature: Option<String>,
    },
    /// More of a call's arguments. Those of several calls may come in turns.
    Arguments {
        /// Of the call.
        index: u32,
        /// JSON, broken anywhere.
        text: String,
    },
    /// A call is over. Readers tell it where their dialect does, and then no more arguments come for it;
    /// in the order that writers take ([`CallsInOrder`](super::CallsInOrder)) it says that they are whole, and
    /// a call that was cut has none.
    CallEnd {
        /// Of the call.
        index: u32,
    },
    /// It is whole. Comes last, and not at all where the stream was cut.
    End {
        /// Why.
        finish: FinishReason,
        /// The usage, where it was told: all of it, not what came since it was told last.
        usage: Option<Usage>,
    },
    /// It failed. Comes last.
    Error(UpstreamError),
}

impl Event {
    /// The text of the output that it carries.
    pub fn output(&self) -> Option<&str> {
        match self {
            Self::Text(text)
            | Self::Thinking(text)
            | Self::Refusal(text)
            | Self::Arguments { text, .. }
            | Self::ToolCall { name: text, .. } => Some(text),
            Self::Start { .. }
            | Self::Ping
            | Self::Signature(_)
            | Self::ThoughtEnds
            | Self::SealedThinking(_)
            | Self::CallEnd { .. }
            | Self::End { .. }
            | Self::Logprobs(_)
            | Self::Error(_) => None,
        }
    }

    /// Whether it carries output: until the first such piece, a stream can still be taken back.
    pub const fn is_content(&self) -> bool {
        match self {
            Self::Start { .. }
            | Self::Ping
            | Self::CallEnd { .. }
            | Self::End { .. }
            | Self::Error(_)
            | Self::Logprobs(_)
            | Self::ThoughtEnds
            | Self::Signature(_) => false,
            Self::Text(text) | Self::Thinking(text) | Self::Refusal(text) => !text.is_empty(),
            Self::SealedThinking(_) | Self::ToolCall { .. } | Self::Arguments { .. } => true,
        }
    }
}
