//! Where mechanisms meet: what once went wrong between two of them, with the right value.

use core::time::Duration;

use sluicegate_core::{
    Amounts, Calendar, Core, Decision, Event, Limit, LimitId, Meter, Mode, Now, Outcome, Reception,
    Refusal, Signal, Start, TargetId, Timestamp, WallTime, Window,
};

use crate::{
    MINUTE, admitted, at, events, in_flight, limit, one_target, policy, submit, tokens, waiting,
};

fn bucket(amount: u64) -> Limit {
    limit(
        "tokens",
        Meter::Tokens,
        amount,
        Window::Bucket { per: MINUTE },
    )
}

fn said(limit: Option<u64>, remaining: u64, per: Option<Duration>) -> Signal {
    Signal {
        limit,
        remaining: Some(remaining),
        per,
        ..Signal::on(Meter::Tokens)
    }
}

fn used(core: &Core, now: Now) -> u64 {
    core.limit_states(now).next().expect("a limit").used
}

fn start_of(decision: Decision) -> Option<Timestamp> {
    match decision {
        Decision::Waiting { start, .. } => start,
        Decision::Admitted(_) => None,
        other => panic!("expected a start, got {other:?}"),
    }
}

#[test]
fn what_is_behind_a_late_ticket_starts_in_the_same_breath() {
    let mut core = one_target(vec![tokens(100), in_flight(2)]);
    let first = admitted(submit(&mut core, 0, 50, at(0), at(0)));
    admitted(submit(&mut core, 0, 10, at(0), at(0)));
    // Both slots are taken, so nobody can say when this one starts.
    let (late, _) = waiting(submit(&mut core, 0, 90, at(5_000), at(0)));
    let (behind, _) = waiting(submit(&mut core, 0, 40, at(50_000), at(0)));
    // A slot frees; the head still lacks tokens and holds its place.
    core.settle(first, Outcome::Unmeasured, at(1_000))
        .expect("it is open");
    assert_eq!(events(&mut core), []);
    core.handle_timeout(at(5_001));
    let happened = events(&mut core);
    assert!(
        matches!(
            happened[..],
            [Event::Refused { ticket, .. }, Event::Admitted { ticket: started, .. }]
                if ticket == late && started == behind
        ),
        "{happened:?}"
    );
}

#[test]
fn one_full_deployment_does_not_stop_the_account() {
    let slots = limit("slots", Meter::Concurrent, 1, Window::Concurrent);
    let mut core = Core::new(
        policy(vec![tokens(100), slots], &[("a", &[0, 1]), ("b", &[0])]),
        at(0),
    );
    admitted(submit(&mut core, 0, 10, at(0), at(0)));
    waiting(submit(&mut core, 0, 10, at(600_000), at(0)));
    let (other, _) = waiting(submit(&mut core, 1, 10, at(600_000), at(0)));
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket, .. }] if ticket == other
    ));
}

#[test]
fn a_limit_that_is_counted_in_another_way_forgets_who_was_charged_on_it() {
    let mut core = one_target(vec![bucket(1_000)]);
    let open = admitted(submit(&mut core, 0, 400, at(0), at(0)));
    core.reconfigure(policy(vec![tokens(1_000)], &[("a", &[0])]), at(10));
    assert_eq!(used(&core, at(10)), 0);
    core.observe(
        TargetId::new(0),
        open,
        Reception::Accepted,
        &[said(Some(1_000), 900, None)],
        at(20),
    );
    assert_eq!(used(&core, at(20)), 100);
    assert_eq!(
        core.settle(open, Outcome::Void, at(30))
            .map(|done| done.len()),
        Some(0)
    );
    assert_eq!(used(&core, at(30)), 100);
}

#[test]
fn a_ticket_that_became_too_large_is_refused_and_blocks_nobody() {
    let mut core = one_target(vec![bucket(1_000)]);
    admitted(submit(&mut core, 0, 400, at(0), at(0)));
    let (large, _) = waiting(submit(&mut core, 0, 950, at(600_000), at(0)));
    let (small, _) = waiting(submit(&mut core, 0, 10, at(600_000), at(0)));
    core.reconfigure(policy(vec![bucket(500)], &[("a", &[0])]), at(10));
    let happened = events(&mut core);
    let refusal = Refusal::TooLarge {
        limit: LimitId::new(0),
        demand: 950,
    };
    assert_eq!(
        happened[0],
        Event::Refused {
            ticket: large,
            refusal
        }
    );
    assert!(matches!(happened[1], Event::Admitted { ticket, .. } if ticket == small));
}

#[test]
fn a_promise_knows_what_was_settled_while_nobody_waited() {
    let mut core = one_target(vec![bucket(1_000)]);
    admitted(submit(&mut core, 0, 1_000, at(0), at(0)));
    let (_, start) = waiting(submit(&mut core, 0, 990, at(600_000), at(0)));
    assert_eq!(start, Some(at(59_400).mono));
    core.handle_timeout(at(59_400));
    let Some(Event::Admitted { reservation, .. }) = core.poll_event() else {
        panic!("it starts as promised");
    };
    let usage = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 100));
    core.settle(reservation, usage, at(59_400))
        .expect("it is open");
    // 59.4 s have brought 990, which went; 890 came back, and 90 are missing.
    let start = start_of(submit(&mut core, 0, 980, at(600_000), at(59_400)));
    assert_eq!(start, Some(at(64_800).mono));
}

#[test]
fn a_signal_that_may_speak_of_several_limits_tells_of_none() {
    let day = limit(
        "day",
        Meter::Tokens,
        10_000,
        Window::Bucket {
            per: MINUTE * 1_440,
        },
    );
    let mut core = one_target(vec![bucket(60), day]);
    let open = admitted(submit(&mut core, 0, 1, at(0), at(0)));
    assert!(!core.observe(
        TargetId::new(0),
        open,
        Reception::Accepted,
        &[said(None, 59, None)],
        at(10)
    ));
    let minute = said(None, 20, Some(MINUTE));
    assert!(core.observe(
        TargetId::new(0),
        open,
        Reception::Accepted,
        &[minute],
        at(10)
    ));
    assert_eq!(used(&core, at(10)), 40);
}

#[test]
fn a_ceiling_that_the_provider_lowered_is_followed_down_and_up_again() {
    let mut core = one_target(vec![tokens(1_000)]);
    let open = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let cut = said(Some(500), 400, Some(MINUTE));
    assert!(core.observe(TargetId::new(0), open, Reception::Accepted, &[cut], at(10)));
    let state = core.limit_states(at(10)).next().expect("a limit");
    assert_eq!((state.usable, state.used), (500, 100));
    let (ticket, _) = waiting(submit(&mut core, 0, 450, at(600_000), at(10)));
    let whole = said(Some(1_000), 900, Some(MINUTE));
    assert!(core.observe(
        TargetId::new(0),
        open,
        Reception::Accepted,
        &[whole],
        at(20)
    ));
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket: started, .. }] if started == ticket
    ));
}

#[test]
fn a_lower_ceiling_without_a_length_is_a_cut_once_the_whole_one_was_told_so() {
    let told = |core: &mut Core, answered, signal, millis| {
        let target = TargetId::new(0);
        core.observe(target, answered, Reception::Accepted, &[signal], at(millis))
    };
    let mut core = one_target(vec![tokens(1_000)]);
    let open = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    // It may be that of another length.
    assert!(!told(&mut core, open, said(Some(500), 400, None), 10));
    assert!(told(&mut core, open, said(Some(1_000), 900, None), 20));
    assert!(told(&mut core, open, said(Some(500), 400, None), 30));
    let state = core.limit_states(at(30)).next().expect("a limit");
    assert_eq!((state.usable, state.used), (500, 100));
    // Of a higher one nobody knows what it is.
    assert!(!told(&mut core, open, said(Some(2_000), 1_900, None), 40));
}

#[test]
fn a_limit_whose_provider_refused_is_closed_for_as_long_as_it_said() {
    let mut core = one_target(vec![tokens(1_000), in_flight(9)]);
    let refused = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let closed = |seconds| Signal {
        closed_for: Some(Duration::from_secs(seconds)),
        ..Signal::on(Meter::Tokens)
    };
    assert!(core.observe(
        TargetId::new(0),
        refused,
        Reception::Accepted,
        &[closed(20)],
        at(1_000)
    ));
    assert!(core.observe(
        TargetId::new(0),
        refused,
        Reception::Accepted,
        &[closed(5)],
        at(2_000)
    ));
    let start = start_of(submit(&mut core, 0, 100, at(600_000), at(2_000)));
    assert_eq!(start, Some(at(21_000).mono));
    core.handle_timeout(at(21_000));
    assert!(matches!(events(&mut core)[..], [Event::Admitted { .. }]));
    // What is in flight is ours to know.
    let slots = Signal {
        closed_for: Some(MINUTE),
        ..Signal::on(Meter::Concurrent)
    };
    let open = admitted(submit(&mut core, 0, 100, at(21_000), at(21_000)));
    assert!(!core.observe(
        TargetId::new(0),
        open,
        Reception::Accepted,
        &[slots],
        at(21_000)
    ));
}

#[test]
fn a_limit_above_ours_is_another_one() {
    let mut core = one_target(vec![tokens(1_000)]);
    let open = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let other = said(Some(5_000), 100, Some(MINUTE));
    assert!(!core.observe(
        TargetId::new(0),
        open,
        Reception::Accepted,
        &[other],
        at(10)
    ));
    assert_eq!(used(&core, at(10)), 100);
}

#[test]
fn a_usage_that_nobody_can_have_used_closes_no_limit_for_ever() {
    for limit in [bucket(1_000), tokens(1_000)] {
        let mut core = one_target(vec![limit]);
        let open = admitted(submit(&mut core, 0, 100, at(0), at(0)));
        let usage = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, u64::MAX));
        let resolved = core.settle(open, usage, at(0)).expect("it is open")[0];
        assert_eq!((resolved.settled, resolved.overrun), (1_100, 1_000));
        let start = start_of(submit(&mut core, 0, 100, at(600_000), at(0)));
        assert!(
            start <= Some(at(66_000).mono.saturating_add(MINUTE)),
            "{start:?}"
        );
    }
}

#[test]
fn a_bucket_that_shrinks_is_at_worst_empty() {
    let mut core = one_target(vec![bucket(100_000)]);
    admitted(submit(&mut core, 0, 50_000, at(0), at(0)));
    core.reconfigure(policy(vec![bucket(1_000)], &[("a", &[0])]), at(0));
    let start = start_of(submit(&mut core, 0, 1_000, at(600_000), at(0)));
    assert_eq!(start, Some(at(60_000).mono));
}

#[test]
fn a_first_request_that_reached_nobody_leaves_a_mirror_as_unknown_as_it_was() {
    let mut mirror = bucket(1_000);
    mirror.start = Start::Empty;
    let mut core = one_target(vec![mirror]);
    let lost = admitted(submit(&mut core, 0, 300, at(0), at(0)));
    core.settle(lost, Outcome::Void, at(10))
        .expect("it is open");
    admitted(submit(&mut core, 0, 300, at(20), at(20)));
}

#[test]
fn a_demand_without_bounds_on_a_shadow_limit_overflows_nothing() {
    for window in [
        Window::Fixed { per: MINUTE },
        Window::Sliding { per: MINUTE },
        Window::Bucket { per: MINUTE },
    ] {
        let mut shadow = limit("tokens", Meter::Tokens, 100, window);
        shadow.mode = Mode::Shadow;
        let mut core = one_target(vec![shadow]);
        for millis in 0..5_000 {
            admitted(submit(&mut core, 0, u64::MAX, at(millis), at(millis)));
        }
        assert_eq!(used(&core, at(5_000)), u64::MAX);
    }
}

#[test]
fn the_first_signal_on_a_bucket_lets_go_what_the_provider_has_and_no_more() {
    let per = Duration::from_secs(2);
    let mut mirror = limit("tokens", Meter::Tokens, 20, Window::Bucket { per });
    mirror.start = Start::Empty;
    mirror.arrival_spread = Duration::from_millis(100);
    let mut core = one_target(vec![mirror]);
    let first = admitted(submit(&mut core, 0, 1, at(0), at(0)));
    for _ in 0..3 {
        waiting(submit(&mut core, 0, 1, at(600_000), at(0)));
    }
    assert!(core.observe(
        TargetId::new(0),
        first,
        Reception::Accepted,
        &[said(Some(20), 19, None)],
        at(5)
    ));
    let state = core.limit_states(at(5)).next().expect("a limit");
    // Three of the line have started.
    assert_eq!((state.usable, state.used), (20, 4));
}

#[test]
fn a_burst_on_a_rested_bucket_is_its_capacity() {
    let per = Duration::from_secs(2);
    for start in [Start::Empty, Start::Full] {
        let mut mirror = limit("tokens", Meter::Tokens, 20, Window::Bucket { per });
        mirror.start = start;
        mirror.arrival_spread = Duration::from_millis(100);
        let mut core = one_target(vec![mirror]);
        let burst = (0..40).filter(|_| {
            matches!(
                submit(&mut core, 0, 1, at(600_000), at(10_000)),
                Decision::Admitted(_)
            )
        });
        // A twentieth is kept back for what arrives late.
        assert_eq!(burst.count(), 19, "{start:?}");
    }
}

#[test]
fn an_answer_that_overtook_others_does_not_forget_them() {
    let per = Duration::from_secs(2);
    let mut mirror = limit("tokens", Meter::Tokens, 20, Window::Bucket { per });
    mirror.start = Start::Empty;
    let mut core = one_target(vec![mirror]);
    // The bucket has rested: a burst of all of it leaves at once.
    let burst: Vec<_> = (0..20)
        .map(|_| admitted(submit(&mut core, 0, 1, at(10_000), at(10_000))))
        .collect();
    // The tenth was the first to arrive, and its provider counted nothing else yet.
    core.observe(
        TargetId::new(0),
        burst[9],
        Reception::Accepted,
        &[said(Some(20), 19, None)],
        at(10_005),
    );
    assert_eq!(used(&core, at(10_005)), 20);
    // One that was never sent is not waited for.
    core.settle(burst[3], Outcome::Void, at(10_010))
        .expect("it is open");
    assert_eq!(used(&core, at(10_010)), 19);
}

#[test]
fn a_paced_limit_takes_more_than_its_amount_and_lets_it_drain() {
    let window = Window::Pacing {
        per: MINUTE,
        burst: Duration::from_secs(1),
    };
    let mut core = one_target(vec![limit("tokens", Meter::Tokens, 60, window)]);
    // Two minutes' worth at once; a second's is held, the rest is owed.
    assert!(matches!(
        submit(&mut core, 0, 120, at(0), at(0)),
        Decision::Admitted(_)
    ));
    let Decision::Waiting { start, .. } = submit(&mut core, 0, 1, at(200_000), at(0)) else {
        panic!("119 s of debt");
    };
    assert_eq!(
        start,
        Some(at(119_000).mono.saturating_add(Duration::from_nanos(1)))
    );
}

#[test]
fn a_calendar_read_anew_keeps_the_count_and_another_one_does_not() {
    let days = |name: &str, lengths: &[u64]| {
        let mut edge = at(0).wall.as_unix_nanos();
        let mut edges = vec![WallTime::from_unix_nanos(edge)];
        for length in lengths {
            edge += length * 3_600_000_000_000;
            edges.push(WallTime::from_unix_nanos(edge));
        }
        let calendar = Calendar::new(name, edges).expect("they rise");
        limit("tokens", Meter::Tokens, 100, Window::Calendar(calendar))
    };
    let spring = [24, 23, 24];
    let mut core = one_target(vec![days("day A", &spring)]);
    assert!(matches!(
        submit(&mut core, 0, 100, at(0), at(0)),
        Decision::Admitted(_)
    ));
    for (limit, used) in [
        (days("day A", &spring), 100),
        (days("day B", &spring), 0),
        (days("day A", &[24, 25, 24]), 0),
    ] {
        let mut core = core.clone();
        let now = at(1_000);
        core.reconfigure(policy(vec![limit], &[("a", &[0])]), now);
        let states: Vec<_> = core.limit_states(now).map(|state| state.used).collect();
        assert_eq!(states, [used]);
    }
}
