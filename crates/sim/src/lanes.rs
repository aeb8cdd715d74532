//! Lanes and tenants as a scenario names them.
//!
//! The core's own types are not serialisable: here are the words, which become those types while a scenario is read.

use std::num::NonZeroU32;

use serde::{Deserialize, Deserializer, de};
use sluicegate_core::{BasisPoints, Lane, LaneRule, LaneRules, Tenant, TenantId};

/// What one lane is held to, where that is not the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneSetting {
    /// Which lane.
    #[serde(deserialize_with = "lane")]
    pub lane: Lane,
    /// Its minimum share of what starts, in hundredths of a percent.
    #[serde(deserialize_with = "share")]
    pub min_share: BasisPoints,
    /// What it leaves at most to lanes above it, in hundredths of a percent of a limit.
    #[serde(deserialize_with = "share")]
    pub leaves: BasisPoints,
}

/// The core's rules, of which `settings` are others than by default.
pub(crate) fn rules(settings: &[LaneSetting]) -> LaneRules {
    let with = |rules: LaneRules, setting: &LaneSetting| {
        let rule = LaneRule {
            min_share: setting.min_share,
            leaves: setting.leaves,
            ..rules.of(setting.lane)
        };
        rules.with(setting.lane, rule)
    };
    settings.iter().fold(LaneRules::default(), with)
}

/// Tenants of these weights, each named by its place.
pub(crate) fn tenants(weights: &[NonZeroU32]) -> Vec<Tenant> {
    let named = |(place, &weight): (usize, &NonZeroU32)| Tenant {
        name: place.to_string().into(),
        weight,
    };
    weights.iter().enumerate().map(named).collect()
}

pub(crate) fn tenant(place: Option<usize>) -> TenantId {
    place.map_or(TenantId::NONE, TenantId::new)
}

pub(crate) fn lane<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Lane, D::Error> {
    let name = String::deserialize(deserializer)?;
    Lane::from_name(&name).ok_or_else(|| de::Error::custom(format!("no lane is named {name}")))
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BasisPoints, D::Error> {
    let points = u16::deserialize(deserializer)?;
    BasisPoints::new(points)
        .ok_or_else(|| de::Error::custom(format!("{points} of 10000 is more than everything")))
}
