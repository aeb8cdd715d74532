//! One client's call, counted and logged exactly once: when its answer is handed on whole, when its stream ends, or when its
//! client is gone before that.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::StatusCode;
use sluicegate_core::{Amounts, Lane, Timestamp};

use crate::clock::Clock;
use crate::driver::Refused;
use crate::gateway::RequestId;
use crate::metrics::{
    Attempt, Deployment, Fallback, InFlight, Metrics, OTHER_TASK, Repair, RequestLabels, Retry,
    Shed, Waits, tokens,
};
use crate::snapshot::Route;

/// What is counted where the client left before it had its answer.
const CLIENT_CLOSED: u16 = 499;

/// A call under way. Dropped, it counts as one whose client left.
#[derive(Debug)]
pub(crate) struct Exchange {
    id: RequestId,
    metrics: Arc<Metrics>,
    clock: Clock,
    arrived: Timestamp,
    route: Deployment,
    waits: Waits,
    /// The name of its route in the configuration.
    route_name: Option<Arc<str>>,
    /// How long it has stood in line.
    waited: Duration,
    /// How long of that before it was first admitted.
    waited_first: OnceLock<Duration>,
    status: u16,
    _in_flight: InFlight,
}

impl Exchange {
    pub(crate) fn begin(metrics: &Arc<Metrics>, clock: Clock, id: RequestId) -> Self {
        Self {
            id,
            metrics: Arc::clone(metrics),
            clock,
            arrived: clock.mono(),
            route: Deployment {
                provider: "none".to_owned(),
                model: "none".to_owned(),
            },
            waits: Waits::new(Lane::default(), OTHER_TASK),
            route_name: None,
            waited: Duration::ZERO,
            waited_first: OnceLock::new(),
            status: CLIENT_CLOSED,
            _in_flight: InFlight::begin(metrics),
        }
    }

    /// When it arrived.
    pub(crate) fn arrived(&self) -> Timestamp {
        self.arrived
    }

    /// Where it goes.
    pub(crate) fn routed(&mut self, route: Route<'_>) {
        self.route = Deployment {
            provider: route.account.provider.id.clone(),
            model: route.deployment.name.clone(),
        };
    }

    /// In which lane it stands, for which task, and by which route of the configuration.
    pub(crate) fn stands(&mut self, lane: Lane, task: &str, route: Option<Arc<str>>) {
        self.waits = Waits::new(lane, task);
        self.route_name = route;
    }

    /// The name of its route in the configuration.
    pub(crate) fn route_name(&self) -> Option<Arc<str>> {
        self.route_name.clone()
    }

    /// It has stood in line, once more, since `since`. Nothing else counts as waiting: not its body, which its client may send slowly, nor what
    /// is made of it.
    pub(crate) fn stood(&mut self, since: Timestamp) {
        let now = self.clock.mono();
        self.waited += now.saturating_since(since);
    }

    /// How long it has stood in line so far.
    pub(crate) fn waited(&self) -> Duration {
        self.waited
    }

    /// It does not start.
    pub(crate) fn refused(&self, refused: &Refused) {
        if let Some(reason) = refused.shed_for() {
            let lane = refused.lane.name();
            self.metrics
                .shed
                .get_or_create(&Shed { lane, reason })
                .inc();
        }
    }

    /// It may start; tells how long it waited, which counts the first time only.
    pub(crate) fn admitted(&self) -> Duration {
        *self.waited_first.get_or_init(|| {
            self.metrics
                .queue_wait
                .get_or_create(&self.waits)
                .observe(self.waited.as_secs_f64());
            self.waited
        })
    }

    /// It may be sent, for the first time or once more.
    pub(crate) fn reserved(&self, demand: Amounts) {
        self.metrics
            .tokens_reserved
            .get_or_create(&self.route)
            .inc_by(tokens(demand));
    }

    /// An upstream answered, or did not.
    pub(crate) fn attempted(&self, outcome: &'static str) {
        let Deployment { provider, model } = self.route.clone();
        self.metrics
            .attempts
            .get_or_create(&Attempt {
                provider,
                model,
                outcome,
            })
            .inc();
    }

    /// The head of an upstream's answer took that long.
    pub(crate) fn head_took(&self, duration: Duration) {
        self.metrics
            .upstream_head
            .get_or_create(&self.route)
            .observe(duration.as_secs_f64());
    }

    /// An upstream told what it used.
    pub(crate) fn used(&self, tokens: u64) {
        self.metrics
            .tokens_used
            .get_or_create(&self.route)
            .inc_by(tokens);
    }

    /// An upstream refused for a limit of its own.
    pub(crate) fn rate_limited(&self, limit_type: &'static str) {
        let Deployment { provider, model } = self.route.clone();
        let hit = crate::metrics::LimitHit {
            provider,
            model,
            limit_type,
        };
        self.metrics.rate_limit_hits.get_or_create(&hit).inc();
    }

    /// Where it goes it is sent once more, because it failed there of `error_type`.
    pub(crate) fn retried(&self, error_type: &'static str) {
        let Deployment { provider, model } = self.route.clone();
        let labels = Retry {
            provider,
            model,
            error_type,
        };
        self.metrics.retries.get_or_create(&labels).inc();
    }

    /// What was not of the form that was asked for was to be mended, with that outcome.
    pub(crate) fn repaired(&self, outcome: &'static str) {
        let labels = Repair { outcome };
        self.metrics.answers_repaired.get_or_create(&labels).inc();
    }

    /// It goes where it goes instead of to `from`, a provider, for that `reason`.
    pub(crate) fn fell_back(&self, from: &str, reason: &'static str) {
        let labels = Fallback {
            from_provider: from.to_owned(),
            to_provider: self.route.provider.clone(),
            reason,
        };
        self.metrics.fallbacks.get_or_create(&labels).inc();
    }

    /// How it ended for the client.
    pub(crate) fn ended(&mut self, status: StatusCode) {
        self.status = status.as_u16();
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let Deployment { provider, model } = self.route.clone();
        let millis = self.clock.mono().saturating_since(self.arrived).as_millis();
        tracing::debug!(
            id = %self.id,
            provider,
            model,
            status = self.status,
            millis,
            "request ended"
        );
        let labels = RequestLabels {
            provider,
            model,
            status: self.status,
        };
        self.metrics.requests.get_or_create(&labels).inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::Gateway;
    use crate::snapshot::Snapshot;

    #[test]
    fn only_standing_in_line_is_waiting() {
        let policy = "
accounts: { a: { provider: openai, base_url: http://127.0.0.1:9 } }
deployments: { m: { account: a } }
";
        let policy = sluicegate_config::parse("a.yaml", policy, &|_| None).expect("a policy");
        let snapshot = Snapshot::new(policy, None).expect("a policy that can be served");
        let gateway = Gateway::new(snapshot, Clock::start());
        let begin = || {
            let id = gateway.next_request_id();
            Exchange::begin(gateway.metrics(), gateway.clock(), id)
        };
        assert_eq!(begin().admitted(), Duration::ZERO);
        let mut waited = begin();
        let since_start = waited.arrived().saturating_since(Timestamp::ZERO);
        waited.stood(Timestamp::ZERO);
        let first = waited.admitted();
        assert!(first >= since_start && !first.is_zero(), "{first:?}");
        waited.stood(Timestamp::ZERO);
        assert!(waited.waited() > first);
        assert_eq!(waited.admitted(), first);
    }
}
