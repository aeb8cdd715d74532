//! The waiting line: whose turn it is, and until when waiting is useful.
//!
//! Targets that share limits share one line; in it a higher lane goes before a lower one, unless the lower one has a minimum share
//! that is due. Inside a lane tenants take turns (`lane_queue.rs`). The line knows no limit.

mod due;
mod lane_queue;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::group::Groups;
use crate::slab::{Key, Slab};
use crate::{Amounts, Lane, LaneRules, TargetId, TenantId, Timestamp};

pub(crate) use due::Due;
pub(crate) use lane_queue::Ahead;
use lane_queue::LaneQueue;

/// A share is counted in parts of that many.
const PARTS: i64 = 10_000;

/// Names a place in the line. It names nothing once the ticket started, was refused or left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TicketId(Key);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    pub(crate) demand: Amounts,
    pub(crate) deadline: Timestamp,
    pub(crate) asked: Asked,
    pub(crate) target: TargetId,
    pub(crate) tenant: TenantId,
    pub(crate) bytes: u32,
    pub(crate) lane: Lane,
    arrival: u64,
}

/// How far a ticket is with what must be asked outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    NotYet,
    Waiting,
    NotBefore(Timestamp),
    Given,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    tickets: Slab<Ticket>,
    /// In the order of the groups of targets.
    groups: Vec<GroupLine>,
    group_of: Vec<usize>,
    waiting_for: Vec<[usize; Lane::ALL.len()]>,
    deadlines: BTreeSet<(Timestamp, TicketId)>,
    arrivals: u64,
    /// By lane: tickets, and what they take of memory.
    waiting_in: [usize; Lane::ALL.len()],
    bytes_in: [u64; Lane::ALL.len()],
    /// Lanes of which nobody's turn comes.
    held: [bool; Lane::ALL.len()],
}

/// The line of targets that share limits.
#[derive(Clone, Debug, Default)]
struct GroupLine {
    lanes: [LaneQueue; Lane::ALL.len()],
    /// What each lane is short of its minimum share, in parts of what starts; negative where it had more.
    owed: [i64; Lane::ALL.len()],
}

impl Line {
    pub(crate) fn new(groups: &Groups, targets: usize) -> Self {
        let group_of = |target| groups.of_target(TargetId::new(target));
        Self {
            tickets: Slab::new(),
            groups: alloc::vec![GroupLine::default(); groups.all.len()],
            group_of: (0..targets).map(group_of).collect(),
            waiting_for: alloc::vec![[0; Lane::ALL.len()]; targets],
            deadlines: BTreeSet::new(),
            arrivals: 0,
            waiting_in: [0; Lane::ALL.len()],
            bytes_in: [0; Lane::ALL.len()],
            held: [false; Lane::ALL.len()],
        }
    }

    /// Whether nobody's turn comes in `lane`, from now on; gives back what was so before. Those of other lanes go as if nobody
    /// waited in it.
    pub(crate) fn hold(&mut self, lane: Lane, held: bool) -> bool {
        core::mem::replace(&mut self.held[lane.index()], held)
    }

    pub(crate) fn holds(&self, lane: Lane) -> bool {
        self.held[lane.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.tickets.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tickets of `lane` and of those above it, and what they take of memory, as far as it was said.
    pub(crate) fn before_or_in(&self, lane: Lane) -> (usize, u64) {
        let lanes = ..=lane.index();
        let tickets = self.waiting_in[lanes].iter().sum();
        let bytes = self.bytes_in[lanes].iter().copied();
        (tickets, bytes.fold(0, u64::saturating_add))
    }

    /// Tickets of `lane`.
    pub(crate) fn waiting_in(&self, lane: Lane) -> usize {
        self.waiting_in[lane.index()]
    }

    pub(crate) fn waiting_for(&self, target: TargetId, lane: Lane) -> usize {
        let waiting = self.waiting_for.get(target.index());
        waiting.map_or(0, |lanes| lanes[lane.index()])
    }

    /// Whether somebody waits in `group`.
    pub(crate) fn waits(&self, group: usize) -> bool {
        let lanes = &self.groups[group].lanes;
        lanes.iter().any(|lane| lane.waiting() > 0)
    }

    /// Whether somebody waits in `group` who goes before any newcomer of `lane`.
    pub(crate) fn waits_before(&self, group: usize, lane: Lane, rules: &LaneRules) -> bool {
        let before = |&other: &Lane| other <= lane || self.is_due(group, other, rules);
        let mut before = self.lanes_that_go().filter(before);
        before.any(|lane| self.groups[group].lanes[lane.index()].waiting() > 0)
    }

    /// Puts a ticket behind those of its tenant, whose weight is `share`.
    pub(crate) fn join(&mut self, mut ticket: Ticket, share: NonZeroU32) -> TicketId {
        ticket.arrival = self.arrivals;
        self.arrivals += 1;
        let id = TicketId(self.tickets.insert(ticket));
        if ticket.deadline < Timestamp::MAX {
            self.deadlines.insert((ticket.deadline, id));
        }
        self.stand(id, &ticket, share);
        id
    }

    fn stand(&mut self, id: TicketId, ticket: &Ticket, share: NonZeroU32) {
        let group = self.group_of[ticket.target.index()];
        self.groups[group].lanes[ticket.lane.index()].join(id, ticket, share);
        let lane = ticket.lane.index();
        self.waiting_for[ticket.target.index()][lane] += 1;
        self.waiting_in[lane] += 1;
        self.bytes_in[lane] = self.bytes_in[lane].saturating_add(u64::from(ticket.bytes));
    }

    /// Takes a ticket out, wherever it stands.
    pub(crate) fn leave(&mut self, id: TicketId) -> Option<Ticket> {
        let (ticket, group) = self.take(id)?;
        let lane = &mut self.groups[group].lanes[ticket.lane.index()];
        lane.leave(id, &ticket, &self.tickets);
        self.settle_owed(group);
        Some(ticket)
    }

    /// Takes out a ticket that starts: its tenant and its lane have had so much.
    pub(crate) fn start(&mut self, id: TicketId, rules: &LaneRules) -> Option<Ticket> {
        let (ticket, group) = self.take(id)?;
        let lane = &mut self.groups[group].lanes[ticket.lane.index()];
        lane.start(id, &ticket, &self.tickets);
        self.count(group, ticket.lane, ticket.demand, rules);
        Some(ticket)
    }

    fn take(&mut self, id: TicketId) -> Option<(Ticket, usize)> {
        let ticket = self.tickets.remove(id.0)?;
        if ticket.deadline < Timestamp::MAX {
            self.deadlines.remove(&(ticket.deadline, id));
        }
        let lane = ticket.lane.index();
        self.waiting_for[ticket.target.index()][lane] -= 1;
        self.waiting_in[lane] -= 1;
        self.bytes_in[lane] = self.bytes_in[lane].saturating_sub(u64::from(ticket.bytes));
        Some((ticket, self.group_of[ticket.target.index()]))
    }

    /// Something of `lane` started in `group`: lanes that wait with a minimum share are owed a part of it.
    pub(crate) fn count(&mut self, group: usize, lane: Lane, demand: Amounts, rules: &LaneRules) {
        let weight = i64::try_from(demand.weight()).unwrap_or(i64::MAX);
        for other in Lane::ALL {
            let share = i64::from(rules.of(other).min_share.points());
            if share == 0 {
                continue;
            }
            let due = self.due_at(group, other);
            let owed = &mut self.groups[group].owed[other.index()];
            *owed = owed.saturating_add(weight.saturating_mul(share));
            if other == lane {
                *owed = owed
                    .saturating_sub(weight.saturating_mul(PARTS))
                    .max(-weight.saturating_mul(PARTS));
            }
            *owed = (*owed).min(due.unwrap_or(0));
        }
    }

    /// Whoever waits no more is owed nothing.
    fn settle_owed(&mut self, group: usize) {
        let GroupLine { lanes, owed } = &mut self.groups[group];
        for (lane, owed) in lanes.iter().zip(owed) {
            if lane.waiting() == 0 {
                *owed = (*owed).min(0);
            }
        }
    }

    fn lanes_that_go(&self) -> impl Iterator<Item = Lane> {
        Lane::ALL.into_iter().filter(|lane| !self.holds(*lane))
    }

    /// What `lane` must be owed before its first ticket is due; `None` where nobody waits in it who may start.
    fn due_at(&self, group: usize, lane: Lane) -> Option<i64> {
        if self.holds(lane) {
            return None;
        }
        let first = self.groups[group].lanes[lane.index()].first(&[])?;
        let weight = self.tickets.at(first.0)?.demand.weight();
        Some(
            i64::try_from(weight)
                .unwrap_or(i64::MAX)
                .saturating_mul(PARTS),
        )
    }

    fn is_due(&self, group: usize, lane: Lane, rules: &LaneRules) -> bool {
        rules.of(lane).min_share.points() > 0
            && self
                .due_at(group, lane)
                .is_some_and(|due| self.groups[group].owed[lane.index()] >= due)
    }

    /// The ticket of `group` whose turn it is, but for lanes that are held and targets among `passed_over`. The second is true where it goes before a
    /// higher lane for its minimum share.
    pub(crate) fn next(
        &self,
        group: usize,
        passed_over: &[TargetId],
        rules: &LaneRules,
    ) -> Option<(TicketId, bool)> {
        let first = |lane: Lane| self.groups[group].lanes[lane.index()].first(passed_over);
        let is_due = |&lane: &Lane| self.is_due(group, lane, rules);
        let due = self.lanes_that_go().filter(is_due).find_map(first);
        match due {
            Some(due) => Some((due, true)),
            None => self.lanes_that_go().find_map(first).map(|id| (id, false)),
        }
    }

    /// Up to `max` tickets of `lane` for `target`.
    pub(crate) fn some_for(&self, target: TargetId, lane: Lane, max: usize) -> Vec<TicketId> {
        let group = &self.groups[self.group_of[target.index()]];
        group.lanes[lane.index()]
            .waiting_for(target, &self.tickets, max)
            .collect()
    }

    /// What goes before a ticket that `tenant` would join `lane` of `group` with; at most `max` one by one.
    pub(crate) fn ahead_of(
        &self,
        group: usize,
        lane: Lane,
        tenant: TenantId,
        rules: &LaneRules,
        max: usize,
    ) -> Ahead {
        let mut ahead = Ahead {
            due: self.due_below(group, lane, rules),
            ..Ahead::default()
        };
        for other in self.lanes_that_go() {
            let queue = &self.groups[group].lanes[other.index()];
            let left = max.saturating_sub(ahead.tickets.len());
            let more = match other.cmp(&lane) {
                core::cmp::Ordering::Less => queue.all(left, &self.tickets),
                core::cmp::Ordering::Equal => queue.ahead_of(tenant, left, &self.tickets),
                core::cmp::Ordering::Greater => break,
            };
            ahead.tickets.extend(more.tickets);
            ahead.beyond = ahead.beyond.saturating_add(more.beyond);
        }
        ahead
    }

    /// What all weighs that goes before such a ticket, but for a lower lane's minimum share.
    pub(crate) fn weight_ahead_of(&self, group: usize, lane: Lane, tenant: TenantId) -> u64 {
        let lanes = &self.groups[group].lanes;
        let higher = self.lanes_that_go().filter(|other| *other < lane);
        let higher = higher.map(|other| lanes[other.index()].weight());
        let own = lanes[lane.index()].weight_ahead_of(tenant);
        higher.fold(own, u64::saturating_add)
    }

    pub(crate) fn ticket(&self, id: TicketId) -> Option<&Ticket> {
        self.tickets.at(id.0)
    }

    pub(crate) fn ticket_mut(&mut self, id: TicketId) -> Option<&mut Ticket> {
        self.tickets.at_mut(id.0)
    }

    /// Every ticket, in no order.
    pub(crate) fn ids(&self) -> Vec<TicketId> {
        self.tickets.keys().map(TicketId).collect()
    }

    /// The ticket whose deadline comes first.
    pub(crate) fn first_deadline(&self) -> Option<(Timestamp, TicketId)> {
        self.deadlines.first().copied()
    }

    /// The line among other targets and tenants: `place` tells where each old ticket's are now and how much its tenant weighs.
    /// Gives back the tickets whose target is gone.
    pub(crate) fn moved(
        &mut self,
        groups: &Groups,
        targets: usize,
        place: impl Fn(&Ticket) -> Option<(TargetId, TenantId, NonZeroU32)>,
    ) -> Vec<(TicketId, Ticket)> {
        let mut line = Self::new(groups, targets);
        core::mem::swap(&mut line.tickets, &mut self.tickets);
        line.deadlines = core::mem::take(&mut self.deadlines);
        (line.arrivals, line.held) = (self.arrivals, self.held);
        let mut standing = Vec::new();
        let mut gone = Vec::new();
        for id in line.ids() {
            let Some(ticket) = line.tickets.at_mut(id.0) else {
                continue;
            };
            match place(ticket) {
                Some((target, tenant, share)) => {
                    (ticket.target, ticket.tenant) = (target, tenant);
                    standing.push((ticket.arrival, id, *ticket, share));
                }
                None => gone.push((id, *ticket)),
            }
        }
        for (id, ticket) in &gone {
            line.tickets.remove(id.0);
            line.deadlines.remove(&(ticket.deadline, *id));
        }
        standing.sort_unstable_by_key(|(arrival, ..)| *arrival);
        for (_, id, ticket, share) in standing {
            line.stand(id, &ticket, share);
        }
        *self = line;
        gone
    }
}

impl Ticket {
    /// A ticket that has not arrived yet.
    pub(crate) const fn of(submission: &crate::Submission) -> Self {
        Self {
            demand: submission.demand,
            deadline: submission.deadline,
            asked: Asked::NotYet,
            target: submission.target,
            tenant: submission.tenant,
            bytes: submission.bytes,
            lane: submission.lane,
            arrival: 0,
        }
    }
}

#[cfg(test)]
mod tests;
