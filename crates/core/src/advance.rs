//! What a core does when it is looked at: reservations expire, tickets start or are refused, grants are asked for.
//!
//! Who came first starts first among all that share a limit. A ticket that must wait holds back everything behind it that
//! would be charged on one of its limits, so that a start that was promised is not moved by somebody who came later. Only a
//! ticket that waits for a slot has no promised start: it holds back those that want the same slots and nobody else.

use alloc::vec::Vec;

use crate::decision::{Event, Refusal};
use crate::gate::{Core, EVENTS_MAX};
use crate::ledger::Fit;
use crate::line::{Asked, Ticket, TicketId};
use crate::{Authority, LimitId, Now, Timestamp};

impl Core {
    /// Does everything that is due. A ticket that may start now is started before lateness is looked at: whoever drives the
    /// core is always called a little after the instant that was promised.
    pub(crate) fn advance(&mut self, now: Now) {
        self.expire_reservations(now);
        self.start_tickets(now);
        while self.refuse_late(now) {
            // Whoever is gone held back others.
            self.start_tickets(now);
        }
    }

    fn expire_reservations(&mut self, now: Now) {
        while self.events.len() < EVENTS_MAX
            && let Some(reservation) = self.ledger.expire(now)
        {
            self.events.push_back(Event::Expired { reservation });
            self.forget_forecasts();
        }
    }

    /// False when nobody was late.
    fn refuse_late(&mut self, now: Now) -> bool {
        let mut refused = false;
        while self.events.len() < EVENTS_MAX
            && let Some((deadline, ticket)) = self.line.first_deadline()
            && deadline < now.mono
        {
            let Some(late) = self.line.ticket(ticket).copied() else {
                break;
            };
            let limits = &self.policy.targets()[late.target.index()].limits;
            let (limit, start) = match self.ledger.fit(limits, late.demand, now) {
                Fit::Now => (None, None),
                Fit::At(start, limit) => (Some(limit), Some(start)),
                Fit::OnRelease(limit, _) => (Some(limit), None),
            };
            self.refuse(ticket, Refusal::Deadline { limit, start });
            self.forget_forecast(late.target);
            refused = true;
        }
        refused
    }

    fn start_tickets(&mut self, now: Now) {
        self.wake = None;
        self.held_back.clear();
        let mut from = 0;
        while let Some((id, next)) = self.line.head_from(from) {
            from = next;
            if self.events.len() >= EVENTS_MAX {
                self.wake = Some(now.mono);
                return;
            }
            let Some(ticket) = self.line.ticket(id).copied() else {
                continue;
            };
            let limits = &self.policy.targets()[ticket.target.index()].limits;
            if limits.iter().any(|limit| self.held_back.contains(limit)) {
                self.held_back.extend_from_slice(limits);
                continue;
            }
            let fit = self.ledger.fit(limits, ticket.demand, now);
            if fit == Fit::Now && self.obtain_grant(id, &ticket, now) {
                let limits = &self.policy.targets()[ticket.target.index()].limits;
                let reservation = self.ledger.reserve(limits, ticket.demand, now);
                self.line.leave(id);
                self.events.push_back(Event::Admitted {
                    ticket: id,
                    reservation,
                });
                continue;
            }
            match fit {
                Fit::At(start, _) => self.wake_at(start),
                // Nobody knows when it starts, so nothing but the slot itself is kept for it.
                Fit::OnRelease(limit, latest) => {
                    if let Some(latest) = latest {
                        self.wake_at(latest);
                    }
                    self.held_back.push(limit);
                    continue;
                }
                Fit::Now => {}
            }
            self.held_back
                .extend_from_slice(&self.policy.targets()[ticket.target.index()].limits);
        }
    }

    /// True when everything that somebody else counts was given; asks for it where that was not done yet.
    fn obtain_grant(&mut self, id: TicketId, ticket: &Ticket, now: Now) -> bool {
        let charges = self.granted_charges(ticket);
        if charges.is_empty() {
            return true;
        }
        match ticket.asked {
            Asked::Given => true,
            Asked::Waiting => false,
            Asked::NotBefore(instant) if now.mono < instant => {
                self.wake_at(instant);
                false
            }
            Asked::NotYet | Asked::NotBefore(_) => {
                self.mark_asked(id, Asked::Waiting);
                self.events.push_back(Event::GrantWanted {
                    ticket: id,
                    charges,
                });
                false
            }
        }
    }

    fn granted_charges(&self, ticket: &Ticket) -> Vec<(LimitId, u64)> {
        let limits = &self.policy.targets()[ticket.target.index()].limits;
        if !self.ledger.wants_grant(limits) {
            return Vec::new();
        }
        let charge = |&id: &LimitId| {
            let limit = &self.ledger.counter(id).limit;
            (limit.authority == Authority::Granted).then(|| (id, ticket.demand.of(limit.meter)))
        };
        limits.iter().filter_map(charge).collect()
    }

    pub(crate) fn refuse(&mut self, ticket: TicketId, refusal: Refusal) {
        if let Some(left) = self.line.leave(ticket) {
            self.return_grant(ticket, &left);
            self.events.push_back(Event::Refused { ticket, refusal });
        }
    }

    pub(crate) fn return_grant(&mut self, id: TicketId, ticket: &Ticket) {
        if ticket.asked == Asked::Given {
            let charges = self.granted_charges(ticket);
            self.events.push_back(Event::GrantUnused {
                ticket: id,
                charges,
            });
        }
    }

    pub(crate) fn mark_asked(&mut self, ticket: TicketId, asked: Asked) {
        if let Some(ticket) = self.line.ticket_mut(ticket) {
            ticket.asked = asked;
        }
    }

    fn wake_at(&mut self, instant: Timestamp) {
        self.wake = Some(self.wake.map_or(instant, |wake| wake.min(instant)));
    }
}
