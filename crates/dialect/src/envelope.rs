//! A request of any dialect, read as far as deciding needs.

use bytes::Bytes;

use crate::{Changes, Dialect, RequestFacts, anthropic, openai};

/// A request as its client wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Envelope {
    /// A chat completion.
    OpenAiChat(openai::Envelope),
    /// A message.
    Anthropic(anthropic::Envelope),
}

impl Envelope {
    /// What it asks for.
    pub const fn facts(&self) -> &RequestFacts {
        match self {
            Self::OpenAiChat(envelope) => &envelope.facts,
            Self::Anthropic(envelope) => &envelope.facts,
        }
    }

    /// The body as it came.
    pub const fn body(&self) -> &Bytes {
        match self {
            Self::OpenAiChat(envelope) => envelope.body(),
            Self::Anthropic(envelope) => envelope.body(),
        }
    }

    /// The dialect that it is written in.
    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::OpenAiChat(_) => Dialect::OpenAiChat,
            Self::Anthropic(_) => Dialect::Anthropic,
        }
    }

    /// The body with `changes`; the very same bytes where there is nothing to change.
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        match self {
            Self::OpenAiChat(envelope) => envelope.rewrite(changes),
            Self::Anthropic(envelope) => envelope.rewrite(changes),
        }
    }
}
