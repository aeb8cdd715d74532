//! The interfaces that a call can speak, and what its path alone says about it.
//!
//! A dialect decides how a request is read, how an answer is written and in which form an error comes. It decides nothing
//! about limits: those are the profile's, whatever is spoken.

use crate::model::Profile;

/// Whose request and answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Dialect {
    /// OpenAI's chat completions.
    #[default]
    Chat,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's older completions of a prompt.
    Completions,
    /// OpenAI's embeddings.
    Embeddings,
    /// Anthropic's messages.
    Messages,
    /// Gemini's content.
    Gemini,
    /// Bedrock's Converse.
    Converse,
    /// Cohere's second interface.
    Cohere,
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// An answer.
    Generate,
    /// How many tokens the prompt has.
    Count,
    /// Vectors for texts.
    Embed,
}

/// How the pieces of a stream are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// The items of one JSON array.
    Array,
    /// AWS' event stream.
    Binary,
}

/// What a path says about a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Door {
    pub(crate) dialect: Dialect,
    pub(crate) task: Task,
    /// The model, where the path names it.
    pub(crate) model: Option<String>,
    /// Whether the answer is streamed, where the path says it.
    pub(crate) stream: Option<bool>,
    pub(crate) framing: Framing,
    /// Whether the answer is a list also where only one thing was asked.
    pub(crate) batch: bool,
}

impl Dialect {
    /// The provider in whose form errors come: the one whose limits count, where it speaks this dialect.
    pub(crate) fn manners(self, profile: Profile) -> Profile {
        match self {
            Self::Chat | Self::Responses | Self::Completions | Self::Embeddings => profile,
            Self::Messages => Profile::Anthropic,
            Self::Gemini if profile == Profile::Vertex => profile,
            Self::Gemini => Profile::Gemini,
            Self::Converse if profile == Profile::BedrockMantle => profile,
            Self::Converse => Profile::BedrockRuntime,
            Self::Cohere => Profile::Cohere,
        }
    }

    /// Whether a stream ends with `[DONE]`.
    pub(crate) fn says_done(self) -> bool {
        match self {
            Self::Chat | Self::Completions => true,
            Self::Responses
            | Self::Embeddings
            | Self::Messages
            | Self::Gemini
            | Self::Converse
            | Self::Cohere => false,
        }
    }
}

impl Door {
    /// A door whose requests say everything else themselves.
    pub(crate) fn to(dialect: Dialect) -> Self {
        Self {
            dialect,
            task: Task::Generate,
            model: None,
            stream: None,
            framing: Framing::Events,
            batch: false,
        }
    }
}
