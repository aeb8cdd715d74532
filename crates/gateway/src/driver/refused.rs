//! Why a request does not start, with names in place of the core's numbers.

use std::sync::Arc;
use std::time::Duration;

use sluicegate_core::{Core, Lane, LoadLevel, Now, Refusal};

use super::waiters::Waiters;

/// Why a request does not start, and what is known to help it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    pub(crate) refusal: Refusal,
    pub(crate) lane: Lane,
    /// The limit that decided, where one did: its name and its whole amount.
    pub(crate) limit: Option<(Arc<str>, u64)>,
    /// The level of load at which nothing of its lane starts, where that decided.
    pub(crate) held: Option<LoadLevel>,
    /// How long until it would start.
    pub(crate) wait: Option<Duration>,
}

impl Refused {
    pub(super) fn new(core: &Core, line: &Waiters, lane: Lane, refusal: Refusal, now: Now) -> Self {
        let (limit, start) = match refusal {
            Refusal::TooLarge { limit, .. } | Refusal::NotGranted { limit } => (Some(limit), None),
            Refusal::Deadline { limit, start } => (limit, start),
            Refusal::Shed { limit, start } => (Some(limit), start),
            Refusal::LineFull { start } => (None, start),
            Refusal::NoSuchTarget => (None, None),
        };
        let held = line.load.holds(lane);
        let held = held.filter(|_| matches!(refusal, Refusal::Deadline { .. }));
        let start = match held {
            Some(_) => line.load.lets_go(),
            None => start,
        };
        let limit = limit.and_then(|id| core.policy().limits().get(id.index()));
        Self {
            refusal,
            lane,
            limit: limit.map(|limit| (Arc::clone(&limit.name), limit.amount.get())),
            held,
            wait: start.map(|start| start.saturating_since(now.mono)),
        }
    }

    /// Of a request that waited for something which is no more.
    pub(super) fn gone(lane: Lane) -> Self {
        Self {
            refusal: Refusal::NoSuchTarget,
            lane,
            limit: None,
            held: None,
            wait: None,
        }
    }

    /// What it was shed for, as metrics name it; `None` where no other time would have helped.
    pub(crate) fn shed_for(&self) -> Option<&'static str> {
        match self.refusal {
            Refusal::Deadline { .. } if self.held.is_some() => Some("held"),
            Refusal::Deadline { .. } => Some("deadline"),
            Refusal::Shed { .. } => Some("kept_for_others"),
            Refusal::LineFull { .. } => Some("line_full"),
            Refusal::TooLarge { .. } | Refusal::NotGranted { .. } | Refusal::NoSuchTarget => None,
        }
    }
}
