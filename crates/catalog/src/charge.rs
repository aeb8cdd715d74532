//! What a provider's rule takes for a request, before it is answered.
//!
//! A rule is a row of numbers and a few choices, not code: providers differ in how they add the same few terms. It is
//! an estimate of the *charge*; what the answer will really use is another estimate and no business of a row. What the
//! provider counts in the end stands beside it, in the settlement.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::Deserialize;
use sluicegate_core::{Amounts, Meter};

use crate::model::ModelTerms;
use crate::weight::whole_tokens;
use crate::{CutStream, Evidence, Weight};

/// The rules of a provider, by name.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    default: String,
    rules: BTreeMap<String, ChargeRule>,
}

impl Charge {
    /// The rule to use where nobody chose one. That it exists is tested for every row.
    pub fn default_rule(&self) -> &ChargeRule {
        &self.rules[&self.default]
    }

    /// The name of the [default rule](Self::default_rule).
    pub fn default_name(&self) -> &str {
        &self.default
    }

    /// The rule of that name.
    pub fn rule(&self, name: &str) -> Option<&ChargeRule> {
        self.rules.get(name)
    }

    /// Names of the rules, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().map(String::as_str)
    }

    pub(crate) fn default_exists(&self) -> bool {
        self.rules.contains_key(&self.default)
    }
}

/// How a request's sizes become a charge, and its usage what is counted in the end.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChargeRule {
    /// How the input is measured.
    pub input: Input,
    /// Tokens for each requested choice, on the meter `tokens`.
    #[serde(default)]
    pub choice_tokens: u64,
    /// What the output does to the charge on the meter `tokens`.
    pub output: Output,
    /// What the output does to the charge on the meter `input_tokens`.
    #[serde(default)]
    pub output_on_input: OutputOnInput,
    /// What the meter `output_tokens` takes.
    #[serde(default)]
    pub output_meter: OutputMeter,
    /// The output maximum where neither the request nor the table of models names one.
    #[serde(default)]
    pub output_default: u64,
    /// Whether `best_of` multiplies the whole.
    #[serde(default)]
    pub times_best_of: TimesBestOf,
    /// What a request takes of what may be in flight.
    #[serde(default)]
    pub slots: Slots,
    /// What an output token weighs when it is reserved, on the meter `tokens`.
    #[serde(default)]
    pub output_weight_reserved: Weight,
    /// What an output token weighs in the end, on the meter `tokens`. Above the weight when reserved, a long answer
    /// overruns its reservation.
    #[serde(default)]
    pub output_weight_settled: Weight,
    /// What an input token weighs in the end that was read from a cache.
    #[serde(default)]
    pub cached_weight: Weight,
    /// What an input token weighs in the end that was written to a cache.
    #[serde(default)]
    pub cache_write_weight: Weight,
    /// What stays charged where a stream was cut before it told its usage.
    #[serde(default)]
    pub cut_stream: CutStream,
    /// What differs for some models; the first entry that fits decides.
    #[serde(default)]
    pub models: Vec<ModelTerms>,
    /// How the rule is known.
    pub evidence: Evidence,
}

/// How the input is measured on arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Input {
    /// From its size, without a tokenizer: as wrong as the provider is, and just so.
    Bytes {
        /// Bytes of text (UTF-8, messages and role names) that count as one token, rounded up over the whole request.
        bytes_per_token: NonZeroU64,
        /// Tokens for each message.
        #[serde(default)]
        message_tokens: u64,
        /// Tokens for one image, whatever its size.
        image_tokens: u64,
    },
    /// By the model's own tokenizer, of which we have an estimate; also where nobody says how.
    Tokens {
        /// Tokens for one image of unknown size.
        image_tokens: u64,
    },
}

/// What the output does to the charge on the meter `tokens`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Nothing.
    Ignored,
    /// The charge is the larger of the two; each requested choice has a maximum of its own.
    AtLeast,
    /// The maximum is added.
    Added,
    /// What answers are expected to be long is added, the maximum where nothing is expected yet.
    AddedExpected,
}

/// What the output does to the charge on the meter `input_tokens`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputOnInput {
    /// Nothing.
    #[default]
    Ignored,
    /// Its maximum has to fit too when the request arrives.
    Added,
}

/// What the meter `output_tokens` takes when a request arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputMeter {
    /// The maximum.
    #[default]
    Reserved,
    /// Nothing: output is counted as it is produced. We take what answers are expected to be long, the maximum where
    /// nothing is expected yet.
    Produced,
}

/// Whether `best_of` multiplies the charge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimesBestOf {
    /// It does.
    Yes,
    /// It does not.
    #[default]
    No,
}

/// What a request takes of what may be in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slots {
    /// One slot.
    #[default]
    One,
    /// One for each sequence that is generated for it.
    EachSequence,
}

/// The sizes of a request that rules look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestSize {
    /// Bytes of text in UTF-8, after JSON escapes are undone: content of the messages and role
    /// names.
    pub text_bytes: u64,
    /// Tokens that all but images are expected to make, definitions of tools and formats included.
    pub text_tokens: u64,
    /// Messages.
    pub messages: u64,
    /// Images among the content.
    pub images: u64,
    /// What they make by the provider's formula and their sizes, where it publishes one.
    pub image_tokens: Option<u64>,
    /// Requested choices (`n`); 1 where the request names none.
    pub choices: u64,
    /// Candidates generated for each choice (`best_of`); 1 where the request names none.
    pub best_of: u64,
    /// The largest output that the request allows, in tokens; `None` where it names none.
    pub output_cap: Option<u64>,
    /// How long one answer is expected to be, in tokens; `None` where nothing was learned yet.
    pub output_expected: Option<u64>,
}

impl RequestSize {
    /// One message of `bytes` that are expected to make `tokens`, and nothing else.
    pub const fn of_text(bytes: u64, tokens: u64) -> Self {
        Self {
            text_bytes: bytes,
            text_tokens: tokens,
            messages: 1,
            images: 0,
            image_tokens: None,
            choices: 1,
            best_of: 1,
            output_cap: None,
            output_expected: None,
        }
    }

    /// Sequences that are generated: `best_of` is at least `n` where both are named.
    fn sequences(&self) -> u64 {
        self.choices.max(self.best_of)
    }
}

impl ChargeRule {
    /// What the rule takes for a request to `model`: one request, its slots in flight, tokens, and input and output
    /// tokens apart.
    ///
    /// Saturates: sizes that do not fit are charged as `u64::MAX`, which no limit admits.
    ///
    /// ```
    /// use sluicegate_catalog::{RequestSize, provider};
    /// use sluicegate_core::Meter;
    /// let azure = provider("azure").expect("a row of that name");
    /// let size = RequestSize { output_cap: Some(50), ..RequestSize::of_text(400, 90) };
    /// let charge = azure.charge.default_rule().charge(&size, "gpt-4o");
    /// assert_eq!(charge.of(Meter::Tokens), 400 / 4 + 50);
    /// ```
    pub fn charge(&self, size: &RequestSize, model: &str) -> Amounts {
        let terms = self.terms(model);
        let input = self.input.tokens(size);
        let cap = size.output_cap.or(terms.and_then(|terms| terms.output_max));
        let expected = match (size.output_expected, cap) {
            (Some(expected), Some(cap)) => expected.min(cap),
            (Some(expected), None) => expected,
            (None, cap) => cap.unwrap_or(self.output_default),
        };
        let cap = cap.unwrap_or(self.output_default);
        let sequences = size.sequences();

        let weight = terms
            .and_then(|terms| terms.output_weight_reserved)
            .unwrap_or(self.output_weight_reserved);
        let weighted = |output: u64| whole_tokens(weight.weigh(output));
        let prompt = input.saturating_add(self.choice_tokens.saturating_mul(size.choices));
        let added = |output: u64| {
            let copies = match self.times_best_of {
                TimesBestOf::Yes => 1,
                TimesBestOf::No => sequences,
            };
            prompt.saturating_add(weighted(output.saturating_mul(copies)))
        };
        let once = match self.output {
            Output::Ignored => prompt,
            Output::AtLeast => prompt.max(weighted(cap.saturating_mul(size.choices))),
            Output::Added => added(cap),
            Output::AddedExpected => added(expected),
        };
        let tokens = match self.times_best_of {
            TimesBestOf::Yes => once.saturating_mul(size.best_of),
            TimesBestOf::No => once,
        };
        let on_input = match self.output_on_input {
            OutputOnInput::Ignored => input,
            OutputOnInput::Added => input.saturating_add(cap.saturating_mul(sequences)),
        };
        let on_output = match self.output_meter {
            OutputMeter::Reserved => cap,
            OutputMeter::Produced => expected,
        };
        let slots = match self.slots {
            Slots::One => 1,
            Slots::EachSequence => sequences.max(1),
        };
        Amounts::one_request()
            .with(Meter::Concurrent, slots)
            .with(Meter::Tokens, tokens)
            .with(Meter::InputTokens, on_input)
            .with(Meter::OutputTokens, on_output.saturating_mul(sequences))
    }

    /// What to hold for a request: the charge on arrival, or what an answer of the expected length is counted in the end where
    /// its output weighs more then. Else each answer would overrun its charge, and the overruns the limit.
    pub fn hold(&self, size: &RequestSize, model: &str) -> Amounts {
        let charge = self.charge(size, model);
        let terms = self.terms(model);
        let reserved = terms.and_then(|terms| terms.output_weight_reserved);
        let settled = terms.and_then(|terms| terms.output_weight_settled);
        let settled = settled.unwrap_or(self.output_weight_settled);
        let Some(expected) = size.output_expected else {
            return charge;
        };
        if settled <= reserved.unwrap_or(self.output_weight_reserved) {
            return charge;
        }
        let expected = size.output_cap.map_or(expected, |cap| expected.min(cap));
        let output = expected.saturating_mul(size.sequences());
        let in_the_end = self
            .input
            .tokens(size)
            .saturating_add(whole_tokens(settled.weigh(output)));
        charge.with(Meter::Tokens, charge.of(Meter::Tokens).max(in_the_end))
    }

    /// The same rule for a deployment whose unnamed output maximum is known to be `tokens`.
    #[must_use]
    pub fn with_output_default(mut self, tokens: u64) -> Self {
        self.output_default = tokens;
        for terms in &mut self.models {
            terms.output_max = None;
        }
        self
    }

    /// What the rule says of `model` alone.
    pub(crate) fn terms(&self, model: &str) -> Option<&ModelTerms> {
        self.models.iter().find(|terms| terms.covers(model))
    }
}

impl Input {
    fn tokens(self, size: &RequestSize) -> u64 {
        let (text, images) = match self {
            Self::Bytes {
                bytes_per_token,
                message_tokens,
                image_tokens,
            } => {
                let text = size.text_bytes.div_ceil(bytes_per_token.get());
                let messages = message_tokens.saturating_mul(size.messages);
                let images = image_tokens.saturating_mul(size.images);
                (text.saturating_add(messages), images)
            }
            Self::Tokens { image_tokens } => {
                let usual = image_tokens.saturating_mul(size.images);
                (size.text_tokens, size.image_tokens.unwrap_or(usual))
            }
        };
        text.saturating_add(images)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    fn rule(id: &str, name: &str) -> &'static ChargeRule {
        provider(id)
            .expect("a row")
            .charge
            .rule(name)
            .expect("a rule")
    }

    fn tokens(id: &str, name: &str, size: RequestSize) -> u64 {
        rule(id, name).charge(&size, "m").of(Meter::Tokens)
    }

    #[test]
    fn choices_and_images_are_terms() {
        let size = RequestSize {
            images: 2,
            choices: 3,
            ..RequestSize::of_text(40, 0)
        };
        assert_eq!(tokens("openai", "documented", size), 10 + 2 * 765 + 3);
    }

    #[test]
    fn every_choice_may_be_as_long_as_the_maximum() {
        let size = RequestSize {
            choices: 3,
            output_cap: Some(100),
            ..RequestSize::of_text(40, 0)
        };
        assert_eq!(tokens("openai", "documented", size), 300);
    }

    #[test]
    fn a_deployment_may_know_the_unnamed_maximum() {
        let size = RequestSize::of_text(400, 0);
        let openai = rule("openai", "documented").clone();
        assert_eq!(openai.charge(&size, "m").of(Meter::OutputTokens), 0);
        let known = openai.with_output_default(8_192);
        assert_eq!(known.charge(&size, "m").of(Meter::Tokens), 8_192);
        assert_eq!(known.charge(&size, "m").of(Meter::OutputTokens), 8_192);
    }

    #[test]
    fn every_charge_is_one_request_in_flight() {
        let charge = rule("openai", "documented").charge(&RequestSize::of_text(5, 0), "m");
        assert_eq!(charge.of(Meter::Requests), 1);
        assert_eq!(charge.of(Meter::Concurrent), 1);
        assert_eq!(charge.of(Meter::InputTokens), 2);
        assert_eq!(charge.of(Meter::Spend), 0);
    }

    #[test]
    fn absurd_sizes_saturate() {
        let size = RequestSize {
            text_bytes: u64::MAX,
            text_tokens: u64::MAX,
            messages: u64::MAX,
            images: u64::MAX,
            image_tokens: Some(u64::MAX),
            choices: u64::MAX,
            best_of: u64::MAX,
            output_cap: Some(u64::MAX),
            output_expected: Some(u64::MAX),
        };
        assert_eq!(tokens("azure", "documented", size), u64::MAX);
        assert_eq!(tokens("openai", "documented", size), u64::MAX);
    }
}
