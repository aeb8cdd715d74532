//! The waiting line: who came first, and until when waiting is useful.
//!
//! Tickets to one target stand in one queue; the heads of all queues are kept in the order of arrival, so that whoever looks
//! for the next to start looks at one ticket a target and not at ten thousand. The line knows no limit.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use crate::slab::{Key, Slab};
use crate::{Amounts, TargetId, Timestamp};

/// Names a place in the line. It names nothing once the ticket started, was refused or left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TicketId(Key);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    pub(crate) target: TargetId,
    pub(crate) demand: Amounts,
    pub(crate) deadline: Timestamp,
    pub(crate) asked: Asked,
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

#[derive(Clone, Debug, Default)]
struct Queue {
    /// Tickets that left stay here until they come to the front or outnumber the others.
    tickets: VecDeque<TicketId>,
    waiting: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    tickets: Slab<Ticket>,
    queues: Vec<Queue>,
    /// The first ticket of each queue that has one, by arrival.
    heads: BTreeMap<u64, TicketId>,
    deadlines: BTreeSet<(Timestamp, TicketId)>,
    arrivals: u64,
}

impl Line {
    pub(crate) fn new(targets: usize) -> Self {
        Self {
            tickets: Slab::new(),
            queues: alloc::vec![Queue::default(); targets],
            heads: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            arrivals: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tickets.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn waiting_for(&self, target: TargetId) -> usize {
        self.queues
            .get(target.index())
            .map_or(0, |queue| queue.waiting)
    }

    /// Puts a ticket at the end.
    pub(crate) fn join(
        &mut self,
        target: TargetId,
        demand: Amounts,
        deadline: Timestamp,
    ) -> TicketId {
        let arrival = self.arrivals;
        self.arrivals += 1;
        self.stand(Ticket {
            target,
            demand,
            deadline,
            asked: Asked::NotYet,
            arrival,
        })
    }

    /// Takes a ticket out, wherever it stands.
    pub(crate) fn leave(&mut self, id: TicketId) -> Option<Ticket> {
        let ticket = self.tickets.remove(id.0)?;
        self.deadlines.remove(&(ticket.deadline, id));
        let queue = &mut self.queues[ticket.target.index()];
        queue.waiting -= 1;
        if self.heads.remove(&ticket.arrival).is_some() {
            queue.tickets.pop_front();
            let gone = |id: &TicketId| self.tickets.at(id.0).is_none();
            while queue.tickets.front().is_some_and(gone) {
                queue.tickets.pop_front();
            }
            if let Some(&next) = queue.tickets.front()
                && let Some(ticket) = self.tickets.at(next.0)
            {
                self.heads.insert(ticket.arrival, next);
            }
        } else if queue.tickets.len() > 2 * queue.waiting + 16 {
            queue.tickets.retain(|id| self.tickets.at(id.0).is_some());
        }
        Some(ticket)
    }

    pub(crate) fn ticket(&self, id: TicketId) -> Option<&Ticket> {
        self.tickets.at(id.0)
    }

    pub(crate) fn ticket_mut(&mut self, id: TicketId) -> Option<&mut Ticket> {
        self.tickets.at_mut(id.0)
    }

    /// The first head that arrived at or after `arrival`, and where to look for the one after it.
    pub(crate) fn head_from(&self, arrival: u64) -> Option<(TicketId, u64)> {
        self.heads
            .range(arrival..)
            .next()
            .map(|(&arrival, &id)| (id, arrival + 1))
    }

    /// Every ticket for one of `targets`, by arrival.
    pub(crate) fn in_order(&self, targets: &[TargetId]) -> Vec<Ticket> {
        let queued = |target: &TargetId| self.queues[target.index()].tickets.iter();
        let waiting = |id: &TicketId| self.tickets.at(id.0).copied();
        let mut tickets: Vec<Ticket> = targets
            .iter()
            .flat_map(queued)
            .filter_map(waiting)
            .collect();
        tickets.sort_unstable_by_key(|ticket| ticket.arrival);
        tickets
    }

    /// Every ticket, in no order.
    pub(crate) fn ids(&self) -> Vec<TicketId> {
        self.tickets.keys().map(TicketId).collect()
    }

    /// The ticket whose deadline comes first.
    pub(crate) fn first_deadline(&self) -> Option<(Timestamp, TicketId)> {
        self.deadlines.first().copied()
    }

    /// The line with other targets: `place` tells where each old one is now. Gives back the tickets whose target is gone.
    pub(crate) fn moved(
        &mut self,
        targets: usize,
        place: impl Fn(TargetId) -> Option<TargetId>,
    ) -> Vec<(TicketId, Ticket)> {
        let mut gone = Vec::new();
        for id in self.ids() {
            let Some(ticket) = self.tickets.at(id.0).copied() else {
                continue;
            };
            match place(ticket.target) {
                Some(target) => {
                    if let Some(ticket) = self.tickets.at_mut(id.0) {
                        ticket.target = target;
                    }
                }
                None => {
                    self.tickets.remove(id.0);
                    self.deadlines.remove(&(ticket.deadline, id));
                    gone.push((id, ticket));
                }
            }
        }
        self.queues = alloc::vec![Queue::default(); targets];
        self.heads.clear();
        let mut standing: Vec<(u64, TicketId, TargetId)> = self
            .tickets
            .keys()
            .map(TicketId)
            .filter_map(|id| {
                self.tickets
                    .at(id.0)
                    .map(|ticket| (ticket.arrival, id, ticket.target))
            })
            .collect();
        standing.sort_unstable();
        for (arrival, id, target) in standing {
            self.queue_up(arrival, id, target);
        }
        gone
    }

    fn stand(&mut self, ticket: Ticket) -> TicketId {
        let id = TicketId(self.tickets.insert(ticket));
        self.deadlines.insert((ticket.deadline, id));
        self.queue_up(ticket.arrival, id, ticket.target);
        id
    }

    fn queue_up(&mut self, arrival: u64, id: TicketId, target: TargetId) {
        let queue = &mut self.queues[target.index()];
        if queue.waiting == 0 {
            queue.tickets.clear();
            self.heads.insert(arrival, id);
        }
        queue.tickets.push_back(id);
        queue.waiting += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> (Line, TargetId, TargetId) {
        (Line::new(2), TargetId::new(0), TargetId::new(1))
    }

    fn join(line: &mut Line, target: TargetId) -> TicketId {
        line.join(target, Amounts::one_request(), Timestamp::MAX)
    }

    #[test]
    fn heads_come_in_the_order_of_arrival() {
        let (mut line, one, two) = line();
        let first = join(&mut line, one);
        let second = join(&mut line, two);
        let third = join(&mut line, one);
        let (head, next) = line.head_from(0).expect("a head");
        assert_eq!(head, first);
        assert_eq!(line.head_from(next).map(|head| head.0), Some(second));
        line.leave(first);
        let (head, next) = line.head_from(0).expect("a head");
        assert_eq!(head, second);
        assert_eq!(line.head_from(next).map(|head| head.0), Some(third));
    }

    #[test]
    fn who_leaves_from_the_middle_leaves_no_trace() {
        let (mut line, one, _) = line();
        let tickets: Vec<TicketId> = (0..1_000).map(|_| join(&mut line, one)).collect();
        for &id in &tickets[1..999] {
            assert!(line.leave(id).is_some());
            assert!(line.leave(id).is_none());
        }
        assert_eq!(line.waiting_for(one), 2);
        assert!(
            line.queues[0].tickets.len() < 50,
            "{}",
            line.queues[0].tickets.len()
        );
        line.leave(tickets[0]);
        assert_eq!(line.head_from(0).map(|head| head.0), Some(tickets[999]));
        line.leave(tickets[999]);
        assert!(line.is_empty());
        assert_eq!(line.first_deadline(), None);
    }

    #[test]
    fn tickets_follow_their_target_to_another_policy() {
        let (mut line, one, two) = line();
        let gone = join(&mut line, one);
        let stays = join(&mut line, two);
        let left = line.moved(1, |target| (target == two).then_some(one));
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].0, gone);
        assert_eq!(line.head_from(0).map(|head| head.0), Some(stays));
        assert_eq!(line.ticket(stays).map(|ticket| ticket.target), Some(one));
    }
}
