//! What one run amounts to: how long calls of a lane waited, and what a lane was charged, window by window.

use sluicegate_core::{Amounts, Lane, Meter, TenantId};
use sluicegate_sim::workload::Turn;
use sluicegate_sim::{Call, Run, Scenario, check};

use crate::{MINUTE, run};

/// What a call is charged: its prompt.
pub(super) fn charge(turn: &Turn) -> Amounts {
    Amounts::one_request().with(Meter::Tokens, turn.prompt_tokens)
}

/// Plays a scenario, in which nothing may be answered 429.
pub(super) fn play(scenario: &Scenario) -> Run {
    let run = run(scenario, charge);
    assert_eq!(check::rejections(&run), 0, "seed {}", scenario.seed);
    run
}

/// The wait below which 99 of 100 calls of `lane` stayed that came within these minutes and started, in microseconds,
/// rounded up.
pub(super) fn wait_p99_us(run: &Run, lane: Lane, minutes: std::ops::Range<u64>) -> u64 {
    let mut waits: Vec<u64> = run
        .calls
        .iter()
        .filter(|call| call.lane == lane && minutes.contains(&(call.came.as_nanos() / MINUTE)))
        .filter_map(waited)
        .collect();
    waits.sort_unstable();
    let place = (waits.len() * 99).div_ceil(100).max(1) - 1;
    waits.get(place).map_or(0, |wait| wait.div_ceil(1_000))
}

/// How long a call waited that started, in nanoseconds.
pub(super) fn waited(call: &Call) -> Option<u64> {
    Some(call.started?.saturating_since(call.came).as_nanos())
        .map(|nanos| u64::try_from(nanos).expect("a wait shorter than the world"))
}

/// The tokens that the provider charged to such calls in that minute of its clock, counted from where the world begins.
pub(super) fn charged_in(run: &Run, minute: u64, which: impl Fn(&&Call) -> bool) -> u64 {
    let began = sluicegate_sim::BEGIN_UNIX_NANOS;
    let in_it = |at: u64| (at - began) / MINUTE == minute;
    run.calls
        .iter()
        .filter(which)
        .filter_map(|call| call.accepted)
        .filter(|(at, _)| in_it(*at))
        .map(|(_, tokens)| tokens)
        .sum()
}

pub(super) fn of_lane(lane: Lane) -> impl Fn(&&Call) -> bool {
    move |call| call.lane == lane
}

pub(super) fn of_tenant(place: usize) -> impl Fn(&&Call) -> bool {
    move |call| call.tenant == TenantId::new(place)
}

/// `part` of `whole` in hundredths of a percent, rounded down.
pub(super) fn share(part: u64, whole: u64) -> u64 {
    part * 10_000 / whole.max(1)
}

/// Hundredths of a percent as a reader wants them.
pub(super) fn percent(points: u64) -> String {
    format!("{}.{:02} %", points / 100, points % 100)
}

/// Microseconds in milliseconds.
pub(super) fn ms(micros: u64) -> String {
    format!("{}.{:03}", micros / 1_000, micros % 1_000)
}
