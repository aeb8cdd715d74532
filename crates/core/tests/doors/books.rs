//! Two books in one call: limits of ours beside a provider's. What the provider says and does touches only its own.

use core::time::Duration;

use sluicegate_core::{
    Book, Core, Headroom, Limit, Meter, Outcome, Reception, Signal, TargetId, Window,
};

use crate::{MINUTE, admitted, at, limit, one_target, submit, tokens, waiting};

/// Our own limit on a tenant's tokens.
fn tenants(amount: u64) -> Limit {
    Limit {
        name: "tenant".into(),
        book: Book::Ours,
        ..tokens(amount)
    }
}

fn used(core: &Core, millis: u64) -> Vec<u64> {
    core.limit_states(at(millis))
        .map(|state| state.used)
        .collect()
}

#[test]
fn a_remainder_is_of_the_providers_limit_also_where_ours_looks_alike() {
    let mut core = one_target(vec![tenants(1_000), tokens(1_000)]);
    let open = admitted(submit(&mut core, 0, 100, at(0), at(0)));
    let told = Signal {
        limit: Some(1_000),
        remaining: Some(400),
        per: Some(MINUTE),
        ..Signal::on(Meter::Tokens)
    };
    assert!(core.observe(TargetId::new(0), open, Reception::Accepted, &[told], at(10)));
    assert_eq!(used(&core, 10), [100, 600]);
}

#[test]
fn a_refusal_closes_and_suspects_no_limit_of_ours() {
    // Ours is fuller, so that by fullness alone it would be the one.
    let mut core = one_target(vec![tenants(500), tokens(1_000)]);
    let served = admitted(submit(&mut core, 0, 300, at(0), at(0)));
    core.observe(TargetId::new(0), served, Reception::Accepted, &[], at(5));
    let refused = admitted(submit(&mut core, 0, 100, at(1), at(1)));
    let closed = Signal {
        closed_for: Some(Duration::from_secs(1)),
        ..Signal::on(Meter::Tokens)
    };
    assert!(core.observe(
        TargetId::new(0),
        refused,
        Reception::Refused,
        &[closed],
        at(10)
    ));
    core.settle(refused, Outcome::Void, at(10))
        .expect("it is open");
    // The provider's is known to hold a tenth less than the 300 that were in use; nobody tries for a minute.
    let (_, start) = waiting(submit(&mut core, 0, 100, at(600_000), at(30_000)));
    assert_eq!(start, Some(at(60_000).mono));
    // The same refusal where all that is counted is ours changes nothing.
    let mut alone = one_target(vec![tenants(500)]);
    let refused = admitted(submit(&mut alone, 0, 400, at(0), at(0)));
    assert!(!alone.observe(
        TargetId::new(0),
        refused,
        Reception::Refused,
        &[closed],
        at(10)
    ));
    admitted(submit(&mut alone, 0, 100, at(20), at(20)));
}

#[test]
fn all_of_ours_is_used() {
    let auto = |limit: Limit| Limit {
        headroom: Headroom::Auto,
        ..limit
    };
    let mut core = one_target(vec![auto(tenants(8_000))]);
    admitted(submit(&mut core, 0, 7_950, at(0), at(0)));
    admitted(submit(&mut core, 0, 50, at(0), at(0)));
    let mut mirror = one_target(vec![auto(tokens(8_000))]);
    admitted(submit(&mut mirror, 0, 7_850, at(0), at(0)));
    waiting(submit(&mut mirror, 0, 51, at(60_000), at(0)));
}

#[test]
fn what_leaves_late_counts_for_us_from_its_admission() {
    let any_minute = |name: &str| Limit {
        arrival_spread: Duration::from_millis(100),
        ..limit(name, Meter::Tokens, 1_000, Window::Sliding { per: MINUTE })
    };
    let ours = Limit {
        book: Book::Ours,
        ..any_minute("tenant")
    };
    let mut core = one_target(vec![ours, any_minute("tokens")]);
    let late = admitted(submit(&mut core, 0, 600, at(0), at(0)));
    assert!(core.sent(late, at(5_000)));
    assert_eq!(used(&core, 61_000), [0, 600]);
    for delay in 40..72 {
        core.arrived(TargetId::new(0), Duration::from_millis(delay), at(5_000));
    }
    let spreads: Vec<u128> = core
        .limit_states(at(5_000))
        .map(|state| state.arrival_spread.as_micros())
        .collect();
    assert_eq!(spreads, [100_000, 34_875]);
}
