//! Drives the core with real time.
//!
//! The core stands behind one lock, under which nothing is awaited and nothing is sent: what the core decided is carried
//! out after the lock is given back. One task sleeps until the instant that the core named. Between the two a waiting request
//! is a ticket and a channel; it holds no slot, no connection and no worker.

mod prospect;
mod reservation;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sluicegate_core::{
    Amounts, Core, Decision, EVENTS_MAX, Event, Grant, Lane, LimitState, Now, Outcome, Refusal,
    ReservationId, Submission, TargetId, TicketId, Timestamp,
};
use tokio::sync::{Notify, oneshot};

use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::snapshot::Snapshot;

pub(crate) use reservation::{Departure, Reservation};

/// The core behind its lock, and those who wait for its word.
#[derive(Debug)]
pub(crate) struct Driver {
    clock: Clock,
    metrics: Arc<Metrics>,
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

/// The policy that the core holds to, and who waits for its word.
#[derive(Debug)]
struct Waiters {
    snapshot: Arc<Snapshot>,
    waiting: BTreeMap<TicketId, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    place: Place,
    tell: oneshot::Sender<Verdict>,
}

/// What the core says of a request at once. Reservations are made of it without the lock: dropping one takes the lock.
enum Answer {
    Admitted(ReservationId, Timestamp),
    Refused(Refused),
    Waits(TicketId, oneshot::Receiver<Verdict>),
}

/// What becomes of a request that asked to start.
type Verdict = Result<Reservation, Refused>;

/// Where a request goes, as of one snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) target: TargetId,
}

/// Why a request does not start, and what is known to help it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    pub(crate) refusal: Refusal,
    /// The limit that decided, where one did: its name and its whole amount.
    pub(crate) limit: Option<(Arc<str>, u64)>,
    /// How long until it would start.
    pub(crate) wait: Option<Duration>,
}

/// What the core looks like from outside, for metrics.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) snapshot: Arc<Snapshot>,
    /// In the order of the snapshot's limits.
    pub(crate) limits: Vec<LimitState>,
    /// Tickets that wait, by target.
    pub(crate) waiting: Vec<usize>,
    pub(crate) reservations_open: usize,
}

impl Driver {
    pub(crate) fn new(snapshot: Arc<Snapshot>, clock: Clock, metrics: Arc<Metrics>) -> Arc<Self> {
        let core = Core::new(snapshot.limits.clone(), clock.now());
        let line = Waiters {
            snapshot,
            waiting: BTreeMap::new(),
        };
        Arc::new(Self {
            clock,
            metrics,
            state: Mutex::new(State {
                core,
                line,
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
                state.sleeps_until = state.core.poll_timeout().unwrap_or(Timestamp::MAX);
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

    /// Waits until `demand` may start at `place`. Dropping the future gives up the place in the line.
    ///
    /// # Errors
    ///
    /// When the core refuses, at once or later.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        place: Place,
        demand: Amounts,
        deadline: Timestamp,
    ) -> Verdict {
        let answer = self.with_core(|core, line, now| {
            let decision = match line.target(core, &place) {
                Some(target) => core.submit(Submission::new(target, demand, deadline), now),
                None => Decision::Refused(Refusal::NoSuchTarget),
            };
            match decision {
                Decision::Admitted(id) => Answer::Admitted(id, now.mono),
                Decision::Refused(refusal) => Answer::Refused(refused(core, refusal, now)),
                Decision::Waiting { ticket, .. } => {
                    let (tell, told) = oneshot::channel();
                    let place = place.clone();
                    line.waiting.insert(ticket, Waiting { place, tell });
                    Answer::Waits(ticket, told)
                }
            }
        });
        match answer {
            Answer::Admitted(id, at) => Ok(self.reservation(id, place, at)),
            Answer::Refused(refused) => Err(refused),
            Answer::Waits(ticket, told) => {
                let mut waiter = Waiter {
                    driver: Arc::clone(self),
                    ticket,
                    told,
                };
                (&mut waiter.told).await.unwrap_or_else(|_| {
                    // Whoever waits holds the driver, and the driver drops no sender without a word.
                    let refusal = Refusal::NoSuchTarget;
                    Err(Refused {
                        refusal,
                        limit: None,
                        wait: None,
                    })
                })
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

    /// How everything stands now.
    pub(crate) fn view(self: &Arc<Self>) -> View {
        self.with_core(|core, line, now| View {
            snapshot: Arc::clone(&line.snapshot),
            limits: core.limit_states(now).collect(),
            waiting: (0..core.policy().targets().len())
                .map(|target| {
                    let waiting = |lane| core.waiting_for(TargetId::new(target), lane);
                    Lane::ALL.into_iter().map(waiting).sum()
                })
                .collect(),
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
        let answer = call(core, line, begun);
        let told = self.collect(core, line, begun);
        let due = core.poll_timeout().unwrap_or(Timestamp::MAX);
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
        for (waiting, decided) in told {
            let Waiting { place, tell } = waiting;
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
                    if let Some(waiting) = line.waiting.remove(&ticket) {
                        told.push((waiting, Ok(reservation)));
                    } else {
                        core.settle(reservation, Outcome::Void, now);
                    }
                }
                Event::Refused { ticket, refusal } => {
                    if let Some(waiting) = line.waiting.remove(&ticket) {
                        told.push((waiting, Err(refused(core, refusal, now))));
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

impl Waiters {
    /// The target that `place` means in the policy in force.
    fn target(&self, core: &Core, place: &Place) -> Option<TargetId> {
        if Arc::ptr_eq(&self.snapshot, &place.snapshot) {
            return Some(place.target);
        }
        let name = &place.snapshot.limits.targets()[place.target.index()].name;
        core.policy().target_named(name)
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
            if line.waiting.remove(&self.ticket).is_some() {
                core.cancel(self.ticket, now);
            }
        });
    }
}

fn refused(core: &Core, refusal: Refusal, now: Now) -> Refused {
    let (limit, start) = match refusal {
        Refusal::TooLarge { limit, .. } | Refusal::NotGranted { limit } => (Some(limit), None),
        Refusal::Deadline { limit, start } => (limit, start),
        Refusal::Shed { limit, start } => (Some(limit), start),
        Refusal::LineFull { start } => (None, start),
        Refusal::NoSuchTarget => (None, None),
    };
    let limit = limit.and_then(|id| core.policy().limits().get(id.index()));
    Refused {
        refusal,
        limit: limit.map(|limit| (Arc::clone(&limit.name), limit.amount.get())),
        wait: start.map(|start| start.saturating_since(now.mono)),
    }
}
