//! The tickets of one lane for targets that share limits, in the order in which tenants take turns.
//!
//! Every tenant that waits has a tag, which grows by what it starts, divided by its weight; the smallest tag goes next. Whoever
//! comes anew begins where the last one started, so that nobody saves up by being away and a tenant alone has everything. What
//! leaves without starting costs its tenant nothing: tags belong to tenants and not to tickets. Within a tenant who came first
//! goes first.

mod cursor;

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::num::NonZeroU32;

use super::{Due, Ticket, TicketId};
use crate::slab::Slab;
use crate::{TargetId, TenantId};
use cursor::Cursor;

/// A weight of one grows a tag by so much for each token.
const STEP: u128 = 1 << 20;
/// So many tenants that wait no more are remembered beside those who do.
const GONE_MAX: usize = 64;
/// So many tenants tell what goes before a ticket where an estimate will do.
const WEIGHED_MAX: usize = 128;

#[derive(Clone, Debug, Default)]
pub(crate) struct LaneQueue {
    flows: BTreeMap<TenantId, Flow>,
    /// By target: the first ticket of each tenant for it, in the order in which they go.
    heads: BTreeMap<TargetId, BTreeSet<Head>>,
    /// The tag of whoever started last.
    turn: u128,
    /// With fewer tenants than that nobody looks for some to forget.
    forgets_at: usize,
    waiting: usize,
    /// What all that wait weigh together.
    weight: u64,
}

/// The ticket of a tenant that goes next, and its place among those of other tenants.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Head {
    tag: u128,
    arrival: u64,
    tenant: TenantId,
    pub(crate) ticket: TicketId,
}

/// What one tenant waits with.
#[derive(Clone, Debug)]
struct Flow {
    tag: u128,
    share: NonZeroU32,
    queues: Vec<Queue>,
    waiting: usize,
    weight: u64,
}

/// The tickets of one tenant for one target.
#[derive(Clone, Debug)]
struct Queue {
    target: TargetId,
    head: Option<(u64, TicketId)>,
    /// Tickets that left stay here until they come to the front or outnumber the others.
    tickets: VecDeque<TicketId>,
    waiting: usize,
}

/// What goes before a ticket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead {
    /// The first of them, in their order.
    pub(crate) tickets: Vec<Ticket>,
    /// What the others weigh together.
    pub(crate) beyond: u64,
    /// What goes between them for its minimum share.
    pub(crate) due: Vec<Due>,
}

impl LaneQueue {
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Puts a ticket behind those of its tenant, whose weight is `share`.
    pub(crate) fn join(&mut self, id: TicketId, ticket: &Ticket, share: NonZeroU32) {
        let weight = ticket.demand.weight();
        self.waiting += 1;
        self.weight = self.weight.saturating_add(weight);
        let flow = self
            .flows
            .entry(ticket.tenant)
            .or_insert_with(|| Flow::new(share));
        flow.share = share;
        if flow.waiting == 0 {
            flow.tag = flow.tag.max(self.turn);
        }
        flow.waiting += 1;
        flow.weight = flow.weight.saturating_add(weight);
        let tag = flow.tag;
        let queue = flow.queue(ticket.target);
        queue.waiting += 1;
        if queue.head.is_none() {
            queue.tickets.clear();
            queue.head = Some((ticket.arrival, id));
            let head = Head {
                tag,
                arrival: ticket.arrival,
                tenant: ticket.tenant,
                ticket: id,
            };
            self.heads.entry(ticket.target).or_default().insert(head);
        }
        queue.tickets.push_back(id);
    }

    /// Forgets a ticket that `tickets` does not hold any more.
    pub(crate) fn leave(&mut self, id: TicketId, ticket: &Ticket, tickets: &Slab<Ticket>) {
        self.remove(id, ticket, 0, tickets);
    }

    /// Forgets a ticket that has started, for which its tenant pays.
    pub(crate) fn start(&mut self, id: TicketId, ticket: &Ticket, tickets: &Slab<Ticket>) {
        self.remove(id, ticket, ticket.demand.weight(), tickets);
    }

    fn remove(&mut self, id: TicketId, ticket: &Ticket, pays: u64, tickets: &Slab<Ticket>) {
        let Some(flow) = self.flows.get_mut(&ticket.tenant) else {
            return;
        };
        let weight = ticket.demand.weight();
        self.waiting -= 1;
        self.weight = self.weight.saturating_sub(weight);
        flow.waiting -= 1;
        flow.weight = flow.weight.saturating_sub(weight);
        let is_head = |queue: &Queue| queue.head.is_some_and(|(_, head)| head == id);
        // Where its tenant pays, all its first tickets go to another place.
        for queue in &flow.queues {
            if let Some((arrival, head)) = queue.head
                && (pays > 0 || is_head(queue))
                && let Some(heads) = self.heads.get_mut(&queue.target)
            {
                heads.remove(&Head {
                    tag: flow.tag,
                    arrival,
                    tenant: ticket.tenant,
                    ticket: head,
                });
                if heads.is_empty() {
                    self.heads.remove(&queue.target);
                }
            }
        }
        if pays > 0 {
            self.turn = self.turn.max(flow.tag);
            flow.tag += flow.step(pays);
        }
        let tag = flow.tag;
        for queue in &mut flow.queues {
            let was_head = is_head(queue);
            if queue.target == ticket.target {
                queue.remove(was_head, tickets);
            }
            if let Some((arrival, head)) = queue.head
                && (pays > 0 || was_head)
            {
                let head = Head {
                    tag,
                    arrival,
                    tenant: ticket.tenant,
                    ticket: head,
                };
                self.heads.entry(queue.target).or_default().insert(head);
            }
        }
        self.forget_gone();
    }

    /// Forgets tenants that do not wait, when nobody waits or those who wait have caught up with them. Where many have not, it
    /// looks again when there are twice as many: a look at all with each start would cost more the more tenants there are.
    fn forget_gone(&mut self) {
        if self.waiting == 0 {
            self.flows.clear();
            self.turn = 0;
            self.forgets_at = 0;
        } else if self.flows.len() > self.forgets_at.max(2 * self.waiting + GONE_MAX) {
            let turn = self.turn;
            self.flows
                .retain(|_, flow| flow.waiting > 0 || flow.tag > turn);
            self.forgets_at = 2 * self.flows.len();
        }
    }

    /// The first ticket for a target that is not among `passed_over`.
    pub(crate) fn first(&self, passed_over: &[TargetId]) -> Option<TicketId> {
        let heads = self.heads.iter();
        let heads = heads.filter(|(target, _)| !passed_over.contains(target));
        let first = heads.filter_map(|(_, heads)| heads.first()).min();
        first.map(|head| head.ticket)
    }

    /// Up to `max` tickets for `target`, in about the order in which they go: those of a tenant together.
    pub(crate) fn waiting_for<'a>(
        &'a self,
        target: TargetId,
        tickets: &'a Slab<Ticket>,
        max: usize,
    ) -> impl Iterator<Item = TicketId> + 'a {
        let heads = self.heads.get(&target).into_iter().flatten();
        let queues = heads.filter_map(move |head| {
            let queues = &self.flows.get(&head.tenant)?.queues;
            queues.iter().find(|queue| queue.target == target)
        });
        let there = |id: &TicketId| tickets.at(id.0).is_some();
        queues
            .flat_map(|queue| queue.tickets.iter().copied())
            .filter(there)
            .take(max)
    }

    /// All that wait, of which at most `max` one by one.
    pub(crate) fn all(&self, max: usize, tickets: &Slab<Ticket>) -> Ahead {
        self.until(u128::MAX, max, tickets)
    }

    /// What goes before a ticket that `tenant` would join with now; at most `max` one by one.
    pub(crate) fn ahead_of(&self, tenant: TenantId, max: usize, tickets: &Slab<Ticket>) -> Ahead {
        self.until(self.tag_of(tenant), max, tickets)
    }

    /// What all that waits weighs.
    pub(crate) const fn weight(&self) -> u64 {
        self.weight
    }

    /// What all weighs that goes before a ticket that `tenant` would join with now. Of many tenants some stand for the others.
    pub(crate) fn weight_ahead_of(&self, tenant: TenantId) -> u64 {
        let tag = self.tag_of(tenant);
        let own = self.flows.get(&tenant).map_or(0, |flow| flow.weight);
        let others = self.flows.iter().filter(|(other, _)| **other != tenant);
        let (mut ahead, mut seen) = (0_u64, 0_u64);
        for (_, flow) in others.take(WEIGHED_MAX) {
            ahead = ahead.saturating_add(flow.until(tag, flow.tag, flow.weight));
            seen = seen.saturating_add(flow.weight);
        }
        let all = u128::from(self.weight.saturating_sub(own));
        let ahead = u128::from(ahead) * all / u128::from(seen.max(1));
        own.saturating_add(u64::try_from(ahead).unwrap_or(u64::MAX))
    }

    /// The tag at which a ticket would go that `tenant` joined with now.
    fn tag_of(&self, tenant: TenantId) -> u128 {
        match self.flows.get(&tenant) {
            Some(flow) if flow.waiting > 0 => flow.tag + flow.step(flow.weight),
            Some(flow) => flow.tag.max(self.turn),
            None => self.turn,
        }
    }

    /// What goes at `tag` or before it.
    fn until(&self, tag: u128, max: usize, tickets: &Slab<Ticket>) -> Ahead {
        let mut cursors: Vec<Cursor<'_>> = self
            .flows
            .values()
            .filter(|flow| flow.waiting > 0 && flow.tag <= tag)
            .map(|flow| Cursor::new(flow, tickets))
            .collect();
        let place = |(index, cursor): (usize, &Cursor<'_>)| {
            let (_, next) = cursor.next.as_ref()?;
            (cursor.tag <= tag).then_some(Reverse((cursor.tag, next.arrival, index)))
        };
        let mut order: BinaryHeap<_> = cursors.iter().enumerate().filter_map(place).collect();
        let mut ahead = Ahead::default();
        while ahead.tickets.len() < max {
            let Some(Reverse((_, _, index))) = order.pop() else {
                return ahead;
            };
            let cursor = &mut cursors[index];
            ahead.tickets.extend(cursor.take(tickets));
            order.extend(place((index, cursor)));
        }
        ahead.beyond = cursors
            .iter()
            .map(|cursor| cursor.left_until(tag))
            .fold(0, u64::saturating_add);
        ahead
    }
}

impl Flow {
    fn new(share: NonZeroU32) -> Self {
        Self {
            tag: 0,
            share,
            queues: Vec::new(),
            waiting: 0,
            weight: 0,
        }
    }

    /// How far `weight` moves it.
    fn step(&self, weight: u64) -> u128 {
        u128::from(weight) * STEP / u128::from(self.share.get())
    }

    /// What of `left` goes from `from` to `tag`: what fits between them, and one ticket more, which begins there.
    fn until(&self, tag: u128, from: u128, left: u64) -> u64 {
        let Some(room) = tag.checked_sub(from) else {
            return 0;
        };
        let until = room.saturating_mul(u128::from(self.share.get())) / STEP;
        let until = u64::try_from(until).unwrap_or(u64::MAX);
        let usual = self.weight.div_ceil(self.waiting.max(1) as u64);
        left.min(until.saturating_add(usual))
    }

    fn queue(&mut self, target: TargetId) -> &mut Queue {
        let at = |queue: &Queue| queue.target == target;
        let place = self.queues.iter().position(at).unwrap_or_else(|| {
            self.queues.push(Queue {
                target,
                head: None,
                tickets: VecDeque::new(),
                waiting: 0,
            });
            self.queues.len() - 1
        });
        &mut self.queues[place]
    }
}

impl Queue {
    /// One of its tickets is gone, the first one or another.
    fn remove(&mut self, was_head: bool, tickets: &Slab<Ticket>) {
        self.waiting -= 1;
        if was_head {
            let gone = |id: &TicketId| tickets.at(id.0).is_none();
            while self.tickets.front().is_some_and(gone) {
                self.tickets.pop_front();
            }
            let first = self.tickets.front().copied();
            self.head = first.and_then(|id| Some((tickets.at(id.0)?.arrival, id)));
        } else if self.tickets.len() > 2 * self.waiting + 16 {
            self.tickets.retain(|id| tickets.at(id.0).is_some());
        }
    }
}
