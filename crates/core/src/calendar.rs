//! Instants of the wall clock at which one window ends and the next begins, where no fixed length gives them: midnights of a
//! zone with daylight saving, firsts of a month.
//!
//! The core knows no zones and no calendars. Whoever does hands it the instants, once; they are kept as stretches of equal
//! length, so that a century of midnights is a few hundred numbers, and finding an edge is a search among those.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::WallTime;

/// A row of edges on the wall clock, under a name. Cheap to clone.
///
/// Beyond its last edge it goes on with the last length, and before its first with the first: a table that ran out still ends
/// every window, perhaps an hour beside the provider's.
///
/// ```
/// use sluicegate_core::{Calendar, WallTime};
/// let hours = |hours: u64| WallTime::from_unix_nanos(hours * 3_600_000_000_000);
/// // Midnight in California around the day of 23 hours in March 2027.
/// let edges = [501_368, 501_392, 501_415, 501_439].map(hours);
/// let days = Calendar::new("day America/Los_Angeles", edges).expect("they rise");
/// assert_eq!(days.edge_after(hours(501_392)), hours(501_415));
/// assert_eq!(days.edge_after(hours(501_500)), hours(501_511));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Calendar(Arc<Table>);

#[derive(PartialEq, Eq)]
struct Table {
    name: Arc<str>,
    /// Rising by `from`; never empty.
    stretches: Vec<Stretch>,
    usual: u64,
    shortest: u64,
    longest: u64,
}

/// Edges at `from` and every `length` after it, up to the next stretch.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stretch {
    from: u64,
    length: u64,
    windows: u64,
}

impl Calendar {
    /// The calendar of that name with windows between neighbours of `edges`; `None` where these are fewer than two or do not
    /// rise.
    ///
    /// Two calendars are equal where names and edges are: a limit whose policy is loaded anew keeps its count then.
    pub fn new(
        name: impl Into<Arc<str>>,
        edges: impl IntoIterator<Item = WallTime>,
    ) -> Option<Self> {
        let mut edges = edges.into_iter().map(WallTime::as_unix_nanos);
        let mut from = edges.next()?;
        let mut stretches: Vec<Stretch> = Vec::new();
        for edge in edges {
            let length = edge.checked_sub(from).filter(|length| *length > 0)?;
            match stretches.last_mut() {
                Some(last) if last.length == length => last.windows += 1,
                _ => stretches.push(Stretch {
                    from,
                    length,
                    windows: 1,
                }),
            }
            from = edge;
        }
        let lengths = || stretches.iter().map(|stretch| stretch.length);
        let table = Table {
            name: name.into(),
            usual: usual(&stretches)?,
            shortest: lengths().min()?,
            longest: lengths().max()?,
            stretches,
        };
        Some(Self(Arc::new(table)))
    }

    /// Its name: what kind of window, and in which zone.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The length that most of its windows have, the shorter of two that are equally frequent.
    pub fn usual_length(&self) -> Duration {
        Duration::from_nanos(self.0.usual)
    }

    /// The first edge later than `wall`.
    pub fn edge_after(&self, wall: WallTime) -> WallTime {
        let edge = self.edge_at_or_after(i128::from(wall.as_unix_nanos()) + 1);
        WallTime::from_unix_nanos(u64::try_from(edge).unwrap_or(u64::MAX))
    }

    /// The first edge at or after `wall`, both in nanoseconds since the Unix epoch.
    pub(crate) fn edge_at_or_after(&self, wall: i128) -> i128 {
        let stretches = &self.0.stretches;
        let begun = stretches.partition_point(|stretch| i128::from(stretch.from) < wall);
        // The next stretch begins at an edge of this one.
        let stretch = stretches[begun.saturating_sub(1)];
        multiple_at_or_after(wall, stretch.length, stretch.from)
    }

    /// The shortest and the longest length of a window, in nanoseconds.
    pub(crate) fn lengths(&self) -> (u64, u64) {
        (self.0.shortest, self.0.longest)
    }
}

impl fmt::Debug for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.name, f)
    }
}

/// The first instant at or after `instant` that is a whole number of `length` away from `origin`.
pub(crate) fn multiple_at_or_after(instant: i128, length: u64, origin: u64) -> i128 {
    let length = i128::from(length);
    let past = (instant - i128::from(origin)).rem_euclid(length);
    if past == 0 {
        instant
    } else {
        instant + length - past
    }
}

fn usual(stretches: &[Stretch]) -> Option<u64> {
    let windows_of = |length: u64| -> u64 {
        let same = stretches.iter().filter(|stretch| stretch.length == length);
        same.map(|stretch| stretch.windows).sum()
    };
    let mut lengths: Vec<u64> = stretches.iter().map(|stretch| stretch.length).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
        .into_iter()
        .rev()
        .max_by_key(|length| windows_of(*length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calendar(edges: &[u64]) -> Option<Calendar> {
        let edges = edges.iter().copied().map(WallTime::from_unix_nanos);
        Calendar::new("test", edges)
    }

    #[test]
    fn edges_are_found_within_between_and_beyond_stretches() {
        // Lengths of 24, 24, 23, 24, 24, 25.
        let days = calendar(&[100, 124, 148, 171, 195, 219, 244]).expect("they rise");
        for (instant, edge) in [
            (100, 100),
            (101, 124),
            (124, 124),
            (148, 148),
            (149, 171),
            (171, 171),
            (172, 195),
            (219, 219),
            (220, 244),
            (244, 244),
            (245, 269),
            (99, 100),
            (76, 76),
            (75, 76),
            (-1, 4),
            (-20, -20),
        ] {
            assert_eq!(days.edge_at_or_after(instant), edge, "at {instant}");
        }
        assert_eq!(days.lengths(), (23, 25));
        assert_eq!(days.usual_length(), Duration::from_nanos(24));
    }

    #[test]
    fn equal_lengths_are_one_stretch() {
        let year: Vec<u64> = (0..=365).map(|day| day * 86_400).collect();
        let days = calendar(&year).expect("they rise");
        assert_eq!(days.0.stretches.len(), 1);
        assert_eq!(days.edge_at_or_after(86_401), 2 * 86_400);
    }

    #[test]
    fn what_does_not_rise_or_holds_no_window_is_no_calendar() {
        for edges in [&[][..], &[5], &[5, 5], &[5, 9, 8]] {
            assert!(calendar(edges).is_none(), "{edges:?}");
        }
    }
}
