//! The one place where a clock is read.
//!
//! The wall clock is read first and the monotonic one after it. A thread that is stopped between the two then takes a calendar
//! edge for later than it is, never for earlier: a request is not sent into the window before.

use std::time::{Duration, Instant, SystemTime};

use sluicegate_core::{Now, Timestamp, WallTime};

/// Reads both clocks. Its origin is the moment it was made; all instants of one gateway come from one clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock whose monotonic time begins now.
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    /// Both clocks, now.
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn now(&self) -> Now {
        let wall = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let mono = self.origin.elapsed();
        Now::new(
            Timestamp::from_nanos(nanos(mono)),
            WallTime::from_unix_nanos(nanos(wall)),
        )
    }

    /// Monotonic time alone.
    pub(crate) fn mono(&self) -> Timestamp {
        Timestamp::from_nanos(nanos(self.origin.elapsed()))
    }

    /// The runtime's name for `instant`; far enough away where it has none.
    pub(crate) fn instant(&self, instant: Timestamp) -> tokio::time::Instant {
        const FAR: Duration = Duration::from_secs(30 * 86_400);
        let since_origin = Duration::from_nanos(instant.as_nanos());
        let far = self.origin.elapsed() + FAR;
        (self.origin + since_origin.min(far)).into()
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
