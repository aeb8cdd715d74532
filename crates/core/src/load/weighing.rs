//! Which load level holds, and why.
//!
//! Load is what the lanes above batch want and cannot have. A batch that uses an account to its last token, and waits for hours
//! with the rest, is what batches are for: were it load, a level that holds batch would be kept up by the very batch that it
//! holds, and people would get short answers for want of tokens that nobody keeps from them. So little budget counts only
//! where those lanes want more than will be there, and waits are theirs.
//!
//! A level rises at once: what is degraded too late was degraded for nothing. It falls one level at a time, each after a quiet
//! time in which everything stayed well away from what reaches it, so that callers do not see it flutter at the threshold
//! or at each edge of a window.

use core::time::Duration;

use super::{LoadEffects, LoadLevel, LoadRule, LoadRules};
use crate::{LimitId, Timestamp};

/// How long nothing may come near a level before it falls by one.
const QUIET: Duration = Duration::from_secs(10);

/// What weighs on the targets that share limits, or on the whole gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strain<'a> {
    /// Their limits.
    pub budgets: &'a [Budget],
    /// The wait that was promised to the newest ticket above batch, or the longest one so far where none could be; zero while
    /// none waits.
    pub wait: Duration,
    /// Whether a breaker is open, or so many of them as count. Not one that may be probed: who is held for it could not probe it.
    pub breaker_open: bool,
}

/// How one limit stands, in units of its meter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The limit.
    pub limit: LimitId,
    /// What can be used of it.
    pub usable: u64,
    /// What is left now.
    pub left: u64,
    /// What comes back of it until it is whole again: nothing of a window before its edge, all that is used of a bucket or of
    /// slots.
    pub returns: u64,
    /// What lanes above batch are expected to want of it in that time, those that wait included.
    pub wanted: u64,
}

/// A load level that is kept up to date.
///
/// ```
/// use core::time::Duration;
/// use sluicegate_core::*;
///
/// let waits = |seconds| Strain { budgets: &[], wait: Duration::from_secs(seconds), breaker_open: false };
/// let second = |second| Timestamp::ZERO.saturating_add(Duration::from_secs(second));
/// let (mut load, rules) = (Load::default(), LoadRules::default());
/// assert_eq!(load.weigh(&rules, &waits(11), second(0)), LoadLevel::High);
/// assert_eq!(load.cause(), Some(LoadCause::Wait));
/// assert_eq!(load.weigh(&rules, &waits(0), second(1)), LoadLevel::High);
/// assert_eq!(load.weigh(&rules, &waits(0), second(11)), LoadLevel::Moderate);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    level: LoadLevel,
    cause: Option<LoadCause>,
    /// Since when nothing has come near the level.
    quiet_since: Option<Timestamp>,
}

/// What raised a load level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadCause {
    /// Little is left of that limit.
    Budget(LimitId),
    /// Tickets wait for long.
    Wait,
    /// A breaker is open.
    Breaker,
}

/// How far from a threshold counts as reaching it.
#[derive(Clone, Copy)]
enum Reach {
    /// At it.
    Exact,
    /// A quarter away from it still does.
    Near,
}

impl Load {
    /// The level under `strain`, which is to be told whenever it may have changed: a level falls no sooner than it is asked.
    pub fn weigh(&mut self, rules: &LoadRules, strain: &Strain<'_>, now: Timestamp) -> LoadLevel {
        let (reached, cause) = reached(rules, strain, Reach::Exact);
        if reached >= self.level {
            *self = Self {
                level: reached,
                cause,
                quiet_since: None,
            };
            return self.level;
        }
        let (near, _) = self::reached(rules, strain, Reach::Near);
        if near >= self.level {
            self.quiet_since = None;
            return self.level;
        }
        let since = *self.quiet_since.get_or_insert(now);
        if now.saturating_since(since) >= QUIET {
            self.level = below(self.level);
            self.cause = self.cause.filter(|_| self.level > LoadLevel::Normal);
            self.quiet_since = (self.level > LoadLevel::Normal).then_some(now);
        }
        self.level
    }

    /// The level as it was weighed last.
    pub fn level(&self) -> LoadLevel {
        self.level
    }

    /// What raised it; `None` for [`LoadLevel::Normal`].
    pub fn cause(&self) -> Option<LoadCause> {
        self.cause
    }

    /// When it falls if nothing weighs until then, to be weighed again; `None` while something does and where it cannot fall.
    pub fn falls(&self) -> Option<Timestamp> {
        self.quiet_since.map(|since| since.saturating_add(QUIET))
    }

    /// When it will have fallen to a level without that effect, if nothing weighs until then: as many falls as lower levels have it
    /// too, and one. `None` where [`falls`](Self::falls) is.
    pub fn ends(&self, rules: &LoadRules, has: impl Fn(LoadEffects) -> bool) -> Option<Timestamp> {
        let lower = LoadLevel::ALL.into_iter().rev();
        let lower = lower.filter(|level| *level < self.level);
        let alike = lower.take_while(|level| has(rules.effects(*level)));
        let first = self.falls()?;
        Some(alike.fold(first, |at, _| at.saturating_add(QUIET)))
    }
}

impl Budget {
    /// Whether lanes above batch want more than will be there.
    fn is_short(&self) -> bool {
        self.wanted > self.left.saturating_add(self.returns)
    }

    /// What is left, in hundredths of a percent of what can be used.
    fn share_left(&self) -> u64 {
        let share = u128::from(self.left) * 10_000 / u128::from(self.usable.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

/// The highest level that is reached, and by what.
fn reached(rules: &LoadRules, strain: &Strain<'_>, reach: Reach) -> (LoadLevel, Option<LoadCause>) {
    let short = strain.budgets.iter().filter(|budget| budget.is_short());
    let tightest = short.min_by_key(|budget| budget.share_left());
    let reached = LoadLevel::ALL.into_iter().rev().find_map(|level| {
        let rule = rules.rule(level)?;
        Some((level, cause(&rule, tightest, strain, reach)?))
    });
    match reached {
        Some((level, cause)) => (level, Some(cause)),
        None => (LoadLevel::Normal, None),
    }
}

/// What of `rule` is met.
fn cause(
    rule: &LoadRule,
    tightest: Option<&Budget>,
    strain: &Strain<'_>,
    reach: Reach,
) -> Option<LoadCause> {
    let below = u64::from(rule.budget_below.points());
    let above = rule.wait_above;
    let (below, above) = match reach {
        Reach::Exact => (below, above),
        Reach::Near => (below + below / 4, above - above / 4),
    };
    let scarce = tightest.filter(|budget| budget.share_left() < below);
    if let Some(budget) = scarce {
        Some(LoadCause::Budget(budget.limit))
    } else if strain.wait > above {
        Some(LoadCause::Wait)
    } else if rule.breaker_open && strain.breaker_open {
        Some(LoadCause::Breaker)
    } else {
        None
    }
}

fn below(level: LoadLevel) -> LoadLevel {
    let lower = LoadLevel::ALL
        .into_iter()
        .rev()
        .find(|lower| *lower < level);
    lower.unwrap_or(LoadLevel::Normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(Duration::from_secs(second))
    }

    /// Of 1,000 in a window.
    fn window(left: u64, wanted: u64) -> Budget {
        Budget {
            limit: LimitId::new(0),
            usable: 1_000,
            left,
            returns: 0,
            wanted,
        }
    }

    fn of(budgets: &[Budget]) -> Strain<'_> {
        Strain {
            budgets,
            wait: Duration::ZERO,
            breaker_open: false,
        }
    }

    fn waits(millis: u64) -> Strain<'static> {
        Strain {
            wait: Duration::from_millis(millis),
            ..of(&[])
        }
    }

    fn weighed(load: &mut Load, strain: &Strain<'_>, at: u64) -> LoadLevel {
        load.weigh(&LoadRules::default(), strain, second(at))
    }

    #[test]
    fn a_level_rises_at_once_to_the_highest_that_is_reached() {
        let each = [
            (400, LoadLevel::Normal),
            (399, LoadLevel::Mild),
            (249, LoadLevel::Moderate),
            (99, LoadLevel::High),
            (19, LoadLevel::Critical),
        ];
        for (left, level) in each {
            let mut load = Load::default();
            let short = [window(left, 1_001)];
            assert_eq!(weighed(&mut load, &of(&short), 0), level, "{left} left");
        }
    }

    #[test]
    fn what_batch_uses_up_is_no_load() {
        let mut load = Load::default();
        let nobody_else = [window(0, 0)];
        assert_eq!(weighed(&mut load, &of(&nobody_else), 0), LoadLevel::Normal);
        // Batch empties the bucket all the time; the lanes above it want half of what refills.
        let bucket = |wanted| Budget {
            returns: 1_000,
            ..window(0, wanted)
        };
        assert_eq!(
            weighed(&mut load, &of(&[bucket(500)]), 0),
            LoadLevel::Normal
        );
        assert_eq!(
            weighed(&mut load, &of(&[bucket(1_001)]), 0),
            LoadLevel::Critical
        );
    }

    #[test]
    fn the_tightest_limit_that_somebody_wants_is_the_cause() {
        let mut load = Load::default();
        let budgets = [
            Budget {
                limit: LimitId::new(1),
                ..window(0, 0)
            },
            Budget {
                limit: LimitId::new(2),
                ..window(300, 900)
            },
            Budget {
                limit: LimitId::new(3),
                ..window(200, 900)
            },
        ];
        assert_eq!(weighed(&mut load, &of(&budgets), 0), LoadLevel::Moderate);
        assert_eq!(load.cause(), Some(LoadCause::Budget(LimitId::new(3))));
    }

    #[test]
    fn an_open_breaker_is_load_where_a_rule_says_so() {
        let mut load = Load::default();
        let open = Strain {
            breaker_open: true,
            ..of(&[])
        };
        assert_eq!(weighed(&mut load, &open, 0), LoadLevel::High);
        assert_eq!(load.cause(), Some(LoadCause::Breaker));
        let rules = LoadRules::default();
        let high = rules.rule(LoadLevel::High).expect("above normal");
        let deaf = LoadRule {
            breaker_open: false,
            ..high
        };
        let rules = rules.with(LoadLevel::High, deaf, rules.effects(LoadLevel::High));
        let level = Load::default().weigh(&rules, &open, second(0));
        assert_eq!(level, LoadLevel::Normal);
    }

    #[test]
    fn a_level_falls_one_at_a_time_after_a_quiet_time() {
        let mut load = Load::default();
        assert_eq!(weighed(&mut load, &waits(61_000), 0), LoadLevel::Critical);
        assert_eq!(load.falls(), None);
        assert_eq!(weighed(&mut load, &waits(0), 5), LoadLevel::Critical);
        assert_eq!(load.falls(), Some(second(15)));
        assert_eq!(weighed(&mut load, &waits(0), 14), LoadLevel::Critical);
        let levels = [15, 25, 35, 45, 55].map(|at| weighed(&mut load, &waits(0), at));
        assert_eq!(
            levels,
            [
                LoadLevel::High,
                LoadLevel::Moderate,
                LoadLevel::Mild,
                LoadLevel::Normal,
                LoadLevel::Normal,
            ]
        );
        assert_eq!((load.cause(), load.falls()), (None, None));
    }

    #[test]
    fn an_effect_ends_at_the_first_level_below_that_is_without_it() {
        let (mut load, rules) = (Load::default(), LoadRules::default());
        let holds = |effects: LoadEffects| effects.holds_batch;
        weighed(&mut load, &waits(61_000), 0);
        assert_eq!(load.ends(&rules, holds), None);
        weighed(&mut load, &waits(0), 5);
        assert_eq!(load.level(), LoadLevel::Critical);
        assert_eq!(load.ends(&rules, holds), Some(second(25)));
        let answers = |effects: LoadEffects| effects.answers_from_template;
        assert_eq!(load.ends(&rules, answers), Some(second(15)));

        weighed(&mut load, &waits(0), 15);
        assert_eq!(load.level(), LoadLevel::High);
        assert_eq!(load.ends(&rules, holds), Some(second(25)));
        assert_eq!(weighed(&mut load, &waits(0), 25), LoadLevel::Moderate);
    }

    #[test]
    fn what_stays_near_the_threshold_keeps_the_level() {
        let mut load = Load::default();
        assert_eq!(weighed(&mut load, &waits(10_001), 0), LoadLevel::High);
        for at in 1..100 {
            assert_eq!(weighed(&mut load, &waits(7_600), at), LoadLevel::High);
        }
        assert_eq!(weighed(&mut load, &waits(7_400), 100), LoadLevel::High);
        // Once more near it, and the quiet time begins anew.
        assert_eq!(weighed(&mut load, &waits(7_600), 109), LoadLevel::High);
        assert_eq!(weighed(&mut load, &waits(7_400), 110), LoadLevel::High);
        assert_eq!(weighed(&mut load, &waits(7_400), 119), LoadLevel::High);
        assert_eq!(weighed(&mut load, &waits(7_400), 120), LoadLevel::Moderate);
    }
}
