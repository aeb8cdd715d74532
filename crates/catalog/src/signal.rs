//! Which headers tell the state of a limit, and how they write it. Reading them is the dialect's.

use std::num::NonZeroU64;

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
    /// Header with a time at which more is left.
    pub reset: Option<String>,
    /// How `reset` is written; there where `reset` is.
    pub reset_format: Option<ResetFormat>,
    /// What `reset` is the time of.
    #[serde(default)]
    pub reset_means: ResetMeans,
    /// Header with the window's length in seconds.
    pub period: Option<String>,
    /// The window's length in seconds, where these headers always speak of the same one.
    pub per_s: Option<NonZeroU64>,
    /// Header with what the answered request was charged.
    pub charged: Option<String>,
    /// Header of a refusal with the seconds to wait for this limit.
    pub retry_after: Option<String>,
    /// How the above is known.
    pub evidence: Evidence,
}

/// How a reset header writes its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetFormat {
    /// `6m0s`, `7.66s`, `12ms`.
    GoDuration,
    /// A bare whole number from now, milliseconds or seconds: the unit has changed over time and
    /// follows from limit and remaining.
    IntAuto,
    /// Whole seconds from now.
    IntSeconds,
    /// Whole milliseconds from now.
    IntMs,
    /// Seconds from now with a fraction.
    FloatSeconds,
    /// Seconds since the Unix epoch.
    EpochSeconds,
    /// Milliseconds since the Unix epoch.
    EpochMs,
    /// `2026-10-04T12:00:00Z`.
    Rfc3339,
}

/// What a reset header tells the time of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetMeans {
    /// A limit that refills all the time is whole. The period follows from it, a wait does not.
    #[default]
    Whole,
    /// Something is let through again: a window ends, or the provider suggests this wait. A wait
    /// follows from it, the period does not.
    Next,
}

/// Where a refusal's body says how long to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyHint {
    /// `"retryDelay": "37s"` among the error's details.
    ProtobufDuration,
    /// The message says `try again in 1.146s`, `retry after 7 seconds`, or the like.
    TextTryAgain,
}

impl ResetFormat {
    /// The name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GoDuration => "go_duration",
            Self::IntAuto => "int_auto",
            Self::IntSeconds => "int_seconds",
            Self::IntMs => "int_ms",
            Self::FloatSeconds => "float_seconds",
            Self::EpochSeconds => "epoch_seconds",
            Self::EpochMs => "epoch_ms",
            Self::Rfc3339 => "rfc3339",
        }
    }
}

impl SignalRow {
    pub(crate) fn header_names(&self) -> impl Iterator<Item = &str> {
        [
            &self.limit,
            &self.remaining,
            &self.reset,
            &self.period,
            &self.charged,
            &self.retry_after,
        ]
        .into_iter()
        .filter_map(Option::as_deref)
    }

    pub(crate) fn problem(&self) -> Option<&'static str> {
        if self.reset.is_some() != self.reset_format.is_some() {
            return Some("a reset header needs its format, and a format its header");
        }
        if self.header_names().next().is_none() {
            return Some("a signal needs a header");
        }
        None
    }
}
