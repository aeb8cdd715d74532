//! What a core does when it is looked at: reservations expire, tickets start or are refused, grants are asked for.
//!
//! Whose turn it is starts first among all that share a limit. A ticket that must wait holds back everything behind it that
//! would be charged on one of its limits, so that a start that was promised is not moved by somebody who came later; who
//! moves it nowhere may pass (`lanes.rs`). Only a ticket that waits for a slot has no promised start: it holds back those that
//! want the same slots and nobody else.

use alloc::vec::Vec;

use crate::decision::{Event, Refusal};
use crate::gate::{Core, EVENTS_MAX};
use crate::lanes::LaneFit;
use crate::ledger::Fit;
use crate::line::{Asked, Ticket, TicketId};
use crate::{Authority, LimitId, Now, Outcome, Timestamp};

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
            && let Some(reservation) = self.ledger.expired(now)
        {
            self.end(reservation, Outcome::Unmeasured, now);
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
            let late_by = |limit, start| Refusal::Deadline { limit, start };
            let refusal = match self.fit_in_lane(late.target, late.demand, late.lane, now) {
                LaneFit::Now | LaneFit::Later(Fit::Now) => late_by(None, None),
                LaneFit::Left(limit, start) => Refusal::Shed { limit, start },
                LaneFit::Later(Fit::At(start, limit)) => late_by(Some(limit), Some(start)),
                LaneFit::Later(Fit::OnRelease(limit, _)) => late_by(Some(limit), None),
            };
            self.refuse(ticket, refusal);
            self.forget_forecast(late.target);
            refused = true;
        }
        refused
    }

    fn start_tickets(&mut self, now: Now) {
        self.wake = None;
        for group in 0..self.groups.all.len() {
            self.walks[group].next_start = None;
            if self.line.waits(group) && !self.walk(group, now) {
                self.wake = Some(now.mono);
                return;
            }
        }
    }

    /// Starts who may start in `group`. False where so much has started that events must be fetched first.
    fn walk(&mut self, group: usize, now: Now) -> bool {
        self.held_back.clear();
        self.passed_over.clear();
        while let Some((id, is_due)) = self
            .line
            .next(group, &self.passed_over, self.policy.lanes())
        {
            if self.events.len() >= EVENTS_MAX {
                return false;
            }
            let Some(ticket) = self.line.ticket(id).copied() else {
                break;
            };
            if !self.starts(group, id, &ticket, is_due, now) {
                self.passed_over.push(ticket.target);
            }
        }
        self.let_pass(group, now);
        true
    }

    /// Starts a ticket whose turn it is, if it may. Otherwise it holds back those who come after it.
    fn starts(
        &mut self,
        group: usize,
        id: TicketId,
        ticket: &Ticket,
        is_due: bool,
        now: Now,
    ) -> bool {
        let limits = &self.policy.targets()[ticket.target.index()].limits;
        let held_back = limits.iter().any(|limit| self.held_back.contains(limit));
        if !held_back {
            let fit = if is_due {
                // What it is owed it need not leave to anybody.
                match self.ledger.fit(limits, ticket.demand, now) {
                    Fit::Now => LaneFit::Now,
                    later => LaneFit::Later(later),
                }
            } else {
                self.fit_in_lane(ticket.target, ticket.demand, ticket.lane, now)
            };
            match fit {
                LaneFit::Now if self.obtain_grant(id, ticket, now) => {
                    self.start(id, ticket, now);
                    return true;
                }
                LaneFit::Now | LaneFit::Later(Fit::Now) => {}
                LaneFit::Later(Fit::At(start, _)) => {
                    self.wake_at(start);
                    let next = &mut self.walks[group].next_start;
                    *next = Some(next.map_or(start, |next| next.min(start)));
                }
                // Nobody knows when it starts, so nothing but the slot itself is kept for it.
                LaneFit::Later(Fit::OnRelease(limit, latest)) => {
                    if let Some(latest) = latest {
                        self.wake_at(latest);
                    }
                    self.held_back.push(limit);
                    return false;
                }
                LaneFit::Left(limit, start) => {
                    let again = self.looks_again(limit, now);
                    self.wake_at(start.map_or(again, |start| start.min(again)));
                    self.walks[group].next_start = Some(now.mono);
                }
            }
        }
        self.held_back
            .extend_from_slice(&self.policy.targets()[ticket.target.index()].limits);
        false
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
        if let Some(left) = self.leave(ticket) {
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

    pub(crate) fn wake_at(&mut self, instant: Timestamp) {
        self.wake = Some(self.wake.map_or(instant, |wake| wake.min(instant)));
    }
}
