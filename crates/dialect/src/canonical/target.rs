//! What a writer must be told because no request says it.

use bytes::Bytes;
use sluicegate_catalog::{Effort, Provider, ThinkingBy};

use super::{Feature, Losses, Sampling, Thinking, ThinkingEffort};

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
    /// The efforts that it knows; none where the row does not say, and then those that are usual in the dialect hold.
    pub efforts: Vec<ThinkingEffort>,
    /// Whether it cannot be told not to.
    pub always_thinks: bool,
    /// Whether it chooses its tokens by itself and refuses a temperature or another word on it.
    pub fixed_sampling: bool,
    /// Whether it takes a temperature, `top_p` and probabilities of tokens only where it does not think.
    pub unthinking_sampling: bool,
    /// Whether it thinks where nothing is said of it.
    pub thinks_unasked: bool,
    /// Whether it takes a temperature or `top_p`, and refuses both at once.
    pub one_sampler: bool,
    /// Whether it takes tools over OpenAI's chat completions only where it is told not to think.
    pub unthinking_tools: bool,
    /// The longest name of a tool, in bytes, where others are known to be refused.
    pub tool_name_max: Option<usize>,
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
            follows_schema: row.schema.hold(model),
            thinking: match row.thinking_of(model) {
                None => ThinkingForm::None,
                Some(ThinkingBy::Effort) => ThinkingForm::Effort,
                Some(ThinkingBy::Budget) => ThinkingForm::Budget,
            },
            efforts: row.efforts_of(model).iter().map(|it| effort(*it)).collect(),
            always_thinks: row.always_thinks.hold(model),
            fixed_sampling: row.fixed_sampling.hold(model),
            unthinking_sampling: row.unthinking_sampling.hold(model),
            thinks_unasked: row.thinks_unasked.hold(model),
            one_sampler: row.one_sampler.hold(model),
            unthinking_tools: row.unthinking_tools.hold(model),
            tool_name_max: row
                .tool_name_max
                .map(|max| usize::try_from(max).unwrap_or(usize::MAX)),
        }
    }
}

impl Target {
    /// What of `wished` the model takes. What it refuses is told to `unsaid`, or to `foregone` where it takes either of two,
    /// unless it says what holds without it.
    pub(crate) fn sampling(
        &self,
        wished: &Sampling,
        unsaid: &mut Losses,
        foregone: &mut Vec<Feature>,
    ) -> Sampling {
        let differs = |value: Option<f64>| value.is_some_and(|value| value != 1.0);
        if !self.fixed_sampling {
            let mut sampling = wished.clone();
            if self.one_sampler && wished.temperature.is_some() && wished.top_p.is_some() {
                match (differs(wished.temperature), differs(wished.top_p)) {
                    (false, true) => sampling.temperature = None,
                    (_, false) => sampling.top_p = None,
                    (true, true) => {
                        sampling.top_p = None;
                        foregone.push(Feature::TopP);
                    }
                }
            }
            return sampling;
        }
        let lost = [
            (differs(wished.temperature), Feature::Temperature),
            (differs(wished.top_p), Feature::TopP),
            (wished.top_k.is_some(), Feature::TopK),
            (
                wished.frequency_penalty.is_some(),
                Feature::FrequencyPenalty,
            ),
            (wished.presence_penalty.is_some(), Feature::PresencePenalty),
            (wished.logprobs.is_some(), Feature::Logprobs),
            (wished.logit_bias.is_some(), Feature::LogitBias),
        ];
        let lost = lost.into_iter().filter(|(is_lost, _)| *is_lost);
        unsaid.extend(lost.map(|(_, feature)| feature));
        Sampling {
            seed: wished.seed,
            ..Sampling::default()
        }
    }
}

impl Target {
    /// Names the wish to think where the model cannot: one that says how much is told to `unsaid`, one that leaves it to the
    /// model to `foregone`.
    pub(crate) fn name_thinking(
        &self,
        wish: Thinking,
        unsaid: &mut Losses,
        foregone: &mut Vec<Feature>,
    ) {
        if self.thinking != ThinkingForm::None {
            return;
        }
        match wish {
            Thinking::Unsaid | Thinking::Off => {}
            Thinking::Adaptive(None) => foregone.push(Feature::Thinking),
            Thinking::Adaptive(Some(_)) | Thinking::Budget(_) => unsaid.push(Feature::Thinking),
        }
    }
}

impl Target {
    /// What the model knows that comes nearest to `wished`: the most of what is no more, or else the least. `usual` are the efforts of
    /// a model of which the row does not say them.
    pub(crate) fn effort(
        &self,
        wished: ThinkingEffort,
        usual: &[ThinkingEffort],
    ) -> ThinkingEffort {
        let known = if self.efforts.is_empty() {
            usual
        } else {
            &self.efforts
        };
        let known = known.iter().copied();
        let below = known.clone().filter(|effort| *effort <= wished).max();
        below.or(known.min()).unwrap_or(wished)
    }
}

const fn effort(word: Effort) -> ThinkingEffort {
    match word {
        Effort::Minimal => ThinkingEffort::Minimal,
        Effort::Low => ThinkingEffort::Low,
        Effort::Medium => ThinkingEffort::Medium,
        Effort::High => ThinkingEffort::High,
        Effort::XHigh => ThinkingEffort::ExtraHigh,
        Effort::Max => ThinkingEffort::Max,
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
    /// Not at all: a request that asks for it is named.
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
    /// The body of the request, of which some dialects repeat members in the answer; empty for none.
    pub request: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, ProviderDialect, translate_request};
    use serde_json::{Value, json};
    use sluicegate_catalog::provider;

    /// What `model` of that row is sent of a chat request with these `members`, and what is named.
    fn sent(row: &str, model: &str, members: &Value) -> (Value, Vec<String>) {
        let row = provider(row).expect("a row");
        let mut request = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
        let all = request.as_object_mut().expect("an object");
        all.extend(members.as_object().expect("an object").clone());
        let request = request.to_string();
        let (from, to) = (Dialect::OpenAiChat, ProviderDialect::of(row));
        let target = Target::of(row, model);
        let sent = translate_request(from, to, request.as_bytes(), &target).expect("a request");
        let named = sent.inexpressible.into_iter().map(|lost| lost.field);
        let body = serde_json::from_slice(&sent.body).expect("JSON");
        (body, named.collect())
    }

    #[test]
    fn a_model_that_samples_by_itself_is_told_nothing_of_it() {
        let wished = json!({"temperature": 0.2, "top_p": 0.9, "seed": 7});
        let (body, named) = sent("anthropic", "claude-opus-5", &wished);
        assert_eq!(named, ["temperature", "top_p", "seed"]);
        assert_eq!(
            (&body["temperature"], &body["top_p"]),
            (&Value::Null, &Value::Null)
        );
        let usual = json!({"temperature": 1, "top_p": 1.0, "frequency_penalty": 0});
        let (body, named) = sent("bedrock", "eu.anthropic.claude-opus-4-7-v1:0", &usual);
        assert_eq!(named, [""; 0]);
        assert_eq!(body.get("inferenceConfig"), None);
        let (body, named) = sent(
            "anthropic",
            "claude-haiku-4-5",
            &json!({"temperature": 0.2}),
        );
        assert_eq!((&body["temperature"], named.len()), (&json!(0.2), 0));
    }

    #[test]
    fn a_model_that_always_thinks_is_not_told_not_to() {
        let wished = json!({"reasoning_effort": "none"});
        let cases = [
            (
                "gemini",
                "gemini-2.5-flash",
                "/generationConfig/thinkingConfig",
                json!({"thinkingBudget": 0}),
            ),
            (
                "gemini",
                "gemini-2.5-pro",
                "/generationConfig/thinkingConfig",
                json!({"thinkingBudget": 128}),
            ),
            (
                "anthropic",
                "claude-opus-5",
                "/thinking",
                json!({"type": "disabled"}),
            ),
            ("anthropic", "claude-fable-5", "/thinking", Value::Null),
            (
                "anthropic",
                "claude-fable-5",
                "/output_config",
                json!({"effort": "low"}),
            ),
            (
                "bedrock",
                "global.anthropic.claude-fable-5-v1",
                "/outputConfig",
                json!({"effort": "low"}),
            ),
            (
                "bedrock",
                "amazon.nova-pro-v1:0",
                "/outputConfig",
                Value::Null,
            ),
        ];
        for (row, model, place, expected) in cases {
            let (body, named) = sent(row, model, &wished);
            assert_eq!(
                body.pointer(place).unwrap_or(&Value::Null),
                &expected,
                "{model}"
            );
            assert_eq!(named, [""; 0]);
        }
    }

    #[test]
    fn a_schema_goes_to_models_that_follow_one() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        let wished = json!({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": schema}}});
        for (model, follows) in [
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", true),
            ("anthropic.claude-3-haiku-20240307-v1:0", false),
            ("amazon.nova-pro-v1:0", false),
        ] {
            let (body, _) = sent("bedrock", model, &wished);
            assert_eq!(
                body.pointer("/outputConfig/textFormat").is_some(),
                follows,
                "{model}"
            );
        }
    }
}
