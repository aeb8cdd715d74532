//! A world as text: the provider, the way to it, who calls. Everything else follows from the seed.

use std::num::NonZeroU32;

use serde::Deserialize;
use sluicegate_fake::model::Settings;

use crate::lanes::LaneSetting;
use crate::random::{Purpose, Random};
use crate::upstream::{Answering, Transit};
use crate::workload::{Arrivals, Job, Jobs};

/// What a world is made of.
///
/// ```
/// let scenario = sluicegate_sim::Scenario::from_yaml(
///     "provider: { limits: { rpm: 60 } }
/// jobs: [{ count: 2, turns: 3, prompt_tokens: 100, output_max: 50, answer_tokens: 20 }]",
/// )?;
/// assert_eq!(scenario.workload().len(), 2);
/// # Ok::<(), sluicegate_sim::ScenarioError>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// The provider, as the fake's settings say it.
    pub provider: Settings,
    /// How long after the edge of a day the world begins, in milliseconds.
    pub begin_ms: u64,
    /// When it ends, in milliseconds after it began; where none is named, when nothing is left to
    /// happen.
    pub end_ms: Option<u64>,
    /// From when on it is measured what the provider gave, in milliseconds after it began.
    pub measure_from_ms: u64,
    /// The model that every call asks for; none has a name of its own where it is empty.
    pub model: String,
    /// The way to the provider. The gateway knows the longest time of it.
    pub transit: Transit,
    /// How long answers take.
    pub answering: Answering,
    /// What lanes are held to, where that is not the default.
    pub lanes: Vec<LaneSetting>,
    /// How much each tenant weighs in its lane; who has none weighs one.
    pub weights: Vec<NonZeroU32>,
    /// Jobs.
    pub jobs: Vec<Jobs>,
    /// Calls that come by themselves.
    pub arrivals: Vec<Arrivals>,
    /// When somebody sets the gateway's wall clock.
    pub clock_jumps: Vec<ClockJump>,
    /// How often a call is sent again after a 429, each time after the wait that the provider
    /// names.
    pub resends_max: u32,
    /// Determines everything that is drawn.
    pub seed: u64,
}

/// Somebody sets the gateway's wall clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockJump {
    /// When, in milliseconds after the world began.
    pub at_ms: u64,
    /// By how much.
    pub by_ms: i64,
}

/// Why a text is no scenario.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a scenario: {0}")]
pub struct ScenarioError(String);

impl Scenario {
    /// The scenario that `text` describes in YAML.
    ///
    /// # Errors
    ///
    /// Where it is not YAML, misses or names a key that should or should not be there, or a value
    /// is out of bounds.
    pub fn from_yaml(text: &str) -> Result<Self, ScenarioError> {
        serde_saphyr::from_str(text).map_err(|error| ScenarioError(error.to_string()))
    }

    /// Everybody who calls, in the order of the scenario.
    pub fn workload(&self) -> Vec<Job> {
        let mut random = Random::new(self.seed, Purpose::Workload);
        let mut jobs: Vec<Job> = self.jobs.iter().flat_map(Jobs::all).collect();
        for arrivals in &self.arrivals {
            jobs.extend(arrivals.all(&mut random));
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use sluicegate_core::Lane;

    use super::*;

    #[test]
    fn a_key_that_is_not_known_is_refused() {
        let error = Scenario::from_yaml("provider: {}\nsede: 1").expect_err("a typo");
        assert!(error.to_string().contains("sede"), "{error}");
    }

    #[test]
    fn lanes_are_named_and_shares_are_no_more_than_everything() {
        let lanes = |text: &str| Scenario::from_yaml(&format!("lanes: [{text}]"));
        let error = lanes("{ lane: bach, leaves: 0 }").expect_err("a typo");
        assert!(error.to_string().contains("bach"), "{error}");
        let error = lanes("{ lane: batch, leaves: 10001 }").expect_err("too much");
        assert!(error.to_string().contains("10001"), "{error}");
        let scenario = lanes("{ lane: batch, leaves: 0, min_share: 500 }").expect("a lane");
        let rule = crate::lanes::rules(&scenario.lanes).of(Lane::Batch);
        assert_eq!((rule.leaves.points(), rule.min_share.points()), (0, 500));
    }
}
