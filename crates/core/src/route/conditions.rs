//! What has happened to one request so far, as far as fallbacks ask for it.

use super::{Condition, Fallback};

/// Conditions that hold.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Conditions(u8);

/// Going elsewhere after one of these needs a fallback that names it: the request may run and be billed twice, or be refused by
/// its content and not by who looked at it.
const NAMED: [Condition; 2] = [Condition::Timeout, Condition::ContentFilter];

impl Conditions {
    /// From now on `condition` holds too.
    pub(super) fn add(&mut self, condition: Condition) {
        self.0 |= bit(condition);
    }

    /// From now on `others` hold too.
    pub(super) fn join(&mut self, others: Self) {
        self.0 |= others.0;
    }

    pub(super) fn hold(self, condition: Condition) -> bool {
        self.0 & bit(condition) != 0
    }

    /// Whether another target that serves alike may be tried.
    pub(super) fn let_another_try(self) -> bool {
        !NAMED.into_iter().any(|condition| self.hold(condition))
    }

    /// The first condition of `fallback` that holds, where it may be used.
    pub(super) fn allow(self, fallback: &Fallback) -> Option<Condition> {
        let unnamed = |condition: &Condition| !fallback.when.contains(condition);
        if NAMED
            .iter()
            .any(|named| self.hold(*named) && unnamed(named))
        {
            return None;
        }
        fallback
            .when
            .iter()
            .copied()
            .find(|condition| self.hold(*condition))
    }
}

fn bit(condition: Condition) -> u8 {
    1 << condition as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TargetId;

    fn when(conditions: &[Condition]) -> Fallback {
        Fallback {
            to: TargetId::new(0),
            when: conditions.to_vec(),
        }
    }

    #[test]
    fn each_condition_has_its_own_bit() {
        for one in Condition::ALL {
            let mut happened = Conditions::default();
            happened.add(one);
            for other in Condition::ALL {
                assert_eq!(happened.hold(other), one == other);
            }
        }
    }

    #[test]
    fn what_may_be_billed_twice_or_is_refused_by_content_must_be_named() {
        for strict in [Condition::Timeout, Condition::ContentFilter] {
            let mut happened = Conditions::default();
            happened.add(Condition::Provider5xx);
            let after_failures = when(&[Condition::Provider5xx]);
            assert_eq!(
                happened.allow(&after_failures),
                Some(Condition::Provider5xx)
            );
            happened.add(strict);
            assert_eq!(happened.allow(&after_failures), None);
            assert!(!happened.let_another_try());
            let names_it = when(&[strict, Condition::Provider5xx]);
            assert_eq!(happened.allow(&names_it), Some(strict));
        }
    }
}
