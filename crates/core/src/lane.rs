//! The priority classes, and what a lower one is left by those above it.

use core::fmt;

use crate::BasisPoints;

/// A priority class. The smaller one goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Lane {
    /// Somebody is watching.
    Interactive,
    /// A program is waiting.
    #[default]
    Api,
    /// Nobody is waiting.
    Batch,
}

/// What one lane is held to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneRule {
    /// The share of what starts that this lane gets while it waits, also when a higher lane wants everything; zero is none.
    pub min_share: BasisPoints,
    /// While a higher lane has demand, a ticket of this lane leaves free that share of each limit, or what the higher lanes are
    /// expected to want where that is less; zero leaves nothing.
    pub leaves: BasisPoints,
    /// The most tickets of this lane that wait at once, within what the policy allows all lanes together.
    pub waiting_max: usize,
}

/// The rules of all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneRules([LaneRule; Lane::ALL.len()]);

impl Lane {
    /// Every lane, the first to go first.
    pub const ALL: [Self; 3] = [Self::Interactive, Self::Api, Self::Batch];

    /// The name in configuration, headers and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Api => "api",
            Self::Batch => "batch",
        }
    }

    /// The lane of that [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lane| lane.name() == name)
    }

    /// Its place in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl LaneRules {
    /// The same rules with another one for `lane`.
    #[must_use]
    pub const fn with(mut self, lane: Lane, rule: LaneRule) -> Self {
        self.0[lane.index()] = rule;
        self
    }

    /// The rule of `lane`.
    pub const fn of(&self, lane: Lane) -> LaneRule {
        self.0[lane.index()]
    }
}

impl Default for LaneRules {
    /// No lane has a minimum or a bound of its own; `batch` leaves half of a limit to those above it, `api` a fifth.
    fn default() -> Self {
        let leaves = |points| LaneRule {
            min_share: BasisPoints::ZERO,
            leaves: BasisPoints::new(points).unwrap_or(BasisPoints::ZERO),
            waiting_max: usize::MAX,
        };
        Self([leaves(0), leaves(2_000), leaves(5_000)])
    }
}
