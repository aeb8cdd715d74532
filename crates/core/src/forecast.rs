//! When a ticket at the end of the line will start: the line played ahead on a copy of the counts.
//!
//! A forecast is for one lane and tenant. It is kept and grows with each ticket that joins there. What makes starts earlier (a
//! refund, somebody leaving) or later (an overrun, a signal, a ticket that goes before) only marks it as old; it is made anew
//! when the next ticket joins. With a short line that is every time; a long one is played anew at most every [`AGE_MAX`], and no
//! further than [`Forecast::PLAYED_MAX`] tickets: those behind are taken to start as fast as those that were played, so that a
//! storm of arrivals cannot make the core slow.

use core::time::Duration;

use crate::ledger::{Fit, Ledger};
use crate::line::{Ahead, Ticket};
use crate::time::duration_nanos;
use crate::{Amounts, Lane, LimitId, Now, TenantId, Timestamp};

/// Up to that many tickets are played anew whenever something changed.
const TICKETS_MAX: usize = 512;
/// A longer line is played anew when the forecast is that old.
const AGE_MAX: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    lane: Lane,
    tenant: TenantId,
    counts: Ledger,
    made: Timestamp,
    /// What was played, and what comes after it and was not.
    played: u64,
    beyond: u64,
    old: bool,
    /// The start of the ticket placed last.
    last: Placed,
}

/// Where a ticket comes to stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Placed {
    /// It starts then, held by that limit.
    At(Timestamp, Option<LimitId>),
    /// That hangs on something in flight.
    Unknown(LimitId),
}

impl Forecast {
    /// Tickets that are played one by one.
    pub(crate) const PLAYED_MAX: usize = TICKETS_MAX;
    /// Forecasts that are kept for one group of targets.
    pub(crate) const KEPT_MAX: usize = 4;

    pub(crate) fn new(lane: Lane, tenant: TenantId, counts: Ledger, now: Now) -> Self {
        Self {
            lane,
            tenant,
            played: 0,
            beyond: 0,
            counts,
            made: now.mono,
            old: false,
            last: Placed::At(now.mono, None),
        }
    }

    pub(crate) fn serves(&self, waiting: usize, now: Now) -> bool {
        !self.old || (waiting > TICKETS_MAX && now.mono < self.made.saturating_add(AGE_MAX))
    }

    pub(crate) fn is_for(&self, lane: Lane, tenant: TenantId) -> bool {
        (self.lane, self.tenant) == (lane, tenant)
    }

    pub(crate) const fn lane(&self) -> Lane {
        self.lane
    }

    pub(crate) fn mark_old(&mut self) {
        self.old = true;
    }

    /// Plays what goes before.
    pub(crate) fn play<'a>(
        &mut self,
        ahead: &Ahead,
        limits_of: impl Fn(&Ticket) -> &'a [LimitId],
        now: Now,
    ) {
        for ticket in &ahead.tickets {
            let limits = limits_of(ticket);
            let placed = self.start_of(limits, ticket.demand, now);
            self.add(limits, ticket.demand, placed, now);
        }
        self.beyond = ahead.beyond;
    }

    /// When a demand behind all that were added starts.
    pub(crate) fn start_of(&self, limits: &[LimitId], demand: Amounts, now: Now) -> Placed {
        let Placed::At(before, limit) = self.last else {
            return self.last;
        };
        if self.beyond > 0 {
            return Placed::At(self.beyond_played(before), limit);
        }
        let from = now.at(before);
        match self.counts.fit(limits, demand, from) {
            Fit::Now => Placed::At(from.mono, None),
            Fit::At(start, limit) => Placed::At(start, Some(limit)),
            Fit::OnRelease(limit) => Placed::Unknown(limit),
        }
    }

    /// Counts a demand where [`start_of`](Self::start_of) placed it.
    pub(crate) fn add(&mut self, limits: &[LimitId], demand: Amounts, placed: Placed, now: Now) {
        if self.beyond > 0 {
            self.beyond = self.beyond.saturating_add(demand.weight());
            return;
        }
        if let Placed::At(start, _) = placed {
            self.counts.charge(limits, demand, now.at(start));
        }
        self.played = self.played.saturating_add(demand.weight());
        self.last = placed;
    }

    /// When what comes after `played`, of which the last starts at `last`, has started as well at the same pace.
    fn beyond_played(&self, last: Timestamp) -> Timestamp {
        let took = duration_nanos(last.saturating_since(self.made));
        let more = u128::from(took) * u128::from(self.beyond) / u128::from(self.played.max(1));
        last.plus_nanos(u64::try_from(more).unwrap_or(u64::MAX))
    }
}

impl Placed {
    /// The start, where it is known.
    pub(crate) const fn start(self) -> Option<Timestamp> {
        match self {
            Self::At(start, _) => Some(start),
            Self::Unknown(_) => None,
        }
    }

    /// The limit that decides, where one does.
    pub(crate) const fn limit(self) -> Option<LimitId> {
        match self {
            Self::At(_, limit) => limit,
            Self::Unknown(limit) => Some(limit),
        }
    }
}
