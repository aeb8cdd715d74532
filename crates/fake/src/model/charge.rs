//! What a call is charged on arrival and in the end: a provider's rules, which are not the usage it reports.
//!
//! The estimate of the prompt is the provider's own and may be wrong as settings say; the settlement is exact.

use super::settings::{ChargeRule, EstimateError, Meter, Ruler, SettleRule};
use crate::random::Random;

/// What the model must know of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call<'a> {
    /// The requested model.
    pub model: &'a str,
    /// The caller's key.
    pub key: &'a str,
    /// Names what was asked, so that the same question gets the same wrong estimate.
    pub content_id: u64,
    /// UTF-8 bytes of all content and role names.
    pub prompt_bytes: u64,
    /// Tokens charged for images, beside the bytes.
    pub image_tokens: u64,
    /// Messages of the prompt.
    pub messages: u64,
    /// Tokens of the prompt as usage will report them, images and what is cached included; a quarter of the bytes where
    /// none are named.
    pub prompt_tokens: Option<u64>,
    /// Of these, tokens that the provider has cached.
    pub cached_tokens: u64,
    /// The largest maximum of output that the call names.
    pub output_max: Option<u64>,
    /// `n`, the number of choices.
    pub choices: u64,
    /// Azure's `best_of`.
    pub best_of: u64,
    /// How the answer is wanted.
    pub delivery: Delivery,
}

/// How an answer is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Delivery {
    /// In one piece.
    #[default]
    Whole,
    /// As a stream.
    Streamed,
}

impl Default for Call<'_> {
    /// An empty call for one choice.
    fn default() -> Self {
        Self {
            model: "",
            key: "",
            content_id: 0,
            prompt_bytes: 0,
            image_tokens: 0,
            messages: 1,
            prompt_tokens: None,
            cached_tokens: 0,
            output_max: None,
            choices: 1,
            best_of: 1,
            delivery: Delivery::Whole,
        }
    }
}

/// What one call takes on arrival of limits on each meter, as the profile or the settings charge it. A limit with a rule of
/// its own may take another amount.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Charge {
    /// Requests: one.
    pub requests: u64,
    /// Tokens.
    pub tokens: u64,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens; zero where they count as they are produced.
    pub output_tokens: u64,
}

impl Charge {
    /// What is taken of `meter`.
    pub fn of(self, meter: Meter) -> u64 {
        match meter {
            Meter::Requests => self.requests,
            Meter::Tokens => self.tokens,
            Meter::InputTokens => self.input_tokens,
            Meter::OutputTokens => self.output_tokens,
        }
    }
}

/// What a call used, in tokens, as the provider knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Input, what was cached included.
    pub input: u64,
    /// Of the input, what was cached.
    pub cached: u64,
    /// Output over all choices, reasoning included.
    pub output: u64,
}

/// The numbers that charge rules put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sizes {
    /// The provider's estimate of the prompt.
    pub(super) input: u64,
    pub(super) cached: u64,
    /// The maximum of output for one choice, or the default.
    pub(super) output: u64,
    pub(super) choices: u64,
    pub(super) best_of: u64,
    /// What an output token weighs in weighted rules.
    pub(super) weight: u64,
    pub(super) delivery: Delivery,
}

impl Call<'_> {
    /// What the provider believes the prompt to be.
    pub(super) fn estimate(&self, ruler: Ruler, error: &EstimateError) -> u64 {
        let quarter = self
            .prompt_bytes
            .div_ceil(4)
            .saturating_add(self.image_tokens);
        let exact = match ruler {
            Ruler::Bytes => quarter,
            Ruler::BytesAndMessages => quarter.saturating_add(self.messages.saturating_mul(4)),
            Ruler::Tokens => self.prompt_tokens.unwrap_or(quarter),
        };
        misjudged(exact, error, self.content_id ^ self.prompt_bytes)
    }
}

/// `exact` with the error that belongs to `id`.
fn misjudged(exact: u64, error: &EstimateError, id: u64) -> u64 {
    let spread = error.spread.get();
    if error.bias == 0.0 && spread == 0.0 {
        return exact;
    }
    let drawn = Random::new(id ^ error.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).fraction();
    let factor = (1.0 + error.bias) * (1.0 + spread * (2.0 * drawn - 1.0));
    // Saturates for absurd numbers; below them a double is exact enough for an error of whole percents.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )]
    let misjudged = (exact as f64 * factor).round() as u64;
    misjudged
}

impl Sizes {
    /// What a limit with `rule` takes on arrival.
    pub(super) fn charge(&self, rule: ChargeRule) -> u64 {
        let Self {
            input,
            cached,
            output,
            choices,
            best_of,
            weight,
            delivery,
        } = *self;
        match rule {
            ChargeRule::Max => input
                .saturating_add(choices)
                .max(output.saturating_mul(choices)),
            ChargeRule::Prompt => input.saturating_add(choices),
            ChargeRule::Sum => input.saturating_add(output).saturating_mul(best_of),
            ChargeRule::Input | ChargeRule::Room => input,
            ChargeRule::Streamed => match delivery {
                Delivery::Whole => input,
                Delivery::Streamed => input.saturating_add(output),
            },
            ChargeRule::Output => output.saturating_mul(choices),
            ChargeRule::Weighted => {
                let output = output.saturating_mul(choices).saturating_mul(weight);
                input.saturating_sub(cached).saturating_add(output)
            }
            ChargeRule::Produced => 0,
        }
    }

    /// What must fit for the call to be let in.
    pub(super) fn wanted(&self, rule: ChargeRule) -> u64 {
        match rule {
            ChargeRule::Room => self.input.saturating_add(self.output),
            ChargeRule::Produced => 1,
            _ => self.charge(rule),
        }
    }

    /// What a charge of `charged` becomes under `rule`.
    pub(super) fn settled(&self, rule: SettleRule, usage: Usage, charged: u64) -> u64 {
        let Usage {
            input,
            cached,
            output,
        } = usage;
        let uncached = input.saturating_sub(cached);
        match (rule, self.delivery) {
            (SettleRule::Keep, _) | (SettleRule::WholeTotal, Delivery::Streamed) => charged,
            (SettleRule::Input, _) => input,
            (SettleRule::UncachedInput, _) => uncached,
            (SettleRule::Output, _) => output,
            (SettleRule::Total, _) | (SettleRule::WholeTotal, Delivery::Whole) => {
                input.saturating_add(output)
            }
            (SettleRule::UncachedTotal, _) => uncached.saturating_add(output),
            (SettleRule::Weighted, _) => {
                uncached.saturating_add(output.saturating_mul(self.weight))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(call: &Call<'_>, default_output: u64) -> Sizes {
        Sizes {
            input: call.estimate(Ruler::Bytes, &EstimateError::default()),
            cached: call.cached_tokens,
            output: call.output_max.unwrap_or(default_output),
            choices: call.choices,
            best_of: call.best_of,
            weight: 8,
            delivery: call.delivery,
        }
    }

    /// Pairs of bytes and decrements as real responses have shown them.
    #[test]
    fn the_prompt_rule_gives_the_published_decrements() {
        for (prompt_bytes, tokens) in [(6_451, 1_614), (103, 27), (4 * 263, 264), (10, 4)] {
            let call = Call {
                prompt_bytes,
                output_max: Some(2_048),
                ..Call::default()
            };
            assert_eq!(
                sizes(&call, 0).charge(ChargeRule::Prompt),
                tokens,
                "{prompt_bytes}"
            );
        }
    }

    /// Thirty-four bytes in one message: 13 of 12 of 13 captures.
    #[test]
    fn four_a_message_gives_the_published_decrement() {
        let call = Call {
            prompt_bytes: 34,
            ..Call::default()
        };
        let exact = EstimateError::default();
        assert_eq!(call.estimate(Ruler::BytesAndMessages, &exact), 13);
    }

    #[test]
    fn the_rules_differ_in_what_output_does() {
        let call = Call {
            prompt_bytes: 401,
            cached_tokens: 21,
            output_max: Some(100),
            choices: 3,
            ..Call::default()
        };
        for (rule, taken, wanted) in [
            (ChargeRule::Max, 300, 300),
            (ChargeRule::Prompt, 104, 104),
            (ChargeRule::Sum, 201, 201),
            (ChargeRule::Input, 101, 101),
            (ChargeRule::Streamed, 101, 101),
            (ChargeRule::Room, 101, 201),
            (ChargeRule::Output, 300, 300),
            (ChargeRule::Weighted, 80 + 8 * 300, 2_480),
            (ChargeRule::Produced, 0, 1),
        ] {
            let sizes = sizes(&call, 0);
            assert_eq!(
                (sizes.charge(rule), sizes.wanted(rule)),
                (taken, wanted),
                "{rule:?}"
            );
        }
        let best = Call {
            best_of: 3,
            ..call.clone()
        };
        assert_eq!(sizes(&best, 0).charge(ChargeRule::Sum), 603);
        let small = Call {
            output_max: Some(10),
            ..call.clone()
        };
        assert_eq!(sizes(&small, 0).charge(ChargeRule::Max), 104);
        let unset = Call {
            output_max: None,
            delivery: Delivery::Streamed,
            ..call
        };
        assert_eq!(sizes(&unset, 16).charge(ChargeRule::Sum), 117);
        assert_eq!(sizes(&unset, 32_000).charge(ChargeRule::Streamed), 32_101);
    }

    #[test]
    fn settlements_differ_in_what_is_cached_and_what_output_weighs() {
        let usage = Usage {
            input: 1_000,
            cached: 400,
            output: 50,
        };
        let whole = sizes(&Call::default(), 0);
        for (rule, settled) in [
            (SettleRule::Keep, 77),
            (SettleRule::Input, 1_000),
            (SettleRule::UncachedInput, 600),
            (SettleRule::Output, 50),
            (SettleRule::Total, 1_050),
            (SettleRule::UncachedTotal, 650),
            (SettleRule::WholeTotal, 1_050),
            (SettleRule::Weighted, 600 + 8 * 50),
        ] {
            assert_eq!(whole.settled(rule, usage, 77), settled, "{rule:?}");
        }
        let streamed = Sizes {
            delivery: Delivery::Streamed,
            ..whole
        };
        assert_eq!(streamed.settled(SettleRule::WholeTotal, usage, 77), 77);
    }

    #[test]
    fn an_estimate_is_wrong_by_as_much_as_it_is_told() {
        let error = |json: &str| serde_json::from_str::<EstimateError>(json).unwrap();
        let call = Call {
            prompt_bytes: 4_000,
            ..Call::default()
        };
        let biased = error(r#"{"bias": 0.1}"#);
        assert_eq!(call.estimate(Ruler::Bytes, &biased), 1_100);
        let spread = error(r#"{"bias": 0.1, "spread": 0.05, "seed": 7}"#);
        let drawn: Vec<u64> = (0..1_000)
            .map(|content_id| {
                let call = Call {
                    content_id,
                    ..call.clone()
                };
                assert_eq!(
                    call.estimate(Ruler::Bytes, &spread),
                    call.estimate(Ruler::Bytes, &spread)
                );
                call.estimate(Ruler::Bytes, &spread)
            })
            .collect();
        let (least, most) = (drawn.iter().min().unwrap(), drawn.iter().max().unwrap());
        assert!((1_045..=1_048).contains(least) && (1_152..=1_155).contains(most));
        let mean = drawn.iter().sum::<u64>() / 1_000;
        assert!((1_095..=1_105).contains(&mean), "{mean}");
    }

    #[test]
    fn absurd_numbers_saturate() {
        let call = Call {
            prompt_bytes: u64::MAX,
            output_max: Some(u64::MAX),
            ..Call::default()
        };
        for rule in [
            ChargeRule::Max,
            ChargeRule::Prompt,
            ChargeRule::Sum,
            ChargeRule::Weighted,
        ] {
            assert!(sizes(&call, 0).charge(rule) >= u64::MAX / 4);
        }
    }
}
