//! What came of a world: every call as it went, and the trace.

use std::time::Duration;

use sluicegate_core::{Amounts, Lane, Refusal, TenantId, Timestamp};

use crate::trace::Trace;

/// One call as it went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Its place in the order in which calls came to the gateway.
    pub index: usize,
    /// Its job, counted from zero.
    pub job: usize,
    /// Its turn in the job, counted from zero.
    pub turn: usize,
    /// Its lane.
    pub lane: Lane,
    /// Who made it.
    pub tenant: TenantId,
    /// How often it was sent and rejected before.
    pub resends: u32,
    /// What the gateway expected it to be charged.
    pub demand: Amounts,
    /// When it came.
    pub came: Timestamp,
    /// The start that the core promised, where it had to wait and one was named.
    pub promised: Option<Timestamp>,
    /// When the core let it start.
    pub started: Option<Timestamp>,
    /// When the provider took it, in nanoseconds of the provider's clock, and the tokens it
    /// charged.
    pub accepted: Option<(u64, u64)>,
    /// When its answer ended.
    pub answered: Option<Timestamp>,
    /// Whether the core refused it; then nothing else happened to it.
    pub refused: Option<Refusal>,
    /// The provider's limit that answered 429.
    pub rejected_by: Option<String>,
    /// When that answer came.
    pub rejected_at: Option<Timestamp>,
}

/// What came of a world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Every call, in the order in which they came to the gateway; a call that is sent again after
    /// a 429 is another one.
    pub calls: Vec<Call>,
    /// Calls that the jobs would have made if every call had been answered.
    pub calls_wanted: usize,
    /// What the provider's limits gave while it was measured, in their order. Empty where the world
    /// ended before that.
    pub served: Vec<Served>,
    /// The time by which the served part was measured.
    pub measured: Duration,
    /// Everything that happened, in order.
    pub trace: Trace,
}

/// What a limit of the provider gave, by the provider's own counting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Served {
    /// Its name.
    pub limit: String,
    /// What it could have given to callers who always want more, less what others took.
    pub possible: u64,
    /// What calls took, each in the end as it was settled.
    pub taken: u64,
}

impl Served {
    /// The share of what was possible, in hundredths of a percent, rounded down. More than the whole
    /// where what was taken at the beginning was settled down later, or a bucket was full; nothing
    /// where nothing was possible.
    pub fn share(&self) -> u64 {
        let share = u128::from(self.taken) * 10_000 / u128::from(self.possible.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// Why a world did not end well.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stall {
    /// The core asks to be called and then does nothing, again and again.
    #[error("at {at} the core wants to be called for ever and does nothing")]
    Spinning {
        /// The instant.
        at: Timestamp,
    },
    /// Nothing will happen any more, but calls wait for their start.
    #[error("{waiting} calls wait and nothing will ever start them")]
    Waiting {
        /// How many.
        waiting: usize,
    },
}
