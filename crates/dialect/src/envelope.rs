//! A request of any dialect, read as far as deciding needs.

use bytes::Bytes;

use crate::{Changes, Dialect, RequestFacts, anthropic, openai, responses};

/// A request as its client wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Envelope {
    /// A chat completion.
    OpenAiChat(openai::Envelope),
    /// A message.
    Anthropic(anthropic::Envelope),
    /// A response.
    OpenAiResponses(responses::Envelope),
    /// A completion of OpenAI's older kind.
    OpenAiCompletion(openai::CompletionEnvelope),
    /// Embeddings.
    OpenAiEmbedding(openai::EmbeddingEnvelope),
}

impl Envelope {
    /// What it asks for.
    pub const fn facts(&self) -> &RequestFacts {
        match self {
            Self::OpenAiChat(envelope) => &envelope.facts,
            Self::Anthropic(envelope) => &envelope.facts,
            Self::OpenAiResponses(envelope) => &envelope.facts,
            Self::OpenAiCompletion(envelope) => &envelope.facts,
            Self::OpenAiEmbedding(envelope) => &envelope.facts,
        }
    }

    /// The body as it came.
    pub const fn body(&self) -> &Bytes {
        match self {
            Self::OpenAiChat(envelope) => envelope.body(),
            Self::Anthropic(envelope) => envelope.body(),
            Self::OpenAiResponses(envelope) => envelope.body(),
            Self::OpenAiCompletion(envelope) => envelope.body(),
            Self::OpenAiEmbedding(envelope) => envelope.body(),
        }
    }

    /// The dialect that it is written in; `None` where it asks for something that is not translated,
    /// and goes only where the same is spoken.
    pub const fn dialect(&self) -> Option<Dialect> {
        match self {
            Self::OpenAiChat(_) => Some(Dialect::OpenAiChat),
            Self::Anthropic(_) => Some(Dialect::Anthropic),
            Self::OpenAiResponses(_) => Some(Dialect::OpenAiResponses),
            Self::OpenAiCompletion(_) | Self::OpenAiEmbedding(_) => None,
        }
    }

    /// The body with `changes`; the very same bytes where there is nothing to change.
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        match self {
            Self::OpenAiChat(envelope) => envelope.rewrite(changes),
            Self::Anthropic(envelope) => envelope.rewrite(changes),
            Self::OpenAiResponses(envelope) => envelope.rewrite(changes),
            Self::OpenAiCompletion(envelope) => envelope.rewrite(changes),
            Self::OpenAiEmbedding(envelope) => envelope.rewrite(changes),
        }
    }
}
