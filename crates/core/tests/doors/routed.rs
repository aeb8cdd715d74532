//! Where requests go next.

use core::time::Duration;

use sluicegate_core::{
    Amounts, Asking, Balance, Candidates, Choice, Condition, Core, Facts, Fallback, Lane,
    LoadEffects, LoadLevel, Meter, Obstacle, Prospect, Role, Route, Submission, TargetId,
    Timestamp,
};

use crate::{admitted, at, policy, submit, tokens};

const FIRST: usize = 0;
const SECOND: usize = 1;
const THIRD: usize = 2;
const SMALL: usize = 3;

fn second(second: u64) -> Timestamp {
    at(1_000 * second).mono
}

fn to(target: usize, when: &[Condition]) -> Fallback {
    Fallback {
        to: TargetId::new(target),
        when: when.to_vec(),
    }
}

fn route(primary: &[usize], fallbacks: Vec<Fallback>) -> Route {
    Route {
        name: "route".into(),
        primary: primary
            .iter()
            .map(|&target| TargetId::new(target))
            .collect(),
        balance: Balance::Earliest,
        fallbacks,
        degrade_to: None,
    }
}

fn asking(deadline: Timestamp) -> Asking {
    Asking {
        lane: Lane::Interactive,
        deadline,
        simple: false,
        load: LoadLevel::Normal,
        effects: LoadEffects::NONE,
    }
}

/// Takes the request at once, for nothing.
const FREE: Facts = Facts {
    passes: Prospect::At(Timestamp::ZERO),
    speaks: true,
    fits_context: true,
    start: Prospect::At(Timestamp::ZERO),
    price: 0,
    latency: None,
};

fn starts(start: Timestamp) -> Facts {
    Facts {
        start: Prospect::At(start),
        ..FREE
    }
}

fn cools(until: Timestamp) -> Facts {
    Facts {
        passes: Prospect::At(until),
        ..FREE
    }
}

/// No key works.
const BENCHED: Facts = Facts {
    passes: Prospect::Never,
    ..FREE
};

fn of(facts: [Facts; 4]) -> impl Fn(TargetId) -> Facts {
    move |target| facts[target.index()]
}

fn primary(target: usize) -> Choice {
    Choice::Try {
        target: TargetId::new(target),
        role: Role::Primary,
    }
}

fn fallback(target: usize, because: Condition) -> Choice {
    Choice::Try {
        target: TargetId::new(target),
        role: Role::Fallback(because),
    }
}

fn degraded() -> Choice {
    Choice::Try {
        target: TargetId::new(SMALL),
        role: Role::Degraded,
    }
}

fn spent() -> Choice {
    Choice::Nowhere {
        obstacle: None,
        opens: Prospect::At(second(0)),
    }
}

fn first(route: &Route, asking: Asking, facts: [Facts; 4]) -> Choice {
    Candidates::new(route, asking).next(of(facts), second(0))
}

#[test]
fn a_pool_gives_the_earliest_then_the_cheapest_then_the_first() {
    let pool = route(&[FIRST, SECOND, THIRD], Vec::new());
    let priced = |price| Facts { price, ..FREE };
    let late = starts(second(2));
    assert_eq!(
        first(&pool, asking(second(5)), [late, priced(9), priced(7), FREE]),
        primary(THIRD)
    );
    assert_eq!(
        first(&pool, asking(second(5)), [late, priced(7), priced(7), FREE]),
        primary(SECOND)
    );
}

#[test]
fn price_decides_only_between_targets_that_make_the_deadline() {
    let pool = Route {
        balance: Balance::Price,
        ..route(&[FIRST, SECOND], Vec::new())
    };
    let cheap_and_late = starts(second(4));
    let dear = Facts { price: 9, ..FREE };
    let facts = [cheap_and_late, dear, FREE, FREE];
    assert_eq!(first(&pool, asking(second(5)), facts), primary(FIRST));
    assert_eq!(first(&pool, asking(second(3)), facts), primary(SECOND));
    let whenever = Facts {
        start: Prospect::OnRelease,
        ..FREE
    };
    let facts = [whenever, dear, FREE, FREE];
    assert_eq!(first(&pool, asking(second(5)), facts), primary(SECOND));
}

#[test]
fn latency_counts_from_now_and_one_that_nobody_knows_is_tried() {
    let pool = Route {
        balance: Balance::Latency,
        ..route(&[FIRST, SECOND], Vec::new())
    };
    let takes = |start, millis| Facts {
        start: Prospect::At(start),
        latency: Some(Duration::from_millis(millis)),
        ..FREE
    };
    let fast_but_full = takes(second(2), 200);
    let facts = [fast_but_full, takes(second(0), 900), FREE, FREE];
    assert_eq!(first(&pool, asking(second(5)), facts), primary(SECOND));
    let facts = [takes(second(0), 200), takes(second(0), 900), FREE, FREE];
    assert_eq!(first(&pool, asking(second(5)), facts), primary(FIRST));
    let facts = [takes(second(0), 200), FREE, FREE, FREE];
    assert_eq!(first(&pool, asking(second(5)), facts), primary(SECOND));
}

#[test]
fn the_rest_of_a_pool_comes_before_fallbacks_and_nothing_comes_twice() {
    let route = route(
        &[FIRST, SECOND],
        vec![
            to(FIRST, &[Condition::Provider5xx]),
            to(THIRD, &[Condition::Provider5xx]),
        ],
    );
    let mut candidates = Candidates::new(&route, asking(second(5)));
    let mut next = || {
        let next = candidates.next(|_| FREE, second(0));
        candidates.failed(Condition::Provider5xx);
        next
    };
    assert_eq!(next(), primary(FIRST));
    assert_eq!(next(), primary(SECOND));
    assert_eq!(next(), fallback(THIRD, Condition::Provider5xx));
    assert_eq!(next(), spent());
}

#[test]
fn a_fallback_is_used_for_its_conditions_only() {
    for happened in Condition::ALL {
        for named in Condition::ALL {
            let route = route(&[FIRST], vec![to(SECOND, &[named])]);
            let mut candidates = Candidates::new(&route, asking(second(5)));
            assert_eq!(candidates.next(|_| FREE, second(0)), primary(FIRST));
            candidates.failed(happened);
            let next = candidates.next(|_| FREE, second(0));
            let expected = if happened == named {
                fallback(SECOND, named)
            } else if matches!(happened, Condition::Timeout | Condition::ContentFilter) {
                // Nothing that happened lets anybody else have it.
                Choice::Nowhere {
                    obstacle: None,
                    opens: Prospect::Never,
                }
            } else {
                spent()
            };
            assert_eq!(next, expected, "{happened}, named {named}");
        }
    }
}

#[test]
fn what_is_known_before_sending_sends_nothing() {
    let each = [
        (
            Facts {
                fits_context: false,
                ..FREE
            },
            Condition::ContextLengthNeeded,
        ),
        (cools(second(3)), Condition::PrimaryUnavailable),
        (BENCHED, Condition::PrimaryUnavailable),
        (starts(second(6)), Condition::Capacity),
        (
            Facts {
                start: Prospect::Never,
                ..FREE
            },
            Condition::Capacity,
        ),
    ];
    for (facts, because) in each {
        let route = route(&[FIRST], vec![to(SECOND, &[because])]);
        assert_eq!(
            first(&route, asking(second(5)), [facts, FREE, FREE, FREE]),
            fallback(SECOND, because)
        );
    }
}

#[test]
fn while_one_of_a_pool_can_nothing_is_unavailable() {
    let route = route(
        &[FIRST, SECOND],
        vec![to(THIRD, &[Condition::PrimaryUnavailable])],
    );
    let mut candidates = Candidates::new(&route, asking(second(0)));
    let one_cools = of([cools(second(9)), FREE, FREE, FREE]);
    assert_eq!(candidates.next(&one_cools, second(0)), primary(SECOND));
    candidates.failed(Condition::Provider5xx);
    assert_eq!(
        candidates.next(&one_cools, second(0)),
        fallback(THIRD, Condition::PrimaryUnavailable)
    );
}

#[test]
fn what_is_in_the_way_of_one_fallback_lets_another_have_it() {
    let route = route(
        &[FIRST],
        vec![
            to(SECOND, &[Condition::ContextLengthNeeded]),
            to(THIRD, &[Condition::Provider5xx]),
        ],
    );
    let mut candidates = Candidates::new(&route, asking(second(5)));
    let third_is_short = of([
        FREE,
        FREE,
        Facts {
            fits_context: false,
            ..FREE
        },
        FREE,
    ]);
    candidates.next(&third_is_short, second(0));
    candidates.failed(Condition::Provider5xx);
    assert_eq!(
        candidates.next(&third_is_short, second(0)),
        fallback(SECOND, Condition::ContextLengthNeeded)
    );
}

#[test]
fn nothing_left_names_the_shortest_wait_and_the_first_obstacle() {
    let route = route(
        &[FIRST],
        vec![
            to(SECOND, &[Condition::PrimaryUnavailable]),
            to(THIRD, &[Condition::ContentFilter]),
        ],
    );
    let now = second(5);
    let nowhere = |facts| Candidates::new(&route, asking(now)).next(of(facts), now);
    let refused = |obstacle, opens| Choice::Nowhere {
        obstacle: Some(obstacle),
        opens,
    };
    // The third could take it now, but not for what happened.
    assert_eq!(
        nowhere([cools(second(20)), cools(second(45)), FREE, FREE]),
        refused(Obstacle::Breaker, Prospect::At(second(20)))
    );
    assert_eq!(
        nowhere([cools(second(45)), starts(second(20)), FREE, FREE]),
        refused(Obstacle::Breaker, Prospect::At(second(20)))
    );
    assert_eq!(
        nowhere([BENCHED, BENCHED, FREE, FREE]),
        refused(Obstacle::Breaker, Prospect::Never)
    );
    // A breaker that closes does not make room.
    let full_too = Facts {
        start: Prospect::At(second(30)),
        ..cools(second(20))
    };
    assert_eq!(
        nowhere([full_too, cools(second(45)), FREE, FREE]),
        refused(Obstacle::Breaker, Prospect::At(second(30)))
    );
}

#[test]
fn a_breaker_that_closes_before_the_deadline_is_waited_for_where_nobody_else_may() {
    let alone = route(&[FIRST], Vec::new());
    let mut candidates = Candidates::new(&alone, asking(second(20)));
    let facts = of([cools(second(20)), FREE, FREE, FREE]);
    let wait = Choice::Wait {
        until: Prospect::At(second(20)),
    };
    assert_eq!(candidates.next(&facts, second(0)), wait);
    assert_eq!(candidates.next(&facts, second(20)), primary(FIRST));

    let helped = route(&[FIRST], vec![to(SECOND, &[Condition::PrimaryUnavailable])]);
    assert_eq!(
        first(
            &helped,
            asking(second(20)),
            [facts(TargetId::new(0)), FREE, FREE, FREE]
        ),
        fallback(SECOND, Condition::PrimaryUnavailable)
    );

    // Whatever it waits for beyond, the breaker is known to be late.
    let slots_too = Facts {
        start: Prospect::OnRelease,
        ..cools(second(21))
    };
    assert_eq!(
        first(&alone, asking(second(20)), [slots_too, FREE, FREE, FREE]),
        Choice::Nowhere {
            obstacle: Some(Obstacle::Breaker),
            opens: Prospect::OnRelease
        }
    );
}

#[test]
fn who_comes_second_to_a_probe_waits_for_what_it_tells() {
    let route = route(&[FIRST], Vec::new());
    let mut candidates = Candidates::new(&route, asking(second(5)));
    assert_eq!(candidates.next(|_| FREE, second(0)), primary(FIRST));
    candidates.refused(Obstacle::Breaker, Prospect::At(second(3)));
    let wait = Choice::Wait {
        until: Prospect::At(second(3)),
    };
    assert_eq!(candidates.next(|_| FREE, second(0)), wait);
    assert_eq!(candidates.next(|_| FREE, second(3)), primary(FIRST));
    candidates.refused(Obstacle::Breaker, Prospect::At(second(6)));
    assert_eq!(
        candidates.next(|_| FREE, second(3)),
        Choice::Nowhere {
            obstacle: Some(Obstacle::Breaker),
            opens: Prospect::At(second(6))
        }
    );
}

#[test]
fn while_a_probe_decides_others_go_elsewhere_or_wait_for_its_end() {
    let probed = Facts {
        passes: Prospect::OnRelease,
        ..FREE
    };
    let helped = route(&[FIRST], vec![to(SECOND, &[Condition::PrimaryUnavailable])]);
    assert_eq!(
        first(&helped, asking(second(5)), [probed, FREE, FREE, FREE]),
        fallback(SECOND, Condition::PrimaryUnavailable)
    );
    let alone = route(&[FIRST], Vec::new());
    let mut candidates = Candidates::new(&alone, asking(second(5)));
    assert_eq!(candidates.next(|_| FREE, second(0)), primary(FIRST));
    candidates.refused(Obstacle::Breaker, Prospect::OnRelease);
    let wait = Choice::Wait {
        until: Prospect::OnRelease,
    };
    assert_eq!(candidates.next(|_| probed, second(0)), wait);
    assert_eq!(
        candidates.next(|_| probed, second(5)),
        Choice::Nowhere {
            obstacle: Some(Obstacle::Breaker),
            opens: Prospect::OnRelease
        },
        "the deadline has come"
    );
    assert_eq!(candidates.next(|_| FREE, second(1)), primary(FIRST));
}

#[test]
fn a_refusal_at_the_door_counts_as_capacity_and_names_its_wait() {
    let route = route(&[FIRST], vec![to(SECOND, &[Condition::Capacity])]);
    let mut candidates = Candidates::new(&route, asking(second(0)));
    assert_eq!(candidates.next(|_| FREE, second(0)), primary(FIRST));
    candidates.refused(Obstacle::Lane, Prospect::At(second(7)));
    assert_eq!(
        candidates.next(|_| FREE, second(0)),
        fallback(SECOND, Condition::Capacity)
    );
    candidates.refused(Obstacle::Ledger, Prospect::At(second(9)));
    assert_eq!(
        candidates.next(|_| FREE, second(0)),
        Choice::Nowhere {
            obstacle: Some(Obstacle::Lane),
            opens: Prospect::At(second(7))
        }
    );
}

#[test]
fn batch_under_load_and_simple_tasks_go_to_the_smaller_model_first() {
    let route = Route {
        degrade_to: Some(to(SMALL, &[Condition::BatchLowPriority])),
        ..route(&[FIRST], Vec::new())
    };
    let degrades = LoadEffects {
        degrades_simple: true,
        ..LoadEffects::NONE
    };
    let quiet = asking(second(5));
    let batch = Asking {
        lane: Lane::Batch,
        ..quiet
    };
    let loaded = Asking {
        load: LoadLevel::High,
        effects: degrades,
        ..batch
    };
    let simple = Asking {
        lane: Lane::Interactive,
        simple: true,
        ..loaded
    };
    let free = [FREE; 4];
    assert_eq!(first(&route, batch, free), primary(FIRST));
    assert_eq!(first(&route, loaded, free), degraded());
    assert_eq!(first(&route, simple, free), degraded());
    let of_interest = Asking {
        simple: false,
        ..simple
    };
    assert_eq!(first(&route, of_interest, free), primary(FIRST));

    let mut candidates = Candidates::new(&route, loaded);
    assert_eq!(candidates.next(|_| FREE, second(0)), degraded());
    candidates.failed(Condition::Provider5xx);
    assert_eq!(candidates.next(|_| FREE, second(0)), primary(FIRST));
    // Where the smaller one cannot, the primary is not the worse for it.
    let small_is_full = [FREE, FREE, FREE, starts(second(6))];
    assert_eq!(first(&route, loaded, small_is_full), primary(FIRST));
}

#[test]
fn targets_that_share_limits_are_worth_no_more_than_one() {
    let shared = policy(vec![tokens(1_000)], &[("a", &[0]), ("b", &[0])]);
    let mut core = Core::new(shared, at(0));
    admitted(submit(&mut core, FIRST, 600, at(0), at(0)));
    let demand = Amounts::one_request().with(Meter::Tokens, 600);
    let pool = route(&[FIRST, SECOND], Vec::new());
    let mut candidates = Candidates::new(&pool, asking(second(5)));
    let next = candidates.next(
        |target| Facts {
            start: core.prospect(&Submission::new(target, demand, Timestamp::MAX), at(0)),
            ..FREE
        },
        second(0),
    );
    assert_eq!(
        next,
        Choice::Nowhere {
            obstacle: Some(Obstacle::Ledger),
            opens: Prospect::At(second(60))
        }
    );
    let too_large = Amounts::one_request().with(Meter::Tokens, 1_001);
    let never = core.prospect(
        &Submission::new(TargetId::new(0), too_large, Timestamp::MAX),
        at(0),
    );
    assert_eq!(never, Prospect::Never);
}
