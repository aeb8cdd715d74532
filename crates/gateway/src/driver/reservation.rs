//! What an attempt holds, from its admission to its end, and how it tells the core what becomes of its request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sluicegate_core::{
    Answered, Mode, Outcome, Reception, ReservationId, Signal, Timestamp, Window,
};

use super::{Driver, Place};

/// No window is believed to see requests arrive more evenly than that.
const AT_ONCE: Duration = Duration::from_millis(1);

/// What an attempt holds. It ends exactly once: settled by whoever knows how the attempt ended, or else when it is dropped, as
/// never sent or as sent and not measured.
#[derive(Debug)]
pub(crate) struct Reservation {
    driver: Arc<Driver>,
    id: ReservationId,
    place: Place,
    /// Its charges count from then on, in nanoseconds: its admission, or when its request left, where that was late.
    counts_from: Arc<AtomicU64>,
    /// `None` once it has ended.
    on_drop: Option<Outcome>,
}

impl Reservation {
    /// One of `driver` that was made at `admitted`.
    pub(super) fn new(
        driver: Arc<Driver>,
        id: ReservationId,
        place: Place,
        admitted: Timestamp,
    ) -> Self {
        Self {
            driver,
            id,
            place,
            counts_from: Arc::new(AtomicU64::new(admitted.as_nanos())),
            on_drop: Some(Outcome::Void),
        }
    }

    /// From now on the provider may have counted it.
    pub(crate) fn sent(&mut self) {
        if self.on_drop.is_some() {
            self.on_drop = Some(Outcome::Unmeasured);
        }
    }

    /// What is observed with it from now on is of `place`.
    pub(crate) fn moved_to(&mut self, place: Place) {
        self.place = place;
    }

    /// Who is to tell when the last of its request has left.
    pub(crate) fn departure(&self) -> Departure {
        Departure {
            driver: Arc::clone(&self.driver),
            id: self.id,
            counts_from: Arc::clone(&self.counts_from),
        }
    }

    /// How long its request was on its way, there and back, where the head of the answer came `now` and the provider says that it
    /// worked for `work`. `None` where it says that it worked for longer than it can have.
    pub(crate) fn delay(&self, work: Duration, now: Timestamp) -> Option<Duration> {
        let counts_from = Timestamp::from_nanos(self.counts_from.load(Ordering::Relaxed));
        now.saturating_since(counts_from).checked_sub(work)
    }

    /// Tells that the provider has answered, how, and what it said of its limits; where it is known, how long the request took to
    /// arrive.
    pub(crate) fn observe(
        &self,
        reception: Reception,
        signals: &[Signal],
        delay: Option<Duration>,
    ) {
        self.driver.with_core(|core, line, now| {
            if let Some(target) = line.target(core, &self.place) {
                if let Some(delay) = delay {
                    core.arrived(target, delay, now);
                }
                core.observe(target, self.id, reception, signals, now);
            }
        });
    }

    /// Tells how long the first byte of the answer took, once an attempt. Only where slots follow it is it worth the lock.
    pub(crate) fn answered(&self, answered: Answered) {
        let policy = &self.place.snapshot.limits;
        let limits = &policy.targets()[self.place.target.index()].limits;
        let mut windows = limits.iter().map(|id| &policy.limits()[id.index()].window);
        if windows.any(|window| *window == Window::Adaptive) {
            self.driver
                .with_core(|core, _, now| core.answered(self.id, answered, now));
        }
    }

    /// Whether one of `signals` closes a limit for those that come after it.
    pub(crate) fn is_closed_by(&self, signals: &[Signal]) -> bool {
        let policy = &self.place.snapshot.limits;
        let limits = &policy.targets()[self.place.target.index()].limits;
        let mut limits = limits.iter().map(|id| &policy.limits()[id.index()]);
        limits.any(|limit| {
            let holds = limit.mode == Mode::Enforce && limit.window.per().is_some();
            let closes =
                |signal: &Signal| signal.closed_for.is_some() && signal.meter == limit.meter;
            holds && signals.iter().any(closes)
        })
    }

    /// Ends it. A second call changes nothing.
    pub(crate) fn settle(&mut self, outcome: Outcome) {
        if self.on_drop.take().is_some() {
            self.driver
                .with_core(|core, _, now| core.settle(self.id, outcome, now));
        }
    }
}

/// Tells the core when the last of a request has left.
#[derive(Debug)]
pub(crate) struct Departure {
    driver: Arc<Driver>,
    id: ReservationId,
    counts_from: Arc<AtomicU64>,
}

impl Departure {
    /// It has left now. What left at once is not worth the lock.
    pub(crate) fn left(self) {
        let counts_from = Timestamp::from_nanos(self.counts_from.load(Ordering::Relaxed));
        let late = self.driver.clock.mono().saturating_since(counts_from);
        if late <= AT_ONCE {
            return;
        }
        self.driver.with_core(|core, _, now| {
            if core.sent(self.id, now) {
                self.counts_from
                    .store(now.mono.as_nanos(), Ordering::Relaxed);
            }
        });
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(outcome) = self.on_drop {
            self.settle(outcome);
        }
    }
}
