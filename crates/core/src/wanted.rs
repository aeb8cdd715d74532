//! What the higher lanes are expected to want of a limit, so that a lower one leaves it free and no more.
//!
//! What they asked for over the last length of the window, slice by slice, is taken for what they will ask for in the next. How
//! much of that a lower lane must leave hangs on the window: in one that ends at a known edge only what they will want until then,
//! which shrinks to nothing towards the edge; of a bucket what they want in a period, since what is left free there is lost to
//! nobody; of a sliding window, where their own older charges make room for the newer ones, only the difference between a
//! lively slice and a usual one. Of slots it is what they use on average less what they use now.

use core::time::Duration;

use crate::time::duration_nanos;
use crate::{Lane, Limit, Now, Timestamp, Window};

/// Slices of a window's length.
const SLICES: usize = 16;
/// What was wanted longer ago than that tells nothing of what will be.
const MEMORY: Duration = Duration::from_secs(600);
/// The time over which the use of slots is averaged.
const SLOTS_OVER: Duration = Duration::from_secs(60);
/// A lower lane that leaves something looks again after such a part of the window's length.
const LOOKS: u32 = 64;
/// It looks no more often, and no less often.
const LOOK_MIN: Duration = Duration::from_millis(10);
const LOOK_MAX: Duration = Duration::from_secs(1);

/// Lanes that others leave something to: all but the last.
const HIGHER: usize = Lane::ALL.len() - 1;

#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    slice: u64,
    /// The number of the newest slice, counted from the beginning of time, and of the first.
    newest: u64,
    first: u64,
    /// By lane and slice: the amount that was asked for. Of slots: how many were used, times nanoseconds.
    asked: [[u64; SLICES]; HIGHER],
    kind: Kind,
}

/// What some lanes asked for.
struct Asked {
    /// By slice; the newest one is at `current`.
    sums: [u64; SLICES],
    current: usize,
    /// Slices that are over.
    over: u64,
    total: u64,
    /// The total without the newest slice.
    passed: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Until an edge, where one is known.
    Edge,
    Bucket,
    Slots {
        used: [u64; HIGHER],
        changed: Timestamp,
    },
    /// What comes back so soon that nothing need be left.
    Nothing,
}

impl Wanted {
    pub(crate) fn of(limit: &Limit, now: Now) -> Self {
        let (kind, over) = match &limit.window {
            Window::Fixed { per } | Window::Floating { per } | Window::Sliding { per } => {
                (Kind::Edge, *per)
            }
            Window::Calendar(_) => (Kind::Edge, MEMORY),
            Window::Bucket { per } => (Kind::Bucket, *per),
            Window::Pacing { per, .. } => (Kind::Nothing, *per),
            Window::Concurrent | Window::Adaptive => {
                let kind = Kind::Slots {
                    used: [0; HIGHER],
                    changed: now.mono,
                };
                (kind, SLOTS_OVER)
            }
        };
        let slice = (duration_nanos(over.min(MEMORY)) / SLICES as u64).max(1);
        let first = now.mono.as_nanos() / slice;
        Self {
            slice,
            newest: first,
            first,
            asked: [[0; SLICES]; HIGHER],
            kind,
        }
    }

    /// A request of `lane` asked for `amount`, whatever became of it.
    pub(crate) fn ask(&mut self, lane: Lane, amount: u64, now: Now) {
        if lane.index() >= HIGHER || matches!(self.kind, Kind::Slots { .. } | Kind::Nothing) {
            return;
        }
        self.turn(now);
        let slice = place(self.newest);
        let asked = &mut self.asked[lane.index()][slice];
        *asked = asked.saturating_add(amount);
    }

    /// A request of `lane` took a slot.
    pub(crate) fn take(&mut self, lane: Lane, now: Now) {
        self.change(lane, now, |used| used.saturating_add(1));
    }

    /// A request of `lane` gave its slot back.
    pub(crate) fn give_back(&mut self, lane: Lane, now: Now) {
        self.change(lane, now, |used| used.saturating_sub(1));
    }

    fn change(&mut self, lane: Lane, now: Now, by: impl Fn(u64) -> u64) {
        if lane.index() >= HIGHER {
            return;
        }
        self.turn(now);
        if let Kind::Slots { used, .. } = &mut self.kind {
            used[lane.index()] = by(used[lane.index()]);
        }
    }

    /// What a ticket of `lane` leaves free, at most `share` of `usable`, where the window ends at `edge` if that is known.
    pub(crate) fn leaves(
        &mut self,
        lane: Lane,
        most: u64,
        edge: Option<Timestamp>,
        now: Now,
    ) -> u64 {
        if most == 0 || matches!(self.kind, Kind::Nothing) {
            return 0;
        }
        self.turn(now);
        let higher = lane.index().min(HIGHER);
        let Asked {
            sums,
            current,
            over,
            total,
            passed,
        } = self.asked_by(higher);
        let wanted = match &self.kind {
            Kind::Slots { used, .. } => {
                let time = over.max(1).saturating_mul(self.slice);
                let usual = passed.div_ceil(time);
                let now: u64 = used[..higher].iter().sum();
                usual.saturating_sub(now)
            }
            Kind::Bucket => total,
            Kind::Edge | Kind::Nothing => {
                let usual = passed.checked_div(over).unwrap_or(sums[current]);
                let lively = (0..SLICES).filter(|index| *index != current);
                let lively = lively.map(|index| sums[index]).max().unwrap_or(0);
                let more = lively.saturating_sub(usual);
                match edge {
                    None => more,
                    Some(edge) => {
                        let left = edge.saturating_since(now.mono);
                        let left = duration_nanos(left);
                        let expected = parts(usual, left, self.slice);
                        // Slices differ apart from each other: the differences of many add up to less than their sum.
                        let slices = left.div_ceil(self.slice).isqrt();
                        let more = more.saturating_mul(slices.max(1));
                        expected.saturating_add(parts(more, left.min(self.slice), self.slice))
                    }
                }
            }
        };
        wanted.min(most)
    }

    /// What all lanes but the last are expected to want until it is whole again: until `edge` where there is one, else in a length of
    /// the window. Of slots, what they use on average.
    pub(crate) fn expected(&mut self, edge: Option<Timestamp>, now: Now) -> u64 {
        self.turn(now);
        let asked = self.asked_by(HIGHER);
        match (&self.kind, edge) {
            (Kind::Nothing, _) => 0,
            (Kind::Slots { .. }, _) => {
                let time = asked.over.max(1).saturating_mul(self.slice);
                asked.passed.div_ceil(time)
            }
            (Kind::Edge, Some(edge)) => {
                let usual = asked.passed.checked_div(asked.over);
                let usual = usual.unwrap_or(asked.sums[asked.current]);
                let left = duration_nanos(edge.saturating_since(now.mono));
                parts(usual, left, self.slice)
            }
            (Kind::Bucket | Kind::Edge, _) => asked.total,
        }
    }

    /// What the first `higher` lanes asked for.
    fn asked_by(&self, higher: usize) -> Asked {
        let mut sums = [0_u64; SLICES];
        for asked in &self.asked[..higher] {
            for (sum, asked) in sums.iter_mut().zip(asked) {
                *sum = sum.saturating_add(*asked);
            }
        }
        let current = place(self.newest);
        let total = sums
            .iter()
            .fold(0, |sum: u64, slice| sum.saturating_add(*slice));
        Asked {
            sums,
            current,
            // The newest slice is not over: it counts only as long as there is no other.
            over: self
                .newest
                .saturating_sub(self.first)
                .min(SLICES as u64 - 1),
            total,
            passed: total.saturating_sub(sums[current]),
        }
    }

    /// After what time a ticket that leaves something looks again.
    pub(crate) fn looks_after(&self) -> Duration {
        let length = Duration::from_nanos(self.slice.saturating_mul(SLICES as u64));
        (length / LOOKS).clamp(LOOK_MIN, LOOK_MAX)
    }

    /// Goes on to the slice of `now`.
    fn turn(&mut self, now: Now) {
        let slice = now.mono.as_nanos() / self.slice;
        if let Kind::Slots { used, changed } = &mut self.kind {
            let (used, since) = (*used, *changed);
            *changed = now.mono;
            self.integrate(used, since, now.mono);
        }
        self.go_on(slice);
    }

    fn go_on(&mut self, slice: u64) {
        let steps = slice.saturating_sub(self.newest).min(SLICES as u64);
        for step in 0..steps {
            let fresh = place(slice - step);
            for asked in &mut self.asked {
                asked[fresh] = 0;
            }
        }
        self.newest = self.newest.max(slice);
    }

    /// `used` slots were used between the two instants.
    fn integrate(&mut self, used: [u64; HIGHER], since: Timestamp, until: Timestamp) {
        let (mut from, until) = (since.as_nanos(), until.as_nanos());
        let oldest = (until / self.slice).saturating_sub(SLICES as u64 - 1) * self.slice;
        from = from.max(oldest);
        while from < until {
            let slice = from / self.slice;
            self.go_on(slice);
            let end = until.min((slice + 1).saturating_mul(self.slice));
            for (asked, used) in self.asked.iter_mut().zip(used) {
                let asked = &mut asked[place(slice)];
                *asked = asked.saturating_add(used.saturating_mul(end - from));
            }
            from = end;
        }
    }
}

fn place(slice: u64) -> usize {
    usize::try_from(slice % SLICES as u64).unwrap_or(0)
}

/// `amount` times `part` over `whole`.
fn parts(amount: u64, part: u64, whole: u64) -> u64 {
    let parts = u128::from(amount) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(parts).unwrap_or(u64::MAX)
}
