//! Where a request may go: the targets of a route in the order in which they are tried.

mod candidates;
mod conditions;
mod facts;
mod prospect;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::TargetId;

pub use candidates::{Candidates, Choice, Obstacle, Role};
pub use facts::{Asking, Facts};
pub use prospect::Prospect;

/// What a requested model or task resolves to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// Its name, unique.
    pub name: Arc<str>,
    /// The target that is tried first, or a pool of them that serve alike; never empty.
    pub primary: Vec<TargetId>,
    /// Which one of a pool.
    pub balance: Balance,
    /// Where else to go, in their order.
    pub fallbacks: Vec<Fallback>,
    /// Where a request goes that need not have the best.
    pub degrade_to: Option<Fallback>,
}

/// Another target, and when it may be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fallback {
    /// The target.
    pub to: TargetId,
    /// Any of these.
    pub when: Vec<Condition>,
}

/// Which target of a pool comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Balance {
    /// The one where the request can start earliest.
    #[default]
    Earliest,
    /// The cheapest one of those that make the deadline.
    Price,
    /// The one that will answer first: when it can start, and how long its answers took of late.
    Latency,
}

/// When a fallback may be used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Condition {
    /// The provider failed, or is short of capacity.
    Provider5xx,
    /// The provider limits, and no retry there is left or would be in time.
    RateLimitAfterRetryBudget,
    /// Our own count says that it does not fit before its deadline.
    Capacity,
    /// It is longer than the model's context.
    ContextLengthNeeded,
    /// The breaker is open, no key works or the account is out of money.
    PrimaryUnavailable,
    /// No answer came in time: the request may have run and may be billed there.
    Timeout,
    /// It is in the batch lane, and the load is high.
    BatchLowPriority,
    /// The provider refused the content. Off where no fallback names it.
    ContentFilter,
}

impl Balance {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Earliest, Self::Price, Self::Latency];

    /// The name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Earliest => "earliest",
            Self::Price => "price",
            Self::Latency => "latency",
        }
    }
}

impl Condition {
    /// Every condition.
    pub const ALL: [Self; 8] = [
        Self::Provider5xx,
        Self::RateLimitAfterRetryBudget,
        Self::Capacity,
        Self::ContextLengthNeeded,
        Self::PrimaryUnavailable,
        Self::Timeout,
        Self::BatchLowPriority,
        Self::ContentFilter,
    ];

    /// The name in configuration and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Provider5xx => "provider_5xx",
            Self::RateLimitAfterRetryBudget => "rate_limit_after_retry_budget",
            Self::Capacity => "capacity",
            Self::ContextLengthNeeded => "context_length_needed",
            Self::PrimaryUnavailable => "primary_unavailable",
            Self::Timeout => "timeout",
            Self::BatchLowPriority => "batch_low_priority",
            Self::ContentFilter => "content_filter",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
