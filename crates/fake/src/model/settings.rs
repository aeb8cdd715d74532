//! What the fake provider is told to be: its profile, its limits, its rule of charging.
//!
//! Checked while reading (periods and amounts above zero, unknown keys refused), so that the model has nothing to check.

use std::num::NonZeroU64;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

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
    /// How tokens are charged on arrival; by default the profile's documented rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge: Option<ChargeRule>,
    /// The output charged per choice where a call names no maximum.
    pub default_output: u64,
    /// Whether a call that was admitted and then failed stays charged.
    pub failed_count: FailedCount,
    /// Whether a call that a limit rejected takes one request all the same. Never tokens, and never beyond the limit.
    pub rejected_count: RejectedCount,
    /// Which hints a rejection carries.
    pub hints: Hints,
    /// The unit of Azure's bare reset numbers.
    pub reset_unit: ResetUnit,
}

/// A provider's manners.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Continuous refill, charge `max(output, bytes / 4 + n)`, Go durations in the headers.
    #[default]
    OpenAi,
    /// Fixed minute for tokens, requests also per 10 s, charge `(bytes / 4 + output) × best_of`, bare numbers.
    Azure,
}

/// How tokens are charged when a call arrives. `bytes` are the UTF-8 bytes of all content and role names; a quarter of
/// them is rounded up only after the rest was added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChargeRule {
    /// `max(n × output, bytes / 4 + n)`: what OpenAI's guide says.
    Max,
    /// `bytes / 4 + n`: what OpenAI's headers have shown for chat since 2025-03-20.
    Prompt,
    /// `(bytes / 4 + output) × best_of`: what Azure's quota page says.
    Sum,
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
    /// None: only OpenAI's text says how long.
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

/// The limits, in short or in full.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Limits {
    /// Amounts only; windows as the profile has them.
    Short(ShortLimits),
    /// Each limit in full.
    Full(Vec<Limit>),
}

/// Amounts whose windows the profile knows. OpenAI: continuous refill over a minute or a day. Azure: aligned minutes and
/// days, requests also per aligned 10 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShortLimits {
    /// Requests a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpm: Option<NonZeroU64>,
    /// Requests a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpd: Option<NonZeroU64>,
    /// Tokens a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpm: Option<NonZeroU64>,
    /// Tokens a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpd: Option<NonZeroU64>,
}

/// One limit in full.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What it counts.
    pub meter: Meter,
    /// The ceiling.
    pub amount: NonZeroU64,
    /// The window's length, or the time in which an empty bucket fills.
    pub per: Period,
    /// How it counts and refills.
    #[serde(default)]
    pub window: Window,
    /// For a fixed window: how long after a multiple of `per` it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Period>,
    /// Also enforced in proportion over a shorter time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Quantum>,
    /// Which calls share it.
    #[serde(default)]
    pub scope: Scope,
}

/// A shorter time over which a limit holds in proportion (300 a minute: 5 in a second). A call that alone is more than a
/// quantum's share is let through when the quantum is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Quantum {
    /// Its length.
    pub per: Period,
    /// `true`: in any interval of that length, wherever it starts. `false`: in each aligned one.
    #[serde(default)]
    pub any: bool,
}

/// What a limit counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Meter {
    /// Calls.
    Requests,
    /// Tokens, as the charge rule has them.
    Tokens,
}

/// How a limit counts and refills.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Window {
    /// Aligned to multiples of `per` since the Unix epoch, plus the phase.
    Fixed,
    /// No half-open interval of `per`, wherever it starts, holds more than the amount.
    Sliding,
    /// A bucket of the amount that refills continuously, the whole of it in `per`.
    #[default]
    Bucket,
}

/// Which calls share a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// All calls: one account.
    #[default]
    All,
    /// Calls for the same model.
    Model,
    /// Calls with the same key.
    Key,
}

impl Settings {
    /// The limits in full.
    pub fn limits(&self) -> Vec<Limit> {
        match &self.limits {
            Limits::Full(limits) => limits.clone(),
            Limits::Short(short) => short.in_full(self.profile),
        }
    }

    /// The charge rule in force.
    pub fn charge_rule(&self) -> ChargeRule {
        self.charge.unwrap_or(match self.profile {
            Profile::OpenAi => ChargeRule::Max,
            Profile::Azure => ChargeRule::Sum,
        })
    }
}

impl ShortLimits {
    fn in_full(self, profile: Profile) -> Vec<Limit> {
        let window = match profile {
            Profile::OpenAi => Window::Bucket,
            Profile::Azure => Window::Fixed,
        };
        let azure_requests = Period::from_seconds(10)
            .filter(|_| profile == Profile::Azure)
            .map(|per| Quantum { per, any: false });
        [
            (Meter::Requests, self.rpm, Period::MINUTE, azure_requests),
            (Meter::Requests, self.rpd, Period::DAY, None),
            (Meter::Tokens, self.tpm, Period::MINUTE, None),
            (Meter::Tokens, self.tpd, Period::DAY, None),
        ]
        .into_iter()
        .filter_map(|(meter, amount, per, quantum)| {
            let scope = Scope::All;
            amount.map(|amount| Limit {
                meter,
                amount,
                per,
                window,
                phase: None,
                quantum,
                scope,
            })
        })
        .collect()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::Full(Vec::new())
    }
}

/// Chosen by shape rather than by trying both, so that an error names the key that is wrong.
impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByShape;
        impl<'de> Visitor<'de> for ByShape {
            type Value = Limits;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("limits: a map of rpm, rpd, tpm, tpd, or a list of limits in full")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Limits, A::Error> {
                ShortLimits::deserialize(de::value::MapAccessDeserializer::new(map))
                    .map(Limits::Short)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Limits, A::Error> {
                Vec::deserialize(de::value::SeqAccessDeserializer::new(list)).map(Limits::Full)
            }
        }
        deserializer.deserialize_any(ByShape)
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
