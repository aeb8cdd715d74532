//! What the higher lanes are expected to want of a limit, so that a lower one leaves it free and no more.
//!
//! What they asked for over the last length of the window, slice by slice, is taken for what they will ask for in the next. How
//! much of that a lower lane must leave hangs on the window: in one that ends at a known edge only what they will want until then,
//! with what requests that know nothing of each other may want beyond that, down to one request towards the edge, since whoever finds
//! nothing waits for the next window; of a bucket what they want in a period, since what is left free there is lost to
//! nobody; of a sliding window what they will want by any time beyond what has come back by then. Of slots it is what they use on average
//! less what they use now, and no more than costs a lower lane a tenth.

use core::time::Duration;

use crate::counter::Counter;
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

/// Where requests come by themselves, no more is wanted than is expected and so many times what demand usually differs by, but
/// for one window in thousands.
const EDGE_DEVIATIONS: u128 = 5;
/// The same for a slice of a sliding window, but for one in hundreds.
const SLIDING_DEVIATIONS: u128 = 3;

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
    /// The sum of the squares of the amounts.
    squares: [[u64; SLICES]; HIGHER],
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
            squares: [[0; SLICES]; HIGHER],
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
        let squares = &mut self.squares[lane.index()][slice];
        *squares = squares.saturating_add(amount.saturating_mul(amount));
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

    /// What a ticket of `lane` leaves free of what `counter` counts, at most `most`.
    pub(crate) fn leaves(&mut self, lane: Lane, most: u64, counter: &Counter, now: Now) -> u64 {
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
                usual
                    .saturating_sub(now)
                    .min(slots_left_most(counter.usable().saturating_sub(usual)))
            }
            Kind::Bucket => total,
            Kind::Nothing => 0,
            Kind::Edge if total == 0 => 0,
            Kind::Edge => {
                let squares = sums_by_slice(&self.squares[..higher]);
                let expected = Expected {
                    usual: passed.checked_div(over).unwrap_or(sums[current]),
                    total,
                    squares: squares.into_iter().fold(0, u64::saturating_add),
                    slice: self.slice,
                    seen: over.saturating_add(1).saturating_mul(self.slice),
                };
                match counter.edge(now) {
                    Some(edge) => expected.until_edge(edge.saturating_since(now.mono)),
                    None => expected.beside_what_returns(counter, now),
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
        let sums = sums_by_slice(&self.asked[..higher]);
        let current = place(self.newest);
        let total = sums.iter().copied().fold(0, u64::saturating_add);
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
            for slices in self.asked.iter_mut().chain(&mut self.squares) {
                slices[fresh] = 0;
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

/// Of some lanes together.
fn sums_by_slice(lanes: &[[u64; SLICES]]) -> [u64; SLICES] {
    let mut sums = [0_u64; SLICES];
    for slices in lanes {
        for (sum, amount) in sums.iter_mut().zip(slices) {
            *sum = sum.saturating_add(*amount);
        }
    }
    sums
}

/// What higher lanes want of a window, by what they asked for so far.
struct Expected {
    /// In a slice.
    usual: u64,
    /// In all slices that were seen, with the sum of the squares of all amounts.
    total: u64,
    squares: u64,
    slice: u64,
    seen: u64,
}

impl Expected {
    /// What they may want until an edge that is `left` away.
    fn until_edge(&self, left: Duration) -> u64 {
        let left = duration_nanos(left);
        let request = self.squares.checked_div(self.total).unwrap_or(0);
        let more = self.beyond(left, EDGE_DEVIATIONS).max(request);
        self.by(left).saturating_add(more)
    }

    /// The most that they may want by any time of a sliding window beyond what has come back of it by then.
    ///
    /// Who finds nothing there waits for what comes back next and not for an edge, and what is left at one time is left at all:
    /// so only what is expected is left, with what a slice may bring beyond that.
    fn beside_what_returns(&self, counter: &Counter, now: Now) -> u64 {
        let used = counter.used(now);
        let missing = |slice: u64| {
            let time = self.slice.saturating_mul(slice);
            let later = now.at(now.mono.plus_nanos(time));
            let returned = used.saturating_sub(counter.used(later));
            self.by(time.saturating_add(self.slice))
                .saturating_sub(returned)
        };
        let missing = (0..SLICES as u64).map(missing).max().unwrap_or(0);
        missing.saturating_add(self.beyond(self.slice, SLIDING_DEVIATIONS))
    }

    /// What is wanted within `nanos` as usual.
    fn by(&self, nanos: u64) -> u64 {
        parts(self.usual, nanos, self.slice)
    }

    /// How much more than usual may be wanted within `nanos`.
    ///
    /// Of requests that come by themselves the sum of squares is the variance of the demand; what is expected varies as much,
    /// since it was learned from as many.
    fn beyond(&self, nanos: u64, deviations: u128) -> u64 {
        let share = |whole: u128| whole.saturating_mul(nanos.into()) / u128::from(self.seen.max(1));
        let variance = share(self.squares.into());
        let variance = variance.saturating_add(share(variance));
        let more = variance.saturating_mul(deviations * deviations).isqrt();
        u64::try_from(more).unwrap_or(u64::MAX)
    }
}

/// How many slots a lower lane leaves at most of the `left` ones that the higher ones do not use on average: half. Where many are
/// used, more would leave it less than nine tenths of what it could have, since what higher lanes use wavers around the average.
fn slots_left_most(left: u64) -> u64 {
    left / 2
}

/// `amount` times `part` over `whole`.
fn parts(amount: u64, part: u64, whole: u64) -> u64 {
    let parts = u128::from(amount) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(parts).unwrap_or(u64::MAX)
}
