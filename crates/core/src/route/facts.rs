//! What is known of a request and of the targets that it may go to, and which of them is the better one.

use core::time::Duration;

use super::{Balance, Prospect};
use crate::{Lane, LoadEffects, LoadLevel, Timestamp};

/// What decides for one request, whichever target it goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asking {
    /// Its lane.
    pub lane: Lane,
    /// When waiting stops being useful: a start at that very instant still is.
    pub deadline: Timestamp,
    /// Whether its task is marked simple.
    pub simple: bool,
    /// How loaded the route's targets are.
    pub load: LoadLevel,
    /// What that changes.
    pub effects: LoadEffects,
}

/// What is known of one target for one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// When its breaker lets the request pass, as a probe too: [`Prospect::OnRelease`] while a probe in flight decides,
    /// [`Prospect::Never`] where no key works and nobody knows when one will.
    pub passes: Prospect,
    /// Whether it can be asked for that at all: it has such an operation, and its dialect can say what the request says.
    pub speaks: bool,
    /// Whether the request fits its context.
    pub fits_context: bool,
    /// When its limits let the request start; see [`Core::prospect`](crate::Core::prospect).
    pub start: Prospect,
    /// What the request is expected to cost there, in micro-dollars.
    pub price: u64,
    /// How long its first byte took of late; `None` where nobody knows, and then it counts as none, so that it becomes known.
    pub latency: Option<Duration>,
}

impl Facts {
    /// When the request can start, by breaker and limits together; what is past is now, so that two of them are alike.
    pub(super) fn start(&self, now: Timestamp) -> Prospect {
        self.start.max(self.passes).max(Prospect::At(now))
    }

    /// Of two that can, the one with the smaller rank goes first. A start that is known comes before one that hangs on something
    /// in flight, whatever it costs: only the former certainly makes the deadline.
    pub(super) fn rank(&self, balance: Balance, start: Prospect) -> (bool, u64, u64, u64) {
        let at = match start {
            Prospect::At(at) => Some(at),
            Prospect::OnRelease | Prospect::Never => None,
        };
        let unknown = at.is_none();
        let instant = at.unwrap_or(Timestamp::ZERO);
        let begins = instant.as_nanos();
        // A fast one that is not free for long answers late.
        let answers = instant
            .saturating_add(self.latency.unwrap_or_default())
            .as_nanos();
        match balance {
            Balance::Earliest => (unknown, begins, self.price, 0),
            Balance::Price => (unknown, self.price, begins, 0),
            Balance::Latency => (unknown, answers, self.price, begins),
        }
    }
}
