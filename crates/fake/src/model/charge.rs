//! What a call is charged on arrival, from its bytes: a provider's rule, which is not the usage it will report.

use super::settings::ChargeRule;

/// What the model must know of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call<'a> {
    /// The requested model.
    pub model: &'a str,
    /// The caller's key.
    pub key: &'a str,
    /// UTF-8 bytes of all content and role names.
    pub prompt_bytes: u64,
    /// Tokens charged for images, beside the bytes.
    pub image_tokens: u64,
    /// The largest maximum of output that the call names.
    pub output_max: Option<u64>,
    /// `n`, the number of choices.
    pub choices: u64,
    /// Azure's `best_of`.
    pub best_of: u64,
}

impl Default for Call<'_> {
    /// An empty call for one choice.
    fn default() -> Self {
        Self {
            model: "",
            key: "",
            prompt_bytes: 0,
            image_tokens: 0,
            output_max: None,
            choices: 1,
            best_of: 1,
        }
    }
}

/// What one call takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Charge {
    /// Requests: one.
    pub requests: u64,
    /// Tokens.
    pub tokens: u64,
}

impl Call<'_> {
    /// The charge under `rule`, where a call without a maximum of its own counts `default_output` per choice.
    pub fn charge(&self, rule: ChargeRule, default_output: u64) -> Charge {
        let output = self.output_max.unwrap_or(default_output);
        let prompt = self
            .prompt_bytes
            .div_ceil(4)
            .saturating_add(self.image_tokens);
        let tokens = match rule {
            ChargeRule::Max => prompt
                .saturating_add(self.choices)
                .max(output.saturating_mul(self.choices)),
            ChargeRule::Prompt => prompt.saturating_add(self.choices),
            ChargeRule::Sum => prompt.saturating_add(output).saturating_mul(self.best_of),
        };
        Charge {
            requests: 1,
            tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                call.charge(ChargeRule::Prompt, 0).tokens,
                tokens,
                "{prompt_bytes}"
            );
        }
    }

    #[test]
    fn the_rules_differ_in_what_output_does() {
        let call = Call {
            prompt_bytes: 401,
            output_max: Some(100),
            choices: 3,
            ..Call::default()
        };
        assert_eq!(call.charge(ChargeRule::Max, 0).tokens, 300);
        assert_eq!(call.charge(ChargeRule::Prompt, 0).tokens, 104);
        assert_eq!(call.charge(ChargeRule::Sum, 0).tokens, 201);
        let best = Call {
            best_of: 3,
            ..call.clone()
        };
        assert_eq!(best.charge(ChargeRule::Sum, 0).tokens, 603);
        let small = Call {
            output_max: Some(10),
            ..call.clone()
        };
        assert_eq!(small.charge(ChargeRule::Max, 0).tokens, 104);
        let unset = Call {
            output_max: None,
            ..call
        };
        assert_eq!(unset.charge(ChargeRule::Sum, 16).tokens, 117);
    }

    #[test]
    fn absurd_numbers_saturate() {
        let call = Call {
            prompt_bytes: u64::MAX,
            output_max: Some(u64::MAX),
            ..Call::default()
        };
        for rule in [ChargeRule::Max, ChargeRule::Prompt, ChargeRule::Sum] {
            assert!(call.charge(rule, 0).tokens >= u64::MAX / 4);
        }
    }
}
