//! The tickets of one tenant, walked in the order in which they go without taking any.

use alloc::vec::Vec;

use super::Flow;
use crate::line::Ticket;
use crate::slab::Slab;

/// How far a flow has been walked.
pub(super) struct Cursor<'a> {
    flow: &'a Flow,
    pub(super) tag: u128,
    walked: u64,
    /// The place in each of its queues.
    places: Vec<usize>,
    pub(super) next: Option<(usize, Ticket)>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(flow: &'a Flow, tickets: &Slab<Ticket>) -> Self {
        let mut cursor = Self {
            flow,
            tag: flow.tag,
            walked: 0,
            places: alloc::vec![0; flow.queues.len()],
            next: None,
        };
        cursor.find(tickets);
        cursor
    }

    pub(super) fn take(&mut self, tickets: &Slab<Ticket>) -> Option<Ticket> {
        let (queue, ticket) = self.next.take()?;
        let weight = ticket.demand.weight();
        self.places[queue] += 1;
        self.walked = self.walked.saturating_add(weight);
        self.tag += self.flow.step(weight);
        self.find(tickets);
        Some(ticket)
    }

    /// The ticket of the flow that came first among those not walked.
    fn find(&mut self, tickets: &Slab<Ticket>) {
        let mut first: Option<(usize, Ticket)> = None;
        for (index, queue) in self.flow.queues.iter().enumerate() {
            let place = &mut self.places[index];
            let there = queue.tickets.iter().skip(*place);
            for id in there {
                if let Some(ticket) = tickets.at(id.0) {
                    if first.is_none_or(|(_, first)| ticket.arrival < first.arrival) {
                        first = Some((index, *ticket));
                    }
                    break;
                }
                *place += 1;
            }
        }
        self.next = first;
    }

    /// What of the flow goes at `tag` or before it and was not walked.
    pub(super) fn left_until(&self, tag: u128) -> u64 {
        let left = self.flow.weight.saturating_sub(self.walked);
        self.flow.until(tag, self.tag, left)
    }
}
