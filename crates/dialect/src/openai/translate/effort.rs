//! OpenAI's words for how much to think.

use crate::canonical::{Thinking, ThinkingEffort, ThinkingForm};

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

/// A number of tokens becomes the effort that usually takes about as many.
pub(crate) fn write(thinking: Thinking, form: ThinkingForm) -> Option<String> {
    let effort = match thinking {
        _ if form == ThinkingForm::None => return None,
        Thinking::Unsaid | Thinking::Adaptive(None) => return None,
        Thinking::Off => "none",
        Thinking::Adaptive(Some(effort)) => match effort {
            ThinkingEffort::Minimal => "minimal",
            ThinkingEffort::Low => "low",
            ThinkingEffort::Medium => "medium",
            ThinkingEffort::High => "high",
            ThinkingEffort::ExtraHigh | ThinkingEffort::Max => "xhigh",
        },
        Thinking::Budget(0..=2_048) => "low",
        Thinking::Budget(2_049..=8_192) => "medium",
        Thinking::Budget(_) => "high",
    };
    Some(effort.to_owned())
}
