//! No interval of a given length, wherever it starts, may hold more than the amount.
//!
//! Charges stand in slots in the order of time and leave when the last of their slot is a whole
//! length old. As long as few of them matter, each instant has a slot of its own and a start is
//! exact. Of many, those within a 512th of the length share one, which bounds the memory and costs
//! at most that share of the amount. A ring of fixed buckets with proportional weighting, the usual
//! choice, admits up to twice the amount around an edge.

use alloc::collections::VecDeque;

use super::{Ceiling, Earliest};
use crate::{Now, Timestamp};

/// From that many slots on, what is closer than that share of the length stands in one.
const SLOTS: u64 = 512;

#[derive(Clone, Debug)]
pub(crate) struct Sliding {
    /// How long a charge matters: the interval's length and the spread of arrival.
    hold: u64,
    slots: VecDeque<Slot>,
    used: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    first: Timestamp,
    last: Timestamp,
    amount: u64,
}

impl Sliding {
    pub(crate) fn begin(per: u64, spread: u64, used: u64, now: Now) -> Self {
        let mut sliding = Self {
            hold: per.saturating_add(spread),
            slots: VecDeque::new(),
            used: 0,
        };
        if used > 0 {
            sliding.charge(used, now);
        }
        sliding
    }

    pub(crate) fn earliest(&self, ceiling: Ceiling, charge: u64, now: Now) -> Earliest {
        let mut used = self.used;
        let mut start = now.mono;
        for slot in &self.slots {
            let leaves = slot.last.plus_nanos(self.hold);
            if leaves > now.mono {
                if ceiling.fits(used, charge) {
                    break;
                }
                start = leaves;
            }
            used -= slot.amount;
        }
        Earliest::At(start)
    }

    pub(crate) fn charge(&mut self, charge: u64, now: Now) {
        self.forget(now);
        if charge == 0 {
            return;
        }
        let charge = charge.min(u64::MAX - self.used);
        self.used += charge;
        let width = match self.slots.len() as u64 {
            0..SLOTS => 0,
            _ => self.hold / SLOTS,
        };
        match self.slots.back_mut() {
            Some(slot) if now.mono <= slot.last.max(slot.first.plus_nanos(width)) => {
                slot.last = slot.last.max(now.mono);
                slot.amount += charge;
            }
            _ => self.slots.push_back(Slot {
                first: now.mono,
                last: now.mono,
                amount: charge,
            }),
        }
    }

    pub(crate) fn give_back(&mut self, amount: u64, charged_at: Timestamp, now: Now) {
        self.forget(now);
        let place = self.slots.partition_point(|slot| slot.last < charged_at);
        if let Some(slot) = self.slots.get_mut(place)
            && slot.first <= charged_at
        {
            let returned = amount.min(slot.amount);
            slot.amount -= returned;
            self.used -= returned;
        }
    }

    pub(crate) fn used(&self, now: Now) -> u64 {
        let gone = |slot: &&Slot| slot.last.plus_nanos(self.hold) <= now.mono;
        self.used
            - self
                .slots
                .iter()
                .take_while(gone)
                .map(|slot| slot.amount)
                .sum::<u64>()
    }

    pub(crate) fn set_used(&mut self, used: u64, now: Now) {
        self.forget(now);
        if used >= self.used {
            return self.charge(used - self.used, now);
        }
        // The newest charges are the likeliest to be real: forget the oldest.
        let mut surplus = self.used - used;
        for slot in &mut self.slots {
            let returned = surplus.min(slot.amount);
            slot.amount -= returned;
            surplus -= returned;
        }
        self.used = used;
    }

    fn forget(&mut self, now: Now) {
        while let Some(slot) = self.slots.front()
            && slot.last.plus_nanos(self.hold) <= now.mono
        {
            self.used -= slot.amount;
            self.slots.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::at_millis;
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const FIVE: Ceiling = Ceiling {
        usable: 5,
        alone: 5,
    };

    fn at(millis: u64) -> Earliest {
        Earliest::At(at_millis(millis).mono)
    }

    #[test]
    fn a_charge_leaves_when_it_is_a_whole_length_old() {
        let mut window = Sliding::begin(SECOND, 0, 0, at_millis(0));
        window.charge(3, at_millis(0));
        window.charge(2, at_millis(400));
        assert_eq!(window.earliest(FIVE, 3, at_millis(500)), at(1_000));
        assert_eq!(window.earliest(FIVE, 4, at_millis(500)), at(1_400));
        assert_eq!(window.used(at_millis(1_000)), 2);
        assert_eq!(window.used(at_millis(1_399)), 2);
        assert_eq!(window.used(at_millis(1_400)), 0);
    }

    #[test]
    fn the_spread_of_arrival_is_waited_out() {
        let mut window = Sliding::begin(SECOND, 20_000_000, 0, at_millis(0));
        window.charge(5, at_millis(0));
        assert_eq!(window.earliest(FIVE, 1, at_millis(10)), at(1_020));
    }

    #[test]
    fn a_charge_above_the_ceiling_but_within_the_whole_starts_alone() {
        let ceiling = Ceiling {
            usable: 5,
            alone: 12,
        };
        let mut window = Sliding::begin(SECOND, 0, 0, at_millis(0));
        window.charge(1, at_millis(0));
        assert_eq!(window.earliest(ceiling, 12, at_millis(1)), at(1_000));
    }

    #[test]
    fn few_charges_leave_each_at_its_own_instant_however_close_they_are() {
        let mut window = Sliding::begin(SECOND, 0, 0, at_millis(0));
        let nanos = |nanos| Now::new(Timestamp::from_nanos(nanos), crate::WallTime::default());
        window.charge(3, nanos(0));
        window.charge(2, nanos(1));
        let start = Timestamp::from_nanos(SECOND);
        assert_eq!(window.earliest(FIVE, 3, nanos(2)), Earliest::At(start));
        window.charge(3, nanos(SECOND));
        let start = Timestamp::from_nanos(SECOND + 1);
        assert_eq!(window.earliest(FIVE, 1, nanos(SECOND)), Earliest::At(start));
    }

    #[test]
    fn memory_is_bounded_and_costs_at_most_a_slot() {
        let many = Ceiling {
            usable: 1_000_000,
            alone: 1_000_000,
        };
        let mut window = Sliding::begin(SECOND, 0, 0, at_millis(0));
        for micros in 0..1_000_000_u64 {
            let now = Timestamp::from_nanos(micros * 1_000);
            window.charge(1, Now::new(now, crate::WallTime::default()));
        }
        assert!(window.slots.len() <= 1_025, "{} slots", window.slots.len());
        let Earliest::At(start) = window.earliest(many, 1, at_millis(999)) else {
            panic!("a sliding window always frees itself");
        };
        assert!(
            start <= Timestamp::from_nanos(SECOND + SECOND / SLOTS + 1_000),
            "{start}"
        );
    }

    #[test]
    fn a_refund_finds_its_slot_and_none_once_it_left() {
        let mut window = Sliding::begin(SECOND, 0, 0, at_millis(0));
        window.charge(3, at_millis(0));
        window.charge(2, at_millis(400));
        window.give_back(2, at_millis(400).mono, at_millis(500));
        assert_eq!(window.used(at_millis(500)), 3);
        window.give_back(3, at_millis(0).mono, at_millis(1_000));
        assert_eq!(window.used(at_millis(1_000)), 0);
    }
}
