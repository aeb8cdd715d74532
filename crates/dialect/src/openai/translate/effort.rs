//! OpenAI's words for how much to think.

use crate::canonical::{Feature, Request, Target, Thinking, ThinkingEffort, ThinkingForm};

/// The efforts of a model of which nothing else is known.
const EFFORTS: [ThinkingEffort; 3] = [
    ThinkingEffort::Low,
    ThinkingEffort::Medium,
    ThinkingEffort::High,
];

/// What a word says; `None` for one that is not known.
pub(crate) fn read(word: &str) -> Option<Thinking> {
    let effort = match word {
        "none" => return Some(Thinking::Off),
        "minimal" => ThinkingEffort::Minimal,
        "low" => ThinkingEffort::Low,
        "medium" => ThinkingEffort::Medium,
        "high" => ThinkingEffort::High,
        "xhigh" => ThinkingEffort::ExtraHigh,
        "max" => ThinkingEffort::Max,
        _ => return None,
    };
    Some(Thinking::Adaptive(Some(effort)))
}

/// As [`write()`] over chat completions, where some models refuse tools unless they are told not to think. A wish to
/// think that goes unheard for it is told to `foregone`.
pub(crate) fn write_for_chat(
    request: &Request,
    target: &Target,
    foregone: &mut Vec<Feature>,
) -> Option<String> {
    if request.tools.is_empty() || !target.unthinking_tools {
        return write(request.thinking, target);
    }
    if matches!(
        request.thinking,
        Thinking::Adaptive(_) | Thinking::Budget(_)
    ) {
        foregone.push(Feature::Thinking);
    }
    Some("none".to_owned())
}

/// A number of tokens becomes the effort that usually takes about as many, and an effort that `target` does not know the next lower one
/// that it knows, if there is one.
pub(crate) fn write(thinking: Thinking, target: &Target) -> Option<String> {
    let wished = match thinking {
        _ if target.thinking == ThinkingForm::None => return None,
        Thinking::Unsaid | Thinking::Adaptive(None) => return None,
        Thinking::Off if !target.always_thinks => return Some("none".to_owned()),
        Thinking::Off => ThinkingEffort::Minimal,
        Thinking::Adaptive(Some(effort)) => effort,
        Thinking::Budget(0..=2_048) => ThinkingEffort::Low,
        Thinking::Budget(2_049..=8_192) => ThinkingEffort::Medium,
        Thinking::Budget(_) => ThinkingEffort::High,
    };
    let word = match target.effort(wished, &EFFORTS) {
        ThinkingEffort::Minimal => "minimal",
        ThinkingEffort::Low => "low",
        ThinkingEffort::Medium => "medium",
        ThinkingEffort::High => "high",
        // Chat completions have no word for more.
        ThinkingEffort::ExtraHigh | ThinkingEffort::Max => "xhigh",
    };
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::provider;

    #[test]
    fn an_effort_that_a_model_does_not_know_becomes_a_lower_one() {
        let openai = provider("openai").expect("a row");
        let adaptive = |effort| Thinking::Adaptive(Some(effort));
        let cases = [
            ("gpt-5-mini", Thinking::Off, Some("minimal")),
            ("gpt-5-codex", Thinking::Off, Some("low")),
            ("gpt-5-pro", Thinking::Off, Some("high")),
            ("gpt-6-astra", Thinking::Off, Some("low")),
            ("gpt-5.1", Thinking::Off, Some("none")),
            ("gpt-5.1", adaptive(ThinkingEffort::ExtraHigh), Some("high")),
            ("gpt-5.1", adaptive(ThinkingEffort::Minimal), Some("low")),
            (
                "gpt-5.1-codex-max",
                adaptive(ThinkingEffort::ExtraHigh),
                Some("xhigh"),
            ),
            (
                "gpt-5.2-chat-latest",
                adaptive(ThinkingEffort::High),
                Some("medium"),
            ),
            ("gpt-5.4-pro", adaptive(ThinkingEffort::Low), Some("medium")),
            ("gpt-5-chat-latest", adaptive(ThinkingEffort::High), None),
            ("gpt-5.5", Thinking::Off, Some("none")),
            ("o3", adaptive(ThinkingEffort::Minimal), Some("low")),
            ("o3", adaptive(ThinkingEffort::Max), Some("high")),
            ("gpt-5.5", adaptive(ThinkingEffort::Max), Some("xhigh")),
            ("gpt-5.5", Thinking::Budget(4_096), Some("medium")),
            ("gpt-4.1", adaptive(ThinkingEffort::High), None),
        ];
        for (model, thinking, expected) in cases {
            let written = write(thinking, &Target::of(openai, model));
            assert_eq!(written.as_deref(), expected, "{model}: {thinking:?}");
        }
    }
}
