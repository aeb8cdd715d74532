//! How one request reaches its provider and how the answer comes back: as it is, or translated.

mod checked;

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use sluicegate_catalog::{Endpoint, Provider};

use crate::canonical::{Answer, Feature, FinishReason, Inexpressible, Stamp, Target};
use crate::openai::{ChatStream, UsageChunk};
use crate::shape::{instruct, repair};
use crate::translate::sayable;
use crate::translate_stream::write_streamed;
use crate::{
    AnswerStream, Changes, Envelope, Fit, Misshapen, Operation, ProviderDialect, RequestError,
    Seals, Shape, StreamTranslation, Success, Translation, UpstreamError, Usage, anthropic, gemini,
    json, model_member, responses,
};
use checked::{shape_of, shaped};

/// The way of one request between its client and one provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crossing {
    /// The provider takes what the client writes.
    Same(Operation),
    /// It speaks another dialect; or the same, and the answer is read to be checked.
    Translated {
        /// What the client asks for.
        client: Operation,
        /// What the provider speaks.
        provider: ProviderDialect,
    },
}

/// What an answer owes to a request that asks for a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owed {
    /// What the provider makes of it, where it has a feature for it: the client chose who answers.
    AsTheProvider,
    /// That form: somebody else chose.
    TheForm,
}

/// A request as it goes out.
#[derive(Clone, Debug)]
pub struct Outbound {
    /// The body.
    pub body: Bytes,
    /// What is not in it, in the words of the client's dialect.
    pub inexpressible: Vec<Inexpressible>,
    /// What is not in it either, though nobody has to be refused for it: to be reported.
    pub foregone: Vec<Inexpressible>,
    /// How its answer comes back.
    pub crossing: Crossing,
    /// What the text of the answer has to be, where that is checked.
    pub shape: Option<Arc<Shape>>,
}

/// An answer that came whole, as its client gets it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Whole {
    /// The body.
    pub body: Bytes,
    /// What it used, where it says so.
    pub usage: Option<Usage>,
    /// Whether the body tells a usage that is an estimate of ours, since the provider told none.
    pub estimated: bool,
    /// Whether it was cut at its maximum.
    pub cut: bool,
    /// What of the provider's answer the body has no words for: images, documents, sound.
    pub lost: Vec<Feature>,
    /// Whether nothing of the answer is left without these. The body is of no use then.
    pub emptied: bool,
    /// What is wrong with its form, where it has to have one. The body is of no use then.
    pub misshapen: Option<Misshapen>,
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

    /// Whether both sides speak the same dialect.
    pub fn keeps_dialect(self) -> bool {
        match self {
            Self::Same(_) => true,
            Self::Translated { client, provider } => {
                provider == ProviderDialect::Shared(client.dialect())
            }
        }
    }

    /// The body for `target`, the provider: with `changes` where the dialect stays, else written anew for the model that they name.
    ///
    /// # Errors
    /// [`RequestError`] where the body is none of its dialect.
    pub fn outbound(
        self,
        envelope: &Envelope,
        changes: &Changes<'_>,
        owed: Owed,
        target: &Provider,
    ) -> Result<Outbound, RequestError> {
        let mut outbound = self.written(envelope, changes, owed, target)?;
        outbound.body = addressed(outbound.body, target);
        Ok(outbound)
    }

    fn written(
        self,
        envelope: &Envelope,
        changes: &Changes<'_>,
        owed: Owed,
        target: &Provider,
    ) -> Result<Outbound, RequestError> {
        let changes = &Changes {
            seals: Seals::Own,
            ..*changes
        };
        let model = changes.model.unwrap_or(&envelope.facts().model);
        let of_model = || Target::of(target, model);
        match self {
            Self::Same(operation) => {
                let shaped = match owed {
                    Owed::TheForm => shaped(operation, envelope, changes, of_model)?,
                    Owed::AsTheProvider => None,
                };
                Ok(shaped.unwrap_or_else(|| Outbound {
                    body: envelope.rewrite(changes),
                    inexpressible: Vec::new(),
                    foregone: envelope.foregone().into_iter().collect(),
                    crossing: self,
                    shape: None,
                }))
            }
            Self::Translated { provider, .. } => {
                let Translation {
                    body,
                    inexpressible,
                    foregone,
                    must_instruct,
                    form,
                } = envelope.translated(provider, &of_model())?;
                let is_checked = must_instruct || owed == Owed::TheForm;
                // Of the words of the client's schema the provider knows nothing, so that its own would mean nothing to the client.
                let shape = shape_of(&form, envelope)?.filter(|_| is_checked);
                Ok(Outbound {
                    body,
                    inexpressible,
                    foregone,
                    crossing: self,
                    shape: shape.map(Arc::new),
                })
            }
        }
    }

    /// The body of a request that was answered with what is `wrong`: the conversation, that answer and what is wrong with it. `None`
    /// where answers are not checked.
    pub fn repair(
        self,
        envelope: &Envelope,
        wrong: &Misshapen,
        target: &Provider,
        model: &str,
    ) -> Option<Bytes> {
        let Self::Translated { provider, .. } = self else {
            return None;
        };
        let model = Target::of(target, model);
        let (from, body) = (envelope.operation().dialect(), envelope.body());
        // What was left out of the request that is repaired is left out here too.
        let sent = sayable(from, provider, envelope.read().ok()?, body, &model).ok()?;
        let mut request = sent.request;
        instruct(&mut request);
        repair(&mut request, wrong);
        let written = provider.write_request(&request, &model);
        Some(addressed(written.body, target))
    }

    /// What the whole `body` is that `provider` sent with a success and these `headers`. Where the dialect stays, the client knows its
    /// words for what the model has spoilt.
    pub fn success(self, provider: &Provider, headers: &HeaderMap, body: &[u8]) -> Success {
        let success = Success::of(self.answered_in(), provider, headers, body);
        match (self, &success) {
            (Self::Translated { provider, .. }, Success::Answer) => {
                provider.spoilt(body).map_or(success, Success::failed)
            }
            _ => success,
        }
    }

    /// The dialect in which the provider answers.
    fn answered_in(self) -> ProviderDialect {
        match self {
            Self::Same(operation) => operation.dialect().into(),
            Self::Translated { provider, .. } => provider,
        }
    }

    /// An answer that came whole, as [`success`](Self::success) takes it for one, and has to be of that `shape`.
    ///
    /// # Errors
    /// [`RequestError`] where it has to be translated and is no answer: the provider's fault.
    pub fn whole(
        self,
        body: Bytes,
        shape: Option<&Shape>,
        stamp: impl FnOnce() -> Stamp,
    ) -> Result<Whole, RequestError> {
        let read = json::without_mark(&body);
        match self {
            Self::Same(operation) => Ok(Whole {
                usage: operation.usage(read),
                estimated: false,
                cut: operation.is_cut(read),
                lost: Vec::new(),
                emptied: false,
                misshapen: None,
                body,
            }),
            Self::Translated { client, provider } => {
                let mut answer = provider.read_answer(read)?;
                let usage = answer.usage;
                let fit = shape.map_or(Ok(Fit::AsItIs), |shape| shape.fit(&mut answer));
                let mut estimated = false;
                let mut lost = client.dialect().lost_of(&answer);
                let body = match fit {
                    Ok(Fit::AsItIs) if self.keeps_dialect() => {
                        lost.clear();
                        body
                    }
                    _ => {
                        let stamp = stamp();
                        estimated = answer.estimate_usage(stamp.input_tokens);
                        client.dialect().write_answer(&answer, &stamp)
                    }
                };
                Ok(Whole {
                    body,
                    usage,
                    estimated,
                    cut: is_cut(&answer),
                    emptied: !lost.is_empty() && answer.is_media_alone(),
                    lost,
                    misshapen: fit.err(),
                })
            }
        }
    }

    /// An answer that came whole though a stream was asked for, as that stream, of that `shape`.
    ///
    /// # Errors
    /// [`RequestError`] where it is no answer: the provider's fault.
    pub fn streamed(
        self,
        body: &Bytes,
        shape: Option<&Shape>,
        stamp: Stamp,
        usage_chunk: UsageChunk,
    ) -> Result<Whole, RequestError> {
        let (Self::Same(client) | Self::Translated { client, .. }) = self;
        let mut answer = self.answered_in().read_answer(json::without_mark(body))?;
        let usage = answer.usage;
        let fit = shape.map(|shape| shape.fit(&mut answer));
        let (dialect, framing) = (client.dialect(), client.framing());
        Ok(Whole {
            estimated: answer.estimate_usage(stamp.input_tokens),
            usage,
            cut: is_cut(&answer),
            lost: answer.media(),
            emptied: answer.is_media_alone(),
            misshapen: fit.and_then(Result::err),
            body: write_streamed(dialect, framing, answer, stamp, usage_chunk),
        })
    }

    /// The stream of an answer from `provider`, which has to be of that `shape`.
    pub fn stream(
        self,
        provider: &Arc<Provider>,
        shape: Option<&Arc<Shape>>,
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
                let stream = stream.framed(client.framing());
                AnswerStream::Translated(Box::new(match shape {
                    Some(shape) => stream.shaped(Arc::clone(shape)),
                    None => stream,
                }))
            }
        }
    }

    /// A provider's failure, which said `body`, as its client reads it.
    pub fn error(self, error: &UpstreamError, body: Bytes) -> Bytes {
        match self {
            Self::Translated { client, .. } if !self.keeps_dialect() => {
                client.dialect().write_error(error)
            }
            Self::Same(_) | Self::Translated { .. } => body,
        }
    }
}

/// `body` as the address of `target` wants it.
fn addressed(body: Bytes, target: &Provider) -> Bytes {
    match &target.paths.instead_of_model {
        Some([name, value]) => model_member::replaced(&body, name, value),
        None => body,
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
    fn what_the_model_has_spoilt_fails_where_it_is_translated() {
        let row = |id| sluicegate_catalog::provider(id).expect("a row");
        let malformed = br#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#;
        let converse = br#"{"output":{"message":{"role":"assistant","content":[]}},"stopReason":"malformed_model_output"}"#;
        for (id, body, reason) in [
            ("gemini", &malformed[..], "MALFORMED_FUNCTION_CALL"),
            ("bedrock", converse, "malformed_model_output"),
        ] {
            let crossing = Crossing::to(Operation::ChatCompletions, row(id)).expect("it answers");
            match crossing.success(row(id), &HeaderMap::new(), body) {
                Success::Failure(failure) => {
                    assert!(failure.error.message.ends_with(reason), "{failure:?}");
                    let status = failure.error.status.map(|status| status.as_u16());
                    assert_eq!(status, Some(502));
                }
                other => panic!("{other:?}"),
            }
        }
        let content = Operation::Content(gemini::Call::GenerateContent, gemini::Framing::Events);
        let success = Crossing::Same(content).success(row("gemini"), &HeaderMap::new(), malformed);
        assert_eq!(success, Success::Answer);
    }

    #[test]
    fn what_came_whole_streams_only_if_it_is_an_answer() {
        let stamp = || Dialect::OpenAiChat.stamp("1", "m", 0);
        for operation in [Operation::ChatCompletions, Operation::Messages] {
            for body in [r#"{"error":{"message":"no"}}"#, "{}", "[]", "<html>", ""] {
                let body = Bytes::from(body);
                let crossing = Crossing::Same(operation);
                let streamed = crossing.streamed(&body, None, stamp(), UsageChunk::Pass);
                assert!(streamed.is_err(), "{operation:?}: {body:?}");
            }
        }
        let body = Bytes::from(
            r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
        );
        let crossing = Crossing::Same(Operation::ChatCompletions);
        let streamed = crossing.streamed(&body, None, stamp(), UsageChunk::Hide);
        let streamed = streamed.expect("an answer");
        assert!(streamed.cut && streamed.usage.is_some());
        assert!(streamed.body.ends_with(b"data: [DONE]\n\n"));
    }
}
