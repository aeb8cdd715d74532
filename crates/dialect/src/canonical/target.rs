//! What a writer must be told because no request says it.

use sluicegate_catalog::{Provider, ThinkingBy};

/// What a request is written for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The provider's name of the model.
    pub model: String,
    /// The output maximum where the request names none and the dialect wants one, in tokens.
    pub output_cap_default: u64,
    /// Under which name the output maximum is written, where a dialect has two.
    pub cap_name: CapName,
    /// Whether the model follows a JSON Schema by itself.
    pub follows_schema: bool,
    /// How the model is told to think.
    pub thinking: ThinkingForm,
}

impl Target {
    /// What `provider`'s row says of a request for `model`, the provider's name for it.
    pub fn of(provider: &Provider, model: &str) -> Self {
        let row = &provider.translation;
        Self {
            model: model.to_owned(),
            output_cap_default: row.output_default,
            cap_name: match row.cap {
                sluicegate_catalog::CapName::MaxTokens => CapName::MaxTokens,
                sluicegate_catalog::CapName::MaxCompletionTokens => CapName::MaxCompletionTokens,
            },
            follows_schema: row.follows_schema(model),
            thinking: match row.thinking_of(model) {
                None => ThinkingForm::None,
                Some(ThinkingBy::Effort) => ThinkingForm::Effort,
                Some(ThinkingBy::Budget) => ThinkingForm::Budget,
            },
        }
    }
}

/// The two names of OpenAI's output maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CapName {
    /// `max_completion_tokens`, which all of OpenAI's models take.
    #[default]
    MaxCompletionTokens,
    /// `max_tokens`, which is all that many other servers know.
    MaxTokens,
}

/// How a model is told to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ThinkingForm {
    /// Not at all: whatever a request says of it is left out.
    #[default]
    None,
    /// By an effort.
    Effort,
    /// By a number of tokens, as older Claude models are.
    Budget,
}

/// What an answer is stamped with where the provider's dialect has no such thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The answer's id where the provider gave none.
    pub id: String,
    /// The model's name where the provider gave none.
    pub model: String,
    /// When it was made, in seconds since the Unix epoch.
    pub created_s: u64,
    /// What the request's input is expected to be, in tokens: where the provider does not tell the usage, the client is told this.
    pub input_tokens: u64,
}
