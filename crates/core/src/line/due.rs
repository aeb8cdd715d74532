//! What lower lanes are owed for their minimum shares, played ahead beside those that a promise waits behind.

use alloc::vec::Vec;

use super::{Line, PARTS, Ticket};
use crate::{Amounts, Lane, LaneRules};

/// A lower lane that goes between others for its minimum share.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    share: i64,
    owed: i64,
    /// Its first ticket; those behind it are taken to be like it.
    pub(crate) ticket: Ticket,
}

impl Line {
    /// What lanes below `lane` that wait are owed, with the first ticket of each.
    pub(super) fn due_below(&self, group: usize, lane: Lane, rules: &LaneRules) -> Vec<Due> {
        let below = &Lane::ALL[lane.index() + 1..];
        let below = below.iter().filter(|&&lower| !self.is_held(lower));
        let due = below.filter_map(|&lower| {
            let share = i64::from(rules.of(lower).min_share.points());
            let first = self.groups[group].lanes[lower.index()].first(&[])?;
            let ticket = *self.tickets.at(first.0)?;
            let owed = self.groups[group].owed[lower.index()];
            (share > 0).then_some(Due {
                share,
                owed,
                ticket,
            })
        });
        due.collect()
    }
}

impl Due {
    /// Something of another lane starts.
    pub(crate) fn count(&mut self, demand: Amounts) {
        self.owed = self
            .owed
            .saturating_add(parts_of(demand.weight(), self.share));
    }

    /// Whether its ticket goes next. If so, it is taken to have started.
    pub(crate) fn takes(&mut self) -> bool {
        let weight = self.ticket.demand.weight();
        let due = self.owed >= parts_of(weight, PARTS);
        if due {
            self.owed -= parts_of(weight, PARTS - self.share);
        }
        due
    }
}

fn parts_of(weight: u64, parts: i64) -> i64 {
    i64::try_from(weight)
        .unwrap_or(i64::MAX)
        .saturating_mul(parts)
}
