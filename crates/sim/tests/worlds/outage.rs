//! A hundred clients start together against a provider that is down for ten seconds: it is found again, and not overrun.
//!
//! Each client asks until it is served, a second after each failure, in step with all others: nothing spreads them but the gateway.

mod plot;
mod world;

use std::fmt::Write as _;
use std::time::Duration;

use sluicegate_core::{ErrorClass, Failure, FailureKind, Timestamp};

use crate::SECOND;
use crate::lanes::kept;
use world::World;

const CLIENTS: usize = 100;
const DOWN: Duration = Duration::from_secs(10);
/// Calls that the provider takes in any second.
const LIMIT: u64 = 10;

const HEAD: &str = "\
The provider takes 10 calls in any second. In its first ten it is down; 100 clients ask at once, again a second after each failure, and
the gateway tries each request up to three times within 8 s. Three seeds each; the worst.

![Calls in each second, where connections are refused; the red line is the provider's limit](outage-virtual.svg)

| while it is down | calls until it is back | most in a second after that | failed after that | all are served after, s |
|---|--:|--:|--:|--:|
";

#[test]
fn a_synchronised_start_against_a_provider_that_is_down_makes_no_second_wave() {
    let mut table = String::from(HEAD);
    let mut failed = false;
    let server = Failure::answered(ErrorClass::Server);
    for (name, failure) in [
        ("connections are refused", Failure::of(FailureKind::Connect)),
        ("it answers 503", server),
        (
            "it answers 503, `retry-after: 4`",
            server.with_hint(Duration::from_secs(4)),
        ),
    ] {
        let (mut before, mut peak, mut failures, mut last) = (0, 0, 0, Timestamp::ZERO);
        for seed in 0..3 {
            let world = World::new(failure, seed).run();
            let (down, up) = world.calls.split_at(world.calls.partition_point(is_down));
            before = before.max(down.len());
            peak = peak.max(peak_of(up));
            // Whoever is not served when it is back is served by one call.
            failures = failures.max(up.len() - CLIENTS);
            last = last.max(world.all_served);
            assert_eq!(world.served, CLIENTS, "{name}, seed {seed}");
            if failure.kind == FailureKind::Connect && seed == 0 {
                plot::check(&world.calls);
            }
        }
        let took = last.as_nanos() / (SECOND / 1_000) - 10_000;
        // As fast as the limit allows, and the pause before a third attempt.
        failed |= peak > LIMIT || failures > 0 || took > 12_000;
        let took = format!("{}.{:03}", took / 1_000, took % 1_000);
        writeln!(
            table,
            "| {name} | {before} | {peak} | {failures} | {took} |"
        )
        .expect("a string takes everything");
    }
    assert!(!failed, "{table}");
    kept::check(
        "7. A hundred clients and a provider that comes back",
        &table,
    );
}

fn is_down(at: &Timestamp) -> bool {
    *at < Timestamp::ZERO.saturating_add(DOWN)
}

/// The most within any second, wherever it begins.
fn peak_of(calls: &[Timestamp]) -> u64 {
    let within = |from: usize| {
        let second = |at: &&Timestamp| at.as_nanos() - calls[from].as_nanos() < SECOND;
        calls[from..].iter().take_while(second).count() as u64
    };
    (0..calls.len()).map(within).max().unwrap_or(0)
}
