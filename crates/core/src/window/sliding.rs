//! No interval of a given length, wherever it starts, may hold more than the amount.
//!
//! Charges stand in slots in the order of time and leave when the last of their slot is a whole
//! length old. As long as few of them matter, each instant has a slot of its own and a start is
//! exact. Of many, those within a 512th of the length share one, which bounds the memory and costs
//! at most that share of the amount. What others may have used before counting began is taken for used evenly, so that
//! it comes back bit by bit. A ring of fixed buckets with proportional weighting, the usual
//! choice, admits up to twice the amount around an edge.
//!
//! Also the count of fixed windows whose edges nobody knows: what is safe for any edge is safe for theirs. Once an answer
//! tells of an edge, charges from before the last one leave at it, save those that may have arrived after it.

use alloc::collections::VecDeque;

use super::phase::{Certainty, Edge, Moment};
use super::{Ceiling, Earliest};
use crate::{Now, Timestamp};

/// From that many slots on, what is closer than that share of the length stands in one.
const SLOTS: u64 = 512;
/// In so many pieces comes back what may have been used before counting began.
const PIECES: u64 = 64;

#[derive(Clone, Debug)]
pub(crate) struct Sliding {
    per: u64,
    spread: u64,
    slots: VecDeque<Slot>,
    used: u64,
    /// Where the provider's windows end, a whole number of lengths away; `None` where that is not known or they have none.
    edge: Option<Edge>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    first: Moment,
    last: Moment,
    amount: u64,
}

impl Sliding {
    pub(crate) fn begin(per: u64, spread: u64, used: u64, now: Now) -> Self {
        let mut sliding = Self {
            per,
            spread,
            slots: VecDeque::new(),
            used: 0,
            edge: None,
        };
        sliding.assume(used, now);
        sliding
    }

    /// Takes `used` for used evenly over the length that ends now.
    fn assume(&mut self, used: u64, now: Now) {
        self.used = used;
        for piece in (0..PIECES).rev() {
            // What does not divide evenly is in the newest.
            let amount = match piece {
                0 => used - used / PIECES * (PIECES - 1),
                _ => used / PIECES,
            };
            let at = Moment::of(now.mono).minus(self.per / PIECES * piece);
            if amount > 0 {
                self.slots.push_back(Slot {
                    first: at,
                    last: at,
                    amount,
                });
            }
        }
    }

    pub(crate) fn earliest(&self, ceiling: Ceiling, charge: u64, now: Now) -> Earliest {
        let mut used = self.used;
        let mut slots = self.slots.iter().peekable();
        while let Some(gone) = slots.next_if(|slot| self.has_left(slot, now)) {
            used -= gone.amount;
        }
        // Of those that must leave, the last one decides: when the others do need not be known. Beside nothing anything fits.
        let most = ceiling.usable.saturating_sub(charge);
        let mut last = None;
        for slot in slots {
            if used <= most {
                break;
            }
            used -= slot.amount;
            last = Some(slot);
        }
        Earliest::At(last.map_or(now.mono, |slot| self.leaves(slot).instant()))
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
            _ => self.hold() / SLOTS,
        };
        let at = Moment::of(now.mono);
        match self.slots.back_mut() {
            Some(slot) if at <= slot.last.max(slot.first.plus(width)) => {
                slot.last = slot.last.max(at);
                slot.amount += charge;
            }
            _ => self.slots.push_back(Slot {
                first: at,
                last: at,
                amount: charge,
            }),
        }
    }

    pub(crate) fn give_back(&mut self, amount: u64, charged_at: Timestamp, now: Now) {
        self.forget(now);
        let charged_at = Moment::of(charged_at);
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
        let gone = |slot: &&Slot| self.has_left(slot, now);
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

    /// A window has begun since: of what is used, `used`, all that was charged before `sent` came when nobody knows, but by
    /// then.
    pub(crate) fn renew(&mut self, used: u64, sent: Timestamp, now: Now) {
        self.forget(now);
        // Just before it, so that the request's own charge is still found.
        let before = Moment::of(sent).minus(1);
        self.slots.retain(|slot| slot.last > before);
        let newer: u64 = self.slots.iter().map(|slot| slot.amount).sum();
        let amount = used.saturating_sub(newer);
        if amount > 0 {
            self.slots.push_front(Slot {
                first: before,
                last: before,
                amount,
            });
        }
        self.used = newer.saturating_add(amount);
    }

    /// Charges leave after the length and `spread`. What has left stays gone.
    pub(crate) fn set_spread(&mut self, spread: u64, now: Now) {
        self.forget(now);
        self.spread = spread;
    }

    /// What was charged from `from` on and still counts.
    pub(crate) fn since(&self, from: Timestamp) -> u64 {
        let from = Moment::of(from);
        let newer = self.slots.iter().rev().take_while(|slot| slot.last >= from);
        newer.map(|slot| slot.amount).sum()
    }

    /// A window ends at `edge`.
    pub(crate) fn follow(&mut self, edge: Edge, certainty: Certainty) {
        self.edge = edge.following(self.edge, certainty, self.per);
    }

    pub(crate) fn knows_edges(&self) -> bool {
        self.edge.is_some()
    }

    /// Whether what was sent at `sent` counts in the window at `now`, as far as edges are known.
    pub(crate) fn covers(&self, sent: Timestamp, now: Now) -> bool {
        let Some(edge) = self.edge else {
            return true;
        };
        // Close to an edge it is not known which window it is.
        Moment::of(sent) >= edge.last_begun(Moment::of(now.mono), self.per)
    }

    /// When a charge that is made now counts no more.
    pub(crate) fn clears(&self, now: Now) -> Timestamp {
        let at = Moment::of(now.mono);
        let slot = Slot {
            first: at,
            last: at,
            amount: 0,
        };
        self.leaves(&slot).instant()
    }

    /// When a slot counts no more: when it is a whole length old, or at the first edge that all of it came before.
    fn leaves(&self, slot: &Slot) -> Moment {
        let aged = slot.last.plus(self.hold());
        let Some(edge) = self.edge else {
            return aged;
        };
        let arrived = slot.last.plus(self.spread);
        aged.min(edge.first_over(arrived, self.per))
    }

    fn has_left(&self, slot: &Slot, now: Now) -> bool {
        self.leaves(slot) <= Moment::of(now.mono)
    }

    /// How long a charge matters: the interval's length and the spread of arrival.
    fn hold(&self) -> u64 {
        self.per.saturating_add(self.spread)
    }

    fn forget(&mut self, now: Now) {
        while let Some(slot) = self.slots.front()
            && self.has_left(slot, now)
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
    fn what_may_have_been_used_before_comes_back_evenly() {
        let mut window = Sliding::begin(SECOND, 0, 64, at_millis(0));
        assert_eq!(window.used(at_millis(0)), 64);
        assert_eq!(window.used(at_millis(250)), 48);
        assert_eq!(window.used(at_millis(999)), 1);
        assert_eq!(window.used(at_millis(1_000)), 0);
        // Of the five only the newest piece is left.
        window = Sliding::begin(SECOND, 0, 5, at_millis(0));
        assert_eq!(window.earliest(FIVE, 1, at_millis(0)), at(1_000));
    }

    fn edge(after: u64, until: u64) -> Edge {
        Edge::between(at_millis(after).mono, at_millis(until).mono)
    }

    #[test]
    fn at_an_edge_that_was_told_everything_leaves_but_what_may_arrive_after_it() {
        let mut window = Sliding::begin(SECOND, 50_000_000, 0, at_millis(0));
        window.charge(2, at_millis(1_000));
        window.charge(1, at_millis(1_150));
        window.charge(2, at_millis(1_190));
        // The windows end between 200 and 220 ms after each second.
        window.follow(edge(3_200, 3_220), Certainty::Told);
        assert_eq!(window.used(at_millis(1_219)), 5);
        assert_eq!(window.used(at_millis(1_220)), 2);
        assert_eq!(
            window.earliest(FIVE, 4, at_millis(1_200)),
            at(1_220 + 1_000)
        );
        assert_eq!(window.earliest(FIVE, 3, at_millis(1_200)), at(1_220));
    }

    #[test]
    fn in_a_new_window_what_is_older_counts_from_when_it_was_told_of() {
        let mut window = Sliding::begin(SECOND, 0, 0, at_millis(0));
        window.charge(4, at_millis(100));
        window.charge(1, at_millis(700));
        window.charge(2, at_millis(800));
        // To the request of 700 ms it was said that two are used, itself among them.
        window.renew(4, at_millis(700).mono, at_millis(900));
        assert_eq!(window.used(at_millis(1_699)), 4);
        assert_eq!(window.used(at_millis(1_700)), 2);
        assert_eq!(window.used(at_millis(1_800)), 0);
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
