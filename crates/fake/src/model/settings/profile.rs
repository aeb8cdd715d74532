//! The providers, and what of their rules needs no code: which window, which charge, which estimate.
//!
//! Where a provider documents nothing, the more cautious reading is taken and said so; a limit in full can say otherwise.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::super::calendar::UtcOffset;
use super::{ChargeRule, Limit, Meter, Quantum, SettleRule, Window};
use crate::Period;

/// A provider's manners.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Continuous refill, charge `max(output, bytes / 4 + n)`, Go durations in the headers.
    #[default]
    #[serde(rename = "openai")]
    OpenAi,
    /// Fixed minute for tokens, requests also per 10 s, charge `(bytes / 4 + output) × best_of`, bare numbers.
    Azure,
    /// Provisioned throughput: a leaky bucket, refused at 100 %; uncached input and weighted output, settled.
    AzurePtu,
    /// Fixed minutes, input and output apart, both settled; headers for requests only, Unix seconds.
    Raon,
    /// Continuous refill; input settled without what was cached, output as produced; RFC 3339.
    Anthropic,
    /// Minutes and Pacific days, input only; the hint is in the body.
    Gemini,
    /// One token quota, evened out over a second and settled; no headers, no hints.
    Vertex,
    /// Input and the whole maximum reserved, settled with output multiplied by model; no headers, no hints.
    BedrockRuntime,
    /// Input with room for the maximum, output as produced; no headers, no hints.
    BedrockMantle,
    /// Calendar minutes and months of tokens, which become the usage; requests per 10 s.
    Mistral,
    /// Continuous refill also of the day; 413 for what never fits.
    Groq,
    /// Continuous refill, charged with the maximum and settled; seconds with fractions.
    Cerebras,
    /// Requests a second, tokens a minute; flat errors.
    Xai,
    /// Calls in flight only.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// Limits that move, evened out over a second; 503 where the platform itself is short.
    Together,
    /// Prompt, uncached prompt and generated tokens apart, all as they turn out.
    Fireworks,
    /// Calls a minute and a month.
    Cohere,
    /// Calls a minute and a UTC day; headers only on a 429.
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// Fixed minutes; headers of its own names, Unix seconds.
    Upstage,
    /// Fixed minutes, input and the whole maximum; codes in place of types.
    Naver,
    /// Sequences in the queue only; 503.
    Vllm,
    /// Calls in flight only; 429 that means overload.
    Tgi,
}

/// From what a provider estimates the tokens of a prompt before it is processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ruler {
    /// A quarter of its UTF-8 bytes.
    Bytes,
    /// The same and four for each message.
    BytesAndMessages,
    /// Its tokens, where they are known, as its tokenizer runs first.
    Tokens,
}

impl Profile {
    /// How the provider counts `amount` of `meter` over `per`, where only the amount is known.
    pub(super) fn limit(self, meter: Meter, amount: NonZeroU64, per: Period) -> Limit {
        let usual = |window| Limit::new(meter, amount, per, window);
        match self {
            Self::OpenAi | Self::Anthropic | Self::Groq | Self::Cerebras | Self::Fireworks => {
                usual(Window::Bucket)
            }
            Self::AzurePtu if meter == Meter::Tokens => usual(Window::Pacing),
            // Evened out over about a second, whatever the minute allows.
            Self::Vertex | Self::Together if per > Period::SECOND => Limit {
                burst: Some(Period::SECOND),
                ..usual(Window::Pacing)
            },
            Self::Azure if meter == Meter::Requests && per == Period::MINUTE => Limit {
                quantum: Some(Quantum {
                    per: TEN_SECONDS,
                    any: false,
                }),
                ..usual(Window::Fixed)
            },
            // What is sold by the second is counted by ten.
            Self::Mistral if meter == Meter::Requests && per == Period::SECOND => Limit::new(
                meter,
                amount.saturating_mul(TEN),
                TEN_SECONDS,
                Window::Fixed,
            ),
            _ if per == Period::MONTH => usual(Window::Month),
            _ if per == Period::DAY => usual(Window::Day),
            _ => usual(Window::Fixed),
        }
    }

    /// How a limit on `meter` charges on arrival. Requests are always one.
    pub(super) fn charge(self, meter: Meter) -> ChargeRule {
        match (self, meter) {
            (Self::BedrockMantle, Meter::InputTokens) => ChargeRule::Room,
            (_, Meter::InputTokens) => ChargeRule::Input,
            (Self::Anthropic | Self::BedrockMantle | Self::Fireworks, Meter::OutputTokens) => {
                ChargeRule::Produced
            }
            (_, Meter::OutputTokens) => ChargeRule::Output,
            (Self::OpenAi, _) => ChargeRule::Max,
            (Self::AzurePtu, _) => ChargeRule::Weighted,
            (Self::Gemini | Self::Anthropic | Self::Fireworks, _) => ChargeRule::Input,
            // What Vertex believes of the output nobody knows; what Mistral takes on arrival neither.
            (Self::Mistral | Self::Vertex, _) => ChargeRule::Input,
            _ => ChargeRule::Sum,
        }
    }

    /// What a charge of `meter` becomes. What nobody documents is kept, as is the safer reading.
    pub(super) fn settlement(self, meter: Meter) -> SettleRule {
        match (self, meter) {
            (_, Meter::Requests) => SettleRule::Keep,
            (
                Self::Raon | Self::Anthropic | Self::BedrockMantle | Self::Fireworks,
                Meter::InputTokens,
            ) => SettleRule::UncachedInput,
            (_, Meter::InputTokens) => SettleRule::Keep,
            (_, Meter::OutputTokens) => SettleRule::Output,
            (Self::AzurePtu | Self::BedrockRuntime, Meter::Tokens) => SettleRule::Weighted,
            (Self::Raon | Self::Groq | Self::Cerebras, Meter::Tokens) => SettleRule::UncachedTotal,
            (Self::Vertex | Self::Mistral | Self::Xai, Meter::Tokens) => SettleRule::Total,
            (Self::Anthropic | Self::BedrockMantle | Self::Fireworks, Meter::Tokens) => {
                SettleRule::Total
            }
            (_, Meter::Tokens) => SettleRule::Keep,
        }
    }

    /// Output charged per choice where no maximum is named. Of Bedrock the smallest documented maximum of a model, of Mistral
    /// the ceiling of streams seen in 2024; of Raon and Cerebras, which say only that there is one, a number of our own.
    pub(super) fn default_output(self) -> u64 {
        match self {
            Self::BedrockRuntime | Self::BedrockMantle => 64_000,
            Self::Mistral => 32_000,
            Self::Cerebras => 8_192,
            Self::Raon => 1_024,
            _ => 0,
        }
    }

    /// The weight of an output token: the Bedrock quota page's multipliers by model, and for provisioned throughput the
    /// ratio of one model of the gpt-5 generation.
    pub(super) fn output_weight(self, model: &str) -> u64 {
        const FIFTEEN: [&str; 1] = ["claude-4.8"];
        const TEN: [&str; 4] = [
            "claude-sonnet-5",
            "claude-opus-5",
            "claude-fable-5.1",
            "gpt-5.6",
        ];
        let named = |names: &[&str]| names.iter().any(|name| model.contains(name));
        match self {
            Self::AzurePtu => 8,
            Self::BedrockRuntime if named(&FIFTEEN) => 15,
            Self::BedrockRuntime if named(&TEN) => 10,
            Self::BedrockRuntime if model.contains("claude") => 5,
            _ => 1,
        }
    }

    /// From what the prompt's estimate is made. Text length where the provider says so; elsewhere its own tokens.
    pub(in super::super) fn ruler(self) -> Ruler {
        match self {
            Self::OpenAi | Self::Azure | Self::Raon => Ruler::Bytes,
            Self::Groq => Ruler::BytesAndMessages,
            _ => Ruler::Tokens,
        }
    }

    pub(super) fn utc_offset(self) -> UtcOffset {
        match self {
            Self::Gemini => UtcOffset::PACIFIC,
            _ => UtcOffset::default(),
        }
    }
}

const TEN: NonZeroU64 = NonZeroU64::new(10).expect("not zero");
const TEN_SECONDS: Period = Period::SECOND.times(TEN);
