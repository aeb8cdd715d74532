//! Windows aligned to the calendar: each begins with the whole amount, at an edge of the wall clock.
//!
//! Edges live on the wall clock, waiting on the monotonic one. The edge is therefore found once, when a window begins, and
//! kept as a monotonic instant: a wall clock that jumps cannot reopen a window. After a jump the running window is
//! stretched to the first edge of the corrected clock that is not before its old end, so that no window of either
//! reading holds more than the amount.
//!
//! A request that leaves just before an edge may arrive after it. For as long as the arrival spread it is counted in both
//! windows.

use super::{Ceiling, Earliest, Edges};
use crate::{Now, Timestamp};

/// Below this a difference between two readings of the wall clock is drift, not a jump.
const JUMP_MIN_NANOS: u64 = 100_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    edges: Edges,
    /// The spread from the next window on: what was carried over this one's edge was judged by the old one.
    next_spread: u64,
    window: Running,
}

/// The window that runs.
#[derive(Clone, Copy, Debug)]
struct Running {
    spread: u64,
    /// When the running window began to count; earlier charges are in no refundable place.
    begin: Timestamp,
    end: Timestamp,
    used: u64,
    /// What was sent so close to `end` that it may count in the next window too.
    carried: u64,
    /// Wall time minus monotonic time at the last look.
    offset: i128,
}

impl Fixed {
    pub(crate) fn begin(edges: Edges, spread: u64, used: u64, now: Now) -> Self {
        let end = edge_at_or_after(now.mono.plus_nanos(1), &edges, now);
        Self {
            edges,
            next_spread: spread,
            window: Running {
                spread,
                begin: now.mono,
                end,
                used,
                carried: 0,
                offset: offset(now),
            },
        }
    }

    pub(crate) fn earliest(&self, ceiling: Ceiling, charge: u64, now: Now) -> Earliest {
        let window = self.at(now);
        // What is carried over the edge is part of what is used here, so here alone decides.
        if ceiling.fits(window.used, charge) {
            return Earliest::At(now.mono);
        }
        if ceiling.fits(window.carried, charge) {
            return Earliest::At(window.end);
        }
        // What was carried over the edge is gone at the next one.
        Earliest::At(self.after(window, now.at(window.end)).end)
    }

    pub(crate) fn charge(&mut self, charge: u64, now: Now) {
        let mut window = self.at(now);
        window.used = window.used.saturating_add(charge);
        if window.is_near_edge(now.mono) {
            window.carried = window.carried.saturating_add(charge);
        }
        self.window = window;
    }

    pub(crate) fn give_back(&mut self, amount: u64, charged_at: Timestamp, now: Now) {
        let before = self.window;
        let mut window = self.at(now);
        if window.end == before.end && charged_at >= before.begin {
            window.used = window.used.saturating_sub(amount);
            if before.is_near_edge(charged_at) {
                window.carried = window.carried.saturating_sub(amount);
            }
        }
        self.window = window;
    }

    pub(crate) fn used(&self, now: Now) -> u64 {
        self.at(now).used
    }

    pub(crate) fn set_used(&mut self, used: u64, now: Now) {
        let mut window = self.at(now);
        window.used = used;
        window.carried = window.carried.min(used);
        self.window = window;
    }

    /// When a charge that is made now counts no more.
    pub(crate) fn clears(&self, now: Now) -> Timestamp {
        let window = self.at(now);
        if window.is_near_edge(now.mono) {
            self.after(window, now.at(window.end)).end
        } else {
            window.end
        }
    }

    /// Whether what was sent at `sent` counts in the window at `now`.
    pub(crate) fn covers(&self, sent: Timestamp, now: Now) -> bool {
        sent >= self.at(now).begin
    }

    pub(crate) fn set_spread(&mut self, spread: u64) {
        self.next_spread = spread;
    }

    /// The window as it stands at `now`.
    fn at(&self, now: Now) -> Running {
        self.after(self.window, now)
    }

    /// What has become of `window` at `now`.
    fn after(&self, mut window: Running, now: Now) -> Running {
        let offset = offset(now);
        if self.is_jump(offset, window.offset)
            && now.mono < window.end.plus_nanos(self.edges.longest())
        {
            let floor = window.end.max(now.mono.plus_nanos(1));
            window.end = edge_at_or_after(floor, &self.edges, now);
        }
        window.offset = offset;
        if now.mono >= window.end {
            // The clock may have drifted since the last edge was found: half a window tells this edge from the next.
            let floor = window.end.plus_nanos(self.edges.shortest() / 2);
            let next = edge_at_or_after(floor, &self.edges, now);
            if now.mono < next {
                window.begin = window.end;
                window.used = window.carried;
                window.end = next;
            } else {
                window.begin = now.mono;
                window.used = 0;
                window.end = edge_at_or_after(now.mono.plus_nanos(1), &self.edges, now);
            }
            window.carried = 0;
            window.spread = self.next_spread;
        }
        window
    }

    fn is_jump(&self, offset: i128, before: i128) -> bool {
        let jump = offset.abs_diff(before);
        jump > u128::from(JUMP_MIN_NANOS.min(self.edges.shortest() / 8))
    }
}

impl Running {
    fn is_near_edge(&self, instant: Timestamp) -> bool {
        instant.plus_nanos(self.spread) >= self.end
    }
}

fn offset(now: Now) -> i128 {
    i128::from(now.wall.as_unix_nanos()) - i128::from(now.mono.as_nanos())
}

/// The first instant at or after `floor` at which the wall clock, as it reads at `now`, shows one of `edges`.
fn edge_at_or_after(floor: Timestamp, edges: &Edges, now: Now) -> Timestamp {
    let floor_wall = i128::from(floor.as_nanos()) + offset(now);
    let wait = edges.at_or_after(floor_wall) - floor_wall;
    floor.plus_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::at_millis;
    use super::*;
    use crate::WallTime;

    const SECOND: u64 = 1_000_000_000;
    const TEN: Ceiling = Ceiling {
        usable: 10,
        alone: 10,
    };

    fn minute(spread_ms: u64, now: Now) -> Fixed {
        Fixed::begin(Edges::Every(60 * SECOND), spread_ms * 1_000_000, 0, now)
    }

    fn at(millis: u64) -> Earliest {
        Earliest::At(at_millis(millis).mono)
    }

    #[test]
    fn a_window_holds_the_amount_and_the_next_one_all_of_it() {
        let mut window = minute(0, at_millis(30_000));
        assert_eq!(window.earliest(TEN, 10, at_millis(30_000)), at(30_000));
        window.charge(10, at_millis(30_000));
        assert_eq!(window.earliest(TEN, 1, at_millis(30_001)), at(60_000));
        assert_eq!(window.earliest(TEN, 10, at_millis(60_000)), at(60_000));
    }

    #[test]
    fn what_leaves_within_the_spread_of_an_edge_counts_on_both_sides() {
        let mut window = minute(20, at_millis(0));
        window.charge(7, at_millis(59_990));
        assert_eq!(window.used(at_millis(60_000)), 7);
        assert_eq!(window.earliest(TEN, 4, at_millis(59_995)), at(120_000));
        assert_eq!(window.earliest(TEN, 3, at_millis(59_995)), at(59_995));
    }

    #[test]
    fn a_refund_counts_only_in_its_own_window() {
        let mut window = minute(20, at_millis(0));
        window.charge(6, at_millis(59_990));
        window.give_back(2, at_millis(59_990).mono, at_millis(59_995));
        assert_eq!((window.window.used, window.window.carried), (4, 4));
        window.give_back(4, at_millis(59_990).mono, at_millis(60_001));
        assert_eq!(window.used(at_millis(60_001)), 4);
    }

    #[test]
    fn a_wall_clock_that_jumps_back_or_forward_reopens_nothing() {
        for jump_ms in [-3_600_000_i64, -30_000, -1, 1, 29_000, 3_600_000] {
            let mut window = minute(0, at_millis(10_000));
            window.charge(10, at_millis(50_000));
            let before = window.window.end;
            let later = at_millis(50_010);
            let wall = later
                .wall
                .as_unix_nanos()
                .checked_add_signed(jump_ms * 1_000_000);
            let jumped = Now::new(
                later.mono,
                WallTime::from_unix_nanos(wall.expect("in range")),
            );
            let Earliest::At(start) = window.earliest(TEN, 1, jumped) else {
                panic!("a window always ends");
            };
            assert!(
                start >= before,
                "jump of {jump_ms} ms: {start} is before {before}"
            );
            assert!(
                start <= before.plus_nanos(60 * SECOND),
                "jump of {jump_ms} ms: {start}"
            );
        }
    }

    /// Windows of 60, 55 and 65 s, and of 65 s from then on.
    fn uneven(now: Now) -> Fixed {
        let edges = [0, 60_000, 115_000, 180_000].map(|millis| at_millis(millis).wall);
        let calendar = crate::Calendar::new("uneven", edges).expect("they rise");
        Fixed::begin(Edges::At(calendar), 20_000_000, 0, now)
    }

    #[test]
    fn windows_of_a_calendar_end_where_it_says() {
        let mut window = uneven(at_millis(30_000));
        for (charged_at, edge) in [
            (30_000, 60_000),
            (60_000, 115_000),
            (114_000, 115_000),
            (115_000, 180_000),
            (180_000, 245_000),
            (245_000, 310_000),
        ] {
            let left = 10 - window.used(at_millis(charged_at));
            window.charge(left, at_millis(charged_at));
            assert_eq!(window.earliest(TEN, 1, at_millis(charged_at)), at(edge));
        }
        window.charge(4, at_millis(309_990));
        assert_eq!(
            window.used(at_millis(310_000)),
            4,
            "it may have arrived late"
        );
    }

    #[test]
    fn a_jump_reopens_no_window_of_a_calendar() {
        for jump_ms in [-300_000_i64, -56_000, -1, 1, 8_000, 56_000, 300_000] {
            let mut window = uneven(at_millis(61_000));
            window.charge(10, at_millis(70_000));
            let later = at_millis(70_010);
            let wall = later.wall.as_unix_nanos();
            let wall = wall.saturating_add_signed(jump_ms * 1_000_000);
            let jumped = Now::new(later.mono, WallTime::from_unix_nanos(wall));
            let Earliest::At(start) = window.earliest(TEN, 1, jumped) else {
                panic!("a window always ends");
            };
            // The end of its own window at the earliest, a whole window later at the latest.
            let (first, last) = (at_millis(115_000).mono, at_millis(180_000).mono);
            assert!(start >= first && start <= last, "{jump_ms} ms: {start}");
        }
    }

    #[test]
    fn drift_below_a_jump_makes_no_sliver_of_a_window() {
        let mut window = minute(0, at_millis(0));
        window.charge(10, at_millis(1_000));
        // The wall clock was slowed by 5 ms: at the kept edge it still reads 59.995 s.
        let edge = at_millis(60_000);
        let slowed = Now::new(
            edge.mono,
            WallTime::from_unix_nanos(edge.wall.as_unix_nanos() - 5_000_000),
        );
        window.charge(10, slowed);
        assert_eq!(window.earliest(TEN, 1, slowed), at(120_005));
    }
}
