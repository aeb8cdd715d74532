//! What a provider's rule takes for a request, before it is answered.
//!
//! A rule is a row of numbers and one choice, not code: providers differ in how they add the same
//! few terms. It is an estimate of the *charge*; what the answer will really use is another
//! estimate and no business of a row.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::Deserialize;
use sluicegate_core::{Amounts, Meter};

use crate::Evidence;

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

    /// The rule of that name.
    pub fn rule(&self, name: &str) -> Option<&ChargeRule> {
        self.rules.get(name)
    }

    /// Names of the rules, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rules.keys().map(String::as_str)
    }

    #[cfg(test)]
    pub(crate) fn default_exists(&self) -> bool {
        self.rules.contains_key(&self.default)
    }
}

/// How a request's sizes become a charge.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChargeRule {
    /// Bytes of text (UTF-8, messages and role names) that count as one token, rounded up over the
    /// whole request.
    pub bytes_per_token: NonZeroU64,
    /// Tokens for one image, whatever its size.
    pub image_tokens: u64,
    /// Tokens for each requested choice.
    pub choice_tokens: u64,
    /// What the request's output maximum does to the charge.
    pub output: Output,
    /// The output maximum where the request names none.
    pub output_default: u64,
    /// Whether `best_of` multiplies the whole.
    #[serde(default)]
    pub times_best_of: TimesBestOf,
    /// How the rule is known.
    pub evidence: Evidence,
}

/// What the output maximum does to the charge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Nothing.
    Ignored,
    /// The charge is the larger of the two; each requested choice has a maximum of its own.
    AtLeast,
    /// It is added.
    Added,
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

/// The sizes of a request that rules look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestSize {
    /// Bytes of text in UTF-8, after JSON escapes are undone: content of the messages and role
    /// names.
    pub text_bytes: u64,
    /// Images among the content.
    pub images: u64,
    /// Requested choices (`n`); 1 where the request names none.
    pub choices: u64,
    /// Candidates generated for each choice (`best_of`); 1 where the request names none.
    pub best_of: u64,
    /// The largest output that the request allows, in tokens; `None` where it names none.
    pub output_cap: Option<u64>,
}

impl ChargeRule {
    /// What the rule takes: one request in flight, tokens, and input and output tokens apart.
    ///
    /// Saturates: sizes that do not fit are charged as `u64::MAX`, which no limit admits.
    pub fn charge(&self, size: &RequestSize) -> Amounts {
        let input = size
            .text_bytes
            .div_ceil(self.bytes_per_token.get())
            .saturating_add(self.image_tokens.saturating_mul(size.images));
        let output = size.output_cap.unwrap_or(self.output_default);
        let prompt = input.saturating_add(self.choice_tokens.saturating_mul(size.choices));
        let once = match self.output {
            Output::Ignored => prompt,
            Output::AtLeast => prompt.max(output.saturating_mul(size.choices)),
            Output::Added => prompt.saturating_add(output),
        };
        let tokens = match self.times_best_of {
            TimesBestOf::Yes => once.saturating_mul(size.best_of),
            TimesBestOf::No => once,
        };
        Amounts::one_request()
            .with(Meter::Tokens, tokens)
            .with(Meter::InputTokens, input)
            .with(
                Meter::OutputTokens,
                output.saturating_mul(size.choices.max(size.best_of)),
            )
    }

    /// The same rule for a deployment whose unnamed output maximum is known to be `tokens`.
    #[must_use]
    pub fn with_output_default(self, tokens: u64) -> Self {
        Self {
            output_default: tokens,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    const PLAIN: RequestSize = RequestSize {
        text_bytes: 0,
        images: 0,
        choices: 1,
        best_of: 1,
        output_cap: None,
    };

    fn rule(id: &str, name: &str) -> &'static ChargeRule {
        provider(id)
            .expect("a row")
            .charge
            .rule(name)
            .expect("a rule")
    }

    fn tokens(id: &str, name: &str, size: RequestSize) -> u64 {
        rule(id, name).charge(&size).of(Meter::Tokens)
    }

    #[test]
    fn openai_takes_the_larger_of_estimate_and_output_maximum() {
        let size = RequestSize {
            text_bytes: 6_451,
            ..PLAIN
        };
        // 6,451 / 4 = 1,612.75, rounded up, and one choice.
        assert_eq!(tokens("openai", "documented", size), 1_614);
        let capped = RequestSize {
            output_cap: Some(4_096),
            ..size
        };
        assert_eq!(tokens("openai", "documented", capped), 4_096);
        assert_eq!(tokens("openai", "observed", capped), 1_614);
        // 103 bytes were charged 27 with max_tokens 100, where the documents say 100.
        let small = RequestSize {
            text_bytes: 103,
            output_cap: Some(100),
            ..PLAIN
        };
        assert_eq!(tokens("openai", "observed", small), 27);
    }

    #[test]
    fn choices_and_images_are_terms() {
        let size = RequestSize {
            text_bytes: 40,
            images: 2,
            choices: 3,
            ..PLAIN
        };
        assert_eq!(tokens("openai", "documented", size), 10 + 2 * 765 + 3);
    }

    #[test]
    fn every_choice_may_be_as_long_as_the_maximum() {
        let size = RequestSize {
            text_bytes: 40,
            choices: 3,
            output_cap: Some(100),
            ..PLAIN
        };
        assert_eq!(tokens("openai", "documented", size), 300);
    }

    #[test]
    fn azure_adds_the_output_and_multiplies() {
        let size = RequestSize {
            text_bytes: 400,
            best_of: 3,
            output_cap: Some(50),
            ..PLAIN
        };
        assert_eq!(tokens("azure", "documented", size), (100 + 50) * 3);
        assert_eq!(tokens("azure", "observed", size), 100);
    }

    #[test]
    fn a_deployment_may_know_the_unnamed_maximum() {
        let size = RequestSize {
            text_bytes: 400,
            ..PLAIN
        };
        let openai = rule("openai", "documented").clone();
        assert_eq!(openai.charge(&size).of(Meter::OutputTokens), 0);
        let known = openai.with_output_default(8_192);
        assert_eq!(known.charge(&size).of(Meter::Tokens), 8_192);
        assert_eq!(known.charge(&size).of(Meter::OutputTokens), 8_192);
    }

    #[test]
    fn every_charge_is_one_request_in_flight() {
        let charge = rule("openai", "documented").charge(&RequestSize {
            text_bytes: 5,
            ..PLAIN
        });
        assert_eq!(charge.of(Meter::Requests), 1);
        assert_eq!(charge.of(Meter::Concurrent), 1);
        assert_eq!(charge.of(Meter::InputTokens), 2);
        assert_eq!(charge.of(Meter::Spend), 0);
    }

    #[test]
    fn absurd_sizes_saturate() {
        let size = RequestSize {
            text_bytes: u64::MAX,
            images: u64::MAX,
            choices: u64::MAX,
            best_of: u64::MAX,
            output_cap: Some(u64::MAX),
        };
        assert_eq!(tokens("azure", "documented", size), u64::MAX);
        assert_eq!(tokens("openai", "documented", size), u64::MAX);
    }
}
