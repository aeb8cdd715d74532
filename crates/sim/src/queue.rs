//! What will happen, in the order of time; what happens at one instant, in the order in which it
//! was put there.
//!
//! The second half of that rule is what makes a run repeatable: two happenings at one instant never
//! swap.

use std::collections::BTreeMap;

use sluicegate_core::Timestamp;

/// Happenings to come.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    happenings: BTreeMap<(Timestamp, u64), T>,
    put: u64,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            happenings: BTreeMap::new(),
            put: 0,
        }
    }

    pub(crate) fn put(&mut self, at: Timestamp, happening: T) {
        self.happenings.insert((at, self.put), happening);
        self.put += 1;
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.happenings.first_key_value().map(|((at, _), _)| *at)
    }

    pub(crate) fn take(&mut self) -> Option<T> {
        self.happenings.pop_first().map(|(_, happening)| happening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_comes_first_and_then_the_order_of_putting() {
        let mut queue = Queue::new();
        for (at, name) in [(5, "c"), (1, "a"), (5, "d"), (1, "b")] {
            queue.put(Timestamp::from_nanos(at), name);
        }
        assert_eq!(queue.next_at(), Some(Timestamp::from_nanos(1)));
        let order: String = std::iter::from_fn(|| queue.take()).collect();
        assert_eq!(order, "abcd");
        assert_eq!(queue.next_at(), None);
    }
}
