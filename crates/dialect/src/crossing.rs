//! How one request reaches its provider and how the answer comes back: as it is, or translated.

use std::sync::Arc;

use bytes::Bytes;
use sluicegate_catalog::{Endpoint, Provider};

use crate::canonical::{Answer, FinishReason, Inexpressible, Stamp, Target};
use crate::openai::{ChatStream, UsageChunk};
use crate::translate_stream::write_streamed;
use crate::{
    AnswerStream, Changes, Envelope, Operation, ProviderDialect, RequestError, StreamTranslation,
    Translation, UpstreamError, Usage, anthropic, gemini, model_member, openai, responses,
};

/// The way of one request between its client and one provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crossing {
    /// The provider takes what the client writes.
    Same(Operation),
    /// It speaks another dialect.
    Translated {
        /// What the client asks for.
        client: Operation,
        /// What the provider speaks.
        provider: ProviderDialect,
    },
}

/// A request as it goes out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outbound {
    /// The body.
    pub body: Bytes,
    /// What is not in it, in the words of the client's dialect.
    pub inexpressible: Vec<Inexpressible>,
    /// Whether the form of the answer has to be asked for in words, and checked.
    pub must_instruct: bool,
}

/// An answer that came whole, as its client gets it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Whole {
    /// The body.
    pub body: Bytes,
    /// What it used, where it says so.
    pub usage: Option<Usage>,
    /// Whether it was cut at its maximum.
    pub cut: bool,
}

impl Crossing {
    /// The way of a request for `operation` to `provider`; `None` where it has nothing of the kind.
    pub fn to(operation: Operation, provider: &Provider) -> Option<Self> {
        let (dialect, endpoint) = operation.native();
        if provider.dialect == dialect && provider.paths.of(endpoint).is_some() {
            return Some(Self::Same(operation));
        }
        let client = operation;
        let provider = ProviderDialect::of(provider);
        operation
            .is_answered_by_model()
            .then_some(Self::Translated { client, provider })
    }

    /// Which of the provider's operations it ends at.
    pub const fn endpoint(self, stream: bool) -> Endpoint {
        let endpoint = match self {
            Self::Same(operation) => operation.native().1,
            Self::Translated { .. } => Endpoint::Chat,
        };
        match endpoint {
            Endpoint::Chat if stream => Endpoint::Stream,
            endpoint => endpoint,
        }
    }

    /// Whether the client gets the provider's bytes.
    pub const fn is_same(self) -> bool {
        matches!(self, Self::Same(_))
    }

    /// The body for `target`, the provider: with `changes` where the dialect stays, else written anew for the model that they name.
    ///
    /// # Errors
    /// [`RequestError`] where the body is none of its dialect.
    pub fn outbound(
        self,
        envelope: &Envelope,
        changes: &Changes<'_>,
        target: &Provider,
    ) -> Result<Outbound, RequestError> {
        let mut outbound = self.written(envelope, changes, target)?;
        if let Some(instead) = &target.paths.instead_of_model {
            let [name, value] = instead;
            outbound.body = model_member::replaced(&outbound.body, name, value);
        }
        Ok(outbound)
    }

    fn written(
        self,
        envelope: &Envelope,
        changes: &Changes<'_>,
        target: &Provider,
    ) -> Result<Outbound, RequestError> {
        match self {
            Self::Same(_) => Ok(Outbound {
                body: envelope.rewrite(changes),
                inexpressible: Vec::new(),
                must_instruct: false,
            }),
            Self::Translated { provider, .. } => {
                let model = changes.model.unwrap_or(&envelope.facts().model);
                let of_model = Target::of(target, model);
                let Translation {
                    body,
                    inexpressible,
                    must_instruct,
                } = envelope.translated(provider, &of_model)?;
                Ok(Outbound {
                    body,
                    inexpressible,
                    must_instruct,
                })
            }
        }
    }

    /// An answer that came whole.
    ///
    /// # Errors
    /// [`RequestError`] where it has to be translated and is no answer: the provider's fault.
    pub fn whole(self, body: Bytes, stamp: impl FnOnce() -> Stamp) -> Result<Whole, RequestError> {
        match self {
            Self::Same(operation) => Ok(Whole {
                usage: operation.usage(&body),
                cut: operation.is_cut(&body),
                body,
            }),
            Self::Translated { client, provider } => {
                let answer = provider.read_answer(&body)?;
                Ok(Whole {
                    body: client.dialect().write_answer(&answer, &stamp()),
                    usage: answer.usage,
                    cut: is_cut(&answer),
                })
            }
        }
    }

    /// An answer that came whole though a stream was asked for, as that stream.
    ///
    /// # Errors
    /// [`RequestError`] where it is no answer: the provider's fault.
    pub fn streamed(
        self,
        body: &Bytes,
        stamp: Stamp,
        usage_chunk: UsageChunk,
    ) -> Result<Whole, RequestError> {
        let (client, provider) = match self {
            Self::Same(operation) => (operation, operation.dialect().into()),
            Self::Translated { client, provider } => (client, provider),
        };
        let answer = provider.read_answer(body)?;
        let (dialect, framing) = (client.dialect(), client.framing());
        Ok(Whole {
            usage: answer.usage,
            cut: is_cut(&answer),
            body: write_streamed(dialect, framing, answer, stamp, usage_chunk),
        })
    }

    /// The stream of an answer from `provider`.
    pub fn stream(
        self,
        provider: &Arc<Provider>,
        stamp: impl FnOnce() -> Stamp,
        usage_chunk: UsageChunk,
    ) -> AnswerStream {
        let provider = Arc::clone(provider);
        match self {
            Self::Same(
                Operation::ChatCompletions | Operation::Completions | Operation::Embeddings,
            ) => AnswerStream::Chat(ChatStream::new(provider, usage_chunk)),
            Self::Same(Operation::Responses) => {
                AnswerStream::Response(responses::ResponseStream::new(provider))
            }
            Self::Same(Operation::Content(_, framing)) => {
                AnswerStream::Content(gemini::ContentStream::new(provider, framing))
            }
            Self::Same(Operation::Messages | Operation::CountTokens) => {
                AnswerStream::Message(anthropic::MessageStream::new(provider))
            }
            Self::Translated {
                client,
                provider: from,
            } => {
                let to = client.dialect();
                let stream = StreamTranslation::new((from, provider), to, stamp(), usage_chunk);
                AnswerStream::Translated(Box::new(stream.framed(client.framing())))
            }
        }
    }

    /// A provider's failure, which said `body`, as its client reads it.
    pub fn error(self, error: &UpstreamError, body: Bytes) -> Bytes {
        match self {
            Self::Same(_) => body,
            Self::Translated { client, .. } => client.dialect().write_error(error),
        }
    }
}

impl Operation {
    /// What an answer in `body`, which is no stream, used; `None` where it does not say.
    pub fn usage(self, body: &[u8]) -> Option<Usage> {
        match self {
            Self::ChatCompletions | Self::Completions | Self::Embeddings => {
                Usage::from_completion(body)
            }
            Self::Responses => Usage::from_response(body),
            Self::Content(call, _) if call.generates() => Usage::from_generation(body),
            Self::Content(..) => None,
            Self::Messages => Usage::from_message(body),
            // What was counted is not used.
            Self::CountTokens => None,
        }
    }

    /// Whether an answer in `body`, which is no stream, was cut at its maximum.
    pub fn is_cut(self, body: &[u8]) -> bool {
        match self {
            Self::ChatCompletions | Self::Completions => openai::is_cut(body),
            Self::Responses => responses::is_cut(body),
            Self::Content(..) => gemini::is_cut(body),
            Self::Messages => anthropic::is_cut(body),
            Self::CountTokens | Self::Embeddings => false,
        }
    }
}

fn is_cut(answer: &Answer) -> bool {
    matches!(
        answer.finish,
        FinishReason::Length | FinishReason::ContextFull
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    #[test]
    fn what_came_whole_streams_only_if_it_is_an_answer() {
        let stamp = || Dialect::OpenAiChat.stamp("1", "m", 0);
        for operation in [Operation::ChatCompletions, Operation::Messages] {
            for body in [r#"{"error":{"message":"no"}}"#, "{}", "[]", "<html>", ""] {
                let body = Bytes::from(body);
                let streamed = Crossing::Same(operation).streamed(&body, stamp(), UsageChunk::Pass);
                assert!(streamed.is_err(), "{operation:?}: {body:?}");
            }
        }
        let body = Bytes::from(
            r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
        );
        let streamed =
            Crossing::Same(Operation::ChatCompletions).streamed(&body, stamp(), UsageChunk::Hide);
        let streamed = streamed.expect("an answer");
        assert!(streamed.cut && streamed.usage.is_some());
        assert!(streamed.body.ends_with(b"data: [DONE]\n\n"));
    }
}
