//! Windows that begin nobody knows when, until an answer tells of an edge.

use core::time::Duration;

use sluicegate_core::{Core, Limit, Meter, Reception, ReservationId, Signal, TargetId, Window};

use crate::{MINUTE, admitted, at, limit, one_target, submit, waiting};

const FLOATING: Window = Window::Floating { per: MINUTE };

fn tokens() -> Limit {
    limit("tokens", Meter::Tokens, 1_000, FLOATING)
}

/// An answer 200 ms after `sent` says in how many seconds the window ends.
fn told(core: &mut Core, answered: ReservationId, seconds: u64, sent: u64) -> bool {
    let signal = Signal {
        reset: Some(Duration::from_secs(seconds)),
        ..Signal::on(Meter::Tokens)
    };
    let target = TargetId::new(0);
    core.observe(
        target,
        answered,
        Reception::Accepted,
        &[signal],
        at(sent + 200),
    )
}

#[test]
fn an_edge_that_an_answer_tells_of_opens_the_window() {
    let mut core = one_target(vec![tokens()]);
    let open = admitted(submit(&mut core, 0, 600, at(10_000), at(10_000)));
    let (ticket, start) = waiting(submit(&mut core, 0, 600, at(600_000), at(10_100)));
    assert_eq!(start, Some(at(70_000).mono));
    assert!(core.cancel(ticket, at(10_150)));
    // Seconds are rounded, and when within 200 ms it was said nobody knows: 39 s to 41.2 s.
    assert!(told(&mut core, open, 30, 10_000));
    let (_, start) = waiting(submit(&mut core, 0, 600, at(600_000), at(11_000)));
    assert_eq!(start, Some(at(41_200).mono));
}

#[test]
fn what_may_have_arrived_after_the_edge_counts_in_the_next_window() {
    let mut core = one_target(vec![tokens()]);
    let open = admitted(submit(&mut core, 0, 100, at(10_000), at(10_000)));
    assert!(told(&mut core, open, 30, 10_000));
    admitted(submit(&mut core, 0, 300, at(39_000), at(39_000)));
    admitted(submit(&mut core, 0, 500, at(39_001), at(39_001)));
    let used = |core: &Core, millis| core.limit_states(at(millis)).next().map(|state| state.used);
    assert_eq!(used(&core, 41_199), Some(900));
    assert_eq!(used(&core, 41_200), Some(500));
    // Its own edge lies between 99 s and 101.2 s, and it is a whole length old before that.
    assert_eq!(used(&core, 99_000), Some(500));
    assert_eq!(used(&core, 99_001), Some(0));
}

#[test]
fn the_windows_of_one_account_end_together() {
    let requests = limit("requests", Meter::Requests, 1, FLOATING);
    let mut core = one_target(vec![tokens(), requests]);
    let open = admitted(submit(&mut core, 0, 1, at(10_000), at(10_000)));
    assert!(told(&mut core, open, 30, 10_000));
    let (_, start) = waiting(submit(&mut core, 0, 1, at(600_000), at(11_000)));
    assert_eq!(start, Some(at(41_200).mono));
}

#[test]
fn an_edge_beyond_a_whole_length_is_none_of_this_window() {
    let mut core = one_target(vec![tokens()]);
    let open = admitted(submit(&mut core, 0, 600, at(10_000), at(10_000)));
    told(&mut core, open, 3_600, 10_000);
    let (_, start) = waiting(submit(&mut core, 0, 600, at(600_000), at(11_000)));
    assert_eq!(start, Some(at(70_000).mono));
}

#[test]
fn an_edge_told_in_answer_to_an_earlier_request_moves_none_that_was_told_since() {
    let mut core = one_target(vec![tokens()]);
    let earlier = admitted(submit(&mut core, 0, 300, at(10_000), at(10_000)));
    let later = admitted(submit(&mut core, 0, 300, at(20_000), at(20_000)));
    assert!(told(&mut core, later, 30, 20_000));
    // Between 49 s and 51.2 s. What was said ten seconds before would be 59 s to 71.2 s.
    assert!(!told(&mut core, earlier, 50, 20_000));
    let (_, start) = waiting(submit(&mut core, 0, 600, at(600_000), at(21_000)));
    assert_eq!(start, Some(at(51_200).mono));
}
