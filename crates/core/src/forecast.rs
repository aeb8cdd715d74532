//! When a ticket at the end of the line will start: the line played ahead on a copy of the counts.
//!
//! A forecast is for one lane and tenant. It is kept and grows with each ticket that joins there. What makes starts earlier (a
//! refund, somebody leaving) or later (an overrun, a signal, a ticket that goes before) only marks it as old; it is made anew
//! when the next ticket joins. With a short line that is every time. A long one is played anew at most every [`AGE_MAX`], and no
//! further than [`Forecast::PLAYED_MAX`] tickets: those behind, and those of tenants for whom none is kept, are taken to start at
//! the pace of what was played, which is an estimate and no promise. So a storm of arrivals cannot make the core slow.

use core::time::Duration;

use alloc::vec::Vec;

use crate::ledger::{Fit, Ledger};
use crate::line::{Ahead, Due, Ticket};
use crate::time::duration_nanos;
use crate::{Amounts, Lane, LimitId, Now, TenantId, Timestamp};

/// Up to that many tickets are played anew whenever something changed.
const TICKETS_MAX: usize = 512;
/// A line that is longer is played anew for a few tenants only; the others go by its pace.
const PLAYED_FOR_ALL: usize = 128;
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
    /// What goes between those that are played for its minimum share, and the limits that it is charged on.
    due: Vec<(Vec<LimitId>, Due)>,
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
    /// Tickets that are played one by one. Beyond them starts are guessed from the pace, which windows that give in bursts defy.
    pub(crate) const PLAYED_MAX: usize = 512;
    /// Forecasts that are kept for one group of targets.
    pub(crate) const KEPT_MAX: usize = 4;

    pub(crate) fn new(lane: Lane, tenant: TenantId, counts: Ledger, now: Now) -> Self {
        Self {
            lane,
            tenant,
            played: 0,
            beyond: 0,
            due: Vec::new(),
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

    /// The pace at which a line starts that is too long to be played for everybody; `None` where it is short, nobody knows, or
    /// that was long ago.
    pub(crate) fn pace(&self, waiting: usize, now: Now) -> Option<Pace> {
        let recent = now.mono < self.made.saturating_add(AGE_MAX);
        (waiting > PLAYED_FOR_ALL && recent)
            .then(|| Pace::of(self))
            .flatten()
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
        ahead: Ahead,
        limits_of: impl Fn(&Ticket) -> &'a [LimitId],
        now: Now,
    ) {
        let limited = |due: Due| (limits_of(&due.ticket).to_vec(), due);
        self.due = ahead.due.into_iter().map(limited).collect();
        self.let_due_go(now);
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
            let last = Pace::of(self).map_or(before, |pace| pace.over(before, self.beyond));
            return Placed::At(last, limit);
        }
        let from = now.at(before);
        match self.counts.fit(limits, demand, from) {
            Fit::Now => Placed::At(from.mono, None),
            Fit::At(start, limit) => Placed::At(start, Some(limit)),
            Fit::OnRelease(limit, _) => Placed::Unknown(limit),
        }
    }

    /// Counts a demand where [`start_of`](Self::start_of) placed it.
    pub(crate) fn add(&mut self, limits: &[LimitId], demand: Amounts, placed: Placed, now: Now) {
        if self.beyond > 0 {
            self.beyond = self.beyond.saturating_add(demand.weight());
            return;
        }
        self.count(limits, demand, placed, now);
        for (_, due) in &mut self.due {
            due.count(demand);
        }
        self.let_due_go(now);
    }

    /// Plays those of lower lanes that go next for their minimum share. Between two others no lane does so twice.
    fn let_due_go(&mut self, now: Now) {
        let mut all = core::mem::take(&mut self.due);
        for (limits, due) in &mut all {
            if due.takes() {
                let demand = due.ticket.demand;
                let placed = self.start_of(limits, demand, now);
                self.count(limits, demand, placed, now);
            }
        }
        self.due = all;
    }

    fn count(&mut self, limits: &[LimitId], demand: Amounts, placed: Placed, now: Now) {
        if let Placed::At(start, _) = placed {
            self.counts.charge(limits, demand, now.at(start));
        }
        self.played = self.played.saturating_add(demand.weight());
        self.last = placed;
    }
}

/// How fast a line starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    weight: u64,
    took: u64,
    limit: Option<LimitId>,
}

impl Pace {
    fn of(forecast: &Forecast) -> Option<Self> {
        let Placed::At(last, limit) = forecast.last else {
            return None;
        };
        (forecast.played > 0).then(|| Self {
            weight: forecast.played,
            took: duration_nanos(last.saturating_since(forecast.made)),
            limit,
        })
    }

    /// When what weighs `weight` has started, beginning at `from`.
    fn over(self, from: Timestamp, weight: u64) -> Timestamp {
        let took = u128::from(self.took) * u128::from(weight) / u128::from(self.weight);
        from.plus_nanos(u64::try_from(took).unwrap_or(u64::MAX))
    }

    /// Where a ticket stands before which there is `ahead`.
    pub(crate) fn placed(self, ahead: u64, now: Now) -> Placed {
        Placed::At(self.over(now.mono, ahead), self.limit)
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
