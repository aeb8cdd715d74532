//! The clocks of the world: one that runs true, which the provider goes by, and the gateway's two.
//!
//! The gateway's monotonic clock runs true as well, from zero. Its wall clock does until somebody
//! sets it: then it is off by what it jumped, and nobody tells the core.

use sluicegate_core::{Now, Timestamp, WallTime};

/// True time, and by how much the gateway's wall clock is off.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    began: WallTime,
    mono: Timestamp,
    off_nanos: i64,
}

impl Clock {
    /// All clocks agree that it is `began`.
    pub(crate) fn new(began: WallTime) -> Self {
        Self {
            began,
            mono: Timestamp::ZERO,
            off_nanos: 0,
        }
    }

    /// What the gateway reads.
    pub(crate) fn now(&self) -> Now {
        let wall = self.true_unix_nanos().saturating_add_signed(self.off_nanos);
        Now::new(self.mono, WallTime::from_unix_nanos(wall))
    }

    /// What the provider reads, in nanoseconds since the Unix epoch.
    pub(crate) fn true_unix_nanos(&self) -> u64 {
        self.began
            .as_unix_nanos()
            .saturating_add(self.mono.as_nanos())
    }

    /// Time passes until `mono`; none does where that is past.
    pub(crate) fn pass_until(&mut self, mono: Timestamp) {
        self.mono = self.mono.max(mono);
    }

    /// The gateway's wall clock is set `nanos` ahead of what it read, or back.
    pub(crate) fn jump(&mut self, nanos: i64) {
        self.off_nanos = self.off_nanos.saturating_add(nanos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_gateways_wall_clock_jumps() {
        let mut clock = Clock::new(WallTime::from_unix_nanos(1_000));
        clock.pass_until(Timestamp::from_nanos(50));
        clock.jump(-300);
        clock.pass_until(Timestamp::from_nanos(20));
        assert_eq!(
            clock.now(),
            Now::new(Timestamp::from_nanos(50), WallTime::from_unix_nanos(750))
        );
        assert_eq!(clock.true_unix_nanos(), 1_050);
    }
}
