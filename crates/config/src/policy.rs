//! The resolved policy: what a configuration means, ready for use.
//!
//! Plain comparable data. Nothing here is optional that a default could fill, no name is left to look up, and nothing can be
//! wrong any more. It must not know that there was a file.

mod server;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sluicegate_catalog::{ChargeRule, Provider};
use sluicegate_core::{
    BackoffRule, BasisPoints, BreakerRule, Headroom, LaneRule, LaneRules, Limit, LoadRules,
    RetryBudgetRule, RetryRule,
};

use crate::{AwsCredentials, Route, Secret};

pub use server::Server;
pub(crate) use server::is_loopback;

/// Everything that a configuration says.
#[derive(Clone, PartialEq, Debug)]
pub struct Policy {
    /// Where the gateway listens and what it allows a client.
    pub server: Server,
    /// The rows of providers that the file itself holds, in its order.
    pub providers: Vec<Arc<Provider>>,
    /// What providers limit and bill, in the order of the file.
    pub accounts: Vec<Account>,
    /// What a client may name as its model, in the order of the file.
    pub deployments: Vec<Deployment>,
    /// Where requests may go: the routes of the file in its order, then each deployment that no route has the name of, as a
    /// route to itself.
    pub routes: Vec<Route>,
    /// The priority classes.
    pub lanes: Lanes,
    /// When a failed call is made again.
    pub retry: Retry,
    /// When there is how much load, and what that changes.
    pub load: LoadRules,
    /// How streamed answers are passed on.
    pub stream: Stream,
    /// How tokens are counted before their provider does.
    pub estimates: Estimates,
    /// The bounds of the waiting lines.
    pub queue: Queue,
    /// How the operator is told what needs a hand.
    pub operator: Operator,
}

impl Policy {
    /// The deployment that answers for `model`, with its index: the one of exactly that name, else the one whose wildcard
    /// shares the longest beginning with it.
    ///
    /// ```
    /// let text = r#"
    /// accounts: { a: { provider: openai, base_url: http://127.0.0.1:9000 } }
    /// deployments: { "gpt-*": { account: a }, "gpt-5*": { account: a }, gpt-5.5: { account: a } }
    /// "#;
    /// let policy = sluicegate_config::parse("a.yaml", text, &|_| None)?;
    /// let found = |model| policy.find(model).map(|(_, deployment)| deployment.name.as_str());
    /// assert_eq!(found("gpt-5.5"), Some("gpt-5.5"));
    /// assert_eq!(found("gpt-5.5-mini"), Some("gpt-5*"));
    /// assert_eq!(found("gpt-4o"), Some("gpt-*"));
    /// assert_eq!(found("o3"), None);
    /// # Ok::<(), sluicegate_config::Errors>(())
    /// ```
    pub fn find(&self, model: &str) -> Option<(usize, &Deployment)> {
        self.deployments
            .iter()
            .enumerate()
            .filter(|(_, deployment)| deployment.pattern.matches(model))
            .max_by_key(|(_, deployment)| deployment.pattern.closeness())
    }
}

/// What a provider limits and bills.
#[derive(Clone, PartialEq, Debug)]
pub struct Account {
    /// Its name in the configuration, unique.
    pub name: Arc<str>,
    /// What the provider does.
    pub provider: Arc<Provider>,
    /// The keys, used in turn; empty only where `base_url` is loopback or requests are signed.
    pub api_keys: Vec<Secret<String>>,
    /// Credentials with which requests are signed, in place of keys.
    pub aws: Option<AwsCredentials>,
    /// Where the provider's API begins, without a slash at the end; it may or may not name the version.
    pub base_url: String,
    /// The share of each limit that is used. Already in each limit; what `Auto` learns is set over it.
    pub headroom: Headroom,
    /// What the provider grants the account as a whole.
    pub limits: Vec<Limit>,
    /// Models that share limits.
    pub families: Vec<Family>,
    /// For calls to this account; what the server says is merged in.
    pub timeouts: Timeouts,
    /// When one of its deployments is left alone; what the file says for all is merged in.
    pub breaker: BreakerRule,
    /// How many requests may be in flight to each of its deployments, beside `limits`.
    pub slots: Slots,
    /// A PEM file with further root certificates.
    pub ca_file: Option<PathBuf>,
    /// What a request costs here: the provider's rule.
    pub charge: Arc<ChargeRule>,
}

/// Models of one account that share limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// Its name, unique in the account.
    pub name: Arc<str>,
    /// The provider's names of the models.
    pub models: Vec<Pattern>,
    /// What the provider grants them together.
    pub limits: Vec<Limit>,
}

/// A name, or the beginning of names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pattern {
    /// This name only.
    Exact(String),
    /// Every name that begins like this.
    Prefix(String),
}

impl Pattern {
    /// Whether `name` is meant.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == name,
            Self::Prefix(prefix) => name.starts_with(prefix.as_str()),
        }
    }

    /// Whether every name that `names` means is meant.
    pub(crate) fn covers(&self, names: &Self) -> bool {
        match (self, names) {
            (Self::Exact(own), Self::Exact(name)) => own == name,
            (Self::Exact(_), Self::Prefix(_)) => false,
            (Self::Prefix(stem), Self::Exact(name) | Self::Prefix(name)) => {
                name.starts_with(stem.as_str())
            }
        }
    }

    /// Of several that match a name, the one with the most is meant.
    pub(crate) const fn closeness(&self) -> usize {
        match self {
            Self::Exact(_) => usize::MAX,
            Self::Prefix(prefix) => prefix.len(),
        }
    }
}

/// One addressable upstream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deployment {
    /// Its name in the configuration, unique, with the `*` where it is a wildcard.
    pub name: String,
    /// The requested models that it answers for.
    pub pattern: Pattern,
    /// The index of its account in [`Policy::accounts`].
    pub account: usize,
    /// What the provider is asked for.
    pub model: UpstreamModel,
    /// What the provider grants the model, beside the limits of the account and its families. Deployments of one account and
    /// model have equal limits of equal names.
    pub limits: Vec<Limit>,
    /// The most tokens of input and output together.
    pub context: Option<u64>,
    /// What it costs.
    pub price: Option<Price>,
    /// For calls to it; what the account and the server say is merged in. A route may say otherwise.
    pub timeouts: Timeouts,
    /// When it is left alone; what its account and the file say for all is merged in.
    pub breaker: BreakerRule,
    /// How many requests may be in flight, beside the limits; `Adaptive` also where its account says so.
    pub slots: Slots,
    /// The output tokens that are expected of a request that names no maximum; without it the provider's row decides.
    pub output_default: Option<u64>,
}

/// How many requests may be in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Slots {
    /// As many as the limits allow.
    #[default]
    Limited,
    /// As many as the upstream serves without slowing down, found out as it goes, and no more than the limits allow.
    Adaptive,
}

/// The model that a provider is asked for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum UpstreamModel {
    /// Always this one.
    Named(String),
    /// The one that the client named.
    Requested,
}

/// Micro-dollars for a million tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Price {
    /// For input.
    pub input_micros: u64,
    /// For input read from the provider's cache.
    pub cached_input_micros: u64,
    /// For output.
    pub output_micros: u64,
}

/// Bounds on one call to an upstream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// To a connection, TLS included.
    pub connect: Duration,
    /// From the end of the request to the head of the answer.
    pub head: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// For the whole call, but it never cuts a stream that moves; `None` is no bound.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            head: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            total: None,
        }
    }
}

/// The priority classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Somebody is watching.
    pub interactive: Lane,
    /// A program is waiting.
    pub api: Lane,
    /// Nobody is waiting.
    pub batch: Lane,
}

impl Lanes {
    /// What is said of `lane`.
    pub const fn of(&self, lane: sluicegate_core::Lane) -> &Lane {
        match lane {
            sluicegate_core::Lane::Interactive => &self.interactive,
            sluicegate_core::Lane::Api => &self.api,
            sluicegate_core::Lane::Batch => &self.batch,
        }
    }

    /// What all lanes are held to by those above them.
    pub fn rules(&self) -> LaneRules {
        let lanes = sluicegate_core::Lane::ALL.into_iter();
        lanes.fold(LaneRules::default(), |rules, lane| {
            rules.with(lane, self.of(lane).rule)
        })
    }
}

/// How long one class may wait, how hard it tries and what it leaves to those above it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// The longest wait in the queue, where the request names none.
    pub max_wait: Duration,
    /// How often and how long it tries.
    pub retry: RetryRule,
    /// What it gets, what it leaves, and how many of it wait at once: at least one and at most [`Queue::max_tickets`].
    pub rule: LaneRule,
}

/// When a failed call is made again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retry {
    /// How long it waits before.
    pub backoff: BackoffRule,
    /// How much all of that may add to the traffic.
    pub budget: RetryBudgetRule,
}

/// How streamed answers are passed on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream {
    /// How long the head of a stream is held back for its first content.
    pub head_hold: Duration,
}

/// How tokens are counted before their provider does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimates {
    /// The share of requests that are counted exactly, where the vocabulary is known.
    pub sampled: BasisPoints,
}

/// The bounds of the waiting lines, all together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Queue {
    /// The most requests that wait at once.
    pub max_tickets: NonZeroUsize,
    /// The most bytes in the bodies of those that wait.
    pub max_bytes: u64,
}

/// How the operator is told of what needs a hand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Operator {
    /// Where such events are posted; without it they are in metrics and the log only.
    pub webhook: Option<Webhook>,
}

/// A URL to which events are posted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Webhook {
    /// The whole URL. Who knows it may often post to it, so it is a secret.
    pub url: Secret<String>,
    /// Sent along, so that the receiver knows who posts.
    pub key: Option<Secret<String>>,
}
