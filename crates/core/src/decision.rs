//! What goes in and what comes out: decisions as data, each naming the limit that bound it.

use alloc::vec::Vec;

use crate::line::TicketId;
use crate::{Amounts, Lane, LimitId, ReservationId, TargetId, TenantId, Timestamp};

/// A request that wants to start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submission {
    /// Where it goes.
    pub target: TargetId,
    /// What it will be charged there.
    pub demand: Amounts,
    /// How urgent it is.
    pub lane: Lane,
    /// Whose share it is of.
    pub tenant: TenantId,
    /// What it takes of memory while it waits.
    pub bytes: u32,
    /// When waiting stops being useful: a start at that very instant still is.
    pub deadline: Timestamp,
}

impl Submission {
    /// A submission of nobody in particular, to the lane of programs that wait.
    pub const fn new(target: TargetId, demand: Amounts, deadline: Timestamp) -> Self {
        Self {
            target,
            demand,
            lane: Lane::Api,
            tenant: TenantId::NONE,
            bytes: 0,
            deadline,
        }
    }
}

/// The answer to a [`Submission`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// It may start now.
    Admitted(ReservationId),
    /// It has a place in the line; an [`Event`] will tell.
    Waiting {
        /// Its place.
        ticket: TicketId,
        /// When it will start at the latest, if nothing overruns, signals or changes; `None` where that hangs on something in
        /// flight or on a grant.
        start: Option<Timestamp>,
        /// The limit that decides when, where one does.
        limit: Option<LimitId>,
    },
    /// It will not start.
    Refused(Refusal),
}

/// Why something does not start, and what would help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It is larger than the limit will ever hold. No wait helps.
    TooLarge {
        /// The limit.
        limit: LimitId,
        /// What the request asks of it.
        demand: u64,
    },
    /// It cannot start before its deadline.
    Deadline {
        /// The limit that decides, where one does.
        limit: Option<LimitId>,
        /// When it would have started.
        start: Option<Timestamp>,
    },
    /// It would fit, but is left to higher lanes, and cannot wait.
    Shed {
        /// The limit that is left to them.
        limit: LimitId,
        /// When it would start, if they want all that they are expected to.
        start: Option<Timestamp>,
    },
    /// The line is full.
    LineFull {
        /// When the newest of the line starts.
        start: Option<Timestamp>,
    },
    /// The grantor will never give it.
    NotGranted {
        /// The limit.
        limit: LimitId,
    },
    /// The target is not in the policy, or no longer.
    NoSuchTarget,
}

/// What happened since the last call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A waiting ticket may start now.
    Admitted {
        /// The ticket, which ends with this.
        ticket: TicketId,
        /// What it holds.
        reservation: ReservationId,
    },
    /// A waiting ticket will not start.
    Refused {
        /// The ticket, which ends with this.
        ticket: TicketId,
        /// Why.
        refusal: Refusal,
    },
    /// Charges on limits that somebody outside counts are wanted, all or nothing. Answered by
    /// [`Core::grant`](crate::Core::grant); the ticket waits meanwhile.
    GrantWanted {
        /// The ticket.
        ticket: TicketId,
        /// The charges.
        charges: Vec<(LimitId, u64)>,
    },
    /// What was granted will not be used: the ticket left the line. Whoever gave it takes it back.
    GrantUnused {
        /// The ticket, which has ended.
        ticket: TicketId,
        /// The charges.
        charges: Vec<(LimitId, u64)>,
    },
    /// A reservation outlived its time and was ended: what it held in flight is free, the rest stays charged.
    Expired {
        /// The reservation.
        reservation: ReservationId,
    },
}

/// The answer to [`Event::GrantWanted`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grant {
    /// Given.
    Given,
    /// Not before that instant; it is asked for again then.
    NotBefore(Timestamp),
    /// Never.
    Never {
        /// The limit that says so.
        limit: LimitId,
    },
}
