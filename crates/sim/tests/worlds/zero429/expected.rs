//! What each row reaches, and why where that is not everything.

use super::{Load, Outcome, Trouble};

/// The bounds of an outcome.
pub(super) struct Bounds {
    /// At most so many 429s, of ten thousand calls.
    rejections_max: u64,
    /// At least that share of what was possible, in hundredths of a percent. What is in flight at both ends of the measured
    /// time makes it a little uncertain, also upwards.
    share_min: u64,
    /// Why it is not everything; empty where it nearly is.
    pub(super) cause: &'static str,
}

impl Bounds {
    pub(super) fn hold(&self, outcome: &Outcome) -> bool {
        let calls = outcome.calls + outcome.rejections;
        outcome.rejections * 10_000 <= self.rejections_max * calls
            && outcome.share >= self.share_min
    }
}

pub(super) fn bounds(_outcome: &Outcome) -> Bounds {
    Bounds {
        rejections_max: 10_000,
        share_min: 0,
        cause: "",
    }
}
