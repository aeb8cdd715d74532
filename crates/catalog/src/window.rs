//! Windows and accounting as rows write them, and what they are in the core.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use serde::Deserialize;
use sluicegate_core::{Settlement, Window};

use crate::{TimeOfDay, Zone};

/// A window as a row writes it.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum WindowRow {
    /// [`Window::Fixed`].
    Fixed {
        /// Length in seconds.
        per_s: NonZeroU64,
    },
    /// [`Window::Floating`].
    Floating {
        /// Length in seconds.
        per_s: NonZeroU64,
    },
    /// [`Window::Sliding`].
    Sliding {
        /// Length in seconds.
        per_s: NonZeroU64,
    },
    /// [`Window::Bucket`].
    Bucket {
        /// Time to fill, in seconds.
        per_s: NonZeroU64,
    },
    /// [`Window::Pacing`].
    Pacing {
        /// Time in which the amount drains, in seconds.
        per_s: NonZeroU64,
        /// How much may come at once, as the time in which it drains, in seconds; by default all of `per_s`.
        burst_s: Option<NonZeroU64>,
    },
    /// Calendar days of a zone; each begins with the whole amount.
    Day {
        /// Whose midnight it is.
        zone: Zone,
    },
    /// Calendar months of a zone; each begins with the whole amount.
    Month {
        /// Whose midnight begins the first of the month.
        zone: Zone,
    },
    /// [`Window::Concurrent`].
    Concurrent,
}

impl WindowRow {
    /// The window as the core counts it.
    pub(crate) fn window(&self) -> Window {
        match self {
            Self::Fixed { per_s } => Window::Fixed {
                per: seconds_of(*per_s),
            },
            Self::Floating { per_s } => Window::Floating {
                per: seconds_of(*per_s),
            },
            Self::Sliding { per_s } => Window::Sliding {
                per: seconds_of(*per_s),
            },
            Self::Bucket { per_s } => Window::Bucket {
                per: seconds_of(*per_s),
            },
            Self::Pacing { per_s, burst_s } => Window::Pacing {
                per: seconds_of(*per_s),
                burst: seconds_of(burst_s.unwrap_or(*per_s)),
            },
            Self::Day { zone } => Window::Calendar(zone.days(TimeOfDay::MIDNIGHT)),
            Self::Month { zone } => Window::Calendar(zone.months()),
            Self::Concurrent => Window::Concurrent,
        }
    }
}

impl fmt::Display for WindowRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed { per_s } => write!(f, "fixed, {per_s} s"),
            Self::Floating { per_s } => write!(f, "fixed at unknown edges, {per_s} s"),
            Self::Sliding { per_s } => write!(f, "any interval of {per_s} s"),
            Self::Bucket { per_s } => write!(f, "bucket, full in {per_s} s"),
            Self::Pacing { per_s, burst_s } => {
                write!(f, "leaky bucket that drains in {per_s} s")?;
                match burst_s {
                    Some(burst_s) => write!(f, ", {burst_s} s of it at once"),
                    None => Ok(()),
                }
            }
            Self::Day { zone } => write!(f, "day that ends at midnight {zone}"),
            Self::Month { zone } => write!(f, "calendar month {zone}"),
            Self::Concurrent => f.write_str("in flight"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SettlementRow {
    Keep,
    Usage,
    Produced,
}

impl SettlementRow {
    pub(crate) const fn settlement(self) -> Settlement {
        match self {
            Self::Keep => Settlement::Keep,
            Self::Usage => Settlement::Usage,
            Self::Produced => Settlement::Produced,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailuresRow {
    Count,
    Return,
}

/// A minute's limit may have been used up by somebody just now; a day's limit would stand still for
/// minutes on that assumption, so it gives its whole amount at once and waits for the first signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartRow {
    Full,
    Empty,
}

pub(crate) const fn seconds_of(seconds: NonZeroU64) -> Duration {
    Duration::from_secs(seconds.get())
}
