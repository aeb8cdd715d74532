//! The loop: time jumps to the next thing that happens, and whoever it happens to is told.
//!
//! The world drives the core as the gateway does (submit, fetch events, come back when asked to)
//! and knows nothing of how it decides. What is due for the core at an instant comes before what
//! happens to the world at it, as an instant that was promised comes before somebody who asks then.

mod exchange;

use std::collections::BTreeMap;
use std::time::Duration;

use sluicegate_core::{
    Amounts, AnswerLengths, Core, Decision, Event, Limit, LimitId, Meter, Policy, PolicyError,
    Refusal, ReservationId, Signal, Submission, Target, TargetId, TicketId, Timestamp, WallTime,
};
use sluicegate_fake::model::Ticket;

use crate::clock::Clock;
use crate::lanes;
use crate::mirror::{self, Demand, Mirror, Reader, Transits};
use crate::queue::Queue;
use crate::run::{Call, Run, Stall};
use crate::scenario::Scenario;
use crate::trace::{CallName, Trace, TraceEvent};
use crate::upstream::Upstream;
use crate::workload::{Job, Turn};

/// The edge of a day from which a scenario's time counts, in nanoseconds since the Unix epoch: 2024-10-04T00:00:00Z.
pub const BEGIN_UNIX_NANOS: u64 = 20_000 * 86_400 * 1_000_000_000;
/// Tickets that may wait at once; more is not what is simulated.
const TICKETS_MAX: usize = 200_000;
/// Longer than any answer takes.
const RESERVATION_TTL: Duration = Duration::from_secs(7 * 86_400);
/// After so many calls in a row at one instant of which nothing came, a core that still wants to be
/// called spins.
const IDLE_TIMEOUTS_MAX: u32 = 100;

/// A core, a provider, callers, and the time.
pub struct World<'a> {
    core: Core,
    upstream: Upstream,
    clock: Clock,
    queue: Queue<Happening>,
    end: Option<Timestamp>,
    resends_max: u32,
    jobs: Vec<Job>,
    demand: Demand<'a>,
    /// What the gateway has seen of answers.
    lengths: AnswerLengths,
    /// By job and turn.
    usages: Vec<Vec<Amounts>>,
    calls: Vec<Call>,
    waiting: BTreeMap<TicketId, usize>,
    reads: Option<Box<Reader>>,
    transits: Transits,
    trace: Trace,
}

enum Happening {
    Comes {
        job: usize,
        turn: usize,
        resends: u32,
    },
    Arrives {
        call: usize,
        reservation: ReservationId,
    },
    Begins {
        reservation: ReservationId,
        signals: Vec<Signal>,
    },
    Ends {
        call: usize,
        reservation: ReservationId,
        ticket: Ticket,
    },
    ClockJumps {
        nanos: i64,
    },
    MeasuringBegins,
}

impl<'a> World<'a> {
    /// The world of `scenario`, in which the gateway expects each turn to be charged what `demand`
    /// says and mirrors the provider's limits exactly.
    ///
    /// # Errors
    ///
    /// Where the core cannot hold to a limit of the provider: a quantum must be shorter than its
    /// window.
    pub fn new(
        scenario: &Scenario,
        demand: impl Fn(&Turn) -> Amounts + 'a,
    ) -> Result<Self, PolicyError> {
        let spread = Duration::from_millis(scenario.transit.max_ms);
        let mirror = Mirror {
            limits: mirror::limits(&scenario.provider, spread),
            demand: Box::new(move |turn, _| demand(turn)),
            counted: &mirror::plain_usage,
            reads: None,
            transits: Transits::Assumed,
        };
        Self::mirrored(scenario, mirror)
    }

    /// The world of `scenario`, in which the gateway sees the provider as `mirror` has it.
    ///
    /// # Errors
    ///
    /// Where the core cannot hold to a limit of the mirror, or two of them have one name.
    pub fn mirrored(scenario: &Scenario, mirror: Mirror<'a>) -> Result<Self, PolicyError> {
        let begin_nanos = BEGIN_UNIX_NANOS + scenario.begin_ms.saturating_mul(1_000_000);
        let clock = Clock::new(WallTime::from_unix_nanos(begin_nanos));
        let jobs = scenario.workload();
        let of_job = |job: &Job| job.turns.iter().map(mirror.counted).collect();
        let usages = jobs.iter().map(of_job).collect();
        let mut queue = Queue::new();
        let measure_from = after(Timestamp::ZERO, scenario.measure_from_ms);
        queue.put(measure_from, Happening::MeasuringBegins);
        for jump in &scenario.clock_jumps {
            let nanos = jump.by_ms.saturating_mul(1_000_000);
            queue.put(
                after(Timestamp::ZERO, jump.at_ms),
                Happening::ClockJumps { nanos },
            );
        }
        for (job, begins) in jobs.iter().map(|job| job.begins).enumerate() {
            let first = Happening::Comes {
                job,
                turn: 0,
                resends: 0,
            };
            queue.put(Timestamp::ZERO.saturating_add(begins), first);
        }
        Ok(Self {
            core: Core::new(policy(scenario, mirror.limits)?, clock.now()),
            upstream: Upstream::new(scenario),
            clock,
            queue,
            end: scenario.end_ms.map(|end_ms| after(Timestamp::ZERO, end_ms)),
            resends_max: scenario.resends_max,
            demand: mirror.demand,
            lengths: AnswerLengths::default(),
            usages,
            jobs,
            calls: Vec::new(),
            waiting: BTreeMap::new(),
            reads: mirror.reads,
            transits: mirror.transits,
            trace: Trace::default(),
        })
    }

    /// Lets time pass until nothing is left to happen, or until the scenario's end.
    ///
    /// # Errors
    ///
    /// Where the core spins, lets calls wait for ever, or makes them wait past all bounds.
    pub fn run(mut self) -> Result<Run, Stall> {
        let mut idle_timeouts = 0;
        loop {
            // An instant at the end of time is never.
            let wake = self
                .core
                .poll_timeout()
                .filter(|wake| *wake < Timestamp::MAX);
            let happens = self.queue.next_at();
            let Some(at) = wake.into_iter().chain(happens).min() else {
                break;
            };
            if let Some(end) = self.end.filter(|end| at >= *end) {
                self.clock.pass_until(end);
                return Ok(self.ended());
            }
            let moved = at > self.clock.now().mono;
            self.clock.pass_until(at);
            if wake == Some(at) {
                let fetched = self.wake_core();
                idle_timeouts = if moved || fetched > 0 {
                    0
                } else {
                    idle_timeouts + 1
                };
                if idle_timeouts > IDLE_TIMEOUTS_MAX {
                    return Err(Stall::Spinning { at });
                }
            } else if let Some(happening) = self.queue.take() {
                self.happen(happening);
            }
        }
        match self.core.waiting() {
            0 => Ok(self.ended()),
            waiting => Err(Stall::Waiting { waiting }),
        }
    }

    fn ended(self) -> Run {
        let (served, measured_nanos) = self.upstream.served(self.clock.true_unix_nanos());
        Run {
            served,
            measured: Duration::from_nanos(measured_nanos),
            calls: self.calls,
            calls_wanted: self.jobs.iter().map(|job| job.turns.len()).sum(),
            trace: self.trace,
        }
    }

    fn wake_core(&mut self) -> usize {
        let now = self.clock.now();
        self.core.handle_timeout(now);
        self.fetch_events()
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Comes { job, turn, resends } => self.come(job, turn, resends),
            Happening::Arrives { call, reservation } => self.arrive(call, reservation),
            Happening::Begins {
                reservation,
                signals,
            } => self.begin_answer(reservation, &signals),
            Happening::Ends {
                call,
                reservation,
                ticket,
            } => self.end_answer(call, reservation, ticket),
            Happening::ClockJumps { nanos } => {
                self.clock.jump(nanos);
                let at = self.clock.now().mono;
                self.trace.note(at, None, TraceEvent::ClockJumps { nanos });
            }
            Happening::MeasuringBegins => self.upstream.measure_from(self.clock.true_unix_nanos()),
        }
        self.fetch_events();
    }

    fn come(&mut self, job: usize, turn: usize, resends: u32) {
        let now = self.clock.now();
        let index = self.calls.len();
        let Job {
            patience,
            lane,
            tenant,
            ..
        } = self.jobs[job];
        let demand = (self.demand)(&self.jobs[job].turns[turn], self.lengths.expected());
        self.calls.push(Call {
            index,
            job,
            turn,
            lane,
            tenant,
            resends,
            demand,
            came: now.mono,
            promised: None,
            started: None,
            accepted: None,
            answered: None,
            refused: None,
            rejected_by: None,
            rejected_at: None,
        });
        let tokens = demand.of(Meter::Tokens);
        self.note(index, TraceEvent::Came { tokens });
        let deadline = patience.map_or(Timestamp::MAX, |wait| now.mono.saturating_add(wait));
        let submission = Submission {
            lane,
            tenant,
            ..Submission::new(TargetId::new(0), demand, deadline)
        };
        match self.core.submit(submission, now) {
            Decision::Admitted(reservation) => self.start(index, reservation),
            Decision::Waiting { ticket, start, .. } => {
                self.calls[index].promised = start;
                self.waiting.insert(ticket, index);
                self.note(index, TraceEvent::Waits { until: start });
            }
            Decision::Refused(refusal) => self.refuse(index, refusal),
        }
    }

    fn fetch_events(&mut self) -> usize {
        let mut fetched = 0;
        while let Some(event) = self.core.poll_event() {
            fetched += 1;
            match event {
                Event::Admitted {
                    ticket,
                    reservation,
                } => {
                    if let Some(call) = self.waiting.remove(&ticket) {
                        self.start(call, reservation);
                    }
                }
                Event::Refused { ticket, refusal } => {
                    if let Some(call) = self.waiting.remove(&ticket) {
                        self.refuse(call, refusal);
                    }
                }
                // Nothing here is counted outside the core, and no answer outlives a reservation.
                Event::GrantWanted { .. } | Event::GrantUnused { .. } | Event::Expired { .. } => {}
            }
        }
        fetched
    }

    fn start(&mut self, call: usize, reservation: ReservationId) {
        let now = self.clock.now().mono;
        self.calls[call].started = Some(now);
        self.note(call, TraceEvent::Starts);
        let transit = self.upstream.draw_transit();
        if self.transits == Transits::Measured {
            self.core
                .arrived(TargetId::new(0), transit, self.clock.now());
        }
        let arrives = now.saturating_add(transit);
        self.queue
            .put(arrives, Happening::Arrives { call, reservation });
    }

    fn refuse(&mut self, call: usize, refusal: Refusal) {
        let until = match refusal {
            Refusal::Deadline { start, .. }
            | Refusal::Shed { start, .. }
            | Refusal::LineFull { start } => start,
            Refusal::TooLarge { .. } | Refusal::NotGranted { .. } | Refusal::NoSuchTarget => None,
        };
        self.calls[call].refused = Some(refusal);
        self.note(call, TraceEvent::Refused { until });
    }

    fn note(&mut self, call: usize, event: TraceEvent) {
        let Call {
            index, job, turn, ..
        } = self.calls[call];
        let name = CallName { index, job, turn };
        self.trace.note(self.clock.now().mono, Some(name), event);
    }
}

fn policy(scenario: &Scenario, limits: Vec<Limit>) -> Result<Policy, PolicyError> {
    let target = Target {
        name: "provider".into(),
        limits: (0..limits.len()).map(LimitId::new).collect(),
    };
    Policy::new(limits, vec![target], TICKETS_MAX, RESERVATION_TTL)?
        .with_lanes(lanes::rules(&scenario.lanes))
        .with_tenants(lanes::tenants(&scenario.weights))
}

fn after(instant: Timestamp, millis: u64) -> Timestamp {
    instant.saturating_add(Duration::from_millis(millis))
}
