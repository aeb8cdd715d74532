//! When a request could start, for whoever compares the places where it may go.

use std::sync::Arc;

use sluicegate_core::{Amounts, Asking, Prospect, Submission, Timestamp};

use super::{Driver, Place};

impl Driver {
    /// When `demand` could start at `place`, behind everything that goes before it there, in the lane and until the deadline
    /// that it is `asking` for. What
    /// could start now could have started ever since: whoever asks has read the clock before.
    pub(crate) fn prospect(
        self: &Arc<Self>,
        place: &Place,
        demand: Amounts,
        asking: &Asking,
    ) -> Prospect {
        self.with_core(|core, line, now| match line.target(core, place) {
            Some(target) => {
                let submission = Submission {
                    lane: asking.lane,
                    ..Submission::new(target, demand, asking.deadline)
                };
                match core.prospect(&submission, now) {
                    Prospect::At(at) if at <= now.mono => Prospect::At(Timestamp::ZERO),
                    later => later,
                }
            }
            None => Prospect::Never,
        })
    }
}
