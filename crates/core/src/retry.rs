//! Whether a failed attempt is worth another, and when.
//!
//! Classify first: most failures are not mended by sending again. What is worth another attempt at the same target is a table
//! (`retry/table.rs`); what a request may still do is counted by its [`Attempts`].

mod attempts;
mod follow_up;
mod pause;
mod table;

use core::time::Duration;

pub use attempts::Attempts;
pub use follow_up::{FollowUp, Reason};

/// How hard one lane tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryRule {
    /// Calls for one request over all deployments and fallbacks, the first included; at least one.
    pub attempts_max: u32,
    /// No attempt begins later than that after the first one began.
    pub total_max: Duration,
}

/// How long a retry waits where the provider names no time: a random time up to a bound that doubles with each attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BackoffRule {
    /// The bound before the second attempt.
    pub first: Duration,
    /// The bound never grows beyond.
    pub max: Duration,
}

impl Default for BackoffRule {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            max: Duration::from_secs(8),
        }
    }
}
