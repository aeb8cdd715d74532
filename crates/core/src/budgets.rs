//! How each limit stands for the lanes above batch, so that load can be weighed.

use alloc::vec::Vec;

use crate::gate::Core;
use crate::load::Budget;
use crate::{LimitId, Meter, Mode, Now};

impl Core {
    /// Every limit that is held to, in the order of the policy: what is left of it, and what the lanes above batch are expected to
    /// want until it is whole again. But for slots: that all are used for a moment is what they are for, and the wait for one
    /// tells whether there are too few.
    ///
    /// A count that began with nothing because nobody knows what others had used before is not short for that: it counts as
    /// coming back.
    pub fn budgets(&mut self, now: Now) -> Vec<Budget> {
        let counters = self.ledger.counters().iter();
        let books = self.wanted.iter_mut().zip(&self.waiting_demand);
        let budgets = counters.zip(books).enumerate();
        let budgets = budgets.filter(|(_, (counter, _))| {
            let is_slots = counter.limit.meter == Meter::Concurrent;
            counter.limit.mode == Mode::Enforce && !is_slots
        });
        let budgets = budgets.map(|(index, (counter, (wanted, waiting)))| {
            let (usable, used) = (counter.usable(), counter.used(now));
            let edge = counter.edge(now);
            let comes_back = edge.is_none() || counter.is_assumed(now);
            Budget {
                limit: LimitId::new(index),
                usable,
                left: usable.saturating_sub(used),
                returns: if comes_back { used.min(usable) } else { 0 },
                wanted: wanted.expected(edge, now).saturating_add(waiting.urgent),
            }
        });
        budgets.collect()
    }
}
