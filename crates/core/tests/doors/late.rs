//! Requests that leave later than they were admitted.

use core::time::Duration;

use sluicegate_core::{Limit, Meter, Outcome, Reception, TargetId, Window};

use crate::{MINUTE, admitted, at, in_flight, limit, one_target, submit, tokens, waiting};

/// 1,000 tokens in any minute, and requests that arrive within 100 ms of each other.
fn any_minute() -> Limit {
    Limit {
        arrival_spread: Duration::from_millis(100),
        ..limit(
            "tokens",
            Meter::Tokens,
            1_000,
            Window::Sliding { per: MINUTE },
        )
    }
}

#[test]
fn what_leaves_late_counts_from_then_on() {
    let mut core = one_target(vec![any_minute()]);
    let reservation = admitted(submit(&mut core, 0, 600, at(0), at(0)));
    assert!(core.sent(reservation, at(5_000)));
    let (_, start) = waiting(submit(&mut core, 0, 600, at(600_000), at(5_001)));
    assert_eq!(start, Some(at(65_100).mono));
}

#[test]
fn what_leaves_within_the_spread_counts_from_its_admission() {
    let mut core = one_target(vec![any_minute()]);
    let reservation = admitted(submit(&mut core, 0, 600, at(0), at(0)));
    assert!(!core.sent(reservation, at(100)));
    let (_, start) = waiting(submit(&mut core, 0, 600, at(600_000), at(101)));
    assert_eq!(start, Some(at(60_100).mono));
    assert!(core.sent(reservation, at(101)));
}

#[test]
fn who_waits_is_let_in_no_sooner_than_what_left_late_allows() {
    let mut core = one_target(vec![any_minute()]);
    let reservation = admitted(submit(&mut core, 0, 600, at(0), at(0)));
    let (ticket, start) = waiting(submit(&mut core, 0, 600, at(600_000), at(1)));
    assert_eq!(start, Some(at(60_100).mono));
    assert!(core.sent(reservation, at(5_000)));
    assert_eq!(core.poll_timeout(), Some(at(65_100).mono));
    core.handle_timeout(at(65_100));
    let started = core.poll_event();
    assert!(
        matches!(started, Some(sluicegate_core::Event::Admitted { ticket: t, .. }) if t == ticket),
        "{started:?}"
    );
}

#[test]
fn a_charge_moves_to_the_window_in_which_its_request_left() {
    let mut core = one_target(vec![tokens(1_000), in_flight(2)]);
    let reservation = admitted(submit(&mut core, 0, 600, at(0), at(59_000)));
    let used = |core: &sluicegate_core::Core, millis| -> Vec<u64> {
        core.limit_states(at(millis))
            .map(|state| state.used)
            .collect()
    };
    assert_eq!(used(&core, 61_000), [0, 1]);
    assert!(core.sent(reservation, at(61_000)));
    assert_eq!(used(&core, 61_000), [600, 1]);
    // What it used less comes back to that window, and its slot is free.
    let usage = sluicegate_core::Amounts::ZERO.with(Meter::Tokens, 200);
    core.settle(reservation, Outcome::Used(usage), at(62_000))
        .expect("it is open");
    assert_eq!(used(&core, 62_000), [200, 0]);
}

#[test]
fn a_bucket_has_not_refilled_what_was_not_taken_yet() {
    let bucket = limit("tokens", Meter::Tokens, 600, Window::Bucket { per: MINUTE });
    let mut core = one_target(vec![bucket]);
    let reservation = admitted(submit(&mut core, 0, 600, at(0), at(0)));
    let used =
        |core: &sluicegate_core::Core| core.limit_states(at(30_000)).next().map(|state| state.used);
    assert_eq!(used(&core), Some(300));
    assert!(core.sent(reservation, at(30_000)));
    assert_eq!(used(&core), Some(600));
}

#[test]
fn what_is_answered_or_has_ended_is_not_late() {
    let mut core = one_target(vec![any_minute()]);
    let answered = admitted(submit(&mut core, 0, 300, at(0), at(0)));
    core.observe(
        TargetId::new(0),
        answered,
        Reception::Accepted,
        &[],
        at(4_000),
    );
    assert!(!core.sent(answered, at(5_000)));
    let ended = admitted(submit(&mut core, 0, 300, at(0), at(0)));
    core.settle(ended, Outcome::Unmeasured, at(4_000))
        .expect("it is open");
    assert!(!core.sent(ended, at(5_000)));
}

#[test]
fn the_spread_in_force_is_shown() {
    let mut core = one_target(vec![any_minute()]);
    let spread = |core: &sluicegate_core::Core| {
        let mut states = core.limit_states(at(0));
        states.next().map(|state| state.arrival_spread)
    };
    assert_eq!(spread(&core), Some(Duration::from_millis(100)));
    for delay in 40..72 {
        core.arrived(TargetId::new(0), Duration::from_millis(delay), at(0));
    }
    // An eighth more than the 31 ms that were seen.
    assert_eq!(spread(&core), Some(Duration::from_micros(34_875)));
}
