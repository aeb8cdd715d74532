//! From one dialect to another: which functions of which folder.
//!
//! A dialect more is a folder and an arm in each of these matches.

use bytes::Bytes;

use crate::canonical::{
    Answer, Feature, Inexpressible, OutputForm, ReadRequest, Request, Stamp, Target, WrittenRequest,
};
use crate::shape::instruct;
use crate::{RequestError, UpstreamError, anthropic, openai};

/// A wire format that requests come in or go out in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// OpenAI's chat completions.
    OpenAiChat,
    /// Anthropic's messages.
    Anthropic,
}

/// A request in another dialect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translation {
    /// The body.
    pub body: Bytes,
    /// What is not in it, in the words of the dialect that it came in: to be refused by name, or to
    /// be dropped where the route allows that.
    pub inexpressible: Vec<Inexpressible>,
    /// Whether the model is told of the answer's form in words, which no provider vouches for: the
    /// caller must check it.
    pub must_instruct: bool,
    /// The form of the answer.
    pub form: OutputForm,
}

/// A request of a client that speaks `from`, for a provider that speaks `to`.
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
    to: Dialect,
    body: &[u8],
    target: &Target,
) -> Result<Translation, RequestError> {
    let ReadRequest {
        request,
        mut inexpressible,
    } = from.read_request(body)?;
    let (request, written) = to.write_instructed(request, target);
    let unsaid = written.unsaid.into_iter();
    inexpressible.extend(unsaid.map(|feature| Inexpressible::new(from.field_of(feature))));
    Ok(Translation {
        body: written.body,
        inexpressible,
        must_instruct: written.must_instruct,
        form: request.output,
    })
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
        }
    }

    /// Writes a request for a provider of this dialect.
    pub fn write_request(self, request: &Request, target: &Target) -> WrittenRequest {
        match self {
            Self::OpenAiChat => openai::write_request(request, target),
            Self::Anthropic => anthropic::write_request(request, target),
        }
    }

    /// The same, with the form of the answer in words where nothing else enforces it; and what was
    /// written.
    pub(crate) fn write_instructed(
        self,
        mut request: Request,
        target: &Target,
    ) -> (Request, WrittenRequest) {
        let written = self.write_request(&request, target);
        if !written.must_instruct {
            return (request, written);
        }
        instruct(&mut request);
        let written = self.write_request(&request, target);
        (request, written)
    }

    /// The member of a request in which this dialect says `feature`.
    pub const fn field_of(self, feature: Feature) -> &'static str {
        match self {
            Self::OpenAiChat => openai::field_of(feature),
            Self::Anthropic => anthropic::field_of(feature),
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
        }
    }

    /// Writes an answer for a client of this dialect.
    pub fn write_answer(self, answer: &Answer, stamp: &Stamp) -> Bytes {
        match self {
            Self::OpenAiChat => openai::write_answer(answer, stamp),
            Self::Anthropic => anthropic::write_answer(answer, stamp),
        }
    }

    /// Writes a provider's failure for a client of this dialect.
    pub fn write_error(self, error: &UpstreamError) -> Bytes {
        match self {
            Self::OpenAiChat => openai::write_error(error),
            Self::Anthropic => anthropic::write_error(error),
        }
    }
}
