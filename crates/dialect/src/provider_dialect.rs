//! The wire formats that providers speak: more than clients do.

use sluicegate_catalog::Provider;

use crate::canonical::{Answer, Request, Target, WrittenRequest};
use crate::shape::instruct;
use crate::{Dialect, RequestError, UpstreamError, bedrock, cohere, gemini};

/// A wire format in which requests go out and answers come back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProviderDialect {
    /// One that clients speak too, so that what such a client sends may pass as it is.
    Shared(Dialect),
    /// Amazon Bedrock's Converse.
    Bedrock,
    /// Cohere's chat, version 2.
    Cohere,
}

impl From<Dialect> for ProviderDialect {
    fn from(dialect: Dialect) -> Self {
        Self::Shared(dialect)
    }
}

impl ProviderDialect {
    /// What `provider`'s models are spoken to in.
    pub const fn of(provider: &Provider) -> Self {
        use sluicegate_catalog::Dialect as Row;
        match provider.dialect {
            Row::OpenAi => Self::Shared(Dialect::OpenAiChat),
            Row::Gemini => Self::Shared(Dialect::Gemini),
            Row::Anthropic => Self::Shared(Dialect::Anthropic),
            Row::Bedrock => Self::Bedrock,
            Row::Cohere => Self::Cohere,
        }
    }

    /// Whether a request has to name an output maximum.
    pub const fn wants_output_cap(self) -> bool {
        match self {
            Self::Shared(dialect) => dialect.wants_output_cap(),
            Self::Bedrock | Self::Cohere => false,
        }
    }

    /// Writes a request for a provider of this dialect.
    pub fn write_request(self, request: &Request, target: &Target) -> WrittenRequest {
        match self {
            Self::Shared(dialect) => dialect.write_request(request, target),
            Self::Bedrock => bedrock::write_request(request, target),
            Self::Cohere => cohere::write_request(request, target),
        }
    }

    /// The same, with the form of the answer in words where nothing else enforces it; and what was
    /// written.
    pub(crate) fn write_instructed(
        self,
        request: Request,
        target: &Target,
    ) -> (Request, WrittenRequest) {
        let written = self.write_request(&request, target);
        self.instructed(request, written, target)
    }

    /// The same of a request that is `written` already.
    pub(crate) fn instructed(
        self,
        mut request: Request,
        written: WrittenRequest,
        target: &Target,
    ) -> (Request, WrittenRequest) {
        if !written.must_instruct {
            return (request, written);
        }
        instruct(&mut request);
        // What is lost is the same, and told by where it stood.
        let unsaid = written.unsaid;
        let written = self.write_request(&request, target);
        (request, WrittenRequest { unsaid, ..written })
    }

    /// The member of a body that holds the conversation.
    pub(crate) const fn conversation_member(self) -> &'static str {
        match self {
            Self::Shared(dialect) => dialect.conversation_member(),
            Self::Bedrock | Self::Cohere => "messages",
        }
    }

    /// Reads an answer that came whole.
    ///
    /// # Errors
    /// [`RequestError`] where it is none of this dialect: the provider's fault, not the client's.
    pub fn read_answer(self, body: &[u8]) -> Result<Answer, RequestError> {
        match self {
            Self::Shared(dialect) => dialect.read_answer(body),
            Self::Bedrock => bedrock::read_answer(body),
            Self::Cohere => cohere::read_answer(body),
        }
    }

    /// The failure of the model that an answer tells of in the words of an end, where it does.
    pub(crate) fn spoilt(self, body: &[u8]) -> Option<UpstreamError> {
        match self {
            Self::Shared(Dialect::Gemini) => gemini::spoilt(body),
            Self::Bedrock => bedrock::spoilt(body),
            Self::Shared(Dialect::OpenAiChat | Dialect::OpenAiResponses | Dialect::Anthropic)
            | Self::Cohere => None,
        }
    }
}
