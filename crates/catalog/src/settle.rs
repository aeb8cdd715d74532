//! What a provider counts in the end, once a request is answered.
//!
//! The other end of a [`ChargeRule`]: what was read from a cache may not count, an output token may count several times,
//! a stream that was cut may release what it reserved. Whether a limit follows the usage at all, or keeps what it took
//! on arrival, is said of each limit.

use serde::Deserialize;
use sluicegate_core::{Amounts, Meter};

use crate::ChargeRule;
use crate::weight::{Weight, whole_tokens};

/// Tokens that an answer says it used. Input holds its cached parts and output its reasoning, whichever way the
/// provider writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UsageTokens {
    /// Input, with what was read from a cache and what was written to one.
    pub input: u64,
    /// Of the input, what was read from a cache.
    pub cached_input: u64,
    /// Of the input, what was written to a cache.
    pub cache_write: u64,
    /// Output, with reasoning.
    pub output: u64,
    /// Of the output, reasoning. No rule treats it apart today: every provider counts it as output.
    pub reasoning: u64,
}

/// What stays charged where a stream was cut before it told its usage, on limits that follow the usage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutStream {
    /// The input, and as much output as came.
    #[default]
    Observed,
    /// The input; the output is released.
    ReleaseOutput,
}

impl ChargeRule {
    /// What the provider counts in the end for `usage` of `model`. Parts of the input beyond the whole are ignored;
    /// sums saturate.
    ///
    /// ```
    /// use sluicegate_catalog::{UsageTokens, provider};
    /// use sluicegate_core::Meter;
    /// let anthropic = provider("anthropic").expect("a row of that name");
    /// let usage = UsageTokens { input: 12_000, cached_input: 10_000, output: 300, ..UsageTokens::default() };
    /// let counted = anthropic.charge.default_rule().settle(&usage, "claude-sonnet-5");
    /// assert_eq!(counted.of(Meter::InputTokens), 2_000);
    /// assert_eq!(counted.of(Meter::OutputTokens), 300);
    /// ```
    pub fn settle(&self, usage: &UsageTokens, model: &str) -> Amounts {
        let terms = self.terms(model);
        let cached_weight = terms
            .and_then(|terms| terms.cached_weight)
            .unwrap_or(self.cached_weight);
        let output_weight = terms
            .and_then(|terms| terms.output_weight_settled)
            .unwrap_or(self.output_weight_settled);
        let cached = usage.cached_input.min(usage.input);
        let written = usage.cache_write.min(usage.input - cached);
        let fresh = usage.input - cached - written;
        let input = Weight::ONE.weigh(fresh)
            + cached_weight.weigh(cached)
            + self.cache_write_weight.weigh(written);
        let output = output_weight.weigh(usage.output);
        Amounts::one_request()
            .with(Meter::Tokens, whole_tokens(input.saturating_add(output)))
            .with(Meter::InputTokens, whole_tokens(input))
            .with(Meter::OutputTokens, usage.output)
    }

    /// What the provider counts for a stream of `model` that was cut after `seen`.
    pub fn settle_cut(&self, seen: &UsageTokens, model: &str) -> Amounts {
        match self.cut_stream {
            CutStream::Observed => self.settle(seen, model),
            CutStream::ReleaseOutput => {
                let input = UsageTokens {
                    output: 0,
                    reasoning: 0,
                    ..*seen
                };
                self.settle(&input, model)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn parts_beyond_the_whole_are_ignored() {
        let anthropic = provider("anthropic").expect("a row").charge.default_rule();
        let usage = UsageTokens {
            input: 100,
            cached_input: 150,
            cache_write: 70,
            output: u64::MAX,
            reasoning: 0,
        };
        let counted = anthropic.settle(&usage, "claude-sonnet-5");
        assert_eq!(counted.of(Meter::InputTokens), 0);
        assert_eq!(counted.of(Meter::OutputTokens), u64::MAX);
        assert_eq!(counted.of(Meter::Tokens), u64::MAX);
    }

    #[test]
    fn a_cut_stream_releases_what_the_rule_says() {
        let seen = UsageTokens {
            input: 100,
            output: 20,
            ..UsageTokens::default()
        };
        let mut rule = provider("openai")
            .expect("a row")
            .charge
            .default_rule()
            .clone();
        for (cut, input, output) in [
            (CutStream::Observed, 100, 20),
            (CutStream::ReleaseOutput, 100, 0),
        ] {
            rule.cut_stream = cut;
            let counted = rule.settle_cut(&seen, "m");
            assert_eq!(counted.of(Meter::InputTokens), input, "{cut:?}");
            assert_eq!(counted.of(Meter::OutputTokens), output, "{cut:?}");
            assert_eq!(counted.of(Meter::Tokens), input + output, "{cut:?}");
        }
    }
}
