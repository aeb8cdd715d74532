//! When a deployment is left alone, and how it comes back.

use core::time::Duration;

use crate::BasisPoints;

/// When a breaker opens and closes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BreakerRule {
    /// Opens when that share of the calls of the last `over` failed.
    pub failure_rate: BasisPoints,
    /// Fewer calls than that tell no rate.
    pub calls_min: u32,
    /// The time over which the rate is taken.
    pub over: Duration,
    /// Opens after so many failures without a success between them; zero never.
    pub consecutive: u32,
    /// How long it stays open before one call may probe.
    pub open_for: Duration,
    /// It closes after so many successful probes, one at a time.
    pub half_open_successes: u32,
}

impl Default for BreakerRule {
    /// Half of at least 20 calls within 30 s, or 5 in a row; open for 30 s; one successful probe.
    fn default() -> Self {
        Self {
            failure_rate: BasisPoints::new(5_000).unwrap_or(BasisPoints::WHOLE),
            calls_min: 20,
            over: Duration::from_secs(30),
            consecutive: 5,
            open_for: Duration::from_secs(30),
            half_open_successes: 1,
        }
    }
}
