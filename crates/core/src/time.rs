//! The two kinds of time, as arguments.
//!
//! A wait is measured on the monotonic clock; a window that a provider aligns to the calendar is found on the
//! wall clock. They are two types so that neither can stand in for the other, and travel together as one [`Now`] so that
//! a decision never sees two instants. Nothing here reads a clock: the caller does, once per decision.

use core::fmt;
use core::time::Duration;

/// Nanoseconds in a second.
pub(crate) const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// An instant of the monotonic clock: nanoseconds since an origin that the caller chose and never changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The origin.
    pub const ZERO: Self = Self(0);
    /// Later than everything that will happen; adding to it stays there.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero when `earlier` is the later one (a clock that ran backwards).
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The instant `wait` later, at most [`Timestamp::MAX`].
    pub fn saturating_add(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(duration_nanos(wait)))
    }

    pub(crate) const fn plus_nanos(self, nanos: u64) -> Self {
        Self(self.0.saturating_add(nanos))
    }
}

/// An instant of the wall clock: nanoseconds since the Unix epoch. It may jump in either direction between two calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WallTime(u64);

impl WallTime {
    /// `nanos` nanoseconds after 1970-01-01T00:00:00Z.
    pub const fn from_unix_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    pub const fn as_unix_nanos(self) -> u64 {
        self.0
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    pub const fn as_unix_seconds(self) -> u64 {
        self.0 / NANOS_PER_SECOND
    }
}

/// One reading of both clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Now {
    /// Monotonic time.
    pub mono: Timestamp,
    /// Wall time at the same instant.
    pub wall: WallTime,
}

impl Now {
    /// Both clocks read together.
    pub const fn new(mono: Timestamp, wall: WallTime) -> Self {
        Self { mono, wall }
    }

    /// Both clocks `wait` later, as they read when neither jumps.
    pub fn after(self, wait: Duration) -> Self {
        let nanos = duration_nanos(wait);
        Self {
            mono: self.mono.plus_nanos(nanos),
            wall: WallTime(self.wall.0.saturating_add(nanos)),
        }
    }

    /// Both clocks as they read at monotonic instant `mono` when neither jumps; `self` where `mono` is past.
    pub fn at(self, mono: Timestamp) -> Self {
        self.after(mono.saturating_since(self.mono))
    }
}

/// Nanoseconds of `wait`, at most `u64::MAX` (584 years).
pub(crate) fn duration_nanos(wait: Duration) -> u64 {
    u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09}s",
            self.0 / NANOS_PER_SECOND,
            self.0 % NANOS_PER_SECOND
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates_at_both_ends() {
        assert_eq!(
            Timestamp::MAX.saturating_add(Duration::from_secs(1)),
            Timestamp::MAX
        );
        assert_eq!(
            Timestamp::ZERO.saturating_since(Timestamp::from_nanos(5)),
            Duration::ZERO
        );
        assert_eq!(
            Timestamp::ZERO.saturating_add(Duration::MAX),
            Timestamp::MAX
        );
    }

    #[test]
    fn both_clocks_move_together() {
        let now = Now::new(Timestamp::from_nanos(10), WallTime::from_unix_nanos(1_000));
        let later = now.at(Timestamp::from_nanos(15));
        assert_eq!(later.wall.as_unix_nanos(), 1_005);
        assert_eq!(now.at(Timestamp::from_nanos(3)), now);
    }
}
