//! What each end of an attempt leaves of its charges: the rules by which limits settle.

use crate::{Amounts, Failures, Limit, LimitId, Meter, Settlement};

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

/// What `limit` takes of `reserved` after `outcome`.
pub(super) fn settled(limit: &Limit, reserved: u64, outcome: Outcome) -> Settled {
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
