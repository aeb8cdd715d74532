//! How much of a limit is used, by window kind.
//!
//! Each kind is one file and answers the same questions: when would this charge fit, count it, give part of it back, how
//! much is used. A kind knows integers and `now`; it knows no request, no reservation and no other limit. An enum and not a
//! trait object: the set is closed, and the ledger's inner loop runs over it.

mod bucket;
mod edges;
mod fixed;
mod in_flight;
mod pacing;
mod phase;
mod sliding;

use core::time::Duration;

use crate::time::duration_nanos;
use crate::{Limit, Now, Start, Timestamp, Window};

use bucket::Bucket;
use edges::Edges;
use fixed::Fixed;
use in_flight::InFlight;
use pacing::Pacing;
pub(crate) use phase::{Certainty, Edge};
pub(crate) use sliding::Sliding;

/// Of a small bucket, errors of so many fillings are learned together.
const BUCKETS: u64 = 8;

/// When a charge fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Earliest {
    /// From that instant on, if nothing else is charged before it. An instant that is past means now.
    At(Timestamp),
    /// When something that is in flight ends, and from that instant on at the latest; `None` where nothing else makes room.
    OnRelease(Option<Timestamp>),
}

impl Earliest {
    /// The later of the two.
    pub(crate) fn later(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(other)) => Self::At(one.max(other)),
            (Self::OnRelease(latest), Self::At(at)) | (Self::At(at), Self::OnRelease(latest)) => {
                Self::OnRelease(latest.map(|latest| latest.max(at)))
            }
            (Self::OnRelease(one), Self::OnRelease(other)) => {
                Self::OnRelease(one.zip(other).map(|(one, other)| one.max(other)))
            }
        }
    }

    /// The sooner of the two. That something ends is taken for later than any instant that is known.
    pub(crate) fn sooner(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(one), Self::At(other)) => Self::At(one.min(other)),
            (Self::At(at), _) | (_, Self::At(at)) => Self::At(at),
            (Self::OnRelease(one), Self::OnRelease(other)) => {
                Self::OnRelease([one, other].into_iter().flatten().min())
            }
        }
    }
}

/// The sizes that every window kind decides by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ceiling {
    /// What charges may sum up to.
    pub(crate) usable: u64,
    /// What a single charge may be when nothing else is counted.
    pub(crate) alone: u64,
}

impl Ceiling {
    /// Whether `charge` fits beside `used`.
    pub(crate) fn fits(self, used: u64, charge: u64) -> bool {
        used.saturating_add(charge) <= self.usable || (used == 0 && charge <= self.alone)
    }
}

/// The count of one window.
#[derive(Clone, Debug)]
pub(crate) enum Count {
    Fixed(Fixed),
    Sliding(Sliding),
    Bucket(Bucket),
    Pacing(Pacing),
    InFlight(InFlight),
}

impl Count {
    /// A count of `limit` that begins at `now` as the limit's `start` says.
    pub(crate) fn begin(limit: &Limit, ceiling: Ceiling, now: Now) -> Self {
        let spread = duration_nanos(limit.arrival_spread);
        let used = match limit.start {
            Start::Full => 0,
            Start::Empty => ceiling.usable,
        };
        let fixed = |edges| Self::Fixed(Fixed::begin(edges, spread, used, now));
        match &limit.window {
            Window::Fixed { per } => fixed(Edges::Every(nanos(*per))),
            Window::Calendar(calendar) => fixed(Edges::At(calendar.clone())),
            Window::Floating { per } | Window::Sliding { per } => {
                Self::Sliding(Sliding::begin(nanos(*per), spread, used, now))
            }
            Window::Bucket { per } => {
                Self::Bucket(Bucket::begin(nanos(*per), spread, ceiling, used, now))
            }
            Window::Pacing { per, burst } => {
                let (per, burst) = (nanos(*per), nanos(*burst));
                Self::Pacing(Pacing::begin(per, burst, spread, ceiling, used, now))
            }
            Window::Concurrent | Window::Adaptive => Self::InFlight(InFlight::default()),
        }
    }

    /// When `charge` fits, at `now` or later.
    pub(crate) fn earliest(&self, ceiling: Ceiling, charge: u64, now: Now) -> Earliest {
        match self {
            Self::Fixed(count) => count.earliest(ceiling, charge, now),
            Self::Sliding(count) => count.earliest(ceiling, charge, now),
            Self::Bucket(count) => count.earliest(ceiling, charge, now),
            Self::Pacing(count) => count.earliest(ceiling, charge, now),
            Self::InFlight(count) => count.earliest(ceiling, charge, now),
        }
    }

    /// Counts `charge` at `now`, whether it fits or not.
    pub(crate) fn charge(&mut self, charge: u64, now: Now) {
        match self {
            Self::Fixed(count) => count.charge(charge, now),
            Self::Sliding(count) => count.charge(charge, now),
            Self::Bucket(count) => count.charge(charge, now),
            Self::Pacing(count) => count.charge(charge, now),
            Self::InFlight(count) => count.charge(charge),
        }
    }

    /// Gives back `amount` of what was charged at `charged_at`; nothing once the window has moved on.
    pub(crate) fn give_back(&mut self, amount: u64, charged_at: Timestamp, now: Now) {
        match self {
            Self::Fixed(count) => count.give_back(amount, charged_at, now),
            Self::Sliding(count) => count.give_back(amount, charged_at, now),
            Self::Bucket(count) => count.give_back(amount, now),
            Self::Pacing(count) => count.give_back(amount, now),
            Self::InFlight(count) => count.give_back(amount),
        }
    }

    /// What is used at `now`.
    pub(crate) fn used(&self, now: Now) -> u64 {
        match self {
            Self::Fixed(count) => count.used(now),
            Self::Sliding(count) => count.used(now),
            Self::Bucket(count) => count.used(now),
            Self::Pacing(count) => count.used(now),
            Self::InFlight(count) => count.used(),
        }
    }

    /// Makes `used` the amount that is used at `now`.
    pub(crate) fn set_used(&mut self, used: u64, now: Now) {
        match self {
            Self::Fixed(count) => count.set_used(used, now),
            Self::Sliding(count) => count.set_used(used, now),
            Self::Bucket(count) => count.set_used(used, now),
            Self::Pacing(count) => count.set_used(used, now),
            // What is in flight is ours to know: no provider corrects it.
            Self::InFlight(_) => {}
        }
    }

    /// What has to be charged, where `usable` may be used, before the errors of it tell something: a whole limit's worth, or
    /// several times what a small bucket holds.
    pub(crate) fn learns_over(&self, usable: u64) -> u64 {
        match self {
            Self::Pacing(count) => count.holds().saturating_mul(BUCKETS).min(usable),
            Self::Fixed(_) | Self::Sliding(_) | Self::Bucket(_) | Self::InFlight(_) => usable,
        }
    }

    /// Whether `used` may be what is used there. A provider that paces may tell of all that it gave in a period, which is more
    /// than its bucket ever holds.
    pub(crate) fn may_hold(&self, used: u64) -> bool {
        match self {
            Self::Pacing(count) => used <= count.holds().saturating_mul(2),
            Self::Fixed(_) | Self::Sliding(_) | Self::Bucket(_) | Self::InFlight(_) => true,
        }
    }

    /// Whether it begins anew, or refills, when the provider's does.
    pub(crate) fn renews_as_it_does(&self) -> bool {
        match self {
            Self::Sliding(count) => count.knows_edges(),
            Self::Fixed(_) | Self::Bucket(_) | Self::Pacing(_) | Self::InFlight(_) => true,
        }
    }

    /// When a charge that is made now counts no more, where all of it ends at once.
    pub(crate) fn clears(&self, now: Now) -> Option<Timestamp> {
        match self {
            Self::Fixed(count) => Some(count.clears(now)),
            Self::Sliding(count) => Some(count.clears(now)),
            Self::Bucket(_) | Self::Pacing(_) | Self::InFlight(_) => None,
        }
    }

    /// Whether what was sent at `sent` counts in the window at `now`, so that an answer to it tells of that window.
    pub(crate) fn covers(&self, sent: Timestamp, now: Now) -> bool {
        match self {
            Self::Fixed(count) => count.covers(sent, now),
            Self::Sliding(count) => count.covers(sent, now),
            Self::Bucket(_) | Self::Pacing(_) | Self::InFlight(_) => true,
        }
    }

    /// What was charged from `from` on and still counts, where that can be told.
    pub(crate) fn since(&self, from: Timestamp) -> Option<u64> {
        match self {
            Self::Sliding(count) => Some(count.since(from)),
            Self::Fixed(_) | Self::Bucket(_) | Self::Pacing(_) | Self::InFlight(_) => None,
        }
    }

    /// What is used of it when nothing is left, where `usable` may be used in a window.
    pub(crate) fn holds(&self, usable: u64) -> u64 {
        match self {
            Self::Pacing(count) => count.holds(),
            Self::Fixed(_) | Self::Sliding(_) | Self::Bucket(_) | Self::InFlight(_) => usable,
        }
    }

    /// Whether it refills all the time.
    pub(crate) fn is_bucket(&self) -> bool {
        matches!(self, Self::Bucket(_) | Self::Pacing(_))
    }

    /// What is used of a bucket that lets `charge` in only after `wait`; `None` where there is no bucket.
    pub(crate) fn full(&self, charge: u64, wait: Duration) -> Option<u64> {
        match self {
            Self::Bucket(count) => Some(count.full(charge, wait)),
            Self::Pacing(count) => Some(count.full(wait)),
            Self::Fixed(_) | Self::Sliding(_) | Self::InFlight(_) => None,
        }
    }

    /// The provider's windows end at `edge`, and whole lengths before and after it.
    pub(crate) fn follow(&mut self, edge: Edge, certainty: Certainty) {
        if let Self::Sliding(count) = self {
            count.follow(edge, certainty);
        }
    }

    /// What came back by itself between `from` and `now`.
    pub(crate) fn refilled(&self, from: Timestamp, now: Now) -> u64 {
        match self {
            Self::Bucket(count) => count.refilled(from, now),
            Self::Pacing(count) => count.refilled(from, now),
            Self::Fixed(_) | Self::Sliding(_) | Self::InFlight(_) => 0,
        }
    }

    /// Requests arrive within `spread` nanoseconds of each other.
    pub(crate) fn set_spread(&mut self, spread: u64, now: Now) {
        match self {
            Self::Fixed(count) => count.set_spread(spread),
            Self::Sliding(count) => count.set_spread(spread, now),
            Self::Bucket(count) => count.set_spread(spread, now),
            Self::Pacing(count) => count.set_spread(spread, now),
            Self::InFlight(_) => {}
        }
    }

    /// Makes `used` the amount that is used at `now`, a window having begun before `sent`.
    pub(crate) fn renew(&mut self, used: u64, sent: Timestamp, now: Now) {
        match self {
            Self::Sliding(count) => count.renew(used, sent, now),
            Self::Fixed(_) | Self::Bucket(_) | Self::Pacing(_) | Self::InFlight(_) => {
                self.set_used(used, now);
            }
        }
    }

    /// The same count under another ceiling.
    pub(crate) fn retune(&mut self, ceiling: Ceiling, now: Now) {
        match self {
            Self::Bucket(count) => count.retune(ceiling, now),
            Self::Pacing(count) => count.retune(ceiling, now),
            Self::Fixed(_) | Self::Sliding(_) | Self::InFlight(_) => {}
        }
    }
}

fn nanos(per: Duration) -> u64 {
    duration_nanos(per).max(1)
}

#[cfg(test)]
pub(crate) fn at_millis(millis: u64) -> Now {
    // The wall clock reads a multiple of every period in the tests when the monotonic one reads zero.
    let nanos = millis * 1_000_000;
    Now::new(
        Timestamp::from_nanos(nanos),
        crate::WallTime::from_unix_nanos(EPOCH + nanos),
    )
}

#[cfg(test)]
const EPOCH: u64 = 1_800_000_000 * crate::time::NANOS_PER_SECOND;
