//! What all requests share.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};
use sluicegate_dialect::Dialect;

use tokio::sync::watch;

use crate::answer_lengths::AnswerLengths;
use crate::calibrations::Calibrations;
use crate::clock::Clock;
use crate::driver::Driver;
use crate::health::Health;
use crate::http::Room;
use crate::metrics::Metrics;
use crate::notices::Notices;
use crate::sampled_counts::SampledCounts;
use crate::snapshot::{Snapshot, SnapshotError};

/// The gateway behind its addresses.
#[derive(Debug)]
pub(crate) struct Gateway {
    driver: Arc<Driver>,
    metrics: Arc<Metrics>,
    clock: Clock,
    phase: watch::Sender<Phase>,
    room: Room,
    answer_lengths: Arc<AnswerLengths>,
    calibrations: Arc<Calibrations>,
    sampled_counts: SampledCounts,
    health: Arc<Health>,
    notices: Arc<Notices>,
    /// Held by whoever makes a snapshot from the one in force, so that none is lost.
    reshaping: Mutex<()>,
    requests: AtomicU64,
    /// Tells this process's request ids from another's.
    born: u64,
}

/// Names a request in the log and, where no upstream named it, to its client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestId {
    born: u64,
    number: u64,
}

/// How far the process is from its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Phase {
    /// It serves.
    Serving,
    /// What is under way is finished, nothing new begins.
    Draining,
    /// Nothing is waited for any longer.
    Halting,
}

impl Gateway {
    pub(crate) fn new(snapshot: Snapshot, clock: Clock) -> Arc<Self> {
        let metrics = Metrics::new();
        let room = Room::new(snapshot.policy.server.body_max);
        let notices = Arc::<Notices>::default();
        let calibrations = Calibrations::new(&metrics);
        let sampled = snapshot.policy.estimates.sampled;
        let sampled_counts = SampledCounts::new(&calibrations, sampled);
        let health = Arc::new(Health::new(Arc::clone(&notices)));
        health.reconfigure(&snapshot.policy);
        notices.post_to(snapshot.policy.operator.webhook.clone());
        let driver = Driver::new(
            Arc::new(snapshot),
            clock,
            Arc::clone(&metrics),
            Arc::clone(&health),
        );
        let (phase, _) = watch::channel(Phase::Serving);
        let born = clock.now().wall.as_unix_nanos();
        Arc::new(Self {
            driver,
            metrics,
            clock,
            phase,
            room,
            answer_lengths: Arc::default(),
            calibrations,
            sampled_counts,
            health,
            notices,
            reshaping: Mutex::new(()),
            requests: AtomicU64::new(0),
            born,
        })
    }

    pub(crate) fn driver(&self) -> &Arc<Driver> {
        &self.driver
    }

    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Memory for the bodies of all requests.
    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    /// Puts in force what `make` makes of the snapshot in force, where it makes one, and tells which is in force now.
    ///
    /// # Errors
    ///
    /// Those of `make`; then nothing changes.
    pub(crate) fn reshape(
        &self,
        make: impl FnOnce(&Snapshot) -> Result<Option<Snapshot>, SnapshotError>,
    ) -> Result<Arc<Snapshot>, SnapshotError> {
        let _reshaping = self
            .reshaping
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let before = self.driver.snapshot();
        let Some(snapshot) = make(&before)?.map(Arc::new) else {
            return Ok(before);
        };
        self.health.reconfigure(&snapshot.policy);
        self.notices
            .post_to(snapshot.policy.operator.webhook.clone());
        self.sampled_counts
            .count_share(snapshot.policy.estimates.sampled);
        self.driver.reconfigure(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// How long answers are, whatever configuration is in force.
    pub(crate) fn answer_lengths(&self) -> &Arc<AnswerLengths> {
        &self.answer_lengths
    }

    /// What the tokens of models are worth, whatever configuration is in force.
    pub(crate) fn calibrations(&self) -> &Arc<Calibrations> {
        &self.calibrations
    }

    /// Who counts some requests exactly.
    pub(crate) fn sampled_counts(&self) -> &SampledCounts {
        &self.sampled_counts
    }

    /// How well deployments serve, whatever configuration is in force.
    pub(crate) fn health(&self) -> &Arc<Health> {
        &self.health
    }

    /// What the operator is told.
    pub(crate) fn notices(&self) -> &Arc<Notices> {
        &self.notices
    }

    pub(crate) fn next_request_id(&self) -> RequestId {
        RequestId {
            born: self.born,
            number: self.requests.fetch_add(1, Ordering::Relaxed),
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.phase.borrow() > Phase::Serving
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Ends when the process is at `phase` or past it.
    pub(crate) fn reached(&self, phase: Phase) -> impl Future<Output = ()> + Send + use<> {
        let mut phases = self.phase.subscribe();
        async move {
            // The sender is gone when the gateway is, and then nobody asks.
            let _ = phases.wait_for(|now| *now >= phase).await;
        }
    }
}

impl RequestId {
    /// Names the answer with these `headers` where clients of that `dialect` look for it, unless its upstream has done so.
    pub(crate) fn name(self, headers: &mut HeaderMap, dialect: Dialect) {
        let name = match dialect {
            Dialect::Anthropic => HeaderName::from_static("request-id"),
            _ => HeaderName::from_static("x-request-id"),
        };
        if !headers.contains_key(&name)
            && let Ok(id) = HeaderValue::try_from(self.to_string())
        {
            headers.insert(name, id);
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sg-{:x}-{:x}", self.born, self.number)
    }
}
