//! Windows and accounting as rows write them, and what they are in the core.

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
}

impl WindowRow {
    pub(crate) const fn window(self) -> Window {
        match self {
            Self::Fixed { per_s } => Window::Fixed {
                per: seconds_of(per_s),
            },
            Self::Sliding { per_s } => Window::Sliding {
                per: seconds_of(per_s),
            },
            Self::Bucket { per_s } => Window::Bucket {
                per: seconds_of(per_s),
            },
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
