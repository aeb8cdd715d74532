//! Drives the core with real time.
//!
//! The core stands behind one lock, under which nothing is awaited and nothing is sent: what the core decided is carried
//! out after the lock is given back. One task sleeps until the instant that the core named. Between the two a waiting request
//! is a ticket and a channel; it holds no slot, no connection and no worker.

mod prospect;
mod refused;
mod reservation;
mod waiters;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sluicegate_core::{
    Amounts, Core, Decision, EVENTS_MAX, Event, Grant, Lane, LimitId, LimitState, LoadLevel, Now,
    Outcome, Refusal, ReservationId, Submission, TargetId, TicketId, Timestamp,
};
use tokio::sync::{Notify, oneshot};

use crate::clock::Clock;
use crate::gateway::RequestId;
use crate::health::Health;
use crate::metrics::Metrics;
use crate::snapshot::Snapshot;

pub(crate) use refused::Refused;
pub(crate) use reservation::{Departure, Reservation};
use waiters::{Waiters, Waiting};

/// The core behind its lock, and those who wait for its word.
#[derive(Debug)]
pub(crate) struct Driver {
    clock: Clock,
    metrics: Arc<Metrics>,
    /// Looked at under the core's lock, and never the other way round.
    health: Arc<Health>,
    state: Mutex<State>,
    /// The core wants to be called earlier than the sleeping task knows.
    earlier: Notify,
}

#[derive(Debug)]
struct State {
    core: Core,
    line: Waiters,
    /// Until when the sleeping task sleeps.
    sleeps_until: Timestamp,
}

/// What the core says of a request at once. Reservations are made of it without the lock: dropping one takes the lock.
enum Answer {
    Admitted(ReservationId, Timestamp),
    Refused(Refused),
    Waits(Hold, oneshot::Receiver<Verdict>),
}

/// A place in the line as it was given.
struct Hold {
    ticket: TicketId,
    /// The name of the limit that decides, where one does.
    limit: Option<Arc<str>>,
    /// The level of load at which nothing of its lane starts, where that decides.
    held: Option<LoadLevel>,
    /// In how many milliseconds it starts at the latest, where that can be told.
    starts_in_ms: Option<u128>,
}

/// What becomes of a request that asked to start.
type Verdict = Result<Reservation, Refused>;

/// Where a request goes, as of one snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) target: TargetId,
}

/// How a request stands in the line, wherever it goes.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) id: RequestId,
    pub(crate) lane: Lane,
    /// As metrics name it.
    pub(crate) task: Arc<str>,
    /// What its body takes of memory.
    pub(crate) bytes: u32,
    /// When waiting stops being useful.
    pub(crate) deadline: Timestamp,
}

/// What the core looks like from outside, for metrics.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) snapshot: Arc<Snapshot>,
    /// In the order of the snapshot's limits.
    pub(crate) limits: Vec<LimitState>,
    /// How many wait, by lane and task, where any do.
    pub(crate) waiting: Vec<(Lane, Arc<str>, usize)>,
    pub(crate) load: LoadLevel,
    pub(crate) reservations_open: usize,
}

impl Driver {
    pub(crate) fn new(
        snapshot: Arc<Snapshot>,
        clock: Clock,
        metrics: Arc<Metrics>,
        health: Arc<Health>,
    ) -> Arc<Self> {
        let core = Core::new(snapshot.limits.clone(), clock.now());
        Arc::new(Self {
            clock,
            metrics,
            health,
            state: Mutex::new(State {
                core,
                line: Waiters::new(snapshot),
                sleeps_until: Timestamp::MAX,
            }),
            earlier: Notify::new(),
        })
    }

    /// Calls the core whenever it is due, until dropped.
    pub(crate) async fn run(self: Arc<Self>) {
        loop {
            let due = {
                let mut state = self.lock();
                state.sleeps_until = due(&state.core, &state.line);
                state.sleeps_until
            };
            tokio::select! {
                () = tokio::time::sleep_until(self.clock.instant(due)) => {
                    self.with_core(|core, _, now| core.handle_timeout(now));
                }
                () = self.earlier.notified() => {}
            }
            // A window's end can free ten thousand tickets: others get the thread between two portions of them.
            tokio::task::yield_now().await;
        }
    }

    /// Waits until `demand` may start at `place` for a request that stands in line as `standing` says. Dropping the future gives up the place in the line.
    ///
    /// # Errors
    ///
    /// When the core refuses, at once or later.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        place: Place,
        demand: Amounts,
        standing: &Standing,
    ) -> Verdict {
        let &Standing {
            id,
            lane,
            bytes,
            deadline,
            ..
        } = standing;
        let answer = self.with_core(|core, line, now| {
            let decision = match line.target(core, &place) {
                Some(target) => {
                    let submission = Submission {
                        lane,
                        bytes,
                        ..Submission::new(target, demand, deadline)
                    };
                    core.submit(submission, now)
                }
                None => Decision::Refused(Refusal::NoSuchTarget),
            };
            match decision {
                Decision::Admitted(id) => Answer::Admitted(id, now.mono),
                Decision::Refused(refusal) => {
                    Answer::Refused(Refused::new(core, line, lane, refusal, now))
                }
                Decision::Waiting {
                    ticket,
                    start,
                    limit,
                } => {
                    let (tell, told) = oneshot::channel();
                    let waiting = Waiting {
                        place: place.clone(),
                        tell,
                        lane,
                        task: Arc::clone(&standing.task),
                        since: now.mono,
                        start,
                    };
                    line.join(ticket, waiting);
                    let hold = Hold {
                        ticket,
                        limit: limit.and_then(|limit| name_of(core, limit)),
                        held: line.load.holds(lane),
                        starts_in_ms: start
                            .map(|start| start.saturating_since(now.mono).as_millis()),
                    };
                    Answer::Waits(hold, told)
                }
            }
        });
        match answer {
            Answer::Admitted(id, at) => Ok(self.reservation(id, place, at)),
            Answer::Refused(refused) => Err(refused),
            Answer::Waits(hold, told) => {
                hold.log(id, lane);
                let mut waiter = Waiter {
                    driver: Arc::clone(self),
                    ticket: hold.ticket,
                    told,
                };
                // Whoever waits holds the driver, and the driver drops no sender without a word.
                let gone = |_| Err(Refused::gone(lane));
                (&mut waiter.told).await.unwrap_or_else(gone)
            }
        }
    }

    /// Holds to another policy from now on.
    pub(crate) fn reconfigure(self: &Arc<Self>, snapshot: Arc<Snapshot>) {
        let limits = snapshot.limits.clone();
        self.with_core(|core, line, now| {
            core.reconfigure(limits, now);
            line.snapshot = snapshot;
        });
    }

    /// The policy in force.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.lock().line.snapshot)
    }

    /// How loaded everything is.
    pub(crate) fn load(self: &Arc<Self>) -> LoadLevel {
        self.with_core(|_, line, _| line.load.level())
    }

    /// How everything stands now.
    pub(crate) fn view(self: &Arc<Self>) -> View {
        self.with_core(|core, line, now| View {
            snapshot: Arc::clone(&line.snapshot),
            limits: core.limit_states(now).collect(),
            waiting: line.depth(),
            load: line.load.level(),
            reservations_open: core.reservations_open(),
        })
    }

    /// Calls the core under the lock, then carries out what it decided without it.
    fn with_core<R>(self: &Arc<Self>, call: impl FnOnce(&mut Core, &mut Waiters, Now) -> R) -> R {
        let mut state = self.lock();
        let begun = self.clock.now();
        let State {
            core,
            line,
            sleeps_until,
        } = &mut *state;
        let wait = line.wait(begun.mono);
        let snapshot = &line.snapshot;
        let left_alone = || self.health.are_left_alone(begun.mono);
        line.load
            .look(core, &snapshot.policy.load, wait, left_alone, begun);
        let answer = call(core, line, begun);
        let told = self.collect(core, line, begun);
        let load = line.load.changed();
        let due = due(core, line);
        let earlier = due < *sleeps_until;
        if earlier {
            *sleeps_until = due;
        }
        drop(state);
        let held = self.clock.now().mono.saturating_since(begun.mono);
        self.metrics.driver_lock_seconds.observe(held.as_secs_f64());
        if earlier {
            self.earlier.notify_one();
        }
        if let Some(change) = load {
            change.log();
        }
        for (waiting, decided) in told {
            let Waiting { place, tell, .. } = waiting;
            let verdict = decided.map(|id| self.reservation(id, place, begun.mono));
            // Who left between the decision and this word drops the reservation, which gives it back.
            drop(tell.send(verdict));
        }
        answer
    }

    /// What the core decided, and for whom. Nothing is sent yet: a reservation that nobody receives needs the lock.
    fn collect(
        self: &Arc<Self>,
        core: &mut Core,
        line: &mut Waiters,
        now: Now,
    ) -> Vec<(Waiting, Result<ReservationId, Refused>)> {
        let mut told = Vec::new();
        while told.len() < EVENTS_MAX
            && let Some(event) = core.poll_event()
        {
            match event {
                Event::Admitted {
                    ticket,
                    reservation,
                } => {
                    if let Some(waiting) = line.leave(ticket) {
                        told.push((waiting, Ok(reservation)));
                    } else {
                        core.settle(reservation, Outcome::Void, now);
                    }
                }
                Event::Refused { ticket, refusal } => {
                    if let Some(waiting) = line.leave(ticket) {
                        let refused = Refused::new(core, line, waiting.lane, refusal, now);
                        told.push((waiting, Err(refused)));
                    }
                }
                Event::GrantWanted { ticket, charges } => {
                    // No configuration makes a limit that somebody else counts.
                    if let Some(&(limit, _)) = charges.first() {
                        core.grant(ticket, Grant::Never { limit }, now);
                    }
                }
                Event::GrantUnused { .. } => {}
                Event::Expired { .. } => {
                    self.metrics.reservations_expired.inc();
                }
            }
        }
        told
    }

    fn reservation(
        self: &Arc<Self>,
        id: ReservationId,
        place: Place,
        at: Timestamp,
    ) -> Reservation {
        Reservation::new(Arc::clone(self), id, place, at)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Should the core ever panic, one charge may be off. That is better than a gateway that answers nobody any more.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hold {
    fn log(&self, id: RequestId, lane: Lane) {
        tracing::debug!(
            %id,
            lane = lane.name(),
            limit = self.limit.as_deref(),
            load = self.held.map(LoadLevel::name),
            starts_in_ms = self.starts_in_ms,
            "request waits"
        );
    }
}

/// A place in the line, given up when dropped.
#[derive(Debug)]
struct Waiter {
    driver: Arc<Driver>,
    ticket: TicketId,
    told: oneshot::Receiver<Verdict>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.driver.with_core(|core, line, now| {
            if line.leave(self.ticket).is_some() {
                core.cancel(self.ticket, now);
            }
        });
    }
}

/// When the core, or the load, is to be looked at.
fn due(core: &Core, line: &Waiters) -> Timestamp {
    let due = [core.poll_timeout(), line.load.due()];
    due.into_iter().flatten().min().unwrap_or(Timestamp::MAX)
}

fn name_of(core: &Core, limit: LimitId) -> Option<Arc<str>> {
    let limit = core.policy().limits().get(limit.index())?;
    Some(Arc::clone(&limit.name))
}
