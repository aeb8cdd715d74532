//! What a client asks for, and the form in which it reads what we answer ourselves.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use sluicegate_catalog::Endpoint;

use crate::canonical::Stamp;
use crate::gemini::{Call, Framing};
use crate::{Dialect, Usage, anthropic, gemini, openai, responses};

/// What a client asks for, by the path that it calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// OpenAI's chat completions.
    ChatCompletions,
    /// Anthropic's messages.
    Messages,
    /// How many tokens a message would have, in Anthropic's dialect.
    CountTokens,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's completions of a text.
    Completions,
    /// OpenAI's embeddings.
    Embeddings,
    /// One of Google's, and how its client wants a stream.
    Content(Call, Framing),
}

/// A failure of ours, before it has a wire format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorOut<'a> {
    /// The status, which some dialects repeat in the body.
    pub status: StatusCode,
    /// What happened, which limit, and what would help.
    pub message: &'a str,
    /// The kind in OpenAI's words, like `rate_limit_error`.
    pub kind: &'a str,
    /// The exact reason, like `rate_limit_exceeded`.
    pub code: &'a str,
    /// The member of the request that is at fault.
    pub param: Option<&'a str>,
    /// When to come back.
    pub wait: Option<Duration>,
}

impl Operation {
    /// What it is called in a message.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat completions",
            Self::Messages => "messages",
            Self::CountTokens | Self::Content(Call::CountTokens, _) => "token counts",
            Self::Responses => "responses",
            Self::Completions => "completions",
            Self::Embeddings | Self::Content(Call::EmbedContent | Call::BatchEmbedContents, _) => {
                "embeddings"
            }
            Self::Content(Call::GenerateContent | Call::StreamGenerateContent, _) => "generations",
        }
    }

    /// How its client wants a stream, where its dialect has two forms.
    pub const fn framing(self) -> Framing {
        match self {
            Self::Content(_, framing) => framing,
            _ => Framing::Events,
        }
    }

    /// The dialect that its client speaks.
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::ChatCompletions | Self::Completions | Self::Embeddings => Dialect::OpenAiChat,
            Self::Responses => Dialect::OpenAiResponses,
            Self::Content(..) => Dialect::Gemini,
            Self::Messages | Self::CountTokens => Dialect::Anthropic,
        }
    }

    /// Whether it counts against the limits of what models answer.
    pub const fn is_charged(self) -> bool {
        !matches!(
            self,
            Self::CountTokens | Self::Content(Call::CountTokens, _)
        )
    }

    /// The answer of `tokens`, where it only asks how many tokens a request would have.
    pub fn token_count_body(self, tokens: u64) -> Option<Bytes> {
        match self {
            Self::CountTokens => Some(anthropic::token_count_body(tokens)),
            Self::Content(Call::CountTokens, _) => Some(gemini::token_count_body(tokens)),
            _ => None,
        }
    }

    /// Whether a model answers, so that another dialect can say the same.
    pub const fn is_answered_by_model(self) -> bool {
        match self {
            Self::ChatCompletions | Self::Messages | Self::Responses => true,
            // Older models' or no answers: nobody else says the like.
            Self::CountTokens | Self::Completions | Self::Embeddings => false,
            Self::Content(call, _) => call.generates(),
        }
    }

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

impl Operation {
    /// Who has it, and where.
    pub(crate) const fn native(self) -> (sluicegate_catalog::Dialect, Endpoint) {
        use sluicegate_catalog::Dialect;
        match self {
            Self::ChatCompletions => (Dialect::OpenAi, Endpoint::Chat),
            Self::Messages => (Dialect::Anthropic, Endpoint::Chat),
            Self::CountTokens => (Dialect::Anthropic, Endpoint::CountTokens),
            Self::Responses => (Dialect::OpenAi, Endpoint::Responses),
            Self::Completions => (Dialect::OpenAi, Endpoint::Completions),
            Self::Embeddings => (Dialect::OpenAi, Endpoint::Embeddings),
            Self::Content(call, _) => (
                Dialect::Gemini,
                match call {
                    Call::GenerateContent | Call::StreamGenerateContent => Endpoint::Chat,
                    Call::CountTokens => Endpoint::CountTokens,
                    Call::EmbedContent => Endpoint::Embeddings,
                    Call::BatchEmbedContents => Endpoint::EmbeddingsBatch,
                },
            ),
        }
    }
}

impl Dialect {
    /// The stamp of an answer to the request `id`, for the `model` that was asked for.
    pub fn stamp(self, id: &str, model: &str, created_s: u64) -> Stamp {
        let id = match self {
            Self::OpenAiChat => format!("chatcmpl-{id}"),
            Self::Anthropic => format!("msg_{id}"),
            Self::OpenAiResponses => format!("resp_{id}"),
            Self::Gemini => id.to_owned(),
        };
        Stamp {
            id,
            model: model.to_owned(),
            created_s,
            input_tokens: 0,
            request: Bytes::new(),
        }
    }

    /// The body of an error answer.
    pub fn error_body(self, error: &ErrorOut<'_>) -> Bytes {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => openai::error_body(&openai_error(error)),
            Self::Anthropic => anthropic::error_body(&anthropic_error(error)),
            Self::Gemini => gemini::error_body(&gemini_error(error)),
        }
    }

    /// What ends a stream of so many events before it.
    pub(crate) fn error_event(self, error: &ErrorOut<'_>, events: u64) -> Bytes {
        match self {
            Self::OpenAiChat => openai::error_event(&openai_error(error)),
            Self::Anthropic => anthropic::error_event(&anthropic_error(error)),
            Self::OpenAiResponses => responses::error_event(&openai_error(error), events),
            Self::Gemini => gemini::error_event(&gemini_error(error)),
        }
    }

    /// Whether every request has to name a maximum of output.
    pub const fn wants_output_cap(self) -> bool {
        matches!(self, Self::Anthropic)
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "OpenAI chat",
            Self::OpenAiResponses => "OpenAI responses",
            Self::Gemini => "Gemini",
            Self::Anthropic => "Anthropic",
        }
    }
}

const fn openai_error<'a>(error: &ErrorOut<'a>) -> openai::ErrorOut<'a> {
    openai::ErrorOut {
        message: error.message,
        kind: error.kind,
        code: error.code,
        param: error.param,
    }
}

fn anthropic_error<'a>(error: &ErrorOut<'a>) -> anthropic::ErrorOut<'a> {
    anthropic::ErrorOut {
        kind: anthropic::error_kind(error.status),
        message: error.message,
    }
}

pub(crate) fn gemini_error<'a>(error: &ErrorOut<'a>) -> gemini::ErrorOut<'a> {
    let millis = |wait: Duration| wait.as_nanos().div_ceil(1_000_000).max(1);
    gemini::ErrorOut {
        code: error.status.as_u16(),
        message: error.message,
        status: gemini::error_status(error.status),
        retry_after_ms: error
            .wait
            .map(|wait| u64::try_from(millis(wait)).unwrap_or(u64::MAX)),
    }
}
