//! How loaded everything is, and what that changes.

use core::fmt;

use crate::BasisPoints;

/// How loaded a target is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum LoadLevel {
    /// Nothing changes.
    #[default]
    Normal,
    /// The first sign.
    Mild,
    /// Queues form.
    Moderate,
    /// There is not enough for all.
    High,
    /// Little gets through.
    Critical,
}

/// What a load level changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadEffects {
    /// The maximum of output tokens is lowered to that share of what was asked for, never below a route's floor.
    pub output_share: BasisPoints,
    /// Tasks that are marked simple go to the route's smaller model.
    pub degrades_simple: bool,
    /// Batch starts nothing.
    pub holds_batch: bool,
    /// Routes that have one answer from their template.
    pub answers_from_template: bool,
}

impl LoadLevel {
    /// Every level, the lowest first.
    pub const ALL: [Self; 5] = [
        Self::Normal,
        Self::Mild,
        Self::Moderate,
        Self::High,
        Self::Critical,
    ];

    /// The name in configuration, headers and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Mild => "mild",
            Self::Moderate => "moderate",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for LoadLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl LoadEffects {
    /// Nothing changes.
    pub const NONE: Self = Self {
        output_share: BasisPoints::WHOLE,
        degrades_simple: false,
        holds_batch: false,
        answers_from_template: false,
    };
}
