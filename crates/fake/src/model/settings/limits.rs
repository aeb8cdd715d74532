//! Limits as settings write them: amounts alone, or everything about each.

use std::num::NonZeroU64;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::{ChargeRule, Profile, SettleRule};
use crate::Period;

/// The limits, in short or in full.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Limits {
    /// Amounts only; windows as the profile has them.
    Short(ShortLimits),
    /// Each limit in full.
    Full(Vec<Limit>),
}

/// Amounts whose windows, charges and settlements the profile knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShortLimits {
    /// Requests a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rps: Option<NonZeroU64>,
    /// Requests a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpm: Option<NonZeroU64>,
    /// Requests an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rph: Option<NonZeroU64>,
    /// Requests a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpd: Option<NonZeroU64>,
    /// Requests a calendar month.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_month: Option<NonZeroU64>,
    /// Tokens a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpm: Option<NonZeroU64>,
    /// Tokens an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tph: Option<NonZeroU64>,
    /// Tokens a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpd: Option<NonZeroU64>,
    /// Tokens a calendar month.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_month: Option<NonZeroU64>,
    /// Input tokens a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itpm: Option<NonZeroU64>,
    /// Output tokens a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otpm: Option<NonZeroU64>,
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
    /// For a bucket or a leaky one: it holds no more than this long gives, instead of all of `per`. A call that alone is more
    /// passes when nothing is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Period>,
    /// Also enforced in proportion over a shorter time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Quantum>,
    /// Which calls share it.
    #[serde(default)]
    pub scope: Scope,
    /// How it charges on arrival; by default as the profile does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge: Option<ChargeRule>,
    /// What its charge becomes in the end; by default as the profile does, or kept where the charge is not the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<SettleRule>,
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
#[serde(rename_all = "snake_case")]
pub enum Meter {
    /// Calls.
    Requests,
    /// Tokens of all kinds in one number, as the charge rule has them.
    Tokens,
    /// Input tokens.
    InputTokens,
    /// Output tokens.
    OutputTokens,
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
    /// A leaky bucket that drains the amount in `per`: a call of any size is let in while less than the amount (or than
    /// what a burst may be) is in it.
    Pacing,
    /// Fixed, aligned to `per` in local time ([`super::Settings::utc_offset`]) rather than to a phase.
    Day,
    /// A calendar month in local time, whatever `per` says.
    Month,
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

impl Limit {
    /// A limit that all calls share, charged as the profile charges.
    pub fn new(meter: Meter, amount: NonZeroU64, per: Period, window: Window) -> Self {
        Self {
            meter,
            amount,
            per,
            window,
            phase: None,
            burst: None,
            quantum: None,
            scope: Scope::All,
            charge: None,
            settle: None,
        }
    }
}

impl ShortLimits {
    pub(super) fn in_full(self, profile: Profile) -> Vec<Limit> {
        [
            (Meter::Requests, self.rps, Period::SECOND),
            (Meter::Requests, self.rpm, Period::MINUTE),
            (Meter::Requests, self.rph, Period::HOUR),
            (Meter::Requests, self.rpd, Period::DAY),
            (Meter::Requests, self.requests_month, Period::MONTH),
            (Meter::Tokens, self.tpm, Period::MINUTE),
            (Meter::Tokens, self.tph, Period::HOUR),
            (Meter::Tokens, self.tpd, Period::DAY),
            (Meter::Tokens, self.tokens_month, Period::MONTH),
            (Meter::InputTokens, self.itpm, Period::MINUTE),
            (Meter::OutputTokens, self.otpm, Period::MINUTE),
        ]
        .into_iter()
        .filter_map(|(meter, amount, per)| Some(profile.limit(meter, amount?, per)))
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
                f.write_str("limits: a map of rpm, tpm, rpd and so on, or a list of limits in full")
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
