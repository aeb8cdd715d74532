//! The only place that reads a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Nanoseconds since the Unix epoch.
pub(super) fn unix_nanos() -> u64 {
    u64::try_from(
        system_now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos(),
    )
    .unwrap_or(u64::MAX)
}

/// The HTTP date `seconds` from now; with a negative number, before.
pub(super) fn http_date(seconds: i64) -> String {
    let distance = Duration::from_secs(seconds.unsigned_abs().min(1_000_000_000));
    let now = system_now();
    let date = if seconds < 0 {
        now.checked_sub(distance)
    } else {
        now.checked_add(distance)
    };
    httpdate::fmt_http_date(date.unwrap_or(now))
}

/// The instant from which delays of one answer are reckoned.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(super) fn monotonic() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn system_now() -> SystemTime {
    SystemTime::now()
}
