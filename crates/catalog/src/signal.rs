//! Which headers tell the state of a limit, and how they write it. Reading them is the dialect's.

use serde::Deserialize;
use sluicegate_core::Meter;

use crate::Evidence;

/// The headers of one limit. All names are lower case.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignalRow {
    /// What the limit counts.
    #[serde(deserialize_with = "crate::provider::meter")]
    pub meter: Meter,
    /// Header with the ceiling in force.
    pub limit: Option<String>,
    /// Header with what is left.
    pub remaining: Option<String>,
    /// Header with the time until the limit is whole.
    pub reset: Option<String>,
    /// How `reset` is written.
    pub reset_format: ResetFormat,
    /// Header with the window's length in seconds.
    pub period: Option<String>,
    /// How the above is known.
    pub evidence: Evidence,
}

/// How a reset header writes its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetFormat {
    /// `6m0s`, `7.66s`, `12ms`.
    GoDuration,
    /// Seconds from now, whole or with a fraction.
    Seconds,
    /// A bare whole number from now whose unit has changed over time and follows from limit and
    /// remaining.
    MillisecondsOrSeconds,
    /// Seconds since the Unix epoch.
    EpochSeconds,
    /// Milliseconds since the Unix epoch.
    EpochMilliseconds,
    /// `2026-10-04T12:00:00Z`.
    Rfc3339,
}

impl SignalRow {
    #[cfg(test)]
    pub(crate) fn header_names(&self) -> impl Iterator<Item = &str> {
        [&self.limit, &self.remaining, &self.reset, &self.period]
            .into_iter()
            .filter_map(Option::as_deref)
    }
}
