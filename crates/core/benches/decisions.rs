//! What a decision costs: four limits as an account has them, at rest and with a long line.

#![allow(missing_docs, reason = "nobody links a benchmark")]

use core::hint::black_box;
use core::num::NonZeroU64;
use core::time::Duration;

use divan::Bencher;
use sluicegate_core::{
    Amounts, Authority, BasisPoints, Core, Decision, Failures, Headroom, Limit, LimitId, Meter,
    Mode, Now, Outcome, Policy, Settlement, Start, Submission, Target, TargetId, Timestamp,
    WallTime, Window,
};

fn main() {
    divan::main();
}

const MINUTE: Duration = Duration::from_secs(60);

fn limit(meter: Meter, amount: u64, window: Window) -> Limit {
    Limit {
        name: format!("{meter}").into(),
        meter,
        amount: NonZeroU64::new(amount).expect("above zero"),
        window,
        quantum: None,
        headroom: Headroom::Share(BasisPoints::WHOLE),
        start: Start::Full,
        mode: Mode::Enforce,
        settlement: Settlement::Usage,
        failures: Failures::Count,
        arrival_spread: Duration::from_millis(20),
        authority: Authority::Local,
    }
}

/// Requests, tokens and output tokens of the given window, and what is in flight.
fn core(window: Window, tokens: u64) -> Core {
    let limits = vec![
        limit(Meter::Requests, u64::MAX >> 20, window.clone()),
        limit(Meter::Tokens, tokens, window.clone()),
        limit(Meter::OutputTokens, u64::MAX >> 20, window),
        limit(Meter::Concurrent, u64::MAX >> 20, Window::Concurrent),
    ];
    let target = Target {
        name: "target".into(),
        limits: (0..4).map(LimitId::new).collect(),
    };
    let policy = Policy::new(limits, vec![target], 100_000, Duration::from_secs(3_600));
    Core::new(policy.expect("four limits, one target"), at(0))
}

fn at(nanos: u64) -> Now {
    Now::new(
        Timestamp::from_nanos(nanos),
        WallTime::from_unix_nanos(1_800_000_000_000_000_000 + nanos),
    )
}

fn submission() -> Submission {
    let demand = Amounts::one_request()
        .with(Meter::Tokens, 2_000)
        .with(Meter::OutputTokens, 500);
    Submission {
        target: TargetId::new(0),
        demand,
        deadline: Timestamp::MAX,
    }
}

const WINDOWS: [(&str, Window); 4] = [
    ("bucket", Window::Bucket { per: MINUTE }),
    ("fixed", Window::Fixed { per: MINUTE }),
    (
        "pacing",
        Window::Pacing {
            per: MINUTE,
            burst: MINUTE,
        },
    ),
    ("sliding", Window::Sliding { per: MINUTE }),
];

fn names() -> impl Iterator<Item = &'static str> {
    WINDOWS.into_iter().map(|(name, _)| name)
}

fn window(name: &str) -> Window {
    WINDOWS
        .into_iter()
        .find(|(known, _)| *known == name)
        .expect("one of the names")
        .1
}

/// Admission over four limits and its settlement, 10 µs apart.
#[divan::bench(args = names())]
fn admit_and_settle(bencher: Bencher<'_, '_>, name: &str) {
    let mut core = core(window(name), u64::MAX >> 20);
    let usage = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 1_500));
    let mut nanos = 0;
    bencher.bench_local(|| {
        nanos += 10_000;
        let now = at(nanos);
        if let Decision::Admitted(id) = core.submit(black_box(submission()), now) {
            black_box(core.settle(id, usage, now));
        }
    });
}

/// When a demand could start on a limit that is used up by 512 charges.
#[divan::bench(args = names())]
fn earliest_when_full(bencher: Bencher<'_, '_>, name: &str) {
    let mut core = core(window(name), 2_000 * 512);
    for nanos in 0..512 {
        core.submit(submission(), at(nanos * 1_000_000));
    }
    let now = at(600_000_000);
    let demand = submission().demand;
    core.earliest(TargetId::new(0), demand, now);
    bencher.bench_local(|| black_box(core.earliest(TargetId::new(0), black_box(demand), now)));
}

/// Joining a line of ten thousand, with the start that is promised, and leaving it.
#[divan::bench(args = names())]
fn join_a_long_line(bencher: Bencher<'_, '_>, name: &str) {
    let mut core = core(window(name), 2_000 * 50);
    for _ in 0..10_000 {
        core.submit(submission(), at(0));
    }
    let now = at(1_000);
    bencher.bench_local(|| {
        if let Decision::Waiting { ticket, .. } = core.submit(black_box(submission()), now) {
            black_box(core.cancel(ticket, now));
        }
    });
}
