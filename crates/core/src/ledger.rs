//! What is reserved: all-or-nothing charges on several limits, each ended exactly once.
//!
//! The ledger checks every limit before it charges any, so a refusal changes nothing. It knows no waiting line: it answers when
//! a demand would fit and leaves it to the line who may have that place.

mod settlement;
mod suspects;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use crate::counter::{Counter, Mark};
use crate::slab::{Key, Slab};
use crate::window::Earliest;
use crate::{
    Amounts, Answered, Authority, Lane, Limit, LimitId, Mode, Now, Reception, Signal, Timestamp,
};

pub(crate) use settlement::Settled;
use settlement::settled;
pub use settlement::{Outcome, Resolution};
use suspects::{close, suspect};

/// So many lists of charges are kept for reservations to come.
const SPARE_MAX: usize = 1_024;

/// Names a reservation. It names nothing once the reservation has ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReservationId(pub(crate) Key);

/// When a demand may start, and which limit decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fit {
    Now,
    At(Timestamp, LimitId),
    /// When something in flight ends, and at the latest then, where that is known.
    OnRelease(LimitId, Option<Timestamp>),
}

#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    counters: Vec<Counter>,
    reservations: Slab<Reservation>,
    /// Lists of reservations that ended, empty, for those to come.
    spare: Vec<Vec<Charge>>,
    /// Reservations in the order in which they expire; those that ended are passed over.
    expiries: VecDeque<(Timestamp, ReservationId)>,
    reservation_ttl: Duration,
}

#[derive(Clone, Debug)]
struct Reservation {
    lane: Lane,
    charges: Vec<Charge>,
}

#[derive(Clone, Copy, Debug)]
struct Charge {
    limit: LimitId,
    mark: Mark,
    /// Whether its request may not have reached the provider yet: no answer has come.
    pending: bool,
}

impl Ledger {
    pub(crate) fn new(limits: &[Limit], reservation_ttl: Duration, now: Now) -> Self {
        Self {
            counters: limits
                .iter()
                .map(|limit| Counter::begin(limit, now))
                .collect(),
            reservations: Slab::new(),
            spare: Vec::new(),
            expiries: VecDeque::new(),
            reservation_ttl,
        }
    }

    /// The first of `limits` that `demand` can never pass, with what it asks of it.
    pub(crate) fn never_fits(&self, limits: &[LimitId], demand: Amounts) -> Option<(LimitId, u64)> {
        limits.iter().find_map(|&id| {
            let counter = self.counter(id);
            let charge = demand.of(counter.limit.meter);
            counter.never_fits(charge).then_some((id, charge))
        })
    }

    /// When `demand` fits on all of `limits`, if nothing else is charged before.
    pub(crate) fn fit(&self, limits: &[LimitId], demand: Amounts, now: Now) -> Fit {
        self.fit_leaving(limits, demand, |_| 0, now)
    }

    /// The same where on each limit so much is left free as `leaves` says, as far as that is possible beside the demand.
    pub(crate) fn fit_leaving(
        &self,
        limits: &[LimitId],
        demand: Amounts,
        leaves: impl Fn(LimitId) -> u64,
        now: Now,
    ) -> Fit {
        let mut start = now.mono;
        let mut binding = None;
        // What fits at an instant fits from then on: nobody's start is moved by a later one of another limit.
        for &id in limits {
            let counter = self.counter(id);
            let charge = demand.of(counter.limit.meter);
            let left = match leaves(id) {
                0 => 0,
                leaves => leaves.min(counter.usable().saturating_sub(charge)),
            };
            match counter.earliest(charge.saturating_add(left), now) {
                Earliest::OnRelease(latest) => return Fit::OnRelease(id, latest),
                Earliest::At(at) if at > start => {
                    start = at;
                    binding = Some(id);
                }
                Earliest::At(_) => {}
            }
        }
        match binding {
            Some(limit) => Fit::At(start, limit),
            None => Fit::Now,
        }
    }

    /// Charges `demand` on all of `limits`. The caller has asked [`fit`](Self::fit) at the same `now`.
    pub(crate) fn reserve(
        &mut self,
        limits: &[LimitId],
        demand: Amounts,
        lane: Lane,
        now: Now,
    ) -> ReservationId {
        let mut charges = self.spare.pop().unwrap_or_default();
        for &id in limits {
            let counter = self.counter_mut(id);
            charges.push(Charge {
                limit: id,
                mark: counter.reserve(demand.of(counter.limit.meter), now),
                pending: true,
            });
        }
        let id = ReservationId(self.reservations.insert(Reservation { lane, charges }));
        let expires = now.mono.saturating_add(self.reservation_ttl);
        // A shorter time to live after a change of policy waits for those before it.
        let expires = self
            .expiries
            .back()
            .map_or(expires, |&(last, _)| expires.max(last));
        self.expiries.push_back((expires, id));
        id
    }

    /// Counts `demand` without a reservation: a forecast never ends one.
    pub(crate) fn charge(&mut self, limits: &[LimitId], demand: Amounts, now: Now) {
        for &id in limits {
            let counter = self.counter_mut(id);
            counter.foresee(demand.of(counter.limit.meter), now);
        }
    }

    /// Ends a reservation. `None` where it has ended before.
    pub(crate) fn settle(
        &mut self,
        id: ReservationId,
        outcome: Outcome,
        now: Now,
    ) -> Option<Vec<Resolution>> {
        let Reservation { mut charges, .. } = self.reservations.remove(id.0)?;
        let resolve = |charge: &Charge| {
            let counter = self.counter_mut(charge.limit);
            let reserved = charge.mark.charge;
            let settled = settled(&counter.limit, reserved, outcome);
            if charge.pending {
                counter.answered(&charge.mark);
            }
            counter.settle(&charge.mark, settled, now);
            let amount = match settled {
                Settled::Stays => reserved,
                Settled::Becomes(amount) => amount,
                Settled::Void => 0,
            };
            Resolution {
                limit: charge.limit,
                reserved,
                settled: amount,
                returned: reserved.saturating_sub(amount),
                overrun: amount.saturating_sub(reserved),
            }
        };
        let resolutions = charges.iter().map(resolve).collect();
        if self.spare.len() < SPARE_MAX {
            charges.clear();
            self.spare.push(charges);
        }
        self.drop_ended_expiries();
        Some(resolutions)
    }

    /// A reservation that is past its time.
    pub(crate) fn expired(&mut self, now: Now) -> Option<ReservationId> {
        self.drop_ended_expiries();
        let &(expires, id) = self.expiries.front()?;
        (expires <= now.mono).then_some(id)
    }

    /// The lane of a reservation that has not ended.
    pub(crate) fn lane_of(&self, id: ReservationId) -> Option<Lane> {
        self.reservations
            .at(id.0)
            .map(|reservation| reservation.lane)
    }

    pub(crate) fn next_expiry(&self) -> Option<Timestamp> {
        self.expiries.front().map(|&(expires, _)| expires)
    }

    /// Takes a provider's word on `limits`, given with its answer to `reservation`.
    pub(crate) fn observe(
        &mut self,
        limits: &[LimitId],
        reservation: ReservationId,
        reception: Reception,
        signals: &[Signal],
        now: Now,
    ) -> bool {
        let Self {
            counters,
            reservations,
            ..
        } = self;
        let Some(answered) = reservations.at_mut(reservation.0) else {
            return false;
        };
        let mut told = false;
        for charge in &mut answered.charges {
            let counter = &mut counters[charge.limit.index()];
            if core::mem::take(&mut charge.pending) {
                told |= counter.answered(&charge.mark);
            }
            if reception == Reception::Accepted {
                counter.served(&charge.mark);
            }
        }
        let charges = answered.charges.as_slice();
        for signal in signals {
            told |= close(counters, limits, signal, now);
            let enforced = |id: &&LimitId| counters[id.index()].limit.mode == Mode::Enforce;
            let may_be = |id: &&LimitId| counters[id.index()].may_be_told_by(signal);
            // A limit that is only watched stands in no enforced one's way.
            let watches = !limits.iter().filter(enforced).any(|id| may_be(&id));
            let mut candidates = limits
                .iter()
                .filter(|id| watches || enforced(id))
                .filter(may_be);
            // Where it may speak of several, it tells of none.
            if let (Some(&id), None) = (candidates.next(), candidates.next()) {
                let counter = &mut counters[id.index()];
                let charge = charges.iter().find(|charge| charge.limit == id);
                let mark = charge.map_or_else(|| counter.mark(now), |charge| charge.mark);
                if !counter.observe(signal, &mark, reception, now) {
                    continue;
                }
                told = true;
                follow_others(counters, limits, id);
                let counter = &mut counters[id.index()];
                if let Some((edge, certainty)) = counter.edge_told(signal, &mark, now) {
                    // The windows of one account end together.
                    let per = counter.limit.window.per().unwrap_or_default();
                    for charge in charges {
                        let counter = &mut counters[charge.limit.index()];
                        counter.follow_edge(per, edge, certainty, &charge.mark);
                    }
                }
            }
        }
        if reception == Reception::Refused {
            suspect(counters, charges, signals, now);
        }
        told
    }

    /// The request of a reservation left only now: its charges that count from too early on are moved. One of the limits on which
    /// that changed something.
    pub(crate) fn sent(&mut self, reservation: ReservationId, now: Now) -> Option<LimitId> {
        let Self {
            counters,
            reservations,
            ..
        } = self;
        let mut moved = None;
        for charge in &mut reservations.at_mut(reservation.0)?.charges {
            let counter = &mut counters[charge.limit.index()];
            if charge.pending && counter.sent(&mut charge.mark, now) {
                moved = Some(charge.limit);
            }
        }
        moved
    }

    /// The request of a reservation was answered. One of the limits of which more or less is used for it.
    pub(crate) fn answered(
        &mut self,
        reservation: ReservationId,
        answered: Answered,
        now: Now,
    ) -> Option<LimitId> {
        let charges = &self.reservations.at(reservation.0)?.charges;
        let mut moved = None;
        for charge in charges {
            let counter = &mut self.counters[charge.limit.index()];
            if counter.slot_answered(&charge.mark, answered, now) {
                moved = Some(charge.limit);
            }
        }
        moved
    }

    /// A request to a target with `limits` took `delay` to arrive.
    pub(crate) fn took(&mut self, limits: &[LimitId], delay: Duration, now: Now) {
        for id in limits {
            self.counter_mut(*id).took(delay, now);
        }
    }

    /// The ledger under another list of limits. Limits of the same name that are counted in the same way keep their count, and
    /// reservations follow them; on all others reservations hold nothing any more.
    pub(crate) fn reconfigured(
        &self,
        limits: &[Limit],
        reservation_ttl: Duration,
        now: Now,
    ) -> Self {
        let mut moved: Vec<Option<LimitId>> = alloc::vec![None; self.counters.len()];
        let mut counters = Vec::with_capacity(limits.len());
        for (index, limit) in limits.iter().enumerate() {
            let named_so = |old: &Counter| old.limit.name == limit.name;
            let kept = self.counters.iter().position(named_so).and_then(|old| {
                let counter = self.counters[old].retuned(limit, now)?;
                moved[old] = Some(LimitId::new(index));
                Some(counter)
            });
            counters.push(kept.unwrap_or_else(|| Counter::begin(limit, now)));
        }
        let mut ledger = Self {
            counters,
            reservations: self.reservations.clone(),
            spare: Vec::new(),
            expiries: self.expiries.clone(),
            reservation_ttl,
        };
        for reservation in ledger.reservations.values_mut() {
            reservation
                .charges
                .retain_mut(|charge| match moved[charge.limit.index()] {
                    Some(limit) => {
                        charge.limit = limit;
                        true
                    }
                    None => false,
                });
        }
        ledger
    }

    /// The counts of `limits` alone, to forecast with; every other limit counts nothing in the copy.
    pub(crate) fn counts_of(&self, limits: &[LimitId], now: Now) -> Self {
        let copy = |(index, counter): (usize, &Counter)| {
            if limits.contains(&LimitId::new(index)) {
                counter.clone()
            } else {
                Counter::begin(&counter.limit, now)
            }
        };
        Self {
            counters: self.counters.iter().enumerate().map(copy).collect(),
            reservations: Slab::new(),
            spare: Vec::new(),
            expiries: VecDeque::new(),
            reservation_ttl: self.reservation_ttl,
        }
    }

    pub(crate) fn counter(&self, id: LimitId) -> &Counter {
        &self.counters[id.index()]
    }

    pub(crate) fn counters(&self) -> &[Counter] {
        &self.counters
    }

    pub(crate) fn reservations_open(&self) -> usize {
        self.reservations.len()
    }

    pub(crate) fn wants_grant(&self, limits: &[LimitId]) -> bool {
        limits
            .iter()
            .any(|&id| self.counter(id).limit.authority == Authority::Granted)
    }

    fn counter_mut(&mut self, id: LimitId) -> &mut Counter {
        &mut self.counters[id.index()]
    }

    fn drop_ended_expiries(&mut self) {
        while let Some(&(_, id)) = self.expiries.front()
            && self.reservations.at(id.0).is_none()
        {
            self.expiries.pop_front();
        }
        // One long stream at the front must not keep the names of all that ended behind it.
        if self.expiries.len() > 2 * self.reservations.len() + 64 {
            let reservations = &self.reservations;
            self.expiries
                .retain(|&(_, id)| reservations.at(id.0).is_some());
        }
    }
}

/// What others take of the limit `told` they take of a shorter one on the same meter too, of which no answer tells.
fn follow_others(counters: &mut [Counter], limits: &[LimitId], told: LimitId) {
    let Some(others) = counters[told.index()].others() else {
        return;
    };
    for id in limits {
        counters[id.index()].follow_others(others);
    }
}
