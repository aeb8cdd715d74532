//! What all requests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use crate::clock::Clock;
use crate::driver::Driver;
use crate::metrics::Metrics;
use crate::snapshot::Snapshot;

/// The gateway behind its addresses.
#[derive(Debug)]
pub(crate) struct Gateway {
    driver: Arc<Driver>,
    metrics: Arc<Metrics>,
    clock: Clock,
    loopback_only: AtomicBool,
    phase: watch::Sender<Phase>,
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
        let loopback_only = AtomicBool::new(snapshot.policy.server.is_loopback());
        let driver = Driver::new(Arc::new(snapshot), clock, Arc::clone(&metrics));
        let (phase, _) = watch::channel(Phase::Serving);
        Arc::new(Self {
            driver,
            metrics,
            clock,
            loopback_only,
            phase,
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

    /// Whether only programs on this machine can be clients.
    pub(crate) fn loopback_only(&self) -> bool {
        self.loopback_only.load(Ordering::Relaxed)
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
