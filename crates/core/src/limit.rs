//! A limit as configured: what it counts, how much, how it refills. Plain comparable data.

use alloc::sync::Arc;
use core::fmt;
use core::num::NonZeroU64;
use core::time::Duration;

use crate::{BasisPoints, Calendar, Meter};

/// A ceiling on a meter, with its window.
///
/// Limits are compared by value: a new policy that holds an equal limit, or one that differs in amount only, keeps what the
/// old one counted (see [`Limit::name`]).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Names the limit in messages and metrics, unique in a policy, and ties it to its count across a change of policy.
    pub name: Arc<str>,
    /// What it counts.
    pub meter: Meter,
    /// The ceiling, in units of the meter.
    pub amount: NonZeroU64,
    /// How it counts and refills.
    pub window: Window,
    /// Also enforced over this shorter time, in proportion (`60s` with a quantum of `1s`: a sixtieth in any second).
    /// A demand larger than a quantum's share starts when the quantum is empty.
    pub quantum: Option<Duration>,
    /// How much of `amount` is used. A demand above that but within `amount` starts when the window is empty.
    pub headroom: Headroom,
    /// What the window holds when counting begins.
    pub start: Start,
    /// Whether a full limit holds requests back.
    pub mode: Mode,
    /// What happens to the difference between demand and usage.
    pub settlement: Settlement,
    /// Whether what failed at the provider stays charged.
    pub failures: Failures,
    /// The longest time by which arriving at the provider may follow admission. A window counts a charge for as long as it
    /// may matter there: a sliding one this much longer, a calendar one also in the next window when the edge is this close.
    pub arrival_spread: Duration,
    /// Who counts it.
    pub authority: Authority,
    /// Whose it is.
    pub book: Book,
}

/// Whose a limit is. The two are never mixed: what a provider says is of its own limits, and teaches nothing of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Book {
    /// One that we impose on whoever calls us. Charges count from their admission on, and all of it is used, less a hard cap:
    /// nothing is learned of what we count ourselves.
    Ours,
    /// A provider's, counted here as it counts: its answers correct the count and teach how it charges, and a refusal makes it
    /// suspect.
    Mirror,
}

/// How much of a limit is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Headroom {
    /// The whole, less a margin for what differs between our estimates and the provider's and for others on the account. It
    /// is learned from what the provider says; of tokens an eightieth is left free at least. Of our own limits nothing is.
    Auto,
    /// That share. What is learned may leave free more of it.
    Share(BasisPoints),
}

/// Who counts a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Authority {
    /// The core does.
    Local,
    /// Somebody outside does, for several instances together: each charge is asked for with
    /// [`Event::GrantWanted`](crate::Event::GrantWanted) and answered with [`Core::grant`](crate::Core::grant).
    Granted,
}

/// How a limit counts and refills.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Window {
    /// Windows of `per` aligned to multiples of `per` since the Unix epoch; each begins with the whole amount.
    Fixed {
        /// The window's length.
        per: Duration,
    },
    /// Windows of `per`, each with the whole amount, that begin nobody knows when. Until a signal tells of an edge no interval
    /// of `per`, wherever it starts, holds more than the amount.
    Floating {
        /// The window's length.
        per: Duration,
    },
    /// No interval of `per`, wherever it starts, holds more than the amount. Also right where nobody knows how the limit is
    /// counted.
    Sliding {
        /// The interval's length.
        per: Duration,
    },
    /// A bucket of the amount that refills continuously, the whole of it in `per`.
    Bucket {
        /// The time in which an empty bucket fills.
        per: Duration,
    },
    /// A leaky bucket that drains the amount in `per`. A charge of any size starts as soon as less is in it than drains in
    /// `burst`; what goes beyond that is a debt, which drains before anything else starts. So no charge is too large for it.
    Pacing {
        /// The time in which the amount drains.
        per: Duration,
        /// The bucket's depth, as the time in which a full one drains.
        burst: Duration,
    },
    /// Windows that end where a calendar says; each begins with the whole amount.
    Calendar(Calendar),
    /// What is in flight, given back when it ends.
    Concurrent,
    /// Likewise, where nobody publishes how much: of the amount is used what the upstream serves without queueing, learned from
    /// what [`Core::answered`](crate::Core::answered) is told; see [`AdaptiveSlots`](crate::AdaptiveSlots).
    Adaptive,
}

impl Window {
    /// The length over which the amount applies, the usual one where they differ; `None` for what is in flight.
    pub fn per(&self) -> Option<Duration> {
        match self {
            Self::Fixed { per }
            | Self::Floating { per }
            | Self::Sliding { per }
            | Self::Bucket { per }
            | Self::Pacing { per, .. } => Some(*per),
            Self::Calendar(calendar) => Some(calendar.usual_length()),
            Self::Concurrent | Self::Adaptive => None,
        }
    }
}

/// What a window holds when counting begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Nothing was used: the whole amount is there. For limits that we impose ourselves.
    Full,
    /// Somebody may just have used it all: one request passes, then the window refills. For mirrors of a provider's limit
    /// before its first signal.
    Empty,
}

/// Whether a full limit holds requests back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// It does.
    Enforce,
    /// It counts and reports but lets everything through.
    Shadow,
}

/// What happens to the difference between demand and usage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// The provider keeps what it charged on arrival.
    Keep,
    /// The charge becomes the usage: the rest is returned, an overrun is charged.
    Usage,
    /// Likewise, but the provider charges nothing on arrival: it counts what an answer uses as it goes on, and the charge is
    /// what we expect of it.
    Produced,
}

/// Whether what failed at the provider stays charged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failures {
    /// It does.
    Count,
    /// It is returned.
    Return,
}

impl Limit {
    /// Whether what was counted on this one would have been counted in the same way on `other`.
    pub(crate) fn counts_like(&self, other: &Self) -> bool {
        self.book == other.book
            && self.meter == other.meter
            && self.window == other.window
            && self.authority == other.authority
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
