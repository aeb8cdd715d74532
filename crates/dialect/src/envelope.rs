//! A request of any dialect, read as far as deciding needs.

use bytes::Bytes;

use crate::canonical::Target;
use crate::translate::written;
use crate::{Changes, Dialect, RequestError, RequestFacts, Translation, anthropic, gemini, openai};

/// A request as its client wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Envelope {
    /// A chat completion.
    OpenAiChat(openai::Envelope),
    /// A message.
    Anthropic(anthropic::Envelope),
    /// An answer of Google's, or another of its calls.
    Gemini(gemini::Envelope),
}

impl Envelope {
    /// What it asks for.
    pub const fn facts(&self) -> &RequestFacts {
        match self {
            Self::OpenAiChat(envelope) => &envelope.facts,
            Self::Anthropic(envelope) => &envelope.facts,
            Self::Gemini(envelope) => &envelope.facts,
        }
    }

    /// The body as it came.
    pub const fn body(&self) -> &Bytes {
        match self {
            Self::OpenAiChat(envelope) => envelope.body(),
            Self::Anthropic(envelope) => envelope.body(),
            Self::Gemini(envelope) => envelope.body(),
        }
    }

    /// The dialect that it is written in.
    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::OpenAiChat(_) => Dialect::OpenAiChat,
            Self::Anthropic(_) => Dialect::Anthropic,
            Self::Gemini(_) => Dialect::Gemini,
        }
    }

    /// The body with `changes`; the very same bytes where there is nothing to change.
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        match self {
            Self::OpenAiChat(envelope) => envelope.rewrite(changes),
            Self::Anthropic(envelope) => envelope.rewrite(changes),
            Self::Gemini(envelope) => envelope.rewrite(changes),
        }
    }

    /// The request for a provider that speaks another dialect. Which model is asked, and whether the
    /// answer is streamed, is what the facts say: not every dialect has that in its body.
    ///
    /// # Errors
    /// [`RequestError`] where a member that is translated has a type that it cannot have.
    pub fn translated(&self, to: Dialect, target: &Target) -> Result<Translation, RequestError> {
        let from = self.dialect();
        let mut read = from.read_request(self.body())?;
        read.request.model.clone_from(&self.facts().model);
        read.request.stream = self.facts().stream;
        Ok(written(from, to, read, target))
    }
}
