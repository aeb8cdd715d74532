//! What a decision costs: four limits as an account has them, at rest and with a long line.

#![allow(missing_docs, reason = "nobody links a benchmark")]

use core::cell::{Cell, RefCell};
use core::hint::black_box;
use core::num::NonZeroU64;
use core::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use sluicegate_core::{
    Amounts, Authority, BasisPoints, Book, Core, Decision, Failures, Headroom, Lane, Limit,
    LimitId, Meter, Mode, Now, Outcome, Policy, Reception, Settlement, Signal, Start, Submission,
    Target, TargetId, TenantId, Timestamp, WallTime, Window,
};

/// Tells what is held in memory: a ticket costs what the peak grows by.
#[global_allocator]
static MEMORY: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

const MINUTE: Duration = Duration::from_secs(60);
/// More than any benchmark uses up.
const TOKENS: u64 = u64::MAX >> 20;

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
        book: Book::Mirror,
    }
}

/// Requests, tokens and output tokens of the given window, and what is in flight.
fn limits(window: Window, tokens: u64) -> Vec<Limit> {
    vec![
        limit(Meter::Requests, u64::MAX >> 20, window.clone()),
        limit(Meter::Tokens, tokens, window.clone()),
        limit(Meter::OutputTokens, u64::MAX >> 20, window),
        limit(Meter::Concurrent, u64::MAX >> 20, Window::Concurrent),
    ]
}

/// The same as a provider's: what is left free of them is learned, and no second holds more than its share of the tokens.
fn mirrors(window: Window) -> Vec<Limit> {
    let mut limits = limits(window, TOKENS);
    for limit in &mut limits {
        limit.headroom = Headroom::Auto;
    }
    limits[1].quantum = Some(Duration::from_secs(1));
    limits
}

fn core(limits: Vec<Limit>) -> Core {
    let target = Target {
        name: "target".into(),
        limits: (0..4).map(LimitId::new).collect(),
    };
    let policy = Policy::new(limits, vec![target], 2_000_000, Duration::from_secs(3_600));
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
    Submission::new(TargetId::new(0), demand, Timestamp::MAX)
}

const WINDOWS: [(&str, Window); 5] = [
    ("bucket", Window::Bucket { per: MINUTE }),
    ("fixed", Window::Fixed { per: MINUTE }),
    ("floating", Window::Floating { per: MINUTE }),
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

/// Admission over four limits, 100 µs apart.
#[divan::bench(args = names(), sample_count = 400, sample_size = 64)]
fn admit(bencher: Bencher<'_, '_>, name: &str) {
    admissions(bencher, core(limits(window(name), TOKENS)));
}

/// Admission over four limits of a provider, 100 µs apart.
#[divan::bench(args = names(), sample_count = 400, sample_size = 64)]
fn admit_to_mirrors(bencher: Bencher<'_, '_>, name: &str) {
    admissions(bencher, core(mirrors(window(name))));
}

/// The same where a refusal has told how much of the tokens can be had.
#[divan::bench(args = names(), sample_count = 400, sample_size = 64)]
fn admit_within_a_level(bencher: Bencher<'_, '_>, name: &str) {
    let mut core = core(mirrors(window(name)));
    let most = Submission {
        demand: Amounts::one_request().with(Meter::Tokens, TOKENS / 2),
        ..submission()
    };
    let closed = Signal {
        closed_for: Some(Duration::from_secs(1)),
        ..Signal::on(Meter::Tokens)
    };
    let target = TargetId::new(0);
    let (begin, later) = (at(0), at(2_000_000_000));
    let [first, refused] = [(most, begin), (submission(), later)].map(|(submission, now)| {
        let Decision::Admitted(id) = core.submit(submission, now) else {
            unreachable!("all of it fits");
        };
        id
    });
    core.observe(target, refused, Reception::Refused, &[closed], later);
    for id in [first, refused] {
        core.settle(id, Outcome::Void, later);
    }
    // One asks whether that holds, and is served.
    let after = at(100_000_000_000);
    let Decision::Admitted(asks) = core.submit(submission(), after) else {
        unreachable!("the pause is over");
    };
    core.observe(target, asks, Reception::Accepted, &[], after);
    core.settle(asks, Outcome::Void, after);
    admissions(bencher, core);
}

/// Measures admissions. What they reserve is settled between two samples, which takes no part.
fn admissions(bencher: Bencher<'_, '_>, core: Core) {
    let core = RefCell::new(core);
    let open = RefCell::new(Vec::with_capacity(1 << 16));
    let usage = Outcome::Used(Amounts::ZERO.with(Meter::Tokens, 1_500));
    let clock = Cell::new(120_000_000_000);
    bencher
        .with_inputs(|| {
            for id in open.borrow_mut().drain(..) {
                core.borrow_mut().settle(id, usage, at(clock.get()));
            }
            submission()
        })
        .bench_local_values(|submission| {
            clock.set(clock.get() + 100_000);
            let now = at(clock.get());
            let decision = core.borrow_mut().submit(black_box(submission), now);
            let Decision::Admitted(id) = decision else {
                unreachable!("all of it fits");
            };
            open.borrow_mut().push(id);
        });
}

/// Admission over four limits and its settlement, 10 µs apart.
#[divan::bench(args = names())]
fn admit_and_settle(bencher: Bencher<'_, '_>, name: &str) {
    let mut core = core(limits(window(name), TOKENS));
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
    let mut core = core(limits(window(name), 2_000 * 512));
    for nanos in 0..512 {
        core.submit(submission(), at(nanos * 1_000_000));
    }
    let now = at(600_000_000);
    let submission = submission();
    core.earliest(&submission, now);
    bencher.bench_local(|| black_box(core.earliest(black_box(&submission), now)));
}

/// When half of a limit could be had that is used up by 1,024 charges, spread over its length.
#[divan::bench(args = names())]
fn earliest_of_half(bencher: Bencher<'_, '_>, name: &str) {
    let mut core = core(limits(window(name), 2_000 * 1_024));
    for millis in 0..1_024 {
        core.submit(submission(), at(millis * 50_000_000));
    }
    let now = at(52_000_000_000);
    let mut submission = submission();
    submission.demand = submission.demand.with(Meter::Tokens, 1_000 * 1_024);
    core.earliest(&submission, now);
    bencher.bench_local(|| black_box(core.earliest(black_box(&submission), now)));
}

/// Joining a line that is so long, with the start that is promised, and leaving it.
#[divan::bench(args = names(), consts = [10_000, 1_000_000])]
fn join_a_long_line<const WAITING: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let (mut core, now) = waiting(name, WAITING);
    bencher.bench_local(|| {
        if let Decision::Waiting { ticket, .. } = core.submit(black_box(submission()), now) {
            black_box(core.cancel(ticket, now));
        }
    });
}

/// One starts, and another one joins in its place: the line stays as long as it is. A window that renews starts 256 in one call, so
/// that the mean tells and not the median.
#[divan::bench(args = names(), consts = [10_000, 1_000_000], sample_count = 5_120, sample_size = 1)]
fn start_from_a_long_line<const WAITING: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let (mut core, mut now) = waiting(name, WAITING);
    bencher.bench_local(|| {
        if core.poll_event().is_none() {
            let due = core.poll_timeout().expect("somebody waits");
            now = at(due.as_nanos().max(now.mono.as_nanos()));
            core.handle_timeout(now);
            core.poll_event();
        }
        black_box(core.submit(black_box(submission()), now));
    });
}

/// Filling a line: the most that was held at once, divided by the tickets, is what a ticket takes of memory.
#[divan::bench(consts = [10_000, 1_000_000], sample_count = 3, sample_size = 1)]
fn fill_a_line<const WAITING: usize>(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(WAITING))
        .with_inputs(|| waiting("bucket", 0).0)
        .bench_local_values(|mut core| {
            for index in 0..WAITING {
                black_box(core.submit(of(index), at(1_000)));
            }
            core
        });
}

/// A line in which each of so many tenants waits with one request is worked off to the last but one: what one start costs must not
/// hang on how many there are.
#[divan::bench(consts = [1_000, 10_000], sample_count = 5, sample_size = 1)]
fn work_off_many_tenants<const TENANTS: usize>(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(TENANTS - 1))
        .with_inputs(|| one_each(TENANTS))
        .bench_local_values(|mut core| {
            while core.waiting() > 1 {
                let due = core.poll_timeout().expect("somebody waits");
                core.handle_timeout(at(due.as_nanos()));
                while core.poll_event().is_some() {}
            }
            core
        });
}

/// Joining a line in which each of so many tenants waits, as one of them, and leaving it.
#[divan::bench(consts = [1_000, 10_000])]
fn join_many_tenants<const TENANTS: usize>(bencher: Bencher<'_, '_>) {
    let mut core = one_each(TENANTS);
    let mut index = 0;
    bencher.bench_local(|| {
        index += 1;
        let joins = Submission {
            tenant: TenantId::new(index % TENANTS),
            ..submission()
        };
        if let Decision::Waiting { ticket, .. } = core.submit(black_box(joins), at(0)) {
            black_box(core.cancel(ticket, at(0)));
        }
    });
}

/// A core in whose line each of so many tenants waits with one request.
fn one_each(tenants: usize) -> Core {
    let mut core = core(limits(Window::Bucket { per: MINUTE }, 2_000));
    core.submit(submission(), at(0));
    for index in 0..tenants {
        let tenant = TenantId::new(index);
        let joins = Submission {
            tenant,
            ..submission()
        };
        core.submit(joins, at(0));
    }
    core
}

/// A core in whose line so many wait, of all lanes and of several tenants.
fn waiting(name: &str, tickets: usize) -> (Core, Now) {
    let mut core = core(limits(window(name), 2_000 * 600));
    for index in 0..tickets + 600 {
        core.submit(of(index), at(0));
    }
    (core, at(1_000))
}

fn of(index: usize) -> Submission {
    let lanes = [Lane::Batch, Lane::Batch, Lane::Batch, Lane::Api];
    Submission {
        lane: lanes[index % lanes.len()],
        tenant: TenantId::new(index % 7),
        deadline: Timestamp::from_nanos(1 << 60).saturating_add(Duration::from_nanos(index as u64)),
        ..submission()
    }
}
