//! Who goes before whom, what lower lanes leave, and who may pass.

use core::num::NonZeroU32;
use core::time::Duration;

use sluicegate_core::{
    Amounts, BasisPoints, Core, Decision, Event, Held, Lane, LaneRule, LaneRules, LimitId, Meter,
    Now, Outcome, Refusal, Submission, TargetId, Tenant, TenantId, Timestamp, Window,
};

use super::{MINUTE, admitted, at, events, in_flight, limit, policy, tokens, waiting};

fn request(lane: Lane, amount: u64, deadline: Timestamp) -> Submission {
    let demand = Amounts::one_request().with(Meter::Tokens, amount);
    Submission {
        lane,
        ..Submission::new(TargetId::new(0), demand, deadline)
    }
}

fn patient(lane: Lane, amount: u64) -> Submission {
    request(lane, amount, Timestamp::MAX)
}

fn bucket(amount: u64) -> sluicegate_core::Limit {
    let window = Window::Bucket { per: MINUTE };
    limit("tokens", Meter::Tokens, amount, window)
}

fn leaving(lane: Lane, leaves: u16, min_share: u16) -> LaneRules {
    let share = |points| BasisPoints::new(points).expect("a share");
    let rule = LaneRule {
        leaves: share(leaves),
        min_share: share(min_share),
        waiting_max: usize::MAX,
    };
    LaneRules::default().with(lane, rule)
}

fn core(limit: sluicegate_core::Limit, lanes: LaneRules) -> Core {
    let policy = policy(vec![limit], &[("a", &[0])]).with_lanes(lanes);
    Core::new(policy, at(0))
}

/// Drives the core to `until` and gives back what started, with the instant.
fn play(core: &mut Core, until: Now) -> Vec<(Timestamp, Event)> {
    let mut happened = Vec::new();
    while let Some(due) = core.poll_timeout().filter(|due| *due <= until.mono) {
        core.handle_timeout(at(due.as_nanos().div_ceil(1_000_000)));
        happened.extend(events(core).into_iter().map(|event| (due, event)));
    }
    happened
}

#[test]
fn an_interactive_request_goes_before_all_that_wait_in_batch() {
    let mut core = core(bucket(600), LaneRules::default());
    admitted(core.submit(patient(Lane::Batch, 600), at(0)));
    let (batch, start) = waiting(core.submit(patient(Lane::Batch, 100), at(0)));
    assert_eq!(start, Some(at(10_000).mono));
    let (urgent, start) = waiting(core.submit(patient(Lane::Interactive, 50), at(1_000)));
    assert_eq!(start, Some(at(5_000).mono));
    let order: Vec<Event> = play(&mut core, at(60_000))
        .into_iter()
        .map(|(_, event)| event)
        .collect();
    assert!(matches!(order[0], Event::Admitted { ticket, .. } if ticket == urgent));
    assert!(matches!(order[1], Event::Admitted { ticket, .. } if ticket == batch));
}

#[test]
fn a_small_one_passes_where_the_window_renews_before_the_large_one_starts() {
    let mut core = core(tokens(100), LaneRules::default());
    admitted(core.submit(patient(Lane::Api, 60), at(0)));
    let (large, start) = waiting(core.submit(patient(Lane::Api, 90), at(10)));
    assert_eq!(start, Some(at(60_000).mono));
    admitted(core.submit(patient(Lane::Api, 40), at(20)));
    let (_, start) = waiting(core.submit(patient(Lane::Api, 1), at(30)));
    assert_eq!(start, Some(at(60_000).mono));
    core.handle_timeout(at(60_000));
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket, .. }, Event::Admitted { .. }] if ticket == large
    ));
}

#[test]
fn nobody_passes_on_a_bucket_where_every_charge_delays_the_large_one() {
    let mut core = core(bucket(100), LaneRules::default());
    admitted(core.submit(patient(Lane::Api, 60), at(0)));
    waiting(core.submit(patient(Lane::Api, 90), at(0)));
    waiting(core.submit(patient(Lane::Api, 1), at(0)));
}

#[test]
fn one_behind_those_who_wait_passes_when_a_refund_makes_room_for_it() {
    let mut core = core(tokens(100), LaneRules::default());
    let first = admitted(core.submit(patient(Lane::Api, 100), at(0)));
    waiting(core.submit(patient(Lane::Api, 90), at(0)));
    let (small, _) = waiting(core.submit(patient(Lane::Api, 10), at(0)));
    let used = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 80));
    core.settle(first, used, at(1_000));
    core.handle_timeout(at(1_010));
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket, .. }] if ticket == small
    ));
}

#[test]
fn batch_leaves_what_interactive_will_want_until_the_windows_end() {
    let mut core = core(tokens(1_000), LaneRules::default());
    // A minute in which interactive asks for 300, evenly.
    for second in 0..60 {
        let now = at(second * 1_000);
        core.handle_timeout(now);
        admitted(core.submit(patient(Lane::Interactive, 5), now));
    }
    // In the next one batch gets the rest and no more.
    let mut batch = 0;
    let mut deadline = at(60_000);
    for second in 60..120 {
        let now = at(second * 1_000);
        core.handle_timeout(now);
        deadline = now;
        while let Decision::Admitted(_) = core.submit(request(Lane::Batch, 10, now.mono), now) {
            batch += 10;
        }
        admitted(core.submit(patient(Lane::Interactive, 5), now));
    }
    assert!((650..=700).contains(&batch), "{batch}");
    let refused = core.submit(request(Lane::Batch, 10, deadline.mono), deadline);
    assert!(matches!(refused, Decision::Refused(_)), "{refused:?}");
}

#[test]
fn what_is_left_to_others_and_cannot_wait_is_shed_with_the_time_to_come_back() {
    let mut core = core(bucket(600), LaneRules::default());
    let interactive = admitted(core.submit(patient(Lane::Interactive, 300), at(0)));
    let used = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 300));
    core.settle(interactive, used, at(0));
    // 300 are there, and as many are what interactive wants in a minute.
    let refused = core.submit(request(Lane::Batch, 10, at(0).mono), at(0));
    let limit = LimitId::new(0);
    let start = Some(at(1_000).mono);
    assert_eq!(refused, Decision::Refused(Refusal::Shed { limit, start }));
    // Nothing is wasted when interactive has no demand any more.
    admitted(core.submit(request(Lane::Batch, 600, at(120_000).mono), at(120_000)));
}

#[test]
fn batch_without_any_higher_demand_uses_everything() {
    let mut core = core(tokens(1_000), LaneRules::default());
    for _ in 0..10 {
        admitted(core.submit(patient(Lane::Batch, 100), at(0)));
    }
}

/// How many of ten slots batch gets while interactive, which used `usual` of them for a minute, uses none.
fn slots_for_batch(usual: usize) -> usize {
    let mut core = core(in_flight(10), LaneRules::default());
    let used: Vec<_> = (0..usual)
        .map(|_| admitted(core.submit(patient(Lane::Interactive, 0), at(0))))
        .collect();
    for reservation in used {
        core.settle(reservation, Outcome::Unmeasured, at(60_000));
    }
    let now = at(60_001);
    let starts = |_: &usize| {
        let batch = request(Lane::Batch, 0, now.mono);
        matches!(core.submit(batch, now), Decision::Admitted(_))
    };
    let batch = (0..10).take_while(starts).count();
    if batch < 10 {
        admitted(core.submit(patient(Lane::Interactive, 0), now));
    }
    batch
}

#[test]
fn slots_are_left_for_what_interactive_uses_on_average_up_to_half_of_the_others() {
    assert_eq!([0, 1, 2, 4, 7].map(slots_for_batch), [10, 9, 8, 7, 9]);
}

#[test]
fn one_interactive_request_is_left_until_the_windows_end() {
    let mut core = core(tokens(1_000), LaneRules::default());
    for second in (0..120).step_by(10) {
        let now = at(second * 1_000 + 5);
        core.handle_timeout(now);
        admitted(core.submit(patient(Lane::Interactive, 50), now));
    }
    // By what is usual less than a token would be wanted in the last tenth of a second.
    let now = at(119_900);
    core.handle_timeout(now);
    let mut batch = 0;
    while let Decision::Admitted(_) = core.submit(request(Lane::Batch, 10, now.mono), now) {
        batch += 10;
    }
    assert!((600..=650).contains(&batch), "{batch}");
    admitted(core.submit(request(Lane::Interactive, 50, now.mono), now));
}

#[test]
fn of_a_sliding_window_batch_leaves_what_interactive_wants_before_anything_comes_back() {
    let window = Window::Sliding { per: MINUTE };
    let mut core = core(
        limit("tokens", Meter::Tokens, 1_000, window),
        LaneRules::default(),
    );
    // Batch takes all that interactive leaves of a minute, which comes back at once a minute later.
    for second in 0..60 {
        let now = at(second * 1_000);
        core.handle_timeout(now);
        admitted(core.submit(request(Lane::Interactive, 5, now.mono), now));
    }
    let mut batch = Vec::new();
    for second in 60..240 {
        let now = at(second * 1_000);
        core.handle_timeout(now);
        // Interactive never waits, whatever batch does.
        admitted(core.submit(request(Lane::Interactive, 5, now.mono), now));
        let mut started = 0;
        while let Decision::Admitted(_) = core.submit(request(Lane::Batch, 10, now.mono), now) {
            started += 10;
        }
        batch.push(started);
    }
    let last_minute: u64 = batch[120..].iter().sum();
    assert!((600..=700).contains(&last_minute), "{last_minute}");
}

#[test]
fn a_promise_knows_of_a_lower_lanes_minimum_share() {
    let mut core = core(bucket(60_000), leaving(Lane::Batch, 5_000, 5_000));
    admitted(core.submit(patient(Lane::Interactive, 60_000), at(0)));
    waiting(core.submit(patient(Lane::Batch, 1_000), at(0)));
    let (first, soon) = waiting(core.submit(patient(Lane::Interactive, 2_000), at(0)));
    // Half of what starts is batch's: after the first of two thousand it is due before the second.
    let (second, late) = waiting(core.submit(patient(Lane::Interactive, 2_000), at(0)));
    assert_eq!(
        [soon, late],
        [2_000, 5_000].map(|at_ms| Some(at(at_ms).mono))
    );
    let started = play(&mut core, at(6_000));
    for (ticket, promised) in [(first, soon), (second, late)] {
        let starts = |event: &&(Timestamp, Event)| matches!(event.1, Event::Admitted { ticket: started, .. } if started == ticket);
        let start = started.iter().find(starts).map(|(instant, _)| *instant);
        assert_eq!(start, promised);
    }
}

#[test]
fn a_promise_in_a_long_line_on_a_sliding_window_is_kept() {
    let window = Window::Sliding { per: MINUTE };
    let tokens = limit("tokens", Meter::Tokens, 1_000, window);
    let policy = policy(vec![tokens], &[("a", &[0])]);
    let (limits, targets) = (policy.limits().to_vec(), policy.targets().to_vec());
    let policy = sluicegate_core::Policy::new(limits, targets, 1_000, Duration::from_secs(600));
    let mut core = Core::new(policy.expect("a policy"), at(0));
    admitted(core.submit(patient(Lane::Api, 1_000), at(0)));
    for _ in 0..300 {
        waiting(core.submit(patient(Lane::Api, 5), at(100)));
    }
    // 200 of them start after one minute, the others and this one after the next.
    let (ticket, start) = waiting(core.submit(patient(Lane::Api, 300), at(200)));
    assert_eq!(start, Some(at(120_000).mono));
    let started = play(&mut core, at(120_000));
    assert!(started.iter().any(
        |(_, event)| matches!(event, Event::Admitted { ticket: started, .. } if *started == ticket)
    ));
}

#[test]
fn a_minimum_share_goes_before_a_higher_lane_that_wants_everything() {
    let mut core = core(bucket(60_000), leaving(Lane::Batch, 5_000, 1_000));
    admitted(core.submit(patient(Lane::Interactive, 60_000), at(0)));
    let mut batch = Vec::new();
    for index in 0..3 {
        let (ticket, _) = waiting(core.submit(patient(Lane::Batch, 1_000), at(index)));
        batch.push(ticket);
    }
    let mut starts = Vec::new();
    for second in 0..60 {
        for half in 0..3 {
            // Half as much again as there is; a line of three must not fill.
            let now = at(second * 1_000 + half * 300);
            core.submit(request(Lane::Interactive, 500, now.mono), now);
            starts.extend(events(&mut core));
        }
        starts.extend(
            play(&mut core, at(second * 1_000 + 999))
                .into_iter()
                .map(|(_, event)| event),
        );
    }
    let of_batch =
        |event: &&Event| matches!(event, Event::Admitted { ticket, .. } if batch.contains(ticket));
    assert!(starts.iter().filter(of_batch).count() >= 1, "{starts:?}");
}

#[test]
fn a_line_full_of_batch_refuses_no_interactive_request() {
    let mut core = core(bucket(100), LaneRules::default());
    admitted(core.submit(patient(Lane::Batch, 100), at(0)));
    for _ in 0..3 {
        waiting(core.submit(patient(Lane::Batch, 10), at(0)));
    }
    let full = core.submit(patient(Lane::Batch, 10), at(0));
    assert!(matches!(full, Decision::Refused(Refusal::LineFull { .. })));
    waiting(core.submit(patient(Lane::Interactive, 10), at(0)));
}

#[test]
fn a_lane_has_a_bound_of_its_own() {
    let rule = LaneRule {
        waiting_max: 1,
        ..LaneRules::default().of(Lane::Api)
    };
    let mut core = core(bucket(100), LaneRules::default().with(Lane::Api, rule));
    admitted(core.submit(patient(Lane::Api, 100), at(0)));
    let (ticket, _) = waiting(core.submit(patient(Lane::Api, 10), at(0)));
    let full = core.submit(patient(Lane::Api, 10), at(0));
    assert!(matches!(full, Decision::Refused(Refusal::LineFull { .. })));
    waiting(core.submit(patient(Lane::Interactive, 10), at(0)));
    core.cancel(ticket, at(0));
    waiting(core.submit(patient(Lane::Api, 10), at(0)));
}

#[test]
fn a_line_that_holds_too_many_bytes_is_full() {
    let policy = policy(vec![bucket(100)], &[("a", &[0])]).with_bytes_max(1_000);
    let mut core = Core::new(policy, at(0));
    admitted(core.submit(patient(Lane::Api, 100), at(0)));
    let heavy = |bytes| Submission {
        bytes,
        ..patient(Lane::Api, 10)
    };
    let (ticket, _) = waiting(core.submit(heavy(600), at(0)));
    let full = core.submit(heavy(401), at(0));
    assert!(matches!(full, Decision::Refused(Refusal::LineFull { .. })));
    waiting(core.submit(heavy(400), at(0)));
    core.cancel(ticket, at(0));
    waiting(core.submit(heavy(600), at(0)));
}

#[test]
fn a_lane_that_is_held_starts_nothing_until_it_is_let_go() {
    let mut core = core(bucket(100), LaneRules::default());
    core.hold(Lane::Batch, Held::Yes, at(0));
    let (ticket, start) = waiting(core.submit(patient(Lane::Batch, 10), at(0)));
    assert_eq!(start, None);
    admitted(core.submit(patient(Lane::Api, 10), at(0)));
    assert_eq!(events(&mut core), []);
    // An edit lets nobody go.
    core.reconfigure(policy(vec![bucket(200)], &[("a", &[0])]), at(1_000));
    assert_eq!(events(&mut core), []);
    core.hold(Lane::Batch, Held::No, at(5_000));
    assert!(matches!(
        events(&mut core)[..],
        [Event::Admitted { ticket: started, .. }] if started == ticket
    ));
}

#[test]
fn a_lane_that_is_held_keeps_nobody_waiting_for_its_minimum_share() {
    let mut core = core(bucket(600), leaving(Lane::Batch, 0, 1_000));
    admitted(core.submit(patient(Lane::Interactive, 600), at(0)));
    waiting(core.submit(patient(Lane::Batch, 10), at(0)));
    let (ticket, _) = waiting(core.submit(patient(Lane::Interactive, 200), at(0)));
    // With what that one starts, batch is owed more than its request.
    let started = play(&mut core, at(20_000));
    assert!(matches!(
        started[..],
        [(_, Event::Admitted { ticket: started, .. })] if started == ticket
    ));
    core.hold(Lane::Batch, Held::Yes, at(20_000));
    let (ticket, start) = waiting(core.submit(patient(Lane::Interactive, 100), at(20_000)));
    assert_eq!(start, Some(at(30_000).mono));
    let started = play(&mut core, at(30_000));
    assert!(matches!(
        started[..],
        [(_, Event::Admitted { ticket: started, .. })] if started == ticket
    ));
    admitted(core.submit(patient(Lane::Interactive, 10), at(31_000)));
}

#[test]
fn those_below_a_lane_that_is_held_go_on() {
    let mut core = core(bucket(600), leaving(Lane::Batch, 0, 0));
    core.hold(Lane::Api, Held::Yes, at(0));
    waiting(core.submit(patient(Lane::Api, 10), at(0)));
    admitted(core.submit(patient(Lane::Batch, 600), at(0)));
    let (ticket, start) = waiting(core.submit(patient(Lane::Batch, 10), at(0)));
    assert_eq!(start, Some(at(1_000).mono));
    let started = play(&mut core, at(1_000));
    assert!(matches!(
        started[..],
        [(_, Event::Admitted { ticket: started, .. })] if started == ticket
    ));
}

#[test]
fn a_lane_that_is_held_stands_in_nobodys_way_with_its_minimum_share() {
    let mut core = core(bucket(60_000), leaving(Lane::Batch, 5_000, 5_000));
    admitted(core.submit(patient(Lane::Interactive, 60_000), at(0)));
    waiting(core.submit(patient(Lane::Batch, 1_000), at(0)));
    core.hold(Lane::Batch, Held::Yes, at(0));
    // What it is owed by then would be its turn before the second.
    let mut promised = Vec::new();
    for _ in 0..2 {
        promised.push(waiting(
            core.submit(patient(Lane::Interactive, 2_000), at(0)),
        ));
    }
    let starts = |started: &[(Timestamp, Event)]| -> Vec<_> {
        let start = |(instant, event): &(Timestamp, Event)| match event {
            Event::Admitted { ticket, .. } => (*ticket, Some(*instant)),
            other => panic!("{other:?}"),
        };
        started.iter().map(start).collect()
    };
    assert_eq!(promised[1].1, Some(at(4_000).mono));
    assert_eq!(starts(&play(&mut core, at(9_000))), promised);
    admitted(core.submit(patient(Lane::Interactive, 2_000), at(9_000)));
}

#[test]
fn a_noisy_tenant_delays_another_by_one_turn_and_not_by_its_line() {
    let tenant = |name: &str| Tenant {
        name: name.into(),
        weight: NonZeroU32::MIN,
    };
    let many = policy(vec![bucket(600)], &[("a", &[0])]);
    let many = sluicegate_core::Policy::new(
        many.limits().to_vec(),
        many.targets().to_vec(),
        1_000,
        Duration::from_secs(600),
    );
    let policy = many
        .and_then(|policy| policy.with_tenants(vec![tenant("noisy"), tenant("quiet")]))
        .expect("a policy");
    let mut core = Core::new(policy, at(0));
    let of = |tenant| Submission {
        tenant: TenantId::new(tenant),
        ..patient(Lane::Api, 10)
    };
    for _ in 0..60 {
        admitted(core.submit(of(0), at(0)));
    }
    for _ in 0..500 {
        waiting(core.submit(of(0), at(0)));
    }
    // Ten tokens come back in a second: it goes second.
    let (quiet, start) = waiting(core.submit(of(1), at(0)));
    assert_eq!(start, Some(at(2_000).mono));
    let started = play(&mut core, at(2_000));
    assert!(started.iter().any(|(instant, event)| {
        *instant <= at(2_000).mono
            && matches!(event, Event::Admitted { ticket, .. } if *ticket == quiet)
    }));
}
