//! Where windows that follow each other end: at multiples of a length, or as a calendar says.

use crate::Calendar;
use crate::calendar::multiple_at_or_after;

#[derive(Clone, Debug)]
pub(crate) enum Edges {
    /// At multiples of so many nanoseconds since the Unix epoch.
    Every(u64),
    At(Calendar),
}

impl Edges {
    /// The first edge at or after `wall`, both in nanoseconds since the Unix epoch.
    pub(crate) fn at_or_after(&self, wall: i128) -> i128 {
        match self {
            Self::Every(length) => multiple_at_or_after(wall, *length, 0),
            Self::At(calendar) => calendar.edge_at_or_after(wall),
        }
    }

    /// No window is shorter, in nanoseconds.
    pub(crate) fn shortest(&self) -> u64 {
        match self {
            Self::Every(length) => *length,
            Self::At(calendar) => calendar.lengths().0,
        }
    }

    /// No window is longer, in nanoseconds.
    pub(crate) fn longest(&self) -> u64 {
        match self {
            Self::Every(length) => *length,
            Self::At(calendar) => calendar.lengths().1,
        }
    }
}
