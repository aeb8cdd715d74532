//! The settings of the whole fake: the provider, how it answers, and how much it remembers.

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::{Millis, model};

/// Everything that can be set, from a YAML file or at runtime as JSON. Every field may be left out.
///
/// ```
/// let settings = sluicegate_fake::Settings::from_yaml(
///     "provider: { profile: azure, limits: { rpm: 60, tpm: 10000 } }\nanswer: { head_ms: 200 }",
/// )?;
/// assert_eq!(settings.answer.output_tokens, 32);
/// # Ok::<(), sluicegate_fake::SettingsError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whose manners, what is limited, how it is charged.
    pub provider: model::Settings,
    /// What answers are like.
    pub answer: Answer,
    /// The keys that are accepted; any, when empty.
    pub keys: Vec<String>,
    /// The models that exist; any, when empty.
    pub models: Vec<String>,
    /// The models that refuse words on how their tokens are chosen; none, when empty.
    pub sampling: Sampling,
    /// Faults for the first calls, in order.
    pub faults: Vec<Fault>,
    /// Changes all generated text, ids and jitter.
    pub seed: u64,
    /// What is remembered.
    pub memory: Memory,
}

/// What answers are like, where a call does not say it itself in its `fake` field.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// Tokens of output per choice.
    pub output_tokens: u64,
    /// From the arrival to the head of the answer.
    pub head_ms: Millis,
    /// From one token to the next; an answer that is not streamed takes as long in all.
    pub ms_per_token: Millis,
    /// Calls arrive at the limits later by up to this much, evenly distributed: what a network does.
    pub jitter_ms: Millis,
}

/// Models that refuse words on how their tokens are chosen, by names that may have a `*` at either end.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sampling {
    /// Those that take none: a temperature or `top_p` other than 1 is refused, and whatever else says more.
    pub fixed: Vec<String>,
    /// Those of Claude that take a temperature or `top_p`, and refuse both at once.
    pub one: Vec<String>,
}

/// Bounds on what is remembered.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// Calls in the log.
    pub log_entries: usize,
    /// Bytes of request bodies in the log, over all entries; the oldest go first.
    pub log_body_bytes: usize,
    /// The largest request body; a larger one is answered with 413.
    pub body_bytes_max: usize,
}

/// Settings that cannot be used: what is wrong, with its line and a piece of the file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(String);

impl Settings {
    /// Reads YAML; an empty text gives the defaults.
    ///
    /// # Errors
    /// For a text that is not YAML, unknown keys and impossible values; the error names the line.
    pub fn from_yaml(text: &str) -> Result<Self, SettingsError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_saphyr::from_str(text).map_err(|error| SettingsError(error.to_string()))
    }
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            output_tokens: 32,
            head_ms: Millis::default(),
            ms_per_token: Millis::default(),
            jitter_ms: Millis::default(),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            log_entries: 100_000,
            log_body_bytes: 64 * 1_024 * 1_024,
            body_bytes_max: 32 * 1_024 * 1_024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Limits, Profile};

    #[test]
    fn a_file_is_read_in_both_forms_of_limits() {
        let short = Settings::from_yaml("provider:\n  limits: { rpm: 5, tpm: 100 }\n").unwrap();
        assert_eq!(short.provider.limits().len(), 2);
        let full = Settings::from_yaml(
            "provider:\n  profile: azure\n  limits:\n    - { meter: requests, amount: 300, per: 60s, window: sliding,\n        \
             quantum: { per: 1s, any: true } }\nanswer: { ms_per_token: 0.5, jitter_ms: 20 }\nfaults: [{ status: [500, 429] }]\n",
        )
        .unwrap();
        assert_eq!(full.provider.profile, Profile::Azure);
        assert!(
            matches!(&full.provider.limits, Limits::Full(limits) if limits[0].quantum.is_some())
        );
        assert_eq!(full.answer.ms_per_token.as_duration().as_micros(), 500);
    }

    #[test]
    fn the_readme_shows_settings_that_can_be_read() {
        let readme = include_str!("../README.md");
        let blocks: Vec<&str> = readme
            .split("```yaml\n")
            .skip(1)
            .filter_map(|block| block.split("```").next())
            .collect();
        assert_eq!(blocks.len(), 2);
        let all = Settings::from_yaml(blocks[0]).unwrap();
        assert_eq!(all.provider.limits().len(), 2);
        let limits = Settings::from_yaml(&format!("provider:\n{}", blocks[1])).unwrap();
        assert_eq!(limits.provider.limits().len(), 3);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = Settings::from_yaml("seed: 1\nanswer:\n  head_msec: 3\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("head_msec") && error.contains('3'),
            "{error}"
        );
        let error = Settings::from_yaml("answer: { head_ms: -1 }")
            .unwrap_err()
            .to_string();
        assert!(error.contains("from 0 to"), "{error}");
    }

    #[test]
    fn settings_survive_a_round_trip_through_json() {
        let settings = Settings::from_yaml(
            "provider: { limits: { rpm: 5 }, failed_count: false }\nfaults: [{ cut_after: 3, cut: reset }]",
        )
        .unwrap();
        let json = serde_json::to_value(&settings).unwrap();
        assert_eq!(serde_json::from_value::<Settings>(json).unwrap(), settings);
    }
}
