//! When a request could start, for whoever compares the places where it may go.

use std::sync::Arc;

use sluicegate_core::{Amounts, Prospect, Submission, Timestamp};

use super::{Driver, Place};

impl Driver {
    /// When `demand` could start at `place`, behind everything that goes before it there. What waits until `deadline` at most.
    pub(crate) fn prospect(
        self: &Arc<Self>,
        place: &Place,
        demand: Amounts,
        deadline: Timestamp,
    ) -> Prospect {
        self.with_core(|core, line, now| match line.target(core, place) {
            Some(target) => core.prospect(&Submission::new(target, demand, deadline), now),
            None => Prospect::Never,
        })
    }
}
