//! What a provider told us about its limits, and how it took the request that it answered.

use core::time::Duration;

use crate::Meter;

/// One limit as a provider's answer described it. Fields that the answer did not carry are `None`; a signal never carries
/// more than the provider said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signal {
    /// The meter it speaks of.
    pub meter: Meter,
    /// The ceiling in force, in units of the meter.
    pub limit: Option<u64>,
    /// What is left of it after the request that this answers.
    pub remaining: Option<u64>,
    /// Time until the limit is whole again.
    pub reset: Option<Duration>,
    /// The window's length, where the provider names it or it follows from the three others.
    pub per: Option<Duration>,
    /// A shorter time over which the provider says that it enforces the limit too.
    pub quantum: Option<Duration>,
    /// It has just refused a request and will take none for that long. Said of every limit on the meter: a provider seldom
    /// tells which of them was full.
    pub closed_for: Option<Duration>,
}

impl Signal {
    /// A signal on `meter` that says nothing yet.
    pub const fn on(meter: Meter) -> Self {
        Self {
            meter,
            limit: None,
            remaining: None,
            reset: None,
            per: None,
            quantum: None,
            closed_for: None,
        }
    }
}

/// How a provider took the request that it answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// It serves the request: what it said counts it.
    Accepted,
    /// It does not. Whether it counts the request nobody says.
    Refused,
}
