//! Windows and accounting as rows write them, and what they are in the core.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use serde::Deserialize;
use sluicegate_core::{Settlement, Window};

/// A window as a row writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
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
    /// A leaky bucket: what comes is spread evenly over the period, and little of it may come at once.
    Pacing {
        /// Time over which the amount is spread, in seconds.
        per_s: NonZeroU64,
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

/// A time zone whose midnight ends a provider's day or month.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum Zone {
    /// Universal time.
    #[serde(rename = "UTC")]
    Utc,
    /// Pacific time, with daylight saving.
    #[serde(rename = "America/Los_Angeles")]
    Pacific,
}

impl Zone {
    /// The name in the time zone database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utc => "UTC",
            Self::Pacific => "America/Los_Angeles",
        }
    }
}

impl WindowRow {
    /// The window as the core counts it; `None` for those that it cannot count yet.
    ///
    /// A leaky bucket is counted as one that refills: the same amount over the period, but a burst of all of it passes.
    pub(crate) const fn window(self) -> Option<Window> {
        Some(match self {
            Self::Fixed { per_s } => Window::Fixed {
                per: seconds_of(per_s),
            },
            Self::Floating { per_s } => Window::Floating {
                per: seconds_of(per_s),
            },
            Self::Sliding { per_s } => Window::Sliding {
                per: seconds_of(per_s),
            },
            Self::Bucket { per_s } | Self::Pacing { per_s } => Window::Bucket {
                per: seconds_of(per_s),
            },
            // Days of universal time begin at multiples of a day since the epoch.
            Self::Day { zone: Zone::Utc } => Window::Fixed {
                per: Duration::from_secs(86_400),
            },
            Self::Concurrent => Window::Concurrent,
            Self::Day {
                zone: Zone::Pacific,
            }
            | Self::Month { .. } => return None,
        })
    }
}

impl fmt::Display for WindowRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed { per_s } => write!(f, "fixed, {per_s} s"),
            Self::Floating { per_s } => write!(f, "fixed at unknown edges, {per_s} s"),
            Self::Sliding { per_s } => write!(f, "any interval of {per_s} s"),
            Self::Bucket { per_s } => write!(f, "bucket, full in {per_s} s"),
            Self::Pacing { per_s } => write!(f, "evenly paced over {per_s} s"),
            Self::Day { zone } => write!(f, "day that ends at midnight {}", zone.name()),
            Self::Month { zone } => write!(f, "calendar month {}", zone.name()),
            Self::Concurrent => f.write_str("in flight"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SettlementRow {
    Keep,
    Usage,
}

impl SettlementRow {
    pub(crate) const fn settlement(self) -> Settlement {
        match self {
            Self::Keep => Settlement::Keep,
            Self::Usage => Settlement::Usage,
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
