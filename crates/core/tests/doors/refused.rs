//! Refusals of a provider that shows no remainder: what they teach and whom they hold back.

use core::time::Duration;

use sluicegate_core::{
    Amounts, BasisPoints, Calendar, Core, Decision, Event, Failures, Headroom, Limit, LimitId,
    Meter, Now, Outcome, Policy, Reception, ReservationId, Signal, Target, TargetId, WallTime,
    Window,
};

use crate::{MINUTE, admitted, at, events, limit, one_target, policy, submit, waiting};

/// So long a wait is no more than the shortest that can be said.
const NO_HINT: Duration = Duration::from_secs(1);

fn refuse(core: &mut Core, meter: Meter, answered: ReservationId, wait: Duration, now: Now) {
    let closed = Signal {
        closed_for: Some(wait),
        ..Signal::on(meter)
    };
    let target = TargetId::new(0);
    assert!(core.observe(target, answered, Reception::Refused, &[closed], now));
    core.settle(answered, Outcome::Failed, now)
        .expect("it is open");
}

fn serve(core: &mut Core, answered: ReservationId, now: Now) {
    core.observe(TargetId::new(0), answered, Reception::Accepted, &[], now);
}

fn used(core: &Core, now: Now) -> u64 {
    core.limit_states(now).next().expect("a limit").used
}

fn started(core: &mut Core) -> ReservationId {
    match events(core)[..] {
        [Event::Admitted { reservation, .. }] => reservation,
        ref others => panic!("expected one start, got {others:?}"),
    }
}

/// A thousand tokens in a window; a refused request costs nothing.
fn returning(window: Window) -> Core {
    one_target(vec![Limit {
        failures: Failures::Return,
        ..limit("tokens", Meter::Tokens, 1_000, window)
    }])
}

#[test]
fn a_named_wait_near_the_end_of_a_window_teaches_the_factor_once_a_burst() {
    let mut core = returning(Window::Sliding { per: MINUTE });
    for _ in 0..8 {
        let open = admitted(submit(&mut core, 0, 100, at(30_000), at(30_000)));
        serve(&mut core, open, at(30_500));
    }
    let ninth = admitted(submit(&mut core, 0, 100, at(50_000), at(50_000)));
    let tenth = admitted(submit(&mut core, 0, 100, at(50_001), at(50_001)));
    // The provider's window began at 0.1 s, and 800 have filled it.
    let wait = Duration::from_secs(10);
    refuse(&mut core, Meter::Tokens, ninth, wait, at(50_100));
    refuse(&mut core, Meter::Tokens, tenth, wait, at(50_100));
    let (_, start) = waiting(submit(&mut core.clone(), 0, 10, at(600_000), at(50_200)));
    assert_eq!(start, Some(at(60_100).mono));
    // 1,000 for 800, and a 64th of that on top: 100 are 126.95 there. Parts of a unit are charged in time.
    let later = at(120_000);
    admitted(submit(&mut core, 0, 100, later, later));
    assert_eq!(used(&core, later), 126);
    admitted(submit(&mut core, 0, 100, later, later));
    assert_eq!(used(&core, later), 253);
}

#[test]
fn a_named_wait_that_leaves_much_of_a_limit_is_a_cut_and_no_estimate() {
    let mut core = returning(Window::Sliding { per: MINUTE });
    for _ in 0..4 {
        let open = admitted(submit(&mut core, 0, 100, at(30_000), at(30_000)));
        serve(&mut core, open, at(30_500));
    }
    let fifth = admitted(submit(&mut core, 0, 100, at(50_000), at(50_000)));
    let wait = Duration::from_secs(10);
    refuse(&mut core, Meter::Tokens, fifth, wait, at(50_100));
    // A fiftieth below the 400 that were served, charged as ever.
    let (_, start) = waiting(submit(&mut core, 0, 10, at(600_000), at(61_000)));
    assert_eq!(start, Some(at(90_000).mono));
    core.handle_timeout(at(90_000));
    started(&mut core);
    admitted(submit(&mut core, 0, 382, at(90_000), at(90_000)));
    assert_eq!(used(&core, at(90_000)), 392);
    let (_, start) = waiting(submit(&mut core, 0, 1, at(600_000), at(90_001)));
    assert_eq!(start, Some(at(110_100).mono));
}

#[test]
fn without_a_hint_what_was_in_use_is_about_what_can_be_had_and_one_at_a_time_tries_above_it() {
    let mut core = returning(Window::Fixed { per: MINUTE });
    for _ in 0..5 {
        let open = admitted(submit(&mut core, 0, 100, at(0), at(0)));
        serve(&mut core, open, at(5));
    }
    let sixth = admitted(submit(&mut core, 0, 100, at(1), at(1)));
    refuse(&mut core, Meter::Tokens, sixth, NO_HINT, at(10));
    // A little below the 500 that were in use.
    assert_eq!(used(&core, at(10)), 500);
    let (_, start) = waiting(submit(&mut core, 0, 100, at(600_000), at(20_000)));
    assert_eq!(start, Some(at(60_000).mono));
    core.handle_timeout(at(60_000));
    // One asks whether that holds; the others wait for its answer.
    let asks = started(&mut core);
    let (_, start) = waiting(submit(&mut core, 0, 100, at(600_000), at(60_000)));
    assert_eq!(start, None);
    serve(&mut core, asks, at(60_010));
    started(&mut core);
    for _ in 0..2 {
        admitted(submit(&mut core, 0, 100, at(60_010), at(60_010)));
    }
    // A minute has gone by since: the fifth tries, and nobody else beside it.
    let tries = admitted(submit(&mut core, 0, 100, at(60_020), at(60_020)));
    let (_, start) = waiting(submit(&mut core, 0, 100, at(600_000), at(60_021)));
    assert_eq!(start, Some(at(120_000).mono));
    // Served, it is the new level, and the next one tries.
    serve(&mut core, tries, at(60_500));
    let next = started(&mut core);
    core.settle(next, Outcome::Unmeasured, at(61_000))
        .expect("it is open");
    for _ in 0..5 {
        admitted(submit(&mut core, 0, 100, at(120_000), at(120_000)));
    }
    admitted(submit(&mut core, 0, 100, at(120_000), at(120_000)));
    waiting(submit(&mut core, 0, 100, at(600_000), at(120_000)));
}

#[test]
fn a_limit_that_charges_otherwise_knows_no_level() {
    let mut core = returning(Window::Fixed { per: MINUTE });
    admitted(submit(&mut core, 0, 500, at(0), at(0)));
    let refused = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    refuse(&mut core, Meter::Tokens, refused, NO_HINT, at(10));
    let edited = |failures| Limit {
        failures,
        ..limit(
            "tokens",
            Meter::Tokens,
            1_000,
            Window::Fixed { per: MINUTE },
        )
    };
    let now = at(60_000);
    let mut same = core.clone();
    same.reconfigure(policy(vec![edited(Failures::Return)], &[("a", &[0])]), now);
    admitted(submit(&mut same, 0, 10, now, now));
    waiting(submit(&mut same, 0, 590, at(600_000), now));
    core.reconfigure(policy(vec![edited(Failures::Count)], &[("a", &[0])]), now);
    admitted(submit(&mut core, 0, 10, now, now));
    admitted(submit(&mut core, 0, 590, now, now));
}

#[test]
fn a_try_that_is_refused_is_the_last_for_a_minute() {
    let mut core = returning(Window::Fixed { per: MINUTE });
    admitted(submit(&mut core, 0, 500, at(0), at(0)));
    let first = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    refuse(&mut core, Meter::Tokens, first, NO_HINT, at(10));
    let asks = admitted(submit(&mut core, 0, 440, at(60_000), at(60_000)));
    serve(&mut core, asks, at(60_005));
    let tries = admitted(submit(&mut core, 0, 100, at(60_010), at(60_010)));
    refuse(&mut core, Meter::Tokens, tries, NO_HINT, at(60_200));
    // A little below 440 now, which is 422; the limit itself is closed for a quarter of its window.
    let (_, start) = waiting(submit(&mut core, 0, 10, at(600_000), at(60_300)));
    assert_eq!(start, Some(at(120_000).mono));
    core.handle_timeout(at(120_000));
    let asks = started(&mut core);
    serve(&mut core, asks, at(120_000));
    admitted(submit(&mut core, 0, 412, at(120_000), at(120_000)));
    // 422 are in use. One more is too much until a minute after that refusal.
    let (_, start) = waiting(submit(&mut core, 0, 10, at(600_000), at(120_001)));
    assert_eq!(start, Some(at(120_200).mono));
}

/// Fifty of a hundred requests of a day were served when the next one was refused, a second later, without a hint.
fn half_a_day() -> Core {
    let midnight = at(0).wall.as_unix_nanos();
    let edges = [0, 24, 48].map(|hours| midnight + hours * 3_600_000_000_000);
    let edges = edges.map(WallTime::from_unix_nanos).to_vec();
    let days = Window::Calendar(Calendar::new("days", edges).expect("they rise"));
    let mut core = one_target(vec![limit("requests", Meter::Requests, 100, days)]);
    for _ in 0..50 {
        let open = admitted(submit(&mut core, 0, 1, at(0), at(0)));
        serve(&mut core, open, at(500));
    }
    let refused = admitted(submit(&mut core, 0, 1, at(1_000), at(1_000)));
    refuse(&mut core, Meter::Requests, refused, NO_HINT, at(1_100));
    core
}

#[test]
fn a_refusal_without_a_hint_closes_no_day() {
    let mut core = half_a_day();
    let hour = at(3_600_000);
    let (_, first) = waiting(submit(&mut core, 0, 1, hour, at(1_200)));
    assert_eq!(first, Some(at(61_100).mono));
    // When the second starts hangs on how the first one is taken.
    let (_, second) = waiting(submit(&mut core, 0, 1, hour, at(1_200)));
    assert_eq!(second, None);
    core.handle_timeout(at(61_100));
    let tries = started(&mut core);
    assert!(matches!(
        submit(&mut core, 0, 1, hour, at(61_200)),
        Decision::Waiting { start: None, .. }
    ));
    serve(&mut core, tries, at(61_500));
    let tries = started(&mut core);
    serve(&mut core, tries, at(62_000));
    started(&mut core);
}

#[test]
fn whoever_waits_for_a_try_that_hangs_starts_when_the_level_has_room() {
    let ten_minutes = Window::Sliding { per: 10 * MINUTE };
    let tokens = Limit {
        failures: Failures::Return,
        ..limit("tokens", Meter::Tokens, 1_000, ten_minutes)
    };
    let target = Target {
        name: "a".into(),
        limits: vec![LimitId::new(0)],
    };
    let hour = Duration::from_secs(3_600);
    let policy = Policy::new(vec![tokens], vec![target], 3, hour).expect("a policy");
    let mut core = Core::new(policy, at(0));
    let first = admitted(submit(&mut core, 0, 500, at(0), at(0)));
    serve(&mut core, first, at(5));
    let refused = admitted(submit(&mut core, 0, 100, at(1), at(1)));
    refuse(&mut core, Meter::Tokens, refused, NO_HINT, at(10));
    // A tenth below the 500 that were in use is sure; this one tries, and no answer comes.
    admitted(submit(&mut core, 0, 100, at(61_000), at(61_000)));
    let (_, start) = waiting(submit(&mut core, 0, 100, at(3_000_000), at(61_001)));
    assert_eq!(start, None);
    // For two minutes an answer is worth waiting for; then the 500 leave.
    assert_eq!(core.poll_timeout(), Some(at(181_000).mono));
    core.handle_timeout(at(181_000));
    assert_eq!(core.poll_timeout(), Some(at(600_000).mono));
    core.handle_timeout(at(600_000));
    started(&mut core);
}

#[test]
fn a_day_that_is_used_up_ends_at_its_edge_also_while_somebody_tries() {
    let mut core = half_a_day();
    // 51 are in use: one tries, the others wait for what fits in the whole limit.
    for millis in 0..49 {
        let now = at(61_100 + millis * 2);
        let tries = admitted(submit(&mut core, 0, 1, now, now));
        if millis < 48 {
            serve(&mut core, tries, at(61_101 + millis * 2));
        }
    }
    let (_, start) = waiting(submit(&mut core, 0, 1, at(90_000_000), at(62_000)));
    assert_eq!(start, Some(at(86_400_000).mono));
}

/// Half of a thousand may be used; a refusal that says the limit is 400 now leaves half of that.
#[test]
fn of_a_limit_that_a_refusal_says_is_cut_no_greater_share_is_used() {
    let half = BasisPoints::new(5_000).expect("below the whole");
    let mut core = one_target(vec![Limit {
        headroom: Headroom::Share(half),
        ..limit(
            "tokens",
            Meter::Tokens,
            1_000,
            Window::Sliding { per: MINUTE },
        )
    }]);
    let refused = admitted(submit(&mut core, 0, 100, at(1_000), at(1_000)));
    let cut = Signal {
        limit: Some(400),
        per: Some(MINUTE),
        ..Signal::on(Meter::Tokens)
    };
    let target = TargetId::new(0);
    core.observe(target, refused, Reception::Refused, &[cut], at(1_100));
    admitted(submit(&mut core, 0, 100, at(1_200), at(1_200)));
    // Two hundred are in use: the next waits for them to leave, or for somebody to try after a minute.
    let (_, start) = waiting(submit(&mut core, 0, 100, at(300_000), at(1_300)));
    assert_eq!(start, Some(at(61_000).mono));
}

/// Of a thousand in any minute half may be used, and 400 of that are.
fn capped(window: Window) -> Core {
    let half = BasisPoints::new(5_000).expect("below the whole");
    let mut core = one_target(vec![Limit {
        headroom: Headroom::Share(half),
        failures: Failures::Return,
        ..limit("tokens", Meter::Tokens, 1_000, window)
    }]);
    for _ in 0..4 {
        let open = admitted(submit(&mut core, 0, 100, at(30_000), at(30_000)));
        let told = Signal {
            limit: Some(1_000),
            ..Signal::on(Meter::Tokens)
        };
        core.observe(
            TargetId::new(0),
            open,
            Reception::Accepted,
            &[told],
            at(30_500),
        );
    }
    core
}

#[test]
fn a_window_that_is_full_of_others_makes_what_a_hard_cap_leaves_no_dearer() {
    let mut core = capped(Window::Sliding { per: MINUTE });
    let refused = admitted(submit(&mut core, 0, 50, at(50_000), at(50_000)));
    // Its window began at 0.1 s: the other 600 are somebody else's.
    let wait = Duration::from_secs(10);
    refuse(&mut core, Meter::Tokens, refused, wait, at(50_100));
    let later = at(120_000);
    admitted(submit(&mut core, 0, 100, later, later));
    assert_eq!(used(&core, later), 100);
    // A fiftieth below the 400 is sure, and what is so far from the whole is tried again after a minute.
    admitted(submit(&mut core, 0, 300, later, later));
}

#[test]
fn what_shows_its_remainder_is_full_as_a_whole_when_it_refuses() {
    let mut core = capped(Window::Fixed { per: MINUTE });
    let open = admitted(submit(&mut core, 0, 50, at(31_000), at(31_000)));
    let told = Signal {
        limit: Some(1_000),
        remaining: Some(550),
        ..Signal::on(Meter::Tokens)
    };
    let target = TargetId::new(0);
    core.observe(target, open, Reception::Accepted, &[told], at(31_100));
    let refused = admitted(submit(&mut core, 0, 40, at(32_000), at(32_000)));
    refuse(&mut core, Meter::Tokens, refused, NO_HINT, at(32_100));
    // The refused request itself is given back.
    assert_eq!(used(&core, at(32_200)), 961);
}

/// What of the only limit may be used.
fn usable(core: &Core, now: Now) -> u64 {
    core.limit_states(now).next().expect("a limit").usable
}

#[test]
fn a_bucket_that_refuses_again_and_again_refills_more_slowly_and_is_back_after_a_cut() {
    let mut core = returning(Window::Bucket { per: MINUTE });
    let first = admitted(submit(&mut core, 0, 300, at(1_000), at(1_000)));
    refuse(&mut core, Meter::Tokens, first, NO_HINT, at(1_100));
    assert_eq!(usable(&core, at(1_100)), 875);
    // Of what refills in the 30 s after it, 200 are served.
    for _ in 0..2 {
        let open = admitted(submit(&mut core, 0, 100, at(20_000), at(20_000)));
        serve(&mut core, open, at(20_500));
    }
    let third = admitted(submit(&mut core, 0, 100, at(31_000), at(31_000)));
    refuse(&mut core, Meter::Tokens, third, NO_HINT, at(31_100));
    // Not less than half of what it was, though no more than 400 a minute were seen.
    assert_eq!(usable(&core, at(31_100)), 437);
    // It holds for a minute and rises by 250 in the half after it.
    admitted(submit(&mut core, 0, 100, at(91_100), at(91_100)));
    assert_eq!(usable(&core, at(91_100)), 437);
    admitted(submit(&mut core, 0, 100, at(121_100), at(121_100)));
    assert_eq!(usable(&core, at(121_100)), 687);
}

#[test]
fn an_overload_is_about_the_fullest_limit_where_no_slots_are_counted() {
    let bucket = || {
        limit(
            "tokens",
            Meter::Tokens,
            1_000,
            Window::Bucket { per: MINUTE },
        )
    };
    for (limits, charge, usable_after) in [
        (vec![bucket()], 600, 875),
        // It is not for us that there is no room.
        (vec![bucket()], 300, 1_000),
        (vec![bucket(), crate::in_flight(9)], 600, 1_000),
    ] {
        let mut core = one_target(limits);
        let only = admitted(submit(&mut core, 0, charge, at(1_000), at(1_000)));
        let closed = Signal {
            closed_for: Some(NO_HINT),
            ..Signal::on(Meter::Concurrent)
        };
        let target = TargetId::new(0);
        core.observe(target, only, Reception::Refused, &[closed], at(1_100));
        assert_eq!(usable(&core, at(1_100)), usable_after);
    }
}

#[test]
fn slots_are_in_doubt_for_seconds_and_not_for_a_window() {
    let mut core = one_target(vec![crate::in_flight(8)]);
    let start = |core: &mut Core| admitted(submit(core, 0, 1, at(1_000), at(1_000)));
    let open: Vec<_> = (0..6).map(|_| start(&mut core)).collect();
    let seventh = start(&mut core);
    let closed = Signal {
        closed_for: Some(NO_HINT),
        ..Signal::on(Meter::Concurrent)
    };
    let target = TargetId::new(0);
    core.observe(target, seventh, Reception::Refused, &[closed], at(1_100));
    core.settle(seventh, Outcome::Failed, at(1_100))
        .expect("it is open");
    let used = Outcome::Used(Amounts::ZERO);
    core.settle(open[0], used, at(1_200)).expect("it is open");
    waiting(submit(&mut core, 0, 1, at(600_000), at(1_200)));
    // Two seconds after the refusal one asks.
    core.handle_timeout(at(3_100));
    started(&mut core);
}
