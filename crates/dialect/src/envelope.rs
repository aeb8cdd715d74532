//! A request of any dialect, read as far as deciding needs.

use bytes::Bytes;

use crate::canonical::{Answer, FinishReason, Inexpressible, Part, ReadRequest, Stamp, Target};
use crate::openai::{CompletionEnvelope, EmbeddingEnvelope, Template, UsageChunk};
use crate::translate::written;
use crate::translate_stream::write_streamed;
use crate::{
    Changes, Operation, ProviderDialect, RequestError, RequestFacts, Translation, Usage, anthropic,
    gemini, openai, responses,
};

/// A request as its client wrote it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Envelope {
    /// A chat completion.
    ChatCompletion(openai::Envelope),
    /// A message.
    Message(anthropic::Envelope),
    /// A message whose tokens are to be counted.
    TokenCount(anthropic::Envelope),
    /// A response.
    Response(responses::Envelope),
    /// A completion of OpenAI's older kind.
    Completion(openai::CompletionEnvelope),
    /// Embeddings.
    Embedding(openai::EmbeddingEnvelope),
    /// A generation of Google's, or another of its calls, and how its client wants a stream.
    Content(gemini::Envelope, gemini::Framing),
}

impl Envelope {
    /// Reads the body of a request for `operation`, which the envelope keeps (a cheap clone). Where the dialect has the `model`
    /// in the path, it comes from there.
    ///
    /// # Errors
    /// [`RequestError`] as the dialect's own envelope has it.
    pub fn decode(operation: Operation, model: &str, body: &Bytes) -> Result<Self, RequestError> {
        use anthropic::Call;
        Ok(match operation {
            Operation::ChatCompletions => Self::ChatCompletion(openai::Envelope::decode(body)?),
            Operation::Messages => {
                Self::Message(anthropic::Envelope::decode(body, Call::Messages)?)
            }
            Operation::CountTokens => {
                Self::TokenCount(anthropic::Envelope::decode(body, Call::CountTokens)?)
            }
            Operation::Responses => Self::Response(responses::Envelope::decode(body)?),
            Operation::Completions => Self::Completion(CompletionEnvelope::decode(body)?),
            Operation::Embeddings => Self::Embedding(EmbeddingEnvelope::decode(body)?),
            Operation::Content(call, framing) => {
                Self::Content(gemini::Envelope::decode(body, model, call)?, framing)
            }
        })
    }

    /// The same request with another body.
    ///
    /// # Errors
    /// None where the body is what [`rewrite`](Self::rewrite) made of this one.
    pub fn again(&self, body: &Bytes) -> Result<Self, RequestError> {
        Self::decode(self.operation(), &self.facts().model, body)
    }

    /// What it is a request for.
    pub const fn operation(&self) -> Operation {
        match self {
            Self::ChatCompletion(_) => Operation::ChatCompletions,
            Self::Message(_) => Operation::Messages,
            Self::TokenCount(_) => Operation::CountTokens,
            Self::Response(_) => Operation::Responses,
            Self::Completion(_) => Operation::Completions,
            Self::Embedding(_) => Operation::Embeddings,
            Self::Content(envelope, framing) => Operation::Content(envelope.call(), *framing),
        }
    }

    /// What it asks for.
    pub const fn facts(&self) -> &RequestFacts {
        match self {
            Self::ChatCompletion(envelope) => &envelope.facts,
            Self::Message(envelope) | Self::TokenCount(envelope) => &envelope.facts,
            Self::Response(envelope) => &envelope.facts,
            Self::Completion(envelope) => &envelope.facts,
            Self::Embedding(envelope) => &envelope.facts,
            Self::Content(envelope, _) => &envelope.facts,
        }
    }

    /// Whether the client sees the usage of a stream in an event of its own.
    pub const fn usage_chunk(&self) -> UsageChunk {
        let hides = match self {
            Self::ChatCompletion(envelope) => !envelope.usage_wanted,
            Self::Completion(envelope) => !envelope.usage_wanted,
            Self::Message(_)
            | Self::TokenCount(_)
            | Self::Response(_)
            | Self::Embedding(_)
            | Self::Content(..) => false,
        };
        if hides {
            UsageChunk::Hide
        } else {
            UsageChunk::Pass
        }
    }

    /// The body as it came.
    pub const fn body(&self) -> &Bytes {
        match self {
            Self::ChatCompletion(envelope) => envelope.body(),
            Self::Message(envelope) | Self::TokenCount(envelope) => envelope.body(),
            Self::Response(envelope) => envelope.body(),
            Self::Completion(envelope) => envelope.body(),
            Self::Embedding(envelope) => envelope.body(),
            Self::Content(envelope, _) => envelope.body(),
        }
    }

    /// The body with `changes`; the very same bytes where there is nothing to change.
    pub fn rewrite(&self, changes: &Changes<'_>) -> Bytes {
        match self {
            Self::ChatCompletion(envelope) => envelope.rewrite(changes),
            Self::Message(envelope) | Self::TokenCount(envelope) => envelope.rewrite(changes),
            Self::Response(envelope) => envelope.rewrite(changes),
            Self::Completion(envelope) => envelope.rewrite(changes),
            Self::Embedding(envelope) => envelope.rewrite(changes),
            Self::Content(envelope, _) => envelope.rewrite(changes),
        }
    }

    /// What it goes without where it is sent to a provider of its dialect with that one's own thoughts only
    /// ([`Seals::Own`](crate::Seals::Own)), in the words of its dialect: to be reported.
    pub fn foregone(&self) -> Option<Inexpressible> {
        let feature = match self {
            Self::Message(envelope) => envelope.foregone(),
            Self::Response(envelope) => envelope.foregone(),
            Self::Content(envelope, _) => envelope.foregone(),
            // No model takes thoughts back here, or none answers.
            Self::ChatCompletion(_)
            | Self::TokenCount(_)
            | Self::Completion(_)
            | Self::Embedding(_) => None,
        };
        feature.map(|feature| self.operation().dialect().foregone(feature, self.body()))
    }

    /// The request for a provider that speaks another dialect. Which model is asked, and whether the answer is streamed, is what
    /// the facts say: not every dialect has that in its body.
    ///
    /// # Errors
    /// [`RequestError`] where a member that is translated has a type that it cannot have.
    pub fn translated(
        &self,
        to: ProviderDialect,
        target: &Target,
    ) -> Result<Translation, RequestError> {
        let from = self.operation().dialect();
        written(from, to, self.read()?, self.body(), target)
    }

    /// The request in the canonical form.
    pub(crate) fn read(&self) -> Result<ReadRequest, RequestError> {
        let mut read = self.operation().dialect().read_request(self.body())?;
        read.request.model.clone_from(&self.facts().model);
        read.request.stream = self.facts().stream;
        Ok(read)
    }

    /// An answer of `text` alone, which costs nothing: plain or streamed, as the request wants it, with the `id` of the request and
    /// when it was made, in seconds since the Unix epoch. `None` where no model would answer.
    pub fn templated(&self, text: &str, id: &str, created_s: u64) -> Option<Bytes> {
        let operation = self.operation();
        let dialect = operation.dialect();
        let stamp = Stamp {
            request: self.body().clone(),
            ..dialect.stamp(id, &self.facts().model, created_s)
        };
        if let Self::ChatCompletion(envelope) = self {
            let template = Template {
                id: &stamp.id,
                created: created_s,
                text,
            };
            return Some(template.answer(envelope));
        }
        if !operation.is_answered_by_model() {
            return None;
        }
        let answer = Answer {
            id: String::new(),
            model: String::new(),
            parts: vec![Part::Text(text.to_owned())],
            logprobs: Vec::new(),
            finish: FinishReason::Stop,
            usage: Some(Usage::default()),
        };
        Some(if self.facts().stream {
            let framing = operation.framing();
            write_streamed(dialect, framing, answer, stamp, self.usage_chunk())
        } else {
            dialect.write_answer(&answer, &stamp)
        })
    }
}
