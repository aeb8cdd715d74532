//! Targets that share limits, directly or through others: what one of them does can delay the others of its group, and no
//! target of another group.

use alloc::vec::Vec;

use crate::{LimitId, Policy, TargetId};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Group {
    pub(crate) targets: Vec<TargetId>,
    pub(crate) limits: Vec<LimitId>,
}

/// The groups of a policy, and where each target and limit belongs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Groups {
    pub(crate) all: Vec<Group>,
    of_target: Vec<usize>,
    /// A limit that no target names is in none, which is said as the first: nothing is ever charged on it.
    of_limit: Vec<usize>,
}

impl Groups {
    pub(crate) fn of(policy: &Policy) -> Self {
        let all = groups(policy);
        let mut of_target = alloc::vec![0; policy.targets().len()];
        let mut of_limit = alloc::vec![0; policy.limits().len()];
        for (index, group) in all.iter().enumerate() {
            for target in &group.targets {
                of_target[target.index()] = index;
            }
            for limit in &group.limits {
                of_limit[limit.index()] = index;
            }
        }
        Self {
            all,
            of_target,
            of_limit,
        }
    }

    /// The place of the group that `target` is in.
    pub(crate) fn of_target(&self, target: TargetId) -> usize {
        self.of_target[target.index()]
    }

    /// The place of the group that `limit` is in.
    pub(crate) fn of_limit(&self, limit: LimitId) -> usize {
        self.of_limit[limit.index()]
    }
}

fn groups(policy: &Policy) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, target) in policy.targets().iter().enumerate() {
        let shares = |group: &Group| {
            target
                .limits
                .iter()
                .any(|limit| group.limits.contains(limit))
        };
        let mut joined = Group {
            targets: alloc::vec![TargetId::new(index)],
            limits: target.limits.clone(),
        };
        groups.retain_mut(|group| {
            let apart = !shares(group);
            if !apart {
                joined.targets.append(&mut group.targets);
                joined.limits.append(&mut group.limits);
            }
            apart
        });
        joined.limits.sort_unstable();
        joined.limits.dedup();
        groups.push(joined);
    }
    groups
}
