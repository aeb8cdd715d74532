//! What a breaker is asked and answers.

use core::fmt;

use crate::Timestamp;

/// Whether a request could go to another target instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elsewhere {
    /// There is a target that would take it.
    Possible,
    /// There is none.
    Impossible,
}

/// Whether a request may go to the deployment.
#[derive(Debug, PartialEq, Eq)]
pub enum Passage {
    /// It may.
    Flows(Pass),
    /// It may, as the one whose end decides whether others may.
    Probe(Pass),
    /// Not before that instant, at which asking again gives another answer unless something happens meanwhile.
    NotBefore(Timestamp),
    /// Not while a probe is out; nobody knows when it ends.
    AfterProbe,
}

/// The right to make one call. Give it back with [`Breaker::served`], [`Breaker::failed`] or [`Breaker::abandoned`], whatever way
/// the call ends: the place of a probe whose pass is dropped is lost.
///
/// [`Breaker::served`]: crate::Breaker::served
/// [`Breaker::failed`]: crate::Breaker::failed
/// [`Breaker::abandoned`]: crate::Breaker::abandoned
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a probe whose pass is not given back keeps everybody else waiting"]
pub struct Pass {
    pub(super) era: u64,
    pub(super) probe: bool,
}

/// The states by their names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BreakerState {
    /// Requests flow.
    Closed,
    /// Requests go elsewhere where they can.
    Open,
    /// One request at a time finds out whether it serves again.
    HalfOpen,
}

impl Pass {
    /// One whose end says nothing more.
    pub(super) const SPENT: Self = Self {
        era: u64::MAX,
        probe: false,
    };

    /// In which era it was given, and whether it probes.
    pub(super) fn spend(self) -> (u64, bool) {
        (self.era, self.probe)
    }
}

impl Passage {
    /// The pass, where there is one.
    pub fn into_pass(self) -> Option<Pass> {
        match self {
            Self::Flows(pass) | Self::Probe(pass) => Some(pass),
            Self::NotBefore(_) | Self::AfterProbe => None,
        }
    }
}

impl BreakerState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Closed, Self::Open, Self::HalfOpen];

    /// The name in metrics and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

impl fmt::Display for BreakerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
