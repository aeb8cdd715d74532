//! What the fake provider is told to be: its profile, its limits, its rule of charging, and what disturbs it.
//!
//! Checked while reading (periods and amounts above zero, unknown keys refused), so that the model has nothing to check.

mod disturbance;
mod limits;
mod profile;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

pub use disturbance::{Cut, EstimateError, Factor, OtherTraffic, Share};
pub use limits::{Limit, Limits, Meter, Quantum, Scope, ShortLimits, Window};
pub use profile::Profile;
pub(super) use profile::Ruler;

use super::calendar::UtcOffset;
use crate::Period;

/// The fake provider.
#[derive(Clone, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whose headers, error texts and defaults.
    pub profile: Profile,
    /// What is limited; nothing by default.
    pub limits: Limits,
    /// How many calls may be in flight at once; any number by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrent: Option<NonZeroU64>,
    /// How limits on `tokens` charge a call on arrival, where they do not say it themselves; by default the profile's rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge: Option<ChargeRule>,
    /// What that charge becomes when the call's usage is known; by default the profile's rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<SettleRule>,
    /// The output charged per choice where a call names no maximum; by default the profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_output: Option<u64>,
    /// By how much an output token counts in `weighted` rules, by the beginning of a model's name; the longest that fits
    /// holds, an empty name fits all. By default the profile's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub output_weights: BTreeMap<String, u64>,
    /// Whether a call that was admitted and then failed stays charged.
    pub failed_count: FailedCount,
    /// Whether a call that a limit rejected takes one request all the same. Never tokens, and never beyond the limit.
    pub rejected_count: RejectedCount,
    /// Which hints a rejection carries, of those that the profile knows.
    pub hints: Hints,
    /// The unit of Azure's bare reset numbers.
    pub reset_unit: ResetUnit,
    /// How long after a multiple of its length a fixed window begins, where the limit does not say it itself. Clients are
    /// not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Period>,
    /// Where calendar days and months begin; by default the profile's (Gemini's are Pacific, all others UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utc_offset: Option<UtcOffset>,
    /// How wrong the provider's own estimate of a prompt is.
    pub estimate: EstimateError,
    /// Somebody else uses the same account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_traffic: Option<OtherTraffic>,
    /// Times in which all limits are lower than they should be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Cut>,
}

/// How a limit on tokens charges a call when it arrives. `input` is the provider's estimate of the prompt (see
/// [`Profile`] for from what), `output` the call's maximum or the default, `n` the number of choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChargeRule {
    /// `max(n × output, input + n)`: what OpenAI's guide says.
    Max,
    /// `input + n`: what OpenAI's headers have shown for chat since 2025-03-20.
    Prompt,
    /// `(input + output) × best_of`: what Azure's quota page says; Bedrock, Cerebras, Groq, Naver the same.
    Sum,
    /// `input`.
    Input,
    /// `input`, and nothing of output unless the call is streamed: then `input + output`, as Mistral's query cost was.
    Streamed,
    /// `input`, but refused unless `input + output` would fit: Bedrock mantle's input quota.
    Room,
    /// `n × output`.
    Output,
    /// `input` without what is cached, plus the weight times `n × output`: Azure's provisioned throughput.
    Weighted,
    /// Nothing: output counts as it is produced, and a call is refused only where not one token more would fit.
    Produced,
}

/// What a charge becomes when the usage of a call is known. What is less is given back, what is more is taken beyond the
/// limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettleRule {
    /// It stays.
    Keep,
    /// Input, what was cached included.
    Input,
    /// Input without what was cached.
    UncachedInput,
    /// Output.
    Output,
    /// Input and output.
    Total,
    /// Input and output without what was cached.
    UncachedTotal,
    /// Input and output of a call that is not streamed; of a streamed call the charge stays. Mistral.
    WholeTotal,
    /// Input without what was cached, plus the weight times output: Bedrock's burndown, Azure's provisioned throughput.
    Weighted,
}

/// Whether failed calls stay charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(from = "bool", into = "bool")]
pub enum FailedCount {
    /// They do, as OpenAI and Azure document.
    #[default]
    Kept,
    /// Their requests and tokens are given back.
    Returned,
}

/// Whether rejected calls take a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(from = "bool", into = "bool")]
pub enum RejectedCount {
    /// They take nothing.
    #[default]
    Free,
    /// They take one request.
    Taken,
}

/// Which hints a 429 carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hints {
    /// `retry-after` and `retry-after-ms`.
    #[default]
    Both,
    /// `retry-after` only, in whole seconds, rounded up.
    Seconds,
    /// `retry-after-ms` only, rounded up.
    Milliseconds,
    /// None: only a text may say how long.
    None,
}

/// The unit of Azure's `x-ratelimit-reset-*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
pub enum ResetUnit {
    /// Seconds, as seen since June 2026.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds, as seen until March 2026.
    #[serde(rename = "ms")]
    Milliseconds,
}

impl ChargeRule {
    /// What its charge becomes unless somebody says otherwise.
    fn usual_settlement(self) -> SettleRule {
        match self {
            Self::Produced => SettleRule::Output,
            Self::Streamed => SettleRule::WholeTotal,
            _ => SettleRule::Keep,
        }
    }
}

impl Settings {
    /// The limits in full.
    pub fn limits(&self) -> Vec<Limit> {
        match &self.limits {
            Limits::Full(limits) => limits.clone(),
            Limits::Short(short) => short.in_full(self.profile),
        }
    }

    /// How limits on `meter` charge on arrival where they do not say it themselves.
    pub fn charge_rule(&self, meter: Meter) -> ChargeRule {
        self.charge
            .filter(|_| meter == Meter::Tokens)
            .unwrap_or_else(|| self.profile.charge(meter))
    }

    /// What charges of `meter` become where a limit does not say it itself. Where the rule of charging is not the
    /// profile's, they stay unless the settings say otherwise.
    pub fn settlement_rule(&self, meter: Meter) -> SettleRule {
        match (self.charge, self.settle) {
            _ if meter != Meter::Tokens => self.profile.settlement(meter),
            (_, Some(settle)) => settle,
            (Some(charge), None) => charge.usual_settlement(),
            (None, None) => self.profile.settlement(meter),
        }
    }

    /// How `limit` charges on arrival.
    pub fn charge_of(&self, limit: &Limit) -> ChargeRule {
        limit
            .charge
            .unwrap_or_else(|| self.charge_rule(limit.meter))
    }

    /// What the charge of `limit` becomes.
    pub fn settlement_of(&self, limit: &Limit) -> SettleRule {
        match (limit.charge, limit.settle) {
            (_, Some(settle)) => settle,
            (Some(charge), None) => charge.usual_settlement(),
            (None, None) => self.settlement_rule(limit.meter),
        }
    }

    /// The output charged where a call names no maximum.
    pub fn default_output(&self) -> u64 {
        self.default_output
            .unwrap_or_else(|| self.profile.default_output())
    }

    /// By how much an output token of `model` counts in weighted rules.
    pub fn output_weight(&self, model: &str) -> u64 {
        let fits = |name: &&String| model.starts_with(name.as_str());
        let longest = self
            .output_weights
            .keys()
            .filter(fits)
            .max_by_key(|n| n.len());
        longest
            .and_then(|name| self.output_weights.get(name).copied())
            .unwrap_or_else(|| self.profile.output_weight(model))
    }

    /// Where days and months begin.
    pub fn utc_offset(&self) -> UtcOffset {
        self.utc_offset.unwrap_or_else(|| self.profile.utc_offset())
    }
}

impl From<bool> for FailedCount {
    fn from(kept: bool) -> Self {
        if kept { Self::Kept } else { Self::Returned }
    }
}

impl From<FailedCount> for bool {
    fn from(count: FailedCount) -> Self {
        count == FailedCount::Kept
    }
}

impl From<bool> for RejectedCount {
    fn from(taken: bool) -> Self {
        if taken { Self::Taken } else { Self::Free }
    }
}

impl From<RejectedCount> for bool {
    fn from(count: RejectedCount) -> Self {
        count == RejectedCount::Taken
    }
}
