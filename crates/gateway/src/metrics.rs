//! What is counted for operators, and how it is told.
//!
//! Labels come from the configuration. Only learned limits name a model that an upstream has served, and breakers of a wildcard one
//! that was asked for; of both there is a bounded number.

mod labels;
mod page;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use sluicegate_core::Amounts;

pub(crate) use labels::{
    AccountMeter, AccountName, Attempt, BreakerLabels, Deployment, Estimate, Fallback, LimitHit,
    LimitName, OTHER_TASK, Reload, Repair, RequestLabels, Retry, Shed, Waits,
};
use labels::{Effect, RouteName};

/// The media type of [`Metrics::render`].
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Every metric.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    /// Outcomes as clients saw them.
    pub(crate) requests: Family<RequestLabels, Counter>,
    /// Tokens reserved on upstreams.
    pub(crate) tokens_reserved: Family<Deployment, Counter>,
    /// Tokens that upstreams said were used.
    pub(crate) tokens_used: Family<Deployment, Counter>,
    /// Upstreams' refusals, by the limit that they named.
    pub(crate) rate_limit_hits: Family<LimitHit, Counter>,
    /// Time between arrival and admission.
    pub(crate) queue_wait: Family<Waits, Histogram, fn() -> Histogram>,
    /// Calls to upstreams, by how they ended.
    pub(crate) attempts: Family<Attempt, Counter>,
    /// Time to the head of an upstream's answer.
    pub(crate) upstream_head: Family<Deployment, Histogram, fn() -> Histogram>,
    /// Client requests that are under way, until the last byte of their answer.
    pub(crate) in_flight: Gauge,
    /// Times that the core's lock was held.
    pub(crate) driver_lock_seconds: Histogram,
    /// Reservations that nobody ended.
    pub(crate) reservations_expired: Counter,
    /// Reloads of the configuration.
    pub(crate) reloads: Family<Reload, Counter>,
    /// Calls that were made again where they had failed.
    pub(crate) retries: Family<Retry, Counter>,
    /// Requests that went to another deployment.
    pub(crate) fallbacks: Family<Fallback, Counter>,
    /// Answers that were not of the form that was asked for and were to be mended, by how that ended.
    pub(crate) answers_repaired: Family<Repair, Counter>,
    breaker_state: Family<BreakerLabels, Gauge>,
    keys_benched: Family<AccountName, Gauge>,
    /// Requests that were refused because of load, by what for.
    pub(crate) shed: Family<Shed, Counter>,
    degraded: Family<Effect, Counter>,
    queue_depth: Family<Waits, Gauge>,
    load_level: Gauge,
    reservations_open: Gauge,
    limit_usable: Family<LimitName, Gauge>,
    limit_used: Family<LimitName, Gauge>,
    limit_reserved: Family<LimitName, Gauge>,
    answer_tokens_expected: Family<Deployment, Gauge>,
    output_cap_recommended: Family<RouteName, Gauge>,
    ledger_drift: Family<AccountMeter, Gauge<f64, AtomicU64>>,
    limit_drift: Family<LimitName, Gauge>,
    estimate_error: Family<Estimate, Histogram, fn() -> Histogram>,
    arrival_spread: Family<LimitName, Gauge<f64, AtomicU64>>,
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 18))
}

/// Of what was to what was estimated. Narrow where estimates should be.
fn ratios() -> Histogram {
    Histogram::new([
        0.5, 0.67, 0.8, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0,
    ])
}

impl Metrics {
    pub(crate) fn new() -> Arc<Self> {
        let mut metrics = Self {
            registry: Registry::default(),
            requests: Family::default(),
            tokens_reserved: Family::default(),
            tokens_used: Family::default(),
            rate_limit_hits: Family::default(),
            queue_wait: Family::new_with_constructor(seconds as fn() -> Histogram),
            attempts: Family::default(),
            upstream_head: Family::new_with_constructor(seconds as fn() -> Histogram),
            in_flight: Gauge::default(),
            driver_lock_seconds: Histogram::new(exponential_buckets(0.000_001, 4.0, 10)),
            reservations_expired: Counter::default(),
            reloads: Family::default(),
            retries: Family::default(),
            fallbacks: Family::default(),
            breaker_state: Family::default(),
            keys_benched: Family::default(),
            shed: Family::default(),
            answers_repaired: Family::default(),
            degraded: Family::default(),
            queue_depth: Family::default(),
            load_level: Gauge::default(),
            reservations_open: Gauge::default(),
            limit_usable: Family::default(),
            limit_used: Family::default(),
            limit_reserved: Family::default(),
            answer_tokens_expected: Family::default(),
            output_cap_recommended: Family::default(),
            ledger_drift: Family::default(),
            limit_drift: Family::default(),
            estimate_error: Family::new_with_constructor(ratios as fn() -> Histogram),
            arrival_spread: Family::default(),
        };
        metrics.register();
        Arc::new(metrics)
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "llm_requests",
            "Requests by the status that the client saw",
            self.requests.clone(),
        );
        registry.register(
            "llm_tokens_reserved",
            "Tokens reserved before sending",
            self.tokens_reserved.clone(),
        );
        registry.register(
            "llm_tokens_used",
            "Tokens that upstreams reported as used",
            self.tokens_used.clone(),
        );
        registry.register(
            "llm_rate_limit_hits",
            "Rate limit refusals by upstreams",
            self.rate_limit_hits.clone(),
        );
        registry.register(
            "llm_queue_wait_seconds",
            "Time between arrival and admission",
            self.queue_wait.clone(),
        );
        registry.register(
            "llm_queue_depth",
            "Requests that wait for admission",
            self.queue_depth.clone(),
        );
        registry.register(
            "sluicegate_shed",
            "Requests that were refused because of load and are worth sending again: what is left was kept_for_others, the line_full, \
             the lane held, or there was no room before their deadline",
            self.shed.clone(),
        );
        registry.register(
            "sluicegate_degraded",
            "Requests that load changed (max_tokens lowered, answered from a template or by a smaller model), that lost members, or of \
             which the answer did",
            self.degraded.clone(),
        );
        registry.register(
            "sluicegate_answers_repaired",
            "Answers that were not of the form that was asked for and were to be mended: repaired, failed again, or unsent for want of \
             room",
            self.answers_repaired.clone(),
        );
        registry.register(
            "sluicegate_load_level",
            "How loaded everything is: 0 normal, 1 mild, 2 moderate, 3 high, 4 critical",
            self.load_level.clone(),
        );
        registry.register(
            "sluicegate_upstream_attempts",
            "Calls to upstreams by how they ended",
            self.attempts.clone(),
        );
        registry.register(
            "sluicegate_upstream_head_seconds",
            "Time to the head of an upstream's answer",
            self.upstream_head.clone(),
        );
        registry.register(
            "sluicegate_requests_in_flight",
            "Client requests under way, until the last byte of the answer",
            self.in_flight.clone(),
        );
        registry.register(
            "sluicegate_reservations_open",
            "Reservations that have not ended",
            self.reservations_open.clone(),
        );
        registry.register(
            "sluicegate_reservations_expired",
            "Reservations that nobody ended",
            self.reservations_expired.clone(),
        );
        registry.register(
            "sluicegate_driver_lock_seconds",
            "Times that the core's lock was held",
            self.driver_lock_seconds.clone(),
        );
        registry.register(
            "sluicegate_limit_usable",
            "What charges on a limit may sum up to, before what is learned of it is left free",
            self.limit_usable.clone(),
        );
        registry.register(
            "sluicegate_limit_used",
            "What is used of a limit now",
            self.limit_used.clone(),
        );
        registry.register(
            "sluicegate_limit_reserved",
            "What open reservations hold of a limit",
            self.limit_reserved.clone(),
        );
        registry.register(
            "sluicegate_answer_tokens_expected",
            "Output for which a request is admitted where a provider counts it as produced, learned from answers; \
             the longest of a wildcard's models",
            self.answer_tokens_expected.clone(),
        );
        registry.register(
            "sluicegate_output_cap_recommended",
            "A maximum of output for requests of a route that 99 of 100 of its answers stay below with a fifth to spare",
            self.output_cap_recommended.clone(),
        );
        registry.register(
            "sluicegate_ledger_drift",
            "The share by which the provider charges more than we do, by its own word on recent requests; 0.1 is a tenth more, \
             below zero is less",
            self.ledger_drift.clone(),
        );
        registry.register(
            "sluicegate_limit_drift",
            "How much more of a limit the provider had counted than we could explain, when it last told what is left; below \
             zero is less",
            self.limit_drift.clone(),
        );
        registry.register(
            "sluicegate_estimate_error_ratio",
            "What a provider counted, divided by what was estimated: tokens of input by its usage, charge by its word on what it \
             took; above 1 the estimate was too low",
            self.estimate_error.clone(),
        );
        registry.register(
            "sluicegate_arrival_spread_seconds",
            "How unevenly requests reach the provider, by which a limit's windows count longer: learned where its answers tell \
             how long it worked, assumed elsewhere",
            self.arrival_spread.clone(),
        );
        registry.register(
            "sluicegate_config_reloads",
            "Reloads of the configuration",
            self.reloads.clone(),
        );
        registry.register(
            "llm_retries",
            "Calls that were made again where they had failed",
            self.retries.clone(),
        );
        registry.register(
            "llm_fallbacks",
            "Requests that went to another deployment than the one before it",
            self.fallbacks.clone(),
        );
        registry.register(
            "sluicegate_breaker_state",
            "The state of a deployment's breaker: 1 for the one that it is in",
            self.breaker_state.clone(),
        );
        registry.register(
            "sluicegate_keys_benched",
            "Keys of an account that rest because the provider refused them",
            self.keys_benched.clone(),
        );
    }

    /// It was `actual` where `estimated` was. Nothing is told of what was not expected at all, or not counted.
    pub(crate) fn estimated(&self, estimate: &Estimate, estimated: u64, actual: u64) {
        if estimated > 0 && actual > 0 {
            // Tokens of a request are far below what a double holds exactly.
            #[expect(clippy::cast_precision_loss)]
            let ratio = actual as f64 / estimated as f64;
            self.estimate_error.get_or_create(estimate).observe(ratio);
        }
    }

    /// Load changed a request so.
    pub(crate) fn degraded(&self, effect: &'static str) {
        self.degraded.get_or_create(&Effect { effect }).inc();
    }
}

/// A request under way: counted until dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Metrics>);

impl InFlight {
    pub(crate) fn begin(metrics: &Arc<Metrics>) -> Self {
        metrics.in_flight.inc();
        Self(Arc::clone(metrics))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.dec();
    }
}

/// The tokens of a demand or a usage, however a limit splits them.
pub(crate) fn tokens(amounts: Amounts) -> u64 {
    amounts.of(sluicegate_core::Meter::Tokens)
}
