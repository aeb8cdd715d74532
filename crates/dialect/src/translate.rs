//! From one dialect to another: which functions of which folder.
//!
//! A dialect more is a folder and an arm in each of these matches.

use bytes::Bytes;

use crate::canonical::{
    Answer, Feature, Inexpressible, OutputForm, ReadRequest, Request, Stamp, Target, WrittenRequest,
};
use crate::{ProviderDialect, RequestError, UpstreamError, anthropic, gemini, openai, responses};

/// A wire format that clients speak, and providers too. Those that only providers speak are in
/// [`ProviderDialect`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// OpenAI's chat completions.
    OpenAiChat,
    /// Anthropic's messages.
    Anthropic,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Google's Gemini.
    Gemini,
}

/// A request in another dialect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The body.
    pub body: Bytes,
    /// What is not in it, in the words of the dialect that it came in: to be refused by name, or to
    /// be dropped where the route allows that.
    pub inexpressible: Vec<Inexpressible>,
    /// What is not in it either, though nobody has to be refused for it: to be reported.
    pub foregone: Vec<Inexpressible>,
    /// Whether the model is told of the answer's form in words, which no provider vouches for: the
    /// caller must check it.
    pub must_instruct: bool,
    /// The form of the answer.
    pub form: OutputForm,
}

/// A request of a client that speaks `from`, for a provider that speaks `to`.
///
/// What stands in the path and not in the body is not translated here: see
/// [`Envelope::translated`](crate::Envelope::translated).
///
/// # Errors
/// [`RequestError`] where the body is none of that dialect.
///
/// ```
/// use sluicegate_dialect::canonical::{Target, ThinkingForm, CapName};
/// use sluicegate_dialect::{Dialect, translate_request};
/// let target = Target {
///     model: "claude-haiku-4-5".to_owned(),
///     output_cap_default: 4_096,
///     cap_name: CapName::default(),
///     follows_schema: true,
///     thinking: ThinkingForm::None,
///     always_thinks: false,
///     fixed_sampling: false,
/// };
/// let body = br#"{"model":"fast","messages":[{"role":"user","content":"hi"}],"seed":7}"#;
/// let translation = translate_request(Dialect::OpenAiChat, Dialect::Anthropic, body, &target)?;
/// assert_eq!(
///     translation.body,
///     r#"{"model":"claude-haiku-4-5","max_tokens":4096,"messages":[{"role":"user","content":"hi"}]}"#
/// );
/// assert_eq!(translation.inexpressible[0].field, "seed");
/// # Ok::<(), sluicegate_dialect::RequestError>(())
/// ```
pub fn translate_request(
    from: Dialect,
    to: impl Into<ProviderDialect>,
    body: &[u8],
    target: &Target,
) -> Result<Translation, RequestError> {
    Ok(written(from, to.into(), from.read_request(body)?, target))
}

/// A request that was read, in another dialect.
pub(crate) fn written(
    from: Dialect,
    to: ProviderDialect,
    read: ReadRequest,
    target: &Target,
) -> Translation {
    let ReadRequest {
        request,
        mut inexpressible,
    } = read;
    let (request, written) = to.write_instructed(request, target);
    let named = |feature| Inexpressible::new(from.field_of(feature));
    inexpressible.extend(written.unsaid.into_iter().map(named));
    Translation {
        body: written.body,
        inexpressible,
        foregone: written.foregone.into_iter().map(named).collect(),
        must_instruct: written.must_instruct,
        form: request.output,
    }
}

impl Dialect {
    /// Reads a request into the canonical form.
    ///
    /// # Errors
    /// [`RequestError`] where the body is none of this dialect.
    pub fn read_request(self, body: &[u8]) -> Result<ReadRequest, RequestError> {
        match self {
            Self::OpenAiChat => openai::read_request(body),
            Self::Anthropic => anthropic::read_request(body),
            Self::OpenAiResponses => responses::read_request(body),
            Self::Gemini => gemini::read_request(body),
        }
    }

    /// Writes a request for a provider of this dialect.
    pub fn write_request(self, request: &Request, target: &Target) -> WrittenRequest {
        match self {
            Self::OpenAiChat => openai::write_request(request, target),
            Self::Anthropic => anthropic::write_request(request, target),
            Self::OpenAiResponses => responses::write_request(request, target),
            Self::Gemini => gemini::write_request(request, target),
        }
    }

    /// The member of a request in which this dialect says `feature`.
    pub const fn field_of(self, feature: Feature) -> &'static str {
        match self {
            Self::OpenAiChat => openai::field_of(feature),
            Self::Anthropic => anthropic::field_of(feature),
            Self::OpenAiResponses => responses::field_of(feature),
            Self::Gemini => gemini::field_of(feature),
        }
    }

    /// Reads an answer that came whole.
    ///
    /// # Errors
    /// [`RequestError`] where it is none of this dialect: the provider's fault, not the client's.
    pub fn read_answer(self, body: &[u8]) -> Result<Answer, RequestError> {
        match self {
            Self::OpenAiChat => openai::read_answer(body),
            Self::Anthropic => anthropic::read_answer(body),
            Self::OpenAiResponses => responses::read_answer(body),
            Self::Gemini => gemini::read_answer(body),
        }
    }

    /// Writes an answer for a client of this dialect.
    pub fn write_answer(self, answer: &Answer, stamp: &Stamp) -> Bytes {
        match self {
            Self::OpenAiChat => openai::write_answer(answer, stamp),
            Self::Anthropic => anthropic::write_answer(answer, stamp),
            Self::OpenAiResponses => responses::write_answer(answer, stamp),
            Self::Gemini => gemini::write_answer(answer, stamp),
        }
    }

    /// Writes a provider's failure for a client of this dialect.
    pub fn write_error(self, error: &UpstreamError) -> Bytes {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => openai::write_error(error),
            Self::Anthropic => anthropic::write_error(error),
            Self::Gemini => gemini::write_error(error),
        }
    }
}
