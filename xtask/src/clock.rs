//! The only place in this program where a clock is read.
//!
//! It measures how long steps take; nothing is decided by it but time limits.

use std::time::Instant;

pub(crate) fn now() -> Instant {
    Instant::now()
}
