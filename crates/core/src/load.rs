//! How loaded everything is, and what that changes.

mod output_cap;
mod weighing;

use core::fmt;
use core::time::Duration;

use crate::BasisPoints;

pub use weighing::{Budget, Load, LoadCause, Strain};

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

/// When a level is reached: any one of these is enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadRule {
    /// Less than that share of the tightest limit is left; zero never reaches the level.
    pub budget_below: BasisPoints,
    /// The newest ticket of a lane above batch was promised a longer wait than that; [`Duration::MAX`] never reaches the level.
    pub wait_above: Duration,
    /// A breaker is open. One that may be probed is not.
    pub breaker_open: bool,
}

/// When each level above [`Normal`](LoadLevel::Normal) is reached, and what it changes. The highest one that is reached counts,
/// alone: it does not take over what a lower one changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoadRules([(LoadRule, LoadEffects); LoadLevel::ALL.len() - 1]);

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

impl LoadRules {
    /// When `level` is reached; `None` for [`Normal`](LoadLevel::Normal), which is what is left.
    pub const fn rule(&self, level: LoadLevel) -> Option<LoadRule> {
        match Self::place(level) {
            Some(place) => Some(self.0[place].0),
            None => None,
        }
    }

    /// What `level` changes.
    pub const fn effects(&self, level: LoadLevel) -> LoadEffects {
        match Self::place(level) {
            Some(place) => self.0[place].1,
            None => LoadEffects::NONE,
        }
    }

    /// The same rules with others for `level`. Nothing can be said of [`Normal`](LoadLevel::Normal).
    #[must_use]
    pub const fn with(mut self, level: LoadLevel, rule: LoadRule, effects: LoadEffects) -> Self {
        if let Some(place) = Self::place(level) {
            self.0[place] = (rule, effects);
        }
        self
    }

    const fn place(level: LoadLevel) -> Option<usize> {
        (level as usize).checked_sub(1)
    }
}

impl Default for LoadRules {
    /// Mild where less than 40 % is left; moderate at 25 % or a wait above 1 s; high at 10 %, 10 s or an open breaker: holds batch
    /// and degrades simple tasks; critical at 2 % or 60 s: halves outputs and answers from templates too.
    fn default() -> Self {
        let rule = |points, wait_above| LoadRule {
            budget_below: BasisPoints::new(points).unwrap_or(BasisPoints::ZERO),
            wait_above,
            breaker_open: false,
        };
        let high = LoadEffects {
            degrades_simple: true,
            holds_batch: true,
            ..LoadEffects::NONE
        };
        let critical = LoadEffects {
            output_share: BasisPoints::new(5_000).unwrap_or(BasisPoints::WHOLE),
            answers_from_template: true,
            ..high
        };
        Self([
            (rule(4_000, Duration::MAX), LoadEffects::NONE),
            (rule(2_500, Duration::from_secs(1)), LoadEffects::NONE),
            (
                LoadRule {
                    breaker_open: true,
                    ..rule(1_000, Duration::from_secs(10))
                },
                high,
            ),
            (rule(200, Duration::from_secs(60)), critical),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_has_no_rule_and_changes_nothing() {
        let rules = LoadRules::default();
        let mild = rules.rule(LoadLevel::Mild).expect("above normal");
        let changed = rules.with(LoadLevel::Normal, mild, rules.effects(LoadLevel::Critical));
        assert_eq!(changed, rules);
        assert_eq!(rules.rule(LoadLevel::Normal), None);
        assert_eq!(rules.effects(LoadLevel::Normal), LoadEffects::NONE);
    }

    #[test]
    fn each_level_has_its_own_rule_and_effects() {
        let rules = LoadRules::default();
        let budgets =
            LoadLevel::ALL.map(|level| rules.rule(level).map(|r| r.budget_below.points()));
        assert_eq!(
            budgets,
            [None, Some(4_000), Some(2_500), Some(1_000), Some(200)]
        );
        let holds = LoadLevel::ALL.map(|level| rules.effects(level).holds_batch);
        assert_eq!(holds, [false, false, false, true, true]);
        let mild = rules.rule(LoadLevel::Mild).expect("above normal");
        let changed = rules.with(LoadLevel::High, mild, LoadEffects::NONE);
        assert_eq!(changed.rule(LoadLevel::High), Some(mild));
        assert_eq!(changed.effects(LoadLevel::High), LoadEffects::NONE);
        assert_eq!(
            changed.rule(LoadLevel::Critical),
            rules.rule(LoadLevel::Critical)
        );
    }
}
