//! Which limits a refusal is about. It names a meter at most, and mostly neither a limit nor how full that is.

use core::cmp::Reverse;

use super::Charge;
use crate::counter::Counter;
use crate::{LimitId, Meter, Now, Signal};

/// Limits that are so equally full, in hundredths of a percent, are equally suspect.
const ALIKE: u64 = 500;

/// An overload is about a limit that is at least so full: a provider may be short of room whatever we send it.
const OVERLOAD_MIN: u64 = 4_500;

/// Closes what a refusal is about. False where nothing of ours is.
pub(super) fn close(
    counters: &mut [Counter],
    limits: &[LimitId],
    signal: &Signal,
    now: Now,
) -> bool {
    let Some(wait) = signal.closed_for else {
        return false;
    };
    let mut closed = false;
    for id in limits {
        let counter = &mut counters[id.index()];
        let is_windowed = counter.limit.window.per().is_some();
        if counter.is_mirror() && counter.limit.meter == signal.meter && is_windowed {
            counter.close(wait, now);
            closed = true;
        }
    }
    closed
}

/// Of the limits that a refusal may be about, the fullest is the one; of some that are about as full, the shortest. One about
/// slots, where none are counted, may be about any: who has no room for another request is sent too many.
pub(super) fn suspect(counters: &mut [Counter], charges: &[Charge], signals: &[Signal], now: Now) {
    let meter = |charge: &Charge| counters[charge.limit.index()].limit.meter;
    let slots = charges.iter().any(|one| meter(one) == Meter::Concurrent);
    let refused = |charge: &&Charge| {
        let about = |signal: &Signal| {
            let is_named = signal.meter == meter(charge);
            let of_slots = signal.meter == Meter::Concurrent && !slots;
            (is_named || of_slots) && signal.closed_for.is_some()
        };
        signals.iter().any(about)
    };
    let full = |charge: &Charge| {
        let suspicion = counters[charge.limit.index()].suspicion(&charge.mark)?;
        let named = signals.iter().any(|signal| signal.meter == meter(charge));
        if !named && suspicion < OVERLOAD_MIN {
            return None;
        }
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
