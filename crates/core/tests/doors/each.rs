//! What each door does.

use core::time::Duration;

use sluicegate_core::{
    Amounts, Authority, BasisPoints, Core, Decision, Event, Failures, Grant, Headroom, Limit,
    LimitId, Meter, Mode, Now, Outcome, Policy, Reception, Refusal, Signal, Start, Target,
    TargetId, TicketId, Timestamp, Window,
};

use crate::{
    MINUTE, admitted, at, events, in_flight, limit, one_target, policy, submit, tokens, waiting,
};

#[test]
fn all_or_nothing_over_several_limits() {
    let requests = limit(
        "requests",
        Meter::Requests,
        1,
        Window::Fixed { per: MINUTE },
    );
    let mut core = one_target(vec![tokens(1_000), requests, in_flight(8)]);
    admitted(submit(&mut core, 0, 400, at(0), at(0)));
    let refused = submit(&mut core, 0, 400, at(59_999), at(1_000));
    let start = Some(at(60_000).mono);
    let limit = Some(LimitId::new(1));
    assert_eq!(
        refused,
        Decision::Refused(Refusal::Deadline { limit, start })
    );
    let used: Vec<u64> = core
        .limit_states(at(1_000))
        .map(|state| state.used)
        .collect();
    assert_eq!(used, [400, 1, 1]);
}

#[test]
fn what_can_never_fit_is_refused_for_ever_and_at_the_whole_limit() {
    let mut nearly = tokens(1_000);
    nearly.headroom = Headroom::Share(BasisPoints::new(9_000).expect("below the whole"));
    let mut core = one_target(vec![nearly]);
    let too_large = Refusal::TooLarge {
        limit: LimitId::new(0),
        demand: 1_001,
    };
    let refused = submit(&mut core, 0, 1_001, at(600_000), at(0));
    assert_eq!(refused, Decision::Refused(too_large));
    admitted(submit(&mut core, 0, 1_000, at(600_000), at(0)));
}

#[test]
fn what_is_in_flight_frees_on_release_and_makes_no_promise() {
    let mut core = one_target(vec![in_flight(1)]);
    let first = admitted(submit(&mut core, 0, 1, at(0), at(0)));
    let (ticket, start) = waiting(submit(&mut core, 0, 1, at(90_000), at(1_000)));
    assert_eq!(start, None);
    assert_eq!(
        core.poll_timeout(),
        Some(Timestamp::from_nanos(90_000_000_001))
    );
    core.settle(first, Outcome::Unmeasured, at(5_000))
        .expect("it is open");
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket: started, .. }] if started == ticket
    ));
}

#[test]
fn a_ticket_is_refused_when_its_deadline_passes_and_told_what_held_it() {
    let mut core = one_target(vec![in_flight(1)]);
    admitted(submit(&mut core, 0, 1, at(0), at(0)));
    let (ticket, _) = waiting(submit(&mut core, 0, 1, at(5_000), at(0)));
    core.handle_timeout(at(5_000));
    assert_eq!(events(&mut core), []);
    core.handle_timeout(at(5_001));
    let refusal = Refusal::Deadline {
        limit: Some(LimitId::new(0)),
        start: None,
    };
    assert_eq!(events(&mut core), [Event::Refused { ticket, refusal }]);
    assert_eq!(core.waiting(), 0);
}

#[test]
fn a_full_line_refuses_and_says_when() {
    let mut core = one_target(vec![tokens(100)]);
    admitted(submit(&mut core, 0, 100, at(0), at(0)));
    for _ in 0..3 {
        waiting(submit(&mut core, 0, 100, at(600_000), at(0)));
    }
    let start = Some(at(240_000).mono);
    let refused = submit(&mut core, 0, 100, at(600_000), at(0));
    assert_eq!(refused, Decision::Refused(Refusal::LineFull { start }));
}

#[test]
fn who_leaves_makes_room_at_once() {
    let bucket = Window::Bucket { per: MINUTE };
    let mut core = one_target(vec![limit("tokens", Meter::Tokens, 100, bucket)]);
    admitted(submit(&mut core, 0, 60, at(0), at(0)));
    let (large, _) = waiting(submit(&mut core, 0, 90, at(600_000), at(0)));
    let (small, start) = waiting(submit(&mut core, 0, 40, at(600_000), at(0)));
    assert_eq!(start, Some(at(54_000).mono));
    assert!(core.cancel(large, at(10)));
    assert!(!core.cancel(large, at(10)));
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket, .. }] if ticket == small
    ));
}

#[test]
fn targets_that_share_no_limit_do_not_wait_for_each_other() {
    let two = limit("other", Meter::Tokens, 100, Window::Fixed { per: MINUTE });
    let mut core = Core::new(
        policy(vec![tokens(100), two], &[("a", &[0]), ("b", &[1])]),
        at(0),
    );
    admitted(submit(&mut core, 0, 100, at(0), at(0)));
    waiting(submit(&mut core, 0, 100, at(600_000), at(0)));
    admitted(submit(&mut core, 1, 100, at(0), at(0)));
}

#[test]
fn targets_that_share_a_limit_start_in_the_order_of_arrival() {
    let own = limit("own", Meter::Requests, 1, Window::Fixed { per: MINUTE });
    let bucket = Window::Bucket { per: MINUTE };
    let shared = limit("tokens", Meter::Tokens, 100, bucket);
    let mut core = Core::new(
        policy(vec![shared, own], &[("a", &[0, 1]), ("b", &[0])]),
        at(0),
    );
    admitted(submit(&mut core, 0, 60, at(0), at(0)));
    let (first, _) = waiting(submit(&mut core, 0, 60, at(600_000), at(0)));
    let (second, _) = waiting(submit(&mut core, 1, 10, at(600_000), at(0)));
    core.handle_timeout(at(60_000));
    let order: Vec<TicketId> = events(&mut core)
        .into_iter()
        .map(|event| match event {
            Event::Admitted { ticket, .. } => ticket,
            other => panic!("expected admissions, got {other:?}"),
        })
        .collect();
    assert_eq!(order, [first, second]);
}

#[test]
fn an_overrun_is_charged_where_it_is_known() {
    let mut core = one_target(vec![tokens(100)]);
    let late = admitted(submit(&mut core, 0, 40, at(0), at(50_000)));
    let usage = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 70));
    let resolved = core.settle(late, usage, at(61_000)).expect("it is open");
    assert_eq!(
        (
            resolved[0].settled,
            resolved[0].overrun,
            resolved[0].returned
        ),
        (70, 30, 0)
    );
    assert_eq!(
        core.limit_states(at(61_000)).next().map(|state| state.used),
        Some(30)
    );
}

#[test]
fn a_refund_after_the_windows_end_is_dropped() {
    let mut core = one_target(vec![tokens(100)]);
    let late = admitted(submit(&mut core, 0, 90, at(0), at(50_000)));
    admitted(submit(&mut core, 0, 90, at(0), at(61_000)));
    let usage = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 10));
    core.settle(late, usage, at(62_000)).expect("it is open");
    assert_eq!(
        core.limit_states(at(62_000)).next().map(|state| state.used),
        Some(90)
    );
}

#[test]
fn what_was_never_sent_costs_nothing_and_what_failed_costs_what_the_limit_says() {
    for (failures, outcome, used) in [
        (Failures::Count, Outcome::Void, 0),
        (Failures::Count, Outcome::Failed, 40),
        (Failures::Return, Outcome::Failed, 0),
        (Failures::Count, Outcome::Unmeasured, 40),
    ] {
        let mut counted = tokens(100);
        counted.failures = failures;
        let mut core = one_target(vec![counted]);
        let reservation = admitted(submit(&mut core, 0, 40, at(0), at(0)));
        core.settle(reservation, outcome, at(1))
            .expect("it is open");
        assert_eq!(
            core.limit_states(at(1)).next().map(|state| state.used),
            Some(used)
        );
        assert_eq!(core.settle(reservation, outcome, at(1)), None);
    }
}

#[test]
fn a_reservation_that_nobody_ends_expires() {
    let mut core = one_target(vec![tokens(100), in_flight(1)]);
    let lost = admitted(submit(&mut core, 0, 40, at(0), at(0)));
    assert_eq!(core.poll_timeout(), Some(at(600_000).mono));
    core.handle_timeout(at(600_000));
    assert_eq!(events(&mut core), [Event::Expired { reservation: lost }]);
    assert_eq!(core.reservations_open(), 0);
    admitted(submit(&mut core, 0, 40, at(600_000), at(600_000)));
}

#[test]
fn a_mirror_starts_with_one_request_and_the_first_signal_tells_the_truth() {
    let mut mirror = limit(
        "tokens",
        Meter::Tokens,
        1_000,
        Window::Bucket { per: MINUTE },
    );
    mirror.start = Start::Empty;
    let mut core = one_target(vec![mirror]);
    let first = admitted(submit(&mut core, 0, 300, at(0), at(0)));
    let (ticket, start) = waiting(submit(&mut core, 0, 300, at(600_000), at(0)));
    // 300 of debt and 300 to come at 1,000 a minute.
    assert_eq!(start, Some(at(36_000).mono));
    let said = Signal {
        limit: Some(1_000),
        remaining: Some(650),
        ..Signal::on(Meter::Tokens)
    };
    assert!(core.observe(
        TargetId::new(0),
        first,
        Reception::Accepted,
        &[said],
        at(100)
    ));
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket: started, .. }] if started == ticket
    ));
    assert_eq!(
        core.limit_states(at(100)).next().map(|state| state.used),
        Some(650)
    );
}

#[test]
fn other_traffic_on_the_account_is_followed_and_our_own_later_requests_are_not_forgotten() {
    let mut core = one_target(vec![tokens(1_000)]);
    let first = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let second = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let third = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let said = |remaining| Signal {
        limit: Some(1_000),
        remaining: Some(remaining),
        ..Signal::on(Meter::Tokens)
    };
    let state = |core: &Core, millis| {
        let state = core.limit_states(at(millis)).next().expect("one limit");
        (state.used, state.drift)
    };
    let observe = |core: &mut Core, answered, remaining, millis| {
        let signals = [said(remaining)];
        let target = TargetId::new(0);
        core.observe(target, answered, Reception::Accepted, &signals, at(millis))
    };
    assert_eq!(state(&core, 0), (300, None));
    // Two are on their way: the provider may have counted them or not.
    assert!(observe(&mut core, first, 900, 10));
    assert_eq!(state(&core, 10), (300, Some(0)));
    assert!(observe(&mut core, second, 500, 20));
    assert_eq!(state(&core, 20), (500, Some(200)));
    // All three were open: what they hold may come back before we know.
    assert!(observe(&mut core, third, 710, 30));
    assert_eq!(state(&core, 30), (490, Some(-10)));
}

#[test]
fn an_edited_limit_keeps_what_was_counted_and_a_ticket_its_place() {
    let mut core = one_target(vec![tokens(100)]);
    let open = admitted(submit(&mut core, 0, 80, at(0), at(0)));
    let (ticket, _) = waiting(submit(&mut core, 0, 80, at(600_000), at(0)));
    core.reconfigure(
        policy(vec![in_flight(9), tokens(150)], &[("b", &[0]), ("a", &[1])]),
        at(10),
    );
    assert_eq!(events(&mut core), []);
    core.reconfigure(policy(vec![tokens(160)], &[("a", &[0])]), at(20));
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket: started, .. }] if started == ticket
    ));
    let usage = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 30));
    core.settle(open, usage, at(30))
        .expect("reservations survive");
    assert_eq!(
        core.limit_states(at(30)).next().map(|state| state.used),
        Some(110)
    );
}

#[test]
fn a_ticket_whose_target_is_gone_is_refused() {
    let mut core = one_target(vec![tokens(100)]);
    admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let (ticket, _) = waiting(submit(&mut core, 0, 100, at(600_000), at(0)));
    core.reconfigure(policy(vec![tokens(100)], &[("b", &[0])]), at(10));
    let refusal = Refusal::NoSuchTarget;
    assert_eq!(events(&mut core), [Event::Refused { ticket, refusal }]);
    assert_eq!(
        submit(&mut core, 7, 1, at(0), at(10)),
        Decision::Refused(refusal)
    );
}

#[test]
fn ten_thousand_that_may_start_at_once_come_in_bounded_portions() {
    let one_flight = in_flight(1);
    let many = Policy::new(
        vec![one_flight],
        vec![Target {
            name: "a".into(),
            limits: vec![LimitId::new(0)],
        }],
        10_000,
        Duration::from_secs(600),
    );
    let mut core = Core::new(many.expect("a policy"), at(0));
    admitted(submit(&mut core, 0, 1, at(0), at(0)));
    for _ in 0..10_000 {
        waiting(submit(&mut core, 0, 1, at(600_000), at(0)));
    }
    let wide = Policy::new(
        vec![in_flight(20_000)],
        vec![Target {
            name: "a".into(),
            limits: vec![LimitId::new(0)],
        }],
        10_000,
        Duration::from_secs(600),
    );
    core.reconfigure(wide.expect("a policy"), at(1));
    let mut started = 0;
    loop {
        let portion = events(&mut core).len();
        assert!(
            portion <= sluicegate_core::EVENTS_MAX,
            "{portion} events at a time"
        );
        started += portion;
        match core.poll_timeout() {
            Some(due) if due <= at(1).mono => core.handle_timeout(at(1)),
            _ => break,
        }
    }
    assert_eq!(started, 10_000);
}

/// Counts for several instances, as something outside the core would.
struct Grantor {
    left: u64,
    refill: Timestamp,
}

impl Grantor {
    fn answer(&mut self, charges: &[(LimitId, u64)], now: Now) -> Grant {
        if now.mono >= self.refill {
            self.left = 100;
        }
        let wanted: u64 = charges.iter().map(|charge| charge.1).sum();
        if wanted > 100 {
            return Grant::Never {
                limit: charges[0].0,
            };
        }
        if wanted > self.left {
            return Grant::NotBefore(self.refill);
        }
        self.left -= wanted;
        Grant::Given
    }
}

fn shared() -> Limit {
    let mut shared = limit(
        "shared",
        Meter::Tokens,
        1_000,
        Window::Fixed { per: MINUTE },
    );
    shared.authority = Authority::Granted;
    shared
}

/// Answers what is asked until nothing is; gives back what happened otherwise.
fn serve(core: &mut Core, grantor: &mut Grantor, now: Now) -> Vec<Event> {
    let mut others = Vec::new();
    while let Some(event) = core.poll_event() {
        match event {
            Event::GrantWanted { ticket, charges } => {
                let answer = grantor.answer(&charges, now);
                assert!(core.grant(ticket, answer, now));
            }
            other => others.push(other),
        }
    }
    others
}

#[test]
fn what_somebody_else_counts_is_asked_for_and_waited_for() {
    let mut core = one_target(vec![shared(), in_flight(4)]);
    let mut grantor = Grantor {
        left: 100,
        refill: at(60_000).mono,
    };
    let (first, start) = waiting(submit(&mut core, 0, 80, at(600_000), at(0)));
    assert_eq!(start, None);
    let (second, _) = waiting(submit(&mut core, 0, 80, at(600_000), at(0)));
    let happened = serve(&mut core, &mut grantor, at(0));
    assert!(matches!(happened[..], [Event::Admitted { ticket, .. }] if ticket == first));
    assert_eq!(core.poll_timeout(), Some(at(60_000).mono));
    core.handle_timeout(at(60_000));
    let happened = serve(&mut core, &mut grantor, at(60_000));
    assert!(matches!(happened[..], [Event::Admitted { ticket, .. }] if ticket == second));
}

#[test]
fn nobody_passes_into_the_place_of_one_that_waits_for_a_grant() {
    let window = Window::Fixed { per: MINUTE };
    let limits = vec![
        tokens(100),
        shared(),
        limit("c", Meter::Tokens, 100, window),
    ];
    let targets: [(&str, &[usize]); 4] = [("a", &[0, 1]), ("b", &[0]), ("c", &[2]), ("d", &[0, 2])];
    let mut core = Core::new(policy(limits, &targets), at(0));
    // Who waits for the end of the minute lets those pass whose charges are over by then.
    admitted(submit(&mut core, 2, 100, at(600_000), at(0)));
    waiting(submit(&mut core, 2, 50, at(600_000), at(0)));
    let (asks, _) = waiting(submit(&mut core, 0, 60, at(600_000), at(0)));
    let wanted = core.poll_event();
    assert!(matches!(wanted, Some(Event::GrantWanted { ticket, .. }) if ticket == asks));
    waiting(submit(&mut core, 1, 60, at(600_000), at(0)));
    assert!(core.grant(asks, Grant::Given, at(1_000)));
    let started = core.poll_event();
    assert!(matches!(started, Some(Event::Admitted { ticket, .. }) if ticket == asks));
}

#[test]
fn what_the_grantor_never_gives_is_refused_for_ever() {
    let mut core = one_target(vec![shared()]);
    let mut grantor = Grantor {
        left: 100,
        refill: at(60_000).mono,
    };
    let (ticket, _) = waiting(submit(&mut core, 0, 101, at(600_000), at(0)));
    let refusal = Refusal::NotGranted {
        limit: LimitId::new(0),
    };
    assert_eq!(
        serve(&mut core, &mut grantor, at(0)),
        [Event::Refused { ticket, refusal }]
    );
}

#[test]
fn what_was_granted_to_someone_who_left_goes_back() {
    let mut core = one_target(vec![shared(), in_flight(1)]);
    let mut grantor = Grantor {
        left: 100,
        refill: at(60_000).mono,
    };
    waiting(submit(&mut core, 0, 10, at(600_000), at(0)));
    serve(&mut core, &mut grantor, at(0));
    let (ticket, _) = waiting(submit(&mut core, 0, 20, at(600_000), at(1)));
    // The slot is taken, so nothing is asked yet; then it frees and the grant is wanted.
    assert_eq!(events(&mut core), []);
    core.reconfigure(
        policy(vec![shared(), in_flight(2)], &[("a", &[0, 1])]),
        at(2),
    );
    let wanted = events(&mut core);
    assert!(
        matches!(wanted[..], [Event::GrantWanted { .. }]),
        "{wanted:?}"
    );
    core.reconfigure(
        policy(vec![shared(), in_flight(1)], &[("a", &[0, 1])]),
        at(3),
    );
    assert!(core.grant(ticket, Grant::Given, at(4)));
    assert!(core.cancel(ticket, at(5)));
    let charges = vec![(LimitId::new(0), 20)];
    assert_eq!(events(&mut core), [Event::GrantUnused { ticket, charges }]);
    assert!(!core.grant(ticket, Grant::Given, at(6)));
}

#[test]
fn a_shadow_limit_counts_and_holds_nobody_back() {
    let mut shadow = tokens(100);
    shadow.mode = Mode::Shadow;
    let mut core = one_target(vec![shadow]);
    admitted(submit(&mut core, 0, 90, at(0), at(0)));
    admitted(submit(&mut core, 0, 900, at(0), at(0)));
    assert_eq!(
        core.limit_states(at(0)).next().map(|state| state.used),
        Some(990)
    );
}

#[test]
fn a_demand_larger_than_a_quantum_starts_alone_in_it() {
    let mut sliced = tokens(600);
    sliced.quantum = Some(Duration::from_secs(1));
    let mut core = one_target(vec![sliced]);
    admitted(submit(&mut core, 0, 10, at(0), at(0)));
    let (_, start) = waiting(submit(&mut core, 0, 300, at(600_000), at(100)));
    assert_eq!(start, Some(at(1_000).mono));
}
