//! How limits stand for the lanes above batch, as load is weighed by it.

use sluicegate_core::{
    Amounts, Budget, Core, Decision, Lane, LimitId, Load, LoadLevel, LoadRules, Meter, Mode, Now,
    Start, Strain, Submission, TargetId, Timestamp, Window,
};

use super::{MINUTE, admitted, at, in_flight, limit, one_target, tokens, waiting};

fn request(lane: Lane, amount: u64) -> Submission {
    let demand = Amounts::one_request().with(Meter::Tokens, amount);
    Submission {
        lane,
        ..Submission::new(TargetId::new(0), demand, Timestamp::MAX)
    }
}

fn bucket(amount: u64) -> sluicegate_core::Limit {
    limit(
        "tokens",
        Meter::Tokens,
        amount,
        Window::Bucket { per: MINUTE },
    )
}

/// The level that one look at all budgets gives.
fn level(core: &mut Core, now: Now) -> LoadLevel {
    let budgets = core.budgets(now);
    let strain = Strain {
        budgets: &budgets,
        wait: core::time::Duration::ZERO,
        breaker_open: false,
    };
    Load::default().weigh(&LoadRules::default(), &strain, now.mono)
}

#[test]
fn what_batch_uses_to_the_last_token_is_no_load() {
    let mut core = one_target(vec![bucket(1_000)]);
    admitted(core.submit(request(Lane::Batch, 1_000), at(0)));
    waiting(core.submit(request(Lane::Batch, 500), at(0)));
    let empty = Budget {
        limit: LimitId::new(0),
        usable: 1_000,
        left: 0,
        returns: 1_000,
        wanted: 0,
    };
    assert_eq!(core.budgets(at(0)), [empty]);
    assert_eq!(level(&mut core, at(0)), LoadLevel::Normal);
}

#[test]
fn programs_that_want_more_than_a_bucket_gives_are_load() {
    let mut core = one_target(vec![bucket(1_000)]);
    admitted(core.submit(request(Lane::Api, 900), at(0)));
    assert_eq!(level(&mut core, at(0)), LoadLevel::Normal, "no more came");
    waiting(core.submit(request(Lane::Api, 300), at(0)));
    // 100 of 1,000 are left, and 1,200 were asked for in a minute, of which 300 still wait.
    assert_eq!(core.budgets(at(0))[0].wanted, 1_500);
    assert_eq!(level(&mut core, at(0)), LoadLevel::Moderate);
}

#[test]
fn a_window_counts_until_its_edge_what_is_wanted_until_then() {
    let mut core = one_target(vec![tokens(1_000)]);
    for second in 0..45 {
        admitted(core.submit(request(Lane::Api, 20), at(second * 1_000)));
    }
    // 100 are left for a quarter of a minute in which 300 would be asked for.
    let [budget] = core.budgets(at(45_000))[..] else {
        panic!("there is one limit");
    };
    assert_eq!((budget.left, budget.returns), (100, 0));
    assert!((270..=330).contains(&budget.wanted), "{budget:?}");
    assert_eq!(level(&mut core, at(45_000)), LoadLevel::Moderate);
    let [renewed] = core.budgets(at(60_000))[..] else {
        panic!("there is one limit");
    };
    assert_eq!(renewed.left, 1_000);
}

#[test]
fn a_start_with_nothing_is_no_load_until_more_is_wanted_than_there_may_be() {
    let windows = [
        Window::Fixed { per: MINUTE },
        Window::Floating { per: MINUTE },
        Window::Sliding { per: MINUTE },
        Window::Bucket { per: MINUTE },
    ];
    for window in windows {
        let name = format!("{window:?}");
        let empty = sluicegate_core::Limit {
            start: Start::Empty,
            ..limit("tokens", Meter::Tokens, 10_000, window)
        };
        let mut core = one_target(vec![empty]);
        assert_eq!(level(&mut core, at(0)), LoadLevel::Normal, "{name}");
        admitted(core.submit(request(Lane::Interactive, 100), at(0)));
        waiting(core.submit(request(Lane::Interactive, 100), at(0)));
        assert_eq!(level(&mut core, at(0)), LoadLevel::Normal, "{name}");
        for _ in 0..2 {
            waiting(core.submit(request(Lane::Interactive, 6_000), at(0)));
        }
        assert_eq!(level(&mut core, at(0)), LoadLevel::Critical, "{name}");
    }
}

#[test]
fn slots_that_are_all_used_are_no_load_by_themselves() {
    let mut core = one_target(vec![in_flight(4)]);
    for _ in 0..4 {
        admitted(core.submit(request(Lane::Api, 0), at(0)));
    }
    waiting(core.submit(request(Lane::Api, 0), at(0)));
    assert_eq!(level(&mut core, at(60_000)), LoadLevel::Normal);
}

#[test]
fn what_is_only_watched_is_not_told() {
    let watched = sluicegate_core::Limit {
        mode: Mode::Shadow,
        ..tokens(10)
    };
    let enforced = limit(
        "enforced",
        Meter::Tokens,
        1_000,
        Window::Fixed { per: MINUTE },
    );
    let mut core = one_target(vec![watched, enforced]);
    admitted(core.submit(request(Lane::Api, 100), at(0)));
    let budgets = core.budgets(at(0));
    let limits: Vec<_> = budgets.iter().map(|budget| budget.limit).collect();
    assert_eq!(limits, [LimitId::new(1)]);
}

#[test]
fn a_place_in_the_line_names_the_limit_that_decides() {
    let mut core = one_target(vec![in_flight(100), tokens(10)]);
    admitted(core.submit(request(Lane::Api, 10), at(0)));
    let Decision::Waiting { limit, .. } = core.submit(request(Lane::Api, 10), at(0)) else {
        panic!("it does not fit");
    };
    assert_eq!(limit, Some(LimitId::new(1)));
}
