//! How much a model is told to think.
//!
//! A request's word on it is a wish: it goes unheard where it would make the request illegal, and the
//! client is told.

use super::wire;
use crate::canonical::seal::{is_claudes, loses_thoughts};
use crate::canonical::{
    Feature, Part, Request, Role, Target, Thinking, ThinkingEffort, ThinkingForm,
};

/// The least number of tokens that a model may be told to think.
const BUDGET_MIN: u64 = 1_024;

/// The efforts of a model of which nothing else is known.
const EFFORTS: [ThinkingEffort; 5] = [
    ThinkingEffort::Low,
    ThinkingEffort::Medium,
    ThinkingEffort::High,
    ThinkingEffort::ExtraHigh,
    ThinkingEffort::Max,
];

/// How to think, and with how much effort. A wish that goes unheard is told to `foregone`, and so are
/// thoughts that a thinking model would go on with and does not get.
pub(crate) fn thinking(
    request: &Request,
    target: &Target,
    max_tokens: u64,
    foregone: &mut Vec<Feature>,
) -> (Option<wire::Thinking>, Option<String>) {
    let (thinking, effort) = wished(request, target, max_tokens);
    let can_think = target.thinking != ThinkingForm::None;
    if can_think && asks(request.thinking) && thinking.is_none() {
        foregone.push(Feature::Thinking);
    }
    if can_think && loses_thoughts(request, is_claudes) {
        foregone.push(Feature::Thoughts);
    }
    (thinking, effort)
}

const fn asks(wish: Thinking) -> bool {
    matches!(wish, Thinking::Adaptive(_) | Thinking::Budget(_))
}

fn wished(
    request: &Request,
    target: &Target,
    max_tokens: u64,
) -> (Option<wire::Thinking>, Option<String>) {
    let told = |kind: &str, budget_tokens| wire::Thinking {
        kind: kind.to_owned(),
        budget_tokens,
    };
    let sampling = &request.sampling;
    let is_cool = sampling.temperature.is_some_and(|it| it != 1.0);
    // What the model refuses of it is not written.
    let samples = (is_cool || sampling.top_k.is_some()) && !target.fixed_sampling;
    let is_free = !request.tool_choice.forces() && !samples;
    match (target.thinking, request.thinking) {
        (ThinkingForm::None, _) | (_, Thinking::Unsaid) => (None, None),
        (_, Thinking::Off) if target.always_thinks => (None, Some("low".to_owned())),
        (_, Thinking::Off) => (Some(told("disabled", None)), None),
        (ThinkingForm::Effort, wish) => {
            let effort = match wish {
                Thinking::Adaptive(effort) => {
                    effort.map(|effort| word(target.effort(effort, &EFFORTS)).to_owned())
                }
                Thinking::Budget(_) | Thinking::Unsaid | Thinking::Off => None,
            };
            (is_free.then(|| told("adaptive", None)), effort)
        }
        (ThinkingForm::Budget, wish) => {
            let wished = match wish {
                Thinking::Budget(tokens) => tokens,
                Thinking::Adaptive(effort) => {
                    thinking_budget(effort.unwrap_or(ThinkingEffort::High))
                }
                Thinking::Unsaid | Thinking::Off => 0,
            };
            // Some of the maximum has to be left for the answer.
            let tokens = wished.min(max_tokens / 2);
            let goes = is_free && tokens >= BUDGET_MIN && !is_amid_calls(request);
            (goes.then(|| told("enabled", Some(tokens))), None)
        }
    }
}

const fn word(effort: ThinkingEffort) -> &'static str {
    match effort {
        ThinkingEffort::Minimal | ThinkingEffort::Low => "low",
        ThinkingEffort::Medium => "medium",
        ThinkingEffort::High => "high",
        ThinkingEffort::ExtraHigh => "xhigh",
        ThinkingEffort::Max => "max",
    }
}

/// The tokens that an effort usually takes, at most.
pub(crate) const fn thinking_budget(effort: ThinkingEffort) -> u64 {
    match effort {
        ThinkingEffort::Minimal => 1_024,
        ThinkingEffort::Low => 2_048,
        ThinkingEffort::Medium => 8_192,
        ThinkingEffort::High => 16_384,
        ThinkingEffort::ExtraHigh | ThinkingEffort::Max => 32_768,
    }
}

/// Whether the last turn of the model called tools without a thought of Claude's before: it cannot
/// begin to think then, as it has to go on with what it thought.
/// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>, "Expected `thinking` or
/// `redacted_thinking`, but found `tool_use`".) A model that thinks as it sees fit has no such rule.
fn is_amid_calls(request: &Request) -> bool {
    let mut turns = request.turns.iter().rev();
    let Some(last) = turns.find(|turn| turn.role == Role::Assistant) else {
        return false;
    };
    let calls = last
        .parts
        .iter()
        .any(|part| matches!(part, Part::ToolCall { .. }));
    let is_sealed = |part: &Part| match part {
        Part::SealedThinking(seal) => is_claudes(seal),
        Part::Thinking { signature, .. } => signature.as_deref().is_some_and(is_claudes),
        _ => false,
    };
    calls && !last.parts.iter().any(is_sealed)
}
