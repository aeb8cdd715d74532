//! A request of any dialect, read as far as deciding needs.

use bytes::Bytes;

use crate::canonical::{Answer, FinishReason, Part};
use crate::openai::{Template, UsageChunk};
use crate::translate_stream::write_streamed;
use crate::{Changes, Operation, RequestError, RequestFacts, Usage, anthropic, openai};

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

    /// An answer of `text` alone, which costs nothing: plain or streamed, as the request wants it, with the `id` of the request and
    /// when it was made, in seconds since the Unix epoch. `None` where no model would answer.
    pub fn templated(&self, text: &str, id: &str, created_s: u64) -> Option<Bytes> {
        let dialect = self.operation().dialect();
        let stamp = dialect.stamp(id, &self.facts().model, created_s);
        if let Self::ChatCompletion(envelope) = self {
            let template = Template {
                id: &stamp.id,
                created: created_s,
                text,
            };
            return Some(template.answer(envelope));
        }
        if !self.operation().is_answered_by_model() {
            return None;
        }
        let answer = Answer {
            id: String::new(),
            model: String::new(),
            parts: vec![Part::Text(text.to_owned())],
            finish: FinishReason::Stop,
            usage: Some(Usage::default()),
        };
        Some(if self.facts().stream {
            write_streamed(dialect, answer, stamp, self.usage_chunk())
        } else {
            dialect.write_answer(&answer, &stamp)
        })
    }
}
