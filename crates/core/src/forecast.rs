//! When a ticket at the end of the line will start: the line played ahead on a copy of the counts.
//!
//! A forecast is kept and grows with each ticket that joins. What makes starts earlier (a refund, somebody leaving) or later
//! (an overrun, a signal) only marks it as old; it is made anew when the next ticket joins. With a short line that is every
//! time; a long one is played anew at most every [`AGE_MAX`], so that a storm of arrivals cannot make the core slow.

use core::time::Duration;

use crate::ledger::{Fit, Ledger};
use crate::line::Ticket;
use crate::{Amounts, LimitId, Now, Timestamp};

/// Up to that many tickets are played anew whenever something changed.
const TICKETS_MAX: usize = 512;
/// A longer line is played anew when the forecast is that old.
const AGE_MAX: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    counts: Ledger,
    made: Timestamp,
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
    pub(crate) fn new(counts: Ledger, now: Now) -> Self {
        Self {
            counts,
            made: now.mono,
            old: false,
            last: Placed::At(now.mono, None),
        }
    }

    pub(crate) fn serves(&self, waiting: usize, now: Now) -> bool {
        !self.old || (waiting > TICKETS_MAX && now.mono < self.made.saturating_add(AGE_MAX))
    }

    pub(crate) fn mark_old(&mut self) {
        self.old = true;
    }

    /// Plays `tickets`, in their order.
    pub(crate) fn play<'a>(
        &mut self,
        tickets: &[Ticket],
        limits_of: impl Fn(&Ticket) -> &'a [LimitId],
        now: Now,
    ) {
        for ticket in tickets {
            let limits = limits_of(ticket);
            let placed = self.start_of(limits, ticket.demand, now);
            self.add(limits, ticket.demand, placed, now);
        }
    }

    /// When a demand behind all that were added starts.
    pub(crate) fn start_of(&self, limits: &[LimitId], demand: Amounts, now: Now) -> Placed {
        let Placed::At(before, _) = self.last else {
            return self.last;
        };
        let from = now.at(before);
        match self.counts.fit(limits, demand, from) {
            Fit::Now => Placed::At(from.mono, None),
            Fit::At(start, limit) => Placed::At(start, Some(limit)),
            Fit::OnRelease(limit, _) => Placed::Unknown(limit),
        }
    }

    /// Counts a demand where [`start_of`](Self::start_of) placed it.
    pub(crate) fn add(&mut self, limits: &[LimitId], demand: Amounts, placed: Placed, now: Now) {
        if let Placed::At(start, _) = placed {
            self.counts.charge(limits, demand, now.at(start));
        }
        self.last = placed;
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
