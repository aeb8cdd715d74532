//! The core through its doors, one behaviour a test, with the time written out.

#![allow(clippy::panic, reason = "a helper of a test fails by panicking")]

mod books;
mod budgets;
mod each;
mod edges;
mod floating;
mod lanes;
mod late;
mod learned;
mod refused;
mod routed;
mod slots;

use core::num::NonZeroU64;
use core::time::Duration;

use sluicegate_core::{
    Amounts, Authority, BasisPoints, Book, Core, Decision, Event, Failures, Headroom, Limit,
    LimitId, Meter, Mode, Now, Policy, ReservationId, Settlement, Start, Submission, Target,
    TargetId, TicketId, Timestamp, WallTime, Window,
};

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn at(millis: u64) -> Now {
    let nanos = millis * 1_000_000;
    Now::new(
        Timestamp::from_nanos(nanos),
        WallTime::from_unix_nanos(1_800_000_000_000_000_000 + nanos),
    )
}

pub(crate) fn limit(name: &str, meter: Meter, amount: u64, window: Window) -> Limit {
    Limit {
        name: name.into(),
        meter,
        amount: NonZeroU64::new(amount).expect("above zero"),
        window,
        quantum: None,
        headroom: Headroom::Share(BasisPoints::WHOLE),
        start: Start::Full,
        mode: Mode::Enforce,
        settlement: Settlement::Usage,
        failures: Failures::Count,
        arrival_spread: Duration::ZERO,
        authority: Authority::Local,
        book: Book::Mirror,
    }
}

pub(crate) fn tokens(amount: u64) -> Limit {
    limit(
        "tokens",
        Meter::Tokens,
        amount,
        Window::Fixed { per: MINUTE },
    )
}

pub(crate) fn in_flight(amount: u64) -> Limit {
    limit("in flight", Meter::Concurrent, amount, Window::Concurrent)
}

pub(crate) fn policy(limits: Vec<Limit>, targets: &[(&str, &[usize])]) -> Policy {
    let targets = targets
        .iter()
        .map(|(name, limits)| Target {
            name: (*name).into(),
            limits: limits.iter().map(|&limit| LimitId::new(limit)).collect(),
        })
        .collect();
    Policy::new(limits, targets, 3, Duration::from_secs(600)).expect("a policy")
}

pub(crate) fn one_target(limits: Vec<Limit>) -> Core {
    let places: Vec<usize> = (0..limits.len()).collect();
    Core::new(policy(limits, &[("a", &places)]), at(0))
}

pub(crate) fn submit(
    core: &mut Core,
    target: usize,
    amount: u64,
    deadline: Now,
    now: Now,
) -> Decision {
    let demand = Amounts::one_request().with(Meter::Tokens, amount);
    core.submit(
        Submission::new(TargetId::new(target), demand, deadline.mono),
        now,
    )
}

pub(crate) fn admitted(decision: Decision) -> ReservationId {
    match decision {
        Decision::Admitted(reservation) => reservation,
        other => panic!("expected an admission, got {other:?}"),
    }
}

pub(crate) fn waiting(decision: Decision) -> (TicketId, Option<Timestamp>) {
    match decision {
        Decision::Waiting { ticket, start, .. } => (ticket, start),
        other => panic!("expected a place in the line, got {other:?}"),
    }
}

pub(crate) fn events(core: &mut Core) -> Vec<Event> {
    core::iter::from_fn(|| core.poll_event()).collect()
}
