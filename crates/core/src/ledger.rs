//! What is reserved: all-or-nothing charges on several limits, each ended exactly once.
//!
//! The ledger checks every limit before it charges any, so a refusal changes nothing. It knows no waiting line: it answers when
//! a demand would fit and leaves it to the line who may have that place.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use crate::counter::{Counter, Mark};
use crate::slab::{Key, Slab};
use crate::window::Earliest;
use crate::{
    Amounts, Authority, Failures, Limit, LimitId, Meter, Mode, Now, Reception, Settlement, Signal,
    Timestamp,
};

/// Limits that are so equally full, in hundredths of a percent, are equally suspect.
const ALIKE: u64 = 500;
/// How often two limits may push each other's start before the ledger settles for the later one.
const ROUNDS_MAX: u32 = 64;

/// Names a reservation. It names nothing once the reservation has ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReservationId(pub(crate) Key);

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was certainly never sent: everything is given back.
    Void,
    /// It was answered and the usage is known, or a cut stream whose usage was observed.
    Used(Amounts),
    /// It was answered but nobody said what it used: what was reserved stays.
    Unmeasured,
    /// It was sent and failed at the provider. Each limit says whether that counts.
    Failed,
}

/// What the end of a reservation did on one limit: `reserved + overrun = settled + returned`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// The limit.
    pub limit: LimitId,
    /// What was reserved.
    pub reserved: u64,
    /// What stays charged.
    pub settled: u64,
    /// What was given back; the window may have moved on, and then nothing comes of it.
    pub returned: u64,
    /// What was charged on top.
    pub overrun: u64,
}

/// When a demand may start, and which limit decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fit {
    Now,
    At(Timestamp, LimitId),
    OnRelease(LimitId),
}

#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    counters: Vec<Counter>,
    reservations: Slab<Reservation>,
    /// Reservations in the order in which they expire; those that ended are passed over.
    expiries: VecDeque<(Timestamp, ReservationId)>,
    reservation_ttl: Duration,
}

#[derive(Clone, Debug)]
struct Reservation {
    charges: Vec<Charge>,
}

/// What one limit takes of a demand in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Settled {
    /// What was charged.
    Stays,
    /// So much.
    Becomes(u64),
    /// Nothing: it reached nobody.
    Void,
}

#[derive(Clone, Copy, Debug)]
struct Charge {
    limit: LimitId,
    amount: u64,
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
        let mut start = now.mono;
        let mut binding = None;
        for _ in 0..ROUNDS_MAX {
            let round_start = start;
            let then = now.at(round_start);
            for &id in limits {
                let counter = self.counter(id);
                match counter.earliest(demand.of(counter.limit.meter), then) {
                    Earliest::OnRelease => return Fit::OnRelease(id),
                    Earliest::At(at) if at > start => {
                        start = at;
                        binding = Some(id);
                    }
                    Earliest::At(_) => {}
                }
            }
            if start == round_start {
                break;
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
        now: Now,
    ) -> ReservationId {
        let mut charges = Vec::with_capacity(limits.len());
        for &id in limits {
            let counter = self.counter_mut(id);
            let amount = demand.of(counter.limit.meter);
            charges.push(Charge {
                limit: id,
                amount,
                mark: counter.reserve(amount, now),
                pending: true,
            });
        }
        let id = ReservationId(self.reservations.insert(Reservation { charges }));
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
        let reservation = self.reservations.remove(id.0)?;
        let resolve = |charge: &Charge| {
            let counter = self.counter_mut(charge.limit);
            let settled = settled(&counter.limit, charge.amount, outcome);
            if charge.pending {
                counter.arrived(&charge.mark);
            }
            counter.settle(charge.amount, &charge.mark, settled, now);
            let amount = match settled {
                Settled::Stays => charge.amount,
                Settled::Becomes(amount) => amount,
                Settled::Void => 0,
            };
            Resolution {
                limit: charge.limit,
                reserved: charge.amount,
                settled: amount,
                returned: charge.amount.saturating_sub(amount),
                overrun: amount.saturating_sub(charge.amount),
            }
        };
        let resolutions = reservation.charges.iter().map(resolve).collect();
        self.drop_ended_expiries();
        Some(resolutions)
    }

    /// Ends one reservation that is past its time: what it held in flight is free, the rest stays charged.
    pub(crate) fn expire(&mut self, now: Now) -> Option<ReservationId> {
        self.drop_ended_expiries();
        let &(expires, id) = self.expiries.front()?;
        if expires > now.mono {
            return None;
        }
        self.settle(id, Outcome::Unmeasured, now)?;
        Some(id)
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
                told |= counter.arrived(&charge.mark);
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
                counter.observe(signal, &mark, reception, now);
                if let Some((edge, certainty)) = counter.edge_told(signal, &mark, now) {
                    // The windows of one account end together.
                    let per = counter.limit.window.per().unwrap_or_default();
                    for charge in charges {
                        counters[charge.limit.index()].follow_edge(per, edge, certainty);
                    }
                }
                told = true;
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

/// Closes what a refusal is about. False where nothing of ours is.
fn close(counters: &mut [Counter], limits: &[LimitId], signal: &Signal, now: Now) -> bool {
    let Some(wait) = signal.closed_for else {
        return false;
    };
    let mut closed = false;
    for id in limits {
        let counter = &mut counters[id.index()];
        if counter.limit.meter == signal.meter && counter.limit.window.per().is_some() {
            counter.close(wait, now);
            closed = true;
        }
    }
    closed
}

/// Of the limits that a refusal may be about, the fullest is the one; of some that are about as full, the shortest. One about
/// slots, where none are counted, may be about any: who has no room for another request is sent too many.
fn suspect(counters: &mut [Counter], charges: &[Charge], signals: &[Signal], now: Now) {
    let meter = |charge: &Charge| counters[charge.limit.index()].limit.meter;
    let slots = charges.iter().any(|one| meter(one) == Meter::Concurrent);
    let refused = |charge: &&Charge| {
        let meter = counters[charge.limit.index()].limit.meter;
        let about = |signal: &Signal| {
            let is_named = signal.meter == meter || (signal.meter == Meter::Concurrent && !slots);
            is_named && signal.closed_for.is_some()
        };
        signals.iter().any(about)
    };
    let full = |charge: &Charge| {
        let suspicion = counters[charge.limit.index()].suspicion(&charge.mark)?;
        let per = counters[charge.limit.index()].limit.window.per();
        Some(((suspicion / ALIKE, Reverse(per)), *charge))
    };
    let suspects = charges.iter().filter(refused).filter_map(full);
    if let Some((_, charge)) = suspects.max_by_key(|(suspicion, _)| *suspicion) {
        let closed = signals.iter().filter_map(|signal| signal.closed_for);
        let wait = closed.max().unwrap_or_default();
        counters[charge.limit.index()].refused(&charge.mark, wait, now);
    }
}

/// What `limit` takes of `reserved` after `outcome`.
fn settled(limit: &Limit, reserved: u64, outcome: Outcome) -> Settled {
    if outcome == Outcome::Void {
        return Settled::Void;
    }
    if limit.meter == Meter::Concurrent {
        return Settled::Becomes(0);
    }
    match outcome {
        // A request that was sent was sent, whatever it used.
        Outcome::Used(_) if limit.meter == Meter::Requests => Settled::Stays,
        // A usage that no limit could hold is a mistake of whoever told it, and must not close the limit for ever.
        Outcome::Used(usage) if limit.settlement != Settlement::Keep => Settled::Becomes(
            usage
                .of(limit.meter)
                .min(reserved.saturating_add(limit.amount.get())),
        ),
        Outcome::Failed if limit.failures == Failures::Return => Settled::Becomes(0),
        Outcome::Void | Outcome::Unmeasured | Outcome::Used(_) | Outcome::Failed => Settled::Stays,
    }
}
