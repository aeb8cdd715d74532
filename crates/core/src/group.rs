//! Targets that share limits, directly or through others: what one of them does can delay the others of its group, and no
//! target of another group.

use alloc::vec::Vec;

use crate::{LimitId, Policy, TargetId};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Group {
    pub(crate) targets: Vec<TargetId>,
    pub(crate) limits: Vec<LimitId>,
}

/// The groups of `policy`, and for each target the place of its own.
pub(crate) fn groups(policy: &Policy) -> (Vec<Group>, Vec<usize>) {
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
    let mut place = alloc::vec![0; policy.targets().len()];
    for (index, group) in groups.iter().enumerate() {
        for target in &group.targets {
            place[target.index()] = index;
        }
    }
    (groups, place)
}
