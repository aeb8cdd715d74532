//! What latency tells of the slots of an upstream that publishes no limit of them.

use crate::slots::{AdaptiveSlots, Answered};
use crate::window::Ceiling;
use crate::{Limit, Now, Window};

use super::{Counter, Mark};

/// The bound of a limit that has one.
pub(super) fn begin(limit: &Limit) -> Option<AdaptiveSlots> {
    (limit.window == Window::Adaptive).then(|| AdaptiveSlots::new(limit.amount))
}

/// `ceiling` where no more than the bound is used.
pub(super) fn bounded(ceiling: Ceiling, slots: Option<&AdaptiveSlots>) -> Ceiling {
    let bound = slots.map_or(u64::MAX, AdaptiveSlots::bound);
    Ceiling {
        usable: ceiling.usable.min(bound),
        ..ceiling
    }
}

impl Counter {
    /// The request behind `mark` was answered so. True where another number of slots is used from now on.
    pub(crate) fn slot_answered(&mut self, mark: &Mark, answered: Answered, now: Now) -> bool {
        let before = self.ceiling;
        let in_flight = mark.before.saturating_add(mark.counted);
        if let Some(slots) = &mut self.slots {
            slots.answered(answered, in_flight, now.mono);
        }
        self.follow_slots();
        self.ceiling != before
    }

    /// Its limit was edited.
    pub(super) fn retune_slots(&mut self) {
        if let Some(slots) = &mut self.slots {
            slots.retune(self.limit.amount);
        }
        self.follow_slots();
    }

    fn follow_slots(&mut self) {
        if self.slots.is_some() {
            let whole = super::ceiling(&self.limit, self.limit.amount.get());
            self.ceiling = bounded(whole, self.slots.as_ref());
        }
    }
}
