//! Where a request may go: routes, and which of them a requested name leads to.
//!
//! Every name is resolved to a deployment here, and a deployment without a route is one to itself, so that whoever routes a
//! request knows routes only. A destination is not yet a target of the core: which limits apply to one model of a wildcard may
//! still be learned.

use std::sync::Arc;

use sluicegate_core::{Balance, Condition, Lane, TargetId};

use crate::{Deployment, Pattern, Policy, Timeouts, UpstreamModel};

/// What a requested model or task leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// Its name in the configuration, unique, with the `*` where it is a wildcard.
    pub name: Arc<str>,
    /// The requested names that it answers for.
    pub pattern: Pattern,
    /// Where it comes from.
    pub origin: Origin,
    /// Where a request goes first, or a pool of destinations that serve alike; never empty, none twice.
    pub primary: Vec<Destination>,
    /// Which one of a pool.
    pub balance: Balance,
    /// Where else to go, in their order; none is a primary, none stands twice.
    pub fallbacks: Vec<Fallback>,
    /// Where a request goes that need not have the best; there where it is `simple`.
    pub degrade_to: Option<Fallback>,
    /// The lane of requests that name none.
    pub lane: Option<Lane>,
    /// Whether `degrade_to` will do where the level of load says so.
    pub simple: bool,
    /// Whether what a provider cannot be told of a request is dropped; else such a request is refused.
    pub lossy: bool,
    /// Load never lowers the maximum of output tokens below this.
    pub output_floor: u64,
    /// What is answered where the level of load says so; `None` never answers so.
    pub template: Option<Arc<str>>,
    /// The maximum with which an answer is asked for once more that was cut by one of ours; `None` leaves it cut.
    pub raise_cap: Option<u64>,
}

/// Where a route comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The file names it; a task may choose it.
    Written,
    /// A deployment's own.
    Deployment,
}

/// Another destination, and when it may be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fallback {
    /// The destination.
    pub to: Destination,
    /// Any of these; never empty, none twice.
    pub when: Vec<Condition>,
}

/// A deployment, and what it is asked for on a route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// The index in [`Policy::deployments`].
    pub deployment: usize,
    /// What the provider is asked for. Of a wildcard it may be one model, and then its requests are charged like those that name
    /// that model themselves.
    pub model: UpstreamModel,
    /// For calls to it; what the route says goes before what the deployment does.
    pub timeouts: Timeouts,
}

impl Policy {
    /// Where a request for `model` goes, with its index: the route of exactly that name, else the one whose wildcard shares the
    /// longest beginning with it. Deployments are routes to themselves, and the file's routes go before them.
    ///
    /// ```
    /// let text = r#"
    /// accounts: { a: { provider: openai, base_url: http://127.0.0.1:9000 } }
    /// deployments: { "gpt-*": { account: a }, gpt-5.5: { account: a } }
    /// routes: { summary: { primary: gpt-5.5 }, "gpt-4*": { primary: gpt-5.5 } }
    /// "#;
    /// let policy = sluicegate_config::parse("a.yaml", text, &|_| None)?;
    /// let found = |model| policy.route(model).map(|(_, route)| &*route.name);
    /// assert_eq!(found("summary"), Some("summary"));
    /// assert_eq!(found("gpt-5.5"), Some("gpt-5.5"));
    /// assert_eq!(found("gpt-4o"), Some("gpt-4*"));
    /// assert_eq!(found("gpt-5"), Some("gpt-*"));
    /// assert_eq!(found("o3"), None);
    /// # Ok::<(), sluicegate_config::Errors>(())
    /// ```
    pub fn route(&self, model: &str) -> Option<(usize, &Route)> {
        closest(self.routes.iter().enumerate(), model)
    }

    /// The route that the task of that name takes, with its index. Deployments are no tasks.
    pub fn task(&self, name: &str) -> Option<(usize, &Route)> {
        let written = self.routes.iter().enumerate();
        closest(
            written.filter(|(_, route)| route.origin == Origin::Written),
            name,
        )
    }
}

fn closest<'a>(
    routes: impl Iterator<Item = (usize, &'a Route)>,
    name: &str,
) -> Option<(usize, &'a Route)> {
    routes
        .filter(|(_, route)| route.pattern.matches(name))
        .max_by_key(|(_, route)| route.pattern.closeness())
}

impl Route {
    /// How far load may lower the maximum of output tokens where the file says nothing.
    pub(crate) const OUTPUT_FLOOR: u64 = 256;

    /// The route of a deployment to itself; `index` is its place.
    pub(crate) fn of(index: usize, deployment: &Deployment) -> Self {
        Self {
            name: Arc::from(deployment.name.as_str()),
            pattern: deployment.pattern.clone(),
            origin: Origin::Deployment,
            primary: vec![Destination {
                deployment: index,
                model: deployment.model.clone(),
                timeouts: deployment.timeouts,
            }],
            balance: Balance::default(),
            fallbacks: Vec::new(),
            degrade_to: None,
            lane: None,
            simple: false,
            lossy: false,
            output_floor: Self::OUTPUT_FLOOR,
            template: None,
            raise_cap: None,
        }
    }

    /// Every destination, in the order in which they are written; `degrade_to` is the last and may be there before.
    pub fn destinations(&self) -> impl Iterator<Item = &Destination> {
        let others = self.fallbacks.iter().chain(&self.degrade_to);
        self.primary.iter().chain(others.map(|other| &other.to))
    }

    /// The route as the core wants it; `target` says which target a destination is.
    pub fn in_core(&self, target: impl Fn(&Destination) -> TargetId) -> sluicegate_core::Route {
        let fallback = |fallback: &Fallback| sluicegate_core::Fallback {
            to: target(&fallback.to),
            when: fallback.when.clone(),
        };
        sluicegate_core::Route {
            name: Arc::clone(&self.name),
            primary: self.primary.iter().map(&target).collect(),
            balance: self.balance,
            fallbacks: self.fallbacks.iter().map(fallback).collect(),
            degrade_to: self.degrade_to.as_ref().map(fallback),
        }
    }
}

impl Destination {
    /// Whether a request that goes to either goes to the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        self.deployment == other.deployment && self.model == other.model
    }

    /// The model to ask the provider for where the client, or its task, named `requested`.
    pub fn model<'a>(&'a self, requested: &'a str) -> &'a str {
        match &self.model {
            UpstreamModel::Named(model) => model,
            UpstreamModel::Requested => requested,
        }
    }
}
