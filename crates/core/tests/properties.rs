//! What must hold for every sequence of calls, against models that share nothing with the code under test: they keep every
//! charge and add them up again each time.

#![allow(clippy::panic, reason = "a helper of a test fails by panicking")]

use core::num::NonZeroU64;
use core::time::Duration;
use std::collections::BTreeMap;

use proptest::prelude::*;
use sluicegate_core::{
    Amounts, Authority, BasisPoints, Book, Calendar, Core, Decision, Event, Failures, Headroom,
    Limit, LimitId, Meter, Mode, Now, Outcome, Policy, ReservationId, Settlement, Start,
    Submission, Target, TargetId, TicketId, Timestamp, WallTime, Window,
};

/// Everything happens on multiples of this, which is wider than a slot of the longest window here.
const STEP: u64 = 1_000_000_000;
const PER: u64 = 60 * STEP;
/// A multiple of every period.
const EPOCH: u64 = 1_800_000_000 * STEP;
/// The depth of a leaky bucket, as the time in which it drains.
const BURST: u64 = 10 * STEP;
/// Lengths of a calendar's windows, over and over; after its last edge the last one holds.
const LENGTHS: [u64; 4] = [60 * STEP, 55 * STEP, 65 * STEP, 58 * STEP];
const WINDOWS: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Fixed,
    Sliding,
    Bucket,
    Pacing,
    Calendar,
}

#[derive(Clone, Debug)]
enum Step {
    Submit { tokens: u64, patience: u64 },
    Wait(u64),
    Settle { which: usize, outcome: Outcome },
    Cancel(usize),
}

#[test]
fn an_interval_or_window_never_holds_more_than_the_limit() {
    check(256, |kind, amount, quantum, mut steps| {
        if matches!(kind, Kind::Bucket | Kind::Pacing) {
            // What a bucket gets back it may give out at once, however old the charge.
            steps.retain(|step| !matches!(step, Step::Settle { .. }));
        }
        let mut world = World::new(kind, amount, quantum);
        world.run(&steps);
        for &(at, _) in &world.admitted {
            let held = |from: u64, length: u64| -> u64 {
                let inside = |charge: &&(u64, u64)| charge.0 >= from && charge.0 < from + length;
                world
                    .admitted
                    .iter()
                    .filter(inside)
                    .map(|charge| charge.1)
                    .sum()
            };
            let charges = world.admitted.iter().map(|charge| charge.1);
            let largest = charges.max().unwrap_or(0);
            match kind {
                Kind::Sliding => prop_assert!(held(at, PER) <= amount),
                Kind::Fixed => prop_assert!(held(at - at % PER, PER) <= amount),
                // A full bucket and what refills while it is emptied.
                Kind::Bucket => prop_assert!(held(at, PER) <= 2 * amount),
                Kind::Calendar => {
                    let (begin, length) = calendar_window(at);
                    prop_assert!(held(begin, length) <= amount);
                }
                // A full bucket, what drains meanwhile, and one more, which may overdraw it.
                Kind::Pacing => {
                    prop_assert!(held(at, PER) <= amount + amount * BURST / PER + largest);
                }
            }
            if let Some(quantum) = quantum {
                let share = (amount * quantum / PER).max(1);
                prop_assert!(held(at, quantum) <= share.max(largest));
            }
        }
        Ok(())
    });
}

#[test]
fn the_ledger_equals_the_naive_model() {
    check(256, |kind, amount, _, steps| {
        let mut world = World::new(kind, amount, None);
        let mut model = Model::new(kind, amount);
        for mut step in steps {
            if let Step::Submit { patience, .. } = &mut step {
                // Everything happens on the grid: nobody is refused between two steps.
                *patience = 1 << 50;
            }
            let step = &step;
            if let Step::Submit { tokens, .. } = step
                && world.core.waiting() == 0
                && *tokens <= amount
            {
                let fits = model.fits(*tokens, world.clock);
                let before = world.admitted.len();
                world.step(step);
                prop_assert_eq!(
                    world.admitted.len() > before,
                    fits,
                    "{} at {}",
                    tokens,
                    world.clock
                );
            } else {
                world.step(step);
            }
            model.admitted.clone_from(&world.admitted);
            model.changes.clone_from(&world.changes);
        }
        Ok(())
    });
}

#[test]
fn everything_starts_at_the_promised_instant_or_passes_before_it() {
    check(256, |kind, amount, quantum, steps| {
        let mut world = World::new(kind, amount, quantum);
        let undisturbed = steps
            .iter()
            .filter(|step| matches!(step, Step::Submit { .. } | Step::Wait(_)));
        for step in undisturbed {
            world.step(step);
        }
        world.play_out();
        for (ticket, promised) in &world.promised {
            let started = world.started[ticket];
            // Only where windows renew at once may a small one pass those who wait.
            if matches!(kind, Kind::Bucket | Kind::Pacing) {
                prop_assert_eq!(started, *promised, "ticket {:?}", ticket);
            } else {
                prop_assert!(started <= *promised, "ticket {:?}", ticket);
            }
        }
        Ok(())
    });
}

#[test]
fn refunds_and_departures_only_bring_a_start_forward() {
    check(256, |kind, amount, quantum, steps| {
        let mut world = World::new(kind, amount, quantum);
        world.run(&steps);
        world.play_out();
        for (ticket, start) in &world.started {
            prop_assert!(*start <= world.promised[ticket], "ticket {:?}", ticket);
        }
        Ok(())
    });
}

#[test]
fn every_ticket_starts_leaves_or_is_refused_and_on_a_bucket_in_the_order_of_arrival() {
    check(256, |kind, amount, quantum, steps| {
        let mut world = World::new(kind, amount, quantum);
        world.run(&steps);
        world.play_out();
        prop_assert_eq!(world.core.waiting(), 0);
        // Elsewhere a small one may pass where that moves nobody.
        if matches!(kind, Kind::Bucket | Kind::Pacing) {
            prop_assert!(world.order.is_sorted(), "{:?}", world.order);
        }
        Ok(())
    });
}

#[test]
fn what_was_reserved_and_overrun_is_settled_and_returned() {
    check(256, |kind, amount, quantum, steps| {
        let mut world = World::new(kind, amount, quantum);
        world.run(&steps);
        for resolution in &world.resolutions {
            prop_assert_eq!(
                resolution.reserved + resolution.overrun,
                resolution.settled + resolution.returned
            );
        }
        let open: u64 = world.open.iter().map(|(_, tokens)| tokens).sum();
        let held: u64 = world
            .core
            .limit_states(world.now())
            .map(|state| state.reserved)
            .sum();
        prop_assert_eq!(held, open);
        prop_assert_eq!(world.core.reservations_open(), world.open.len());
        Ok(())
    });
}

#[test]
fn a_refusal_changes_nothing() {
    check(128, |kind, amount, quantum, steps| {
        let mut world = World::new(kind, amount, quantum);
        world.run(&steps);
        let now = world.now();
        let states: Vec<_> = world.core.limit_states(now).collect();
        let waiting = world.core.waiting();
        let too_much = (kind != Kind::Pacing).then_some((amount + 1, Timestamp::MAX));
        for (tokens, deadline) in too_much.into_iter().chain([(1, Timestamp::ZERO)]) {
            if let Decision::Admitted(_) = world.submit(tokens, deadline) {
                return Ok(());
            }
            prop_assert_eq!(
                world.core.limit_states(now).collect::<Vec<_>>(),
                states.clone()
            );
            prop_assert_eq!(world.core.waiting(), waiting);
        }
        Ok(())
    });
}

#[test]
fn a_wall_clock_that_jumps_breaks_nothing() {
    let jumps = prop::collection::vec((-7_200_i64..7_200, 0_u64..90), 1..20);
    proptest!(ProptestConfig::with_cases(256), |((kind, amount, quantum, mut steps) in run(), jumps in jumps)| {
        if matches!(kind, Kind::Bucket | Kind::Pacing) {
            // What a bucket gets back it may give out at once, however old the charge.
            steps.retain(|step| !matches!(step, Step::Settle { .. }));
        }
        let mut world = World::new(kind, amount, quantum);
        for (step, (jump, wait)) in steps.iter().zip(jumps.iter().cycle()) {
            world.offset = world.offset.saturating_add_signed(jump * 1_000_000_000).max(EPOCH / 2);
            world.step(&Step::Wait(wait * STEP));
            world.step(step);
        }
        let held = |from: u64| -> u64 {
            let inside = |charge: &&(u64, u64)| charge.0 >= from && charge.0 < from + PER / 2;
            world.admitted.iter().filter(inside).map(|charge| charge.1).sum()
        };
        // Windows get longer by a jump, never shorter: half of one touches two of them at most.
        for &(at, _) in &world.admitted {
            prop_assert!(held(at) <= 2 * amount);
        }
        world.play_out();
        prop_assert_eq!(world.core.waiting(), 0);
    });
}

fn check(
    cases: u32,
    property: impl Fn(Kind, u64, Option<u64>, Vec<Step>) -> Result<(), TestCaseError>,
) {
    // PROPTEST_CASES asks for more in a soak, never for fewer.
    let cases = cases.max(ProptestConfig::default().cases);
    proptest!(ProptestConfig::with_cases(cases), |((kind, amount, quantum, steps) in run())| {
        property(kind, amount, quantum, steps)?;
    });
}

fn run() -> impl Strategy<Value = (Kind, u64, Option<u64>, Vec<Step>)> {
    let kind = prop_oneof![
        Just(Kind::Fixed),
        Just(Kind::Sliding),
        Just(Kind::Bucket),
        Just(Kind::Pacing),
        Just(Kind::Calendar),
    ];
    let quantum = prop_oneof![2 => Just(None), 1 => Just(Some(6 * STEP))];
    (kind, 10_u64..200, quantum).prop_flat_map(|(kind, amount, quantum)| {
        let usage = (0..=amount).prop_map(|tokens| {
            Outcome::Used(Amounts::ZERO.with(Meter::Tokens, tokens))
        });
        let outcome = prop_oneof![
            4 => usage,
            1 => Just(Outcome::Void),
            1 => Just(Outcome::Unmeasured),
            1 => Just(Outcome::Failed),
        ];
        let step = prop_oneof![
            5 => (1..=amount, 0_u64..600).prop_map(|(tokens, patience)| Step::Submit {
                tokens,
                patience: patience * STEP,
            }),
            3 => (0_u64..40).prop_map(|steps| Step::Wait(steps * STEP)),
            2 => (any::<usize>(), outcome).prop_map(|(which, outcome)| Step::Settle { which, outcome }),
            1 => any::<usize>().prop_map(Step::Cancel),
        ];
        (Just(kind), Just(amount), Just(quantum), prop::collection::vec(step, 1..60))
    })
}

/// A core, a clock that stops at every instant that the core asks for, and a memory of everything that happened.
struct World {
    core: Core,
    clock: u64,
    /// Wall time when the clock reads zero.
    offset: u64,
    /// Start and tokens, after settlement as they then stood.
    admitted: Vec<(u64, u64)>,
    /// Each charge and each refund at its own time.
    changes: Vec<(u64, i128)>,
    started: BTreeMap<TicketId, u64>,
    promised: BTreeMap<TicketId, u64>,
    arrivals: BTreeMap<TicketId, (usize, u64)>,
    order: Vec<usize>,
    open: Vec<(ReservationId, u64)>,
    /// Which entry of `admitted` a reservation is.
    places: BTreeMap<ReservationId, usize>,
    resolutions: Vec<sluicegate_core::Resolution>,
}

impl World {
    fn new(kind: Kind, amount: u64, quantum: Option<u64>) -> Self {
        let per = Duration::from_nanos(PER);
        let limit = Limit {
            name: "tokens".into(),
            meter: Meter::Tokens,
            amount: NonZeroU64::new(amount).expect("drawn above zero"),
            window: match kind {
                Kind::Fixed => Window::Fixed { per },
                Kind::Sliding => Window::Sliding { per },
                Kind::Bucket => Window::Bucket { per },
                Kind::Pacing => Window::Pacing {
                    per,
                    burst: Duration::from_nanos(BURST),
                },
                Kind::Calendar => Window::Calendar(calendar()),
            },
            quantum: quantum.map(Duration::from_nanos),
            headroom: Headroom::Share(BasisPoints::WHOLE),
            start: Start::Full,
            mode: Mode::Enforce,
            settlement: Settlement::Usage,
            failures: Failures::Count,
            arrival_spread: Duration::ZERO,
            authority: Authority::Local,
            book: Book::Mirror,
        };
        let target = Target {
            name: "target".into(),
            limits: vec![LimitId::new(0)],
        };
        let policy = Policy::new(
            vec![limit],
            vec![target],
            1_000,
            Duration::from_secs(1 << 30),
        );
        let now = Now::new(Timestamp::ZERO, WallTime::from_unix_nanos(EPOCH));
        Self {
            core: Core::new(policy.expect("one limit, one target"), now),
            clock: 0,
            offset: EPOCH,
            admitted: Vec::new(),
            changes: Vec::new(),
            started: BTreeMap::new(),
            promised: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            order: Vec::new(),
            open: Vec::new(),
            places: BTreeMap::new(),
            resolutions: Vec::new(),
        }
    }

    fn now(&self) -> Now {
        let wall = WallTime::from_unix_nanos(self.offset + self.clock);
        Now::new(Timestamp::from_nanos(self.clock), wall)
    }

    fn run(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Submit { tokens, patience } => {
                let deadline = Timestamp::from_nanos(self.clock + patience);
                self.submit(tokens, deadline);
            }
            Step::Wait(nanos) => self.wait_until(self.clock + nanos),
            Step::Settle { which, outcome } => {
                if !self.open.is_empty() {
                    let (id, tokens) = self.open.swap_remove(which % self.open.len());
                    // An overrun is charged now; the properties here look at what was admitted.
                    let outcome = match outcome {
                        Outcome::Used(usage) => {
                            let used = usage.of(Meter::Tokens).min(tokens);
                            Outcome::Used(Amounts::ZERO.with(Meter::Tokens, used))
                        }
                        other => other,
                    };
                    let now = self.now();
                    let resolved = self.core.settle(id, outcome, now).expect("it is open");
                    assert_eq!(self.core.settle(id, outcome, now), None, "it ends once");
                    self.admitted[self.places[&id]].1 = resolved[0].settled;
                    self.changes
                        .push((self.clock, i128::from(resolved[0].returned)));
                    self.resolutions.extend(resolved);
                }
            }
            Step::Cancel(which) => {
                let waiting: Vec<TicketId> = self
                    .arrivals
                    .keys()
                    .filter(|ticket| !self.started.contains_key(ticket))
                    .copied()
                    .collect();
                if !waiting.is_empty() {
                    let now = self.now();
                    self.core.cancel(waiting[which % waiting.len()], now);
                }
            }
        }
        self.fetch();
    }

    fn submit(&mut self, tokens: u64, deadline: Timestamp) -> Decision {
        let demand = Amounts::one_request().with(Meter::Tokens, tokens);
        let submission = Submission::new(TargetId::new(0), demand, deadline);
        let decision = self.core.submit(submission, self.now());
        match decision {
            Decision::Admitted(reservation) => self.admit(reservation, tokens),
            Decision::Waiting { ticket, start, .. } => {
                let start = start.expect("every window here frees itself");
                assert!(
                    start <= deadline,
                    "what cannot make its deadline is refused at once"
                );
                self.promised.insert(ticket, start.as_nanos());
                self.arrivals.insert(ticket, (self.arrivals.len(), tokens));
            }
            Decision::Refused(_) => {}
        }
        self.fetch();
        decision
    }

    fn admit(&mut self, reservation: ReservationId, tokens: u64) {
        self.places.insert(reservation, self.admitted.len());
        self.admitted.push((self.clock, tokens));
        self.changes.push((self.clock, -i128::from(tokens)));
        self.open.push((reservation, tokens));
    }

    fn fetch(&mut self) {
        while let Some(event) = self.core.poll_event() {
            if let Event::Admitted {
                ticket,
                reservation,
            } = event
            {
                let (arrival, tokens) = self.arrivals[&ticket];
                self.started.insert(ticket, self.clock);
                self.order.push(arrival);
                self.admit(reservation, tokens);
            }
        }
    }

    fn wait_until(&mut self, instant: u64) {
        while let Some(timeout) = self.core.poll_timeout()
            && timeout.as_nanos() <= instant
        {
            self.clock = self.clock.max(timeout.as_nanos());
            let now = self.now();
            self.core.handle_timeout(now);
            self.fetch();
        }
        self.clock = self.clock.max(instant);
    }

    fn play_out(&mut self) {
        self.wait_until(self.clock + 100_000 * STEP);
    }
}

fn calendar() -> Calendar {
    let mut edge = EPOCH;
    let mut edges = vec![WallTime::from_unix_nanos(edge)];
    for length in LENGTHS.into_iter().cycle().take(WINDOWS) {
        edge += length;
        edges.push(WallTime::from_unix_nanos(edge));
    }
    Calendar::new("test", edges).expect("they rise")
}

/// Beginning and length of the calendar's window around `clock`, counted window by window.
fn calendar_window(clock: u64) -> (u64, u64) {
    let last = LENGTHS[LENGTHS.len() - 1];
    let lengths = LENGTHS.into_iter().cycle().take(WINDOWS);
    let mut begin = 0;
    for length in lengths.chain(std::iter::repeat(last)) {
        if clock < begin + length {
            return (begin, length);
        }
        begin += length;
    }
    unreachable!("windows go on for ever")
}

/// Keeps every charge and adds up again.
struct Model {
    kind: Kind,
    amount: u64,
    admitted: Vec<(u64, u64)>,
    changes: Vec<(u64, i128)>,
}

impl Model {
    fn new(kind: Kind, amount: u64) -> Self {
        Self {
            kind,
            amount,
            admitted: Vec::new(),
            changes: Vec::new(),
        }
    }

    fn fits(&self, tokens: u64, clock: u64) -> bool {
        let since = |from: u64| -> u64 {
            self.admitted
                .iter()
                .filter(|charge| charge.0 >= from)
                .map(|charge| charge.1)
                .sum()
        };
        match self.kind {
            Kind::Fixed => since(clock - clock % PER) + tokens <= self.amount,
            Kind::Sliding => since((clock + 1).saturating_sub(PER)) + tokens <= self.amount,
            Kind::Calendar => since(calendar_window(clock).0) + tokens <= self.amount,
            Kind::Bucket | Kind::Pacing => {
                let (depth, wanted) = match self.kind {
                    Kind::Pacing => (BURST, 1),
                    _ => (PER, i128::from(tokens) * i128::from(PER)),
                };
                // Tokens times PER, to stay with whole numbers.
                let (per, rate) = (i128::from(PER), i128::from(self.amount));
                let full = rate * i128::from(depth);
                let mut level = full;
                let mut seen = 0;
                for &(at, change) in self.changes.iter().chain([&(clock, 0)]) {
                    level = (level + i128::from(at - seen) * rate).min(full);
                    level = (level + change * per).min(full);
                    seen = at;
                }
                level >= wanted
            }
        }
    }
}
