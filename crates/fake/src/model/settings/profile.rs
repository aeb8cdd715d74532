//! The providers, and what of their rules needs no code: which window, which charge, which estimate.
//!
//! Where a provider documents nothing, the more cautious reading is taken and said so; a limit in full can say otherwise.

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
    /// Continuous refill of one token quota, estimated and settled; no headers, no hints.
    Vertex,
    /// Input and the whole maximum reserved, settled with output multiplied by model; no headers, no hints.
    BedrockRuntime,
    /// Input with room for the maximum, output as produced; no headers, no hints.
    BedrockMantle,
    /// Calendar minutes and months of tokens, requests per 10 s.
    Mistral,
    /// Continuous refill also of the day; 413 for what never fits.
    Groq,
    /// Continuous refill, charged with the maximum and settled; seconds with fractions.
    Cerebras,
    /// Requests a second, tokens a minute; flat errors.
    Xai,
    /// Calls in flight only.
    DeepSeek,
    /// Limits that move, evened out over a second; 503 where the platform itself is short.
    Together,
    /// Prompt, uncached prompt and generated tokens apart, all as they turn out.
    Fireworks,
    /// Calls a minute and a month.
    Cohere,
    /// Calls a minute and a UTC day; headers only on a 429.
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
    pub(super) fn limit(self, meter: Meter, amount: std::num::NonZeroU64, per: Period) -> Limit {
        let (window, quantum) = self.window(meter, per);
        // Only the Mistral way of counting a second is longer than it is named.
        let (amount, per) = match (self, meter, Period::from_seconds(10)) {
            (Self::Mistral, Meter::Requests, Some(ten)) if per == Period::SECOND => {
                (amount.saturating_mul(TEN), ten)
            }
            _ => (amount, per),
        };
        Limit {
            quantum,
            ..Limit::new(meter, amount, per, window)
        }
    }

    fn window(self, meter: Meter, per: Period) -> (Window, Option<Quantum>) {
        let slice = |seconds, any| Period::from_seconds(seconds).map(|per| Quantum { per, any });
        match self {
            Self::OpenAi | Self::Anthropic | Self::Groq | Self::Cerebras => (Window::Bucket, None),
            Self::Vertex | Self::Fireworks => (Window::Bucket, None),
            Self::AzurePtu if meter == Meter::Tokens => (Window::Pacing, None),
            Self::Together if per > Period::SECOND => (Window::Bucket, slice(1, true)),
            Self::Azure if meter == Meter::Requests && per == Period::MINUTE => {
                (Window::Fixed, slice(10, false))
            }
            _ if per == Period::MONTH => (Window::Month, None),
            _ if per == Period::DAY => (Window::Day, None),
            _ => (Window::Fixed, None),
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
            (Self::Mistral, _) => ChargeRule::Streamed,
            _ => ChargeRule::Sum,
        }
    }

    /// What a charge of `meter` becomes. What nobody documents is kept, as is the safer reading.
    pub(super) fn settlement(self, meter: Meter) -> SettleRule {
        match (self, meter) {
            (_, Meter::Requests) => SettleRule::Keep,
            (Self::Raon | Self::Anthropic | Self::BedrockMantle, Meter::InputTokens) => {
                SettleRule::UncachedInput
            }
            (Self::Fireworks, Meter::InputTokens) => SettleRule::Input,
            (_, Meter::InputTokens) => SettleRule::Keep,
            (_, Meter::OutputTokens) => SettleRule::Output,
            (Self::AzurePtu | Self::BedrockRuntime, Meter::Tokens) => SettleRule::Weighted,
            (Self::Raon | Self::Groq, Meter::Tokens) => SettleRule::UncachedTotal,
            (Self::Vertex | Self::Cerebras | Self::Xai, Meter::Tokens) => SettleRule::Total,
            (Self::Anthropic | Self::BedrockMantle | Self::Fireworks, Meter::Tokens) => {
                SettleRule::Total
            }
            (Self::Mistral, Meter::Tokens) => SettleRule::WholeTotal,
            (_, Meter::Tokens) => SettleRule::Keep,
        }
    }

    /// Output charged per choice where no maximum is named. Of Bedrock the smallest documented maximum of a model, of Mistral
    /// the ceiling seen in 2024; of Raon and Cerebras, which say only that there is one, a number of our own.
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
            Self::OpenAi | Self::Azure | Self::AzurePtu | Self::Raon => Ruler::Bytes,
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

const TEN: std::num::NonZeroU64 = std::num::NonZeroU64::new(10).expect("not zero");
