//! What the core does for lanes and tenants: what a lower lane leaves free, who may pass whom, and the books that both need.
//!
//! A ticket that cannot start yet keeps the start that it was promised: another one goes before it only where that moves
//! nobody's start. So it is where its charges are over by then, as in a window that renews before, or where a limit has room
//! for everybody who waits beside. On a bucket, which every charge delays, nobody passes.

use core::time::Duration;

use alloc::vec::Vec;

use crate::decision::{Event, Submission};
use crate::gate::{Core, EVENTS_MAX};
use crate::ledger::Fit;
use crate::line::{Ticket, TicketId};
use crate::wanted::Wanted;
use crate::window::Earliest;
use crate::{
    Amounts, Lane, LimitId, Meter, Now, Outcome, Policy, ReservationId, Resolution, TargetId,
    Timestamp,
};

/// Tickets that are looked at, behind those that must wait, for one that may pass.
const PASSES_MAX: usize = 32;
/// After a look at them that found none they are left alone for so long.
const PASSES_PAUSE: Duration = Duration::from_millis(10);
/// No request is smaller.
const SMALLEST: Amounts = Amounts::one_request()
    .with(Meter::Tokens, 1)
    .with(Meter::InputTokens, 1)
    .with(Meter::OutputTokens, 1);

/// Whether a lane is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// Nothing of it starts.
    Yes,
    /// It goes on.
    No,
}

/// When a demand may start, its lane considered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LaneFit {
    Now,
    /// It would fit, but that much of a limit is left to higher lanes; when it would start if they want all of it.
    Left(LimitId, Option<Timestamp>),
    Later(Fit),
}

/// What all tickets together want of one limit.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Waiting {
    all: u64,
    /// Those above batch.
    pub(crate) urgent: u64,
}

/// What the last walk along a group's line found.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Walk {
    /// The earliest start among the tickets that must wait; `None` where nobody must, or only for something in flight.
    pub(crate) next_start: Option<Timestamp>,
    /// Whether something happened since that may have made room for somebody to pass.
    pub(crate) stirred: bool,
    /// Nobody is looked for who may pass before that.
    quiet_until: Timestamp,
}

impl Core {
    /// Reserves `demand` for `lane`. It was asked for at the same `now` and fits.
    pub(crate) fn begin(
        &mut self,
        target: TargetId,
        demand: Amounts,
        lane: Lane,
        now: Now,
    ) -> ReservationId {
        let limits = &self.policy.targets()[target.index()].limits;
        for &limit in limits {
            if self.ledger.counter(limit).limit.meter == Meter::Concurrent {
                self.wanted[limit.index()].take(lane, now);
            }
        }
        self.ledger.reserve(limits, demand, lane, now)
    }

    /// Ends a reservation.
    pub(crate) fn end(
        &mut self,
        reservation: ReservationId,
        outcome: Outcome,
        now: Now,
    ) -> Option<Vec<Resolution>> {
        let lane = self.ledger.lane_of(reservation)?;
        let resolutions = self.ledger.settle(reservation, outcome, now)?;
        for resolution in &resolutions {
            if self.ledger.counter(resolution.limit).limit.meter == Meter::Concurrent {
                self.wanted[resolution.limit.index()].give_back(lane, now);
            }
        }
        Some(resolutions)
    }

    /// Notes what a request wants of each limit, so that lower lanes leave it.
    pub(crate) fn ask(&mut self, submission: &Submission, now: Now) {
        let rules = self.policy.lanes();
        let below = &Lane::ALL[submission.lane.index() + 1..];
        if below
            .iter()
            .all(|&lane| rules.of(lane).leaves.points() == 0)
        {
            return;
        }
        for &limit in &self.policy.targets()[submission.target.index()].limits {
            let amount = submission.demand.of(self.ledger.counter(limit).limit.meter);
            self.wanted[limit.index()].ask(submission.lane, amount, now);
        }
    }

    /// When `demand` may start beside what `lane` leaves to those above it.
    pub(crate) fn fit_in_lane(
        &mut self,
        target: TargetId,
        demand: Amounts,
        lane: Lane,
        now: Now,
    ) -> LaneFit {
        let limits = &self.policy.targets()[target.index()].limits;
        let fit = self.ledger.fit(limits, demand, now);
        let share = self.policy.lanes().of(lane).leaves;
        if fit != Fit::Now || share.points() == 0 || lane == Lane::Interactive {
            return match fit {
                Fit::Now => LaneFit::Now,
                later => LaneFit::Later(later),
            };
        }
        let mut leaves: Vec<(LimitId, u64)> = Vec::new();
        for &limit in limits {
            let counter = self.ledger.counter(limit);
            let most = share.of(counter.usable());
            let left = self.wanted[limit.index()].leaves(lane, most, counter, now);
            if left > 0 {
                leaves.push((limit, left));
            }
        }
        if leaves.is_empty() {
            return LaneFit::Now;
        }
        let left = |id: LimitId| {
            let of = leaves.iter().find(|(limit, _)| *limit == id);
            of.map_or(0, |(_, left)| *left)
        };
        match self.ledger.fit_leaving(limits, demand, left, now) {
            Fit::Now => LaneFit::Now,
            Fit::At(start, limit) => LaneFit::Left(limit, Some(start)),
            Fit::OnRelease(limit, latest) => LaneFit::Left(limit, latest),
        }
    }

    /// When a ticket that leaves something of `limit` to others looks again.
    pub(crate) fn looks_again(&self, limit: LimitId, now: Now) -> Timestamp {
        let after = self.wanted[limit.index()].looks_after();
        now.mono.saturating_add(after)
    }

    /// Whether `submission` may start before those who wait in its group: nobody's start moves.
    pub(crate) fn may_pass(&self, group: usize, submission: &Submission, now: Now) -> bool {
        let limits = &self.policy.targets()[submission.target.index()].limits;
        self.moves_nobody(group, limits, submission.demand, Amounts::ZERO, now)
    }

    /// Whether `demand`, of which `counted` is part of what waits, delays nobody when it starts now.
    fn moves_nobody(
        &self,
        group: usize,
        limits: &[LimitId],
        demand: Amounts,
        counted: Amounts,
        now: Now,
    ) -> bool {
        let Some(next_start) = self.walks[group].next_start else {
            return false;
        };
        if next_start <= now.mono {
            return false;
        }
        limits.iter().all(|&id| {
            let counter = self.ledger.counter(id);
            let meter = counter.limit.meter;
            let over = counter
                .clears(now)
                .is_some_and(|clears| clears <= next_start);
            let others = self.waiting_demand[id.index()]
                .all
                .saturating_sub(counted.of(meter));
            let all = others.saturating_add(demand.of(meter));
            over || counter.earliest(all, now) == Earliest::At(now.mono)
        })
    }

    /// Starts those behind tickets that must wait who may pass them. The caller has just walked the line of `group`.
    pub(crate) fn let_pass(&mut self, group: usize, now: Now) {
        let Walk {
            next_start,
            stirred,
            quiet_until,
        } = self.walks[group];
        if next_start.is_none() || !stirred {
            return;
        }
        let mut started = false;
        for index in 0..self.passed_over.len() {
            let target = self.passed_over[index];
            let limits = &self.policy.targets()[target.index()].limits;
            let could = self.moves_nobody(group, limits, SMALLEST, SMALLEST, now);
            if !could || self.ledger.wants_grant(limits) {
                continue;
            }
            if now.mono < quiet_until {
                self.wake_at(quiet_until);
                return;
            }
            for lane in Lane::ALL {
                if self.line.is_held(lane) {
                    continue;
                }
                for id in self.line.some_for(target, lane, PASSES_MAX) {
                    started |= self.passes(group, id, now);
                }
            }
        }
        let walk = &mut self.walks[group];
        walk.stirred = started;
        if !started {
            walk.quiet_until = now.mono.saturating_add(PASSES_PAUSE);
        }
    }

    fn passes(&mut self, group: usize, id: TicketId, now: Now) -> bool {
        let Some(ticket) = self.line.ticket(id).copied() else {
            return false;
        };
        let limits = &self.policy.targets()[ticket.target.index()].limits;
        let may = self.events.len() < EVENTS_MAX
            && self.moves_nobody(group, limits, ticket.demand, ticket.demand, now);
        let starts =
            may && self.fit_in_lane(ticket.target, ticket.demand, ticket.lane, now) == LaneFit::Now;
        if starts {
            self.start(id, &ticket, now);
        }
        starts
    }

    /// A ticket starts.
    pub(crate) fn start(&mut self, id: TicketId, ticket: &Ticket, now: Now) {
        let reservation = self.begin(ticket.target, ticket.demand, ticket.lane, now);
        self.line.start(id, self.policy.lanes());
        self.walks[self.groups.of_target(ticket.target)].stirred = true;
        self.count_waiting(
            ticket.target,
            ticket.demand,
            ticket.lane,
            u64::saturating_sub,
        );
        self.events.push_back(Event::Admitted {
            ticket: id,
            reservation,
        });
    }

    /// A ticket leaves the line without starting.
    pub(crate) fn leave(&mut self, id: TicketId) -> Option<Ticket> {
        let ticket = self.line.leave(id)?;
        self.count_waiting(
            ticket.target,
            ticket.demand,
            ticket.lane,
            u64::saturating_sub,
        );
        Some(ticket)
    }

    /// Keeps the sum of what waits, by limit.
    pub(crate) fn count_waiting(
        &mut self,
        target: TargetId,
        demand: Amounts,
        lane: Lane,
        by: impl Fn(u64, u64) -> u64,
    ) {
        for &limit in &self.policy.targets()[target.index()].limits {
            let amount = demand.of(self.ledger.counter(limit).limit.meter);
            let waiting = &mut self.waiting_demand[limit.index()];
            waiting.all = by(waiting.all, amount);
            if lane < Lane::Batch {
                waiting.urgent = by(waiting.urgent, amount);
            }
        }
    }

    /// The books of lanes under another policy than `old`: limits of the same name that are counted alike keep theirs.
    pub(crate) fn want_anew(&mut self, old: &Policy, now: Now) {
        let limits = self.policy.limits().iter();
        let kept = |limit: &crate::Limit| {
            let alike = |old: &crate::Limit| old.name == limit.name && old.window == limit.window;
            old.limits().iter().position(alike)
        };
        let wanted = limits.map(|limit| match kept(limit) {
            Some(place) => self.wanted[place].clone(),
            None => Wanted::of(limit, now),
        });
        self.wanted = wanted.collect();
        self.waiting_demand = alloc::vec![Waiting::default(); self.policy.limits().len()];
        for id in self.line.ids() {
            if let Some(ticket) = self.line.ticket(id).copied() {
                self.count_waiting(
                    ticket.target,
                    ticket.demand,
                    ticket.lane,
                    u64::saturating_add,
                );
            }
        }
    }
}
