//! Retries as a driver makes them: breaker, budget and attempts together.

#![allow(clippy::panic, reason = "a helper of a test fails by panicking")]

mod world;

use std::time::Duration;

use proptest::prelude::*;
use sluicegate_core::{
    BasisPoints, BreakerState, ErrorClass, Failure, FailureKind, Reason, RetryBudgetRule,
    RetryRule, Timestamp,
};

use world::{Answers, End, LATENCY, Random, Request, World, always, first, healthy};

const SERVER: Failure = Failure::answered(ErrorClass::Server);
const NO_FLOOR: RetryBudgetRule = RetryBudgetRule {
    share: match BasisPoints::new(2_000) {
        Some(fifth) => fifth,
        None => BasisPoints::ZERO,
    },
    floor_per_second: 0,
};

fn at(millis: u64) -> Timestamp {
    Timestamp::from_nanos(millis * 1_000_000)
}

fn interactive() -> RetryRule {
    lane(3, 8)
}

fn lane(attempts_max: u32, seconds: u64) -> RetryRule {
    RetryRule {
        attempts_max,
        total_max: Duration::from_secs(seconds),
    }
}

#[test]
fn one_budget_of_attempts_over_all_targets() {
    let mut one = World::new(RetryBudgetRule::default(), vec![always(SERVER)]);
    let (end, _) = one.serve(lane(3, 8), at(0));
    assert_eq!(
        (end, one.calls()),
        (End::Failed(Reason::AttemptsUsed), vec![3])
    );

    let both = vec![always(SERVER), always(SERVER)];
    let mut two = World::new(RetryBudgetRule::default(), both);
    let (end, _) = two.serve(lane(4, 8), at(0));
    assert_eq!(
        (end, two.calls()),
        (End::Failed(Reason::AttemptsUsed), vec![3, 1])
    );
}

#[test]
fn an_exhausted_chain_ends() {
    let both = vec![always(SERVER), always(SERVER)];
    let mut world = World::new(RetryBudgetRule::default(), both);
    let (end, _) = world.serve(lane(8, 300), at(0));
    assert_eq!(
        (end, world.calls()),
        (End::Failed(Reason::RetriesUsed), vec![3, 3])
    );
}

#[test]
fn a_fifth_of_retries_on_a_hundred_failing_requests_is_a_hundred_and_twenty_calls() {
    for apart_ms in [0, 10, 150, 1_000] {
        let mut world = World::new(NO_FLOOR, vec![always(SERVER)]);
        for request in 0..100 {
            world.arrives(lane(3, 30), at(request * apart_ms));
        }
        world.run();
        let calls = world.calls()[0];
        assert!(
            (100..=120).contains(&calls),
            "{calls} calls, {apart_ms} ms apart"
        );
        if apart_ms == 10 {
            assert_eq!(calls, 120);
        }
    }
}

#[test]
fn of_ten_percent_random_failures_the_clients_see_two_in_a_thousand_at_most() {
    let tenth: Answers = Box::new(|random, _| (random.draw() % 10 == 0).then_some(SERVER));
    let mut world = World::new(RetryBudgetRule::default(), vec![tenth]);
    for request in 0..20_000 {
        world.arrives(interactive(), at(request * 20));
    }
    world.run();
    let served = |request: &&Request| matches!(request.end, Some((End::Served { .. }, _)));
    let served = world.requests.iter().filter(served).count();
    assert!(served >= 19_960, "{served} of 20,000");
    for (index, request) in world.requests.iter().enumerate() {
        let arrived = at(20 * index as u64);
        let (_, end) = request.end.expect("every request ends");
        assert!(request.attempts.made() <= 3);
        assert!(end.saturating_since(arrived) <= Duration::from_secs(8) + LATENCY);
    }
}

#[test]
fn a_dead_upstream_with_a_healthy_fallback_gets_no_more_calls_than_the_threshold() {
    for kind in [
        FailureKind::Answered(ErrorClass::Server),
        FailureKind::Answered(ErrorClass::Overload),
        FailureKind::Connect,
        FailureKind::HeadTimeout,
        FailureKind::CutBeforeContent,
        FailureKind::Unreadable,
    ] {
        let targets = vec![always(Failure::of(kind)), healthy()];
        let mut world = World::new(RetryBudgetRule::default(), targets);
        let mut now = at(0);
        for _ in 0..25 {
            let (end, ended) = world.serve(interactive(), now);
            assert_eq!(end, End::Served { by: 1 });
            now = ended;
        }
        assert_eq!(world.calls(), [5, 25], "{}", kind.name());
    }
}

#[test]
fn one_failure_of_the_only_upstream_locks_nobody_out() {
    let mut world = World::new(RetryBudgetRule::default(), vec![first([SERVER; 30])]);
    let mut now = at(0);
    for _ in 0..10 {
        let (end, ended) = world.serve(lane(3, 30), now);
        assert_eq!(end, End::Failed(Reason::AttemptsUsed));
        now = ended;
    }
    let breaker = &world.targets[0].breaker;
    assert_ne!(breaker.state(now), BreakerState::Closed);
    let (end, ended) = world.serve(interactive(), now);
    assert_eq!(
        (end, ended),
        (End::Served { by: 0 }, now.saturating_add(LATENCY))
    );
}

#[test]
fn a_failure_counts_against_who_answered() {
    let limited = Failure::answered(ErrorClass::Rate).with_hint(Duration::from_secs(60));
    let targets = vec![first([SERVER; 2]), always(limited)];
    let mut world = World::new(RetryBudgetRule::default(), targets);
    let (end, ended) = world.serve(interactive(), at(0));
    assert_eq!(end, End::Failed(Reason::AttemptsUsed));
    let (end, _) = world.serve(interactive(), ended);
    assert_eq!((end, world.calls()), (End::Served { by: 0 }, vec![3, 1]));
}

#[test]
fn a_hint_longer_than_the_lane_waits_is_answered_at_once_or_goes_elsewhere() {
    let hour = Failure::answered(ErrorClass::Rate).with_hint(Duration::from_secs(3_600));
    let mut alone = World::new(RetryBudgetRule::default(), vec![always(hour)]);
    let (end, ended) = alone.serve(interactive(), at(0));
    assert_eq!((end, ended), (End::Failed(Reason::TooLate), at(400)));
    assert_eq!(alone.calls(), [1]);

    let targets = vec![always(hour), healthy()];
    let mut world = World::new(RetryBudgetRule::default(), targets);
    let (end, ended) = world.serve(interactive(), at(0));
    assert_eq!((end, ended), (End::Served { by: 1 }, at(800)));
    for millis in (1_000..20_000).step_by(1_000) {
        world.serve(interactive(), at(millis));
    }
    assert_eq!(world.calls()[0], 1);
}

#[test]
fn of_two_that_cool_down_the_earlier_is_told() {
    let cooling = |seconds| {
        let hint = Duration::from_secs(seconds);
        always(Failure::answered(ErrorClass::Rate).with_hint(hint))
    };
    let mut world = World::new(RetryBudgetRule::default(), vec![cooling(20), cooling(45)]);
    world.serve(interactive(), at(0));
    // The first answer came at 0.4 s.
    let (end, _) = world.serve(interactive(), at(5_400));
    assert_eq!(end, End::Refused(Some(at(20_400))));
    assert_eq!(world.calls(), [1, 1]);
}

#[test]
fn after_an_empty_account_nothing_goes_there() {
    let billing = Failure::answered(ErrorClass::Billing);
    let mut world = World::new(RetryBudgetRule::default(), vec![always(billing), healthy()]);
    for request in 0..21 {
        let (end, _) = world.serve(interactive(), at(request * 1_000));
        assert_eq!(end, End::Served { by: 1 });
    }
    assert_eq!(world.calls(), [1, 21]);
    let mut alone = World::new(RetryBudgetRule::default(), vec![always(billing)]);
    let (end, _) = alone.serve(interactive(), at(0));
    assert_eq!(
        (end, alone.calls()),
        (End::Failed(Reason::FailsThereAgain), vec![1])
    );
}

#[test]
fn a_stream_falls_back_before_its_first_content_and_never_after() {
    for (kind, end, calls) in [
        (FailureKind::CutBeforeContent, End::Served { by: 1 }, [1, 1]),
        (
            FailureKind::CutAfterContent,
            End::Failed(Reason::ContentSent),
            [1, 0],
        ),
    ] {
        let targets = vec![always(Failure::of(kind)), healthy()];
        let mut world = World::new(RetryBudgetRule::default(), targets);
        assert_eq!(world.serve(interactive(), at(0)).0, end);
        assert_eq!(world.calls(), calls);
    }
}

fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let hint = prop_oneof![
        Just(None),
        (0_u64..15_000).prop_map(|millis| Some(Duration::from_millis(millis)))
    ];
    let kind = proptest::sample::select(&FailureKind::ALL[..]);
    let failure = (kind, hint).prop_map(|(kind, hint)| Failure { kind, hint });
    prop::collection::vec(failure, 0..12)
}

proptest! {
    #[test]
    fn attempts_keep_their_number_their_time_and_every_hint(
        targets in prop::collection::vec(failures(), 1..4),
        attempts_max in 1_u32..9,
        seconds in 0_u64..40,
        seed in any::<u64>(),
    ) {
        let rule = lane(attempts_max, seconds);
        let answers = targets.iter().map(|failures| first(failures.clone())).collect();
        let mut world = World::new(RetryBudgetRule::default(), answers);
        world.random = Random(seed);
        world.serve(rule, at(0));
        let calls: usize = world.calls().iter().sum();
        prop_assert!(calls >= 1 && calls <= attempts_max as usize);
        prop_assert_eq!(calls, world.requests[0].attempts.made() as usize);
        for (target, failures) in world.targets.iter().zip(&targets) {
            for (index, &call) in target.calls.iter().enumerate() {
                prop_assert!(call <= at(0).saturating_add(rule.total_max));
                let Some(next) = target.calls.get(index + 1) else { continue };
                let answered = call.saturating_add(LATENCY);
                let least = failures[index].hint.unwrap_or_default();
                let least = least.max(Duration::from_millis(20));
                prop_assert!(next.saturating_since(answered) >= least);
            }
        }
    }
}
