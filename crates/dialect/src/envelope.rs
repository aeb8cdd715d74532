//! A request of any dialect, read as far as deciding needs.

use bytes::Bytes;

use crate::openai::UsageChunk;
use crate::{Changes, Operation, RequestError, RequestFacts, anthropic, openai};

/// A request as its client wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Envelope {
    /// A chat completion.
    ChatCompletion(openai::Envelope),
    /// A message.
    Message(anthropic::Envelope),
    /// A message whose tokens are to be counted.
    TokenCount(anthropic::Envelope),
}

impl Envelope {
    /// Reads the body of a request for `operation`, which the envelope keeps (a cheap clone).
    ///
    /// # Errors
    /// [`RequestError`] as the dialect's own envelope has it.
    pub fn decode(operation: Operation, body: &Bytes) -> Result<Self, RequestError> {
        use anthropic::Call;
        Ok(match operation {
            Operation::ChatCompletions => Self::ChatCompletion(openai::Envelope::decode(body)?),
            Operation::Messages => {
                Self::Message(anthropic::Envelope::decode(body, Call::Messages)?)
            }
            Operation::CountTokens => {
                Self::TokenCount(anthropic::Envelope::decode(body, Call::CountTokens)?)
            }
        })
    }

    /// The same request with another body.
    ///
    /// # Errors
    /// None where the body is what [`rewrite`](Self::rewrite) made of this one.
    pub fn again(&self, body: &Bytes) -> Result<Self, RequestError> {
        Self::decode(self.operation(), body)
    }

    /// What it is a request for.
    pub const fn operation(&self) -> Operation {
        match self {
            Self::ChatCompletion(_) => Operation::ChatCompletions,
            Self::Message(_) => Operation::Messages,
            Self::TokenCount(_) => Operation::CountTokens,
        }
    }

    /// What it asks for.
    pub const fn facts(&self) -> &RequestFacts {
        match self {
            Self::ChatCompletion(envelope) => &envelope.facts,
            Self::Message(envelope) | Self::TokenCount(envelope) => &envelope.facts,
        }
    }

    /// Whether the client sees the usage of a stream in an event of its own.
    pub const fn usage_chunk(&self) -> UsageChunk {
        match self {
            Self::ChatCompletion(envelope) if !envelope.usage_wanted => UsageChunk::Hide,
            Self::ChatCompletion(_) | Self::Message(_) | Self::TokenCount(_) => UsageChunk::Pass,
        }
    }

    /// The body as it came.
    pub const fn body(&self) -> &Bytes {
        match self {
            Self::ChatCompletion(envelope) => envelope.body(),
            Self::Message(envelope) | Self::TokenCount(envelope) => envelope.body(),
        }
    }

    /// The body with `changes`; the very same bytes where there is nothing to change.
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        match self {
            Self::ChatCompletion(envelope) => envelope.rewrite(changes),
            Self::Message(envelope) | Self::TokenCount(envelope) => envelope.rewrite(changes),
        }
    }
}
