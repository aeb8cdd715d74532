//! One resolved policy with everything that is made from it once: the core's limits, the connections to each account.
//!
//! A request holds the snapshot that it began with to its end, so a reload changes nothing under its feet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sluicegate_catalog::ChargeRule;
use sluicegate_config::{
    Account, Deployment, Destination, Pattern, Policy, Timeouts, UpstreamModel,
};
use sluicegate_core::{Limit, Meter, PolicyError, Signal, TargetId, Timestamp};

use crate::books::Books;
use crate::health::Whose;
use crate::learned_limits::{LearnedLimits, News, Scope};
use crate::upstream::{Upstream, UpstreamError};

/// A reservation that nobody ended by then is ended: longer than any call, shorter than for ever.
const RESERVATION_TTL: Duration = Duration::from_secs(24 * 3_600);

/// A policy, ready to serve.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) policy: Policy,
    pub(crate) limits: sluicegate_core::Policy,
    /// By account.
    upstreams: Vec<Arc<Upstream>>,
    /// By deployment.
    charges: Vec<Arc<ChargeRule>>,
    learned: LearnedLimits,
    /// Targets of their own for models of a wildcard that have learned limits, by deployment and model.
    model_targets: BTreeMap<(usize, String), TargetId>,
}

/// Why a policy cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// An account cannot be reached as configured.
    #[error("account {account}: {source}")]
    Upstream {
        /// The account.
        account: Arc<str>,
        /// What is wrong with it.
        source: UpstreamError,
    },
    /// The limits contradict each other.
    #[error("limits: {0}")]
    Limits(#[from] PolicyError),
}

/// One destination and all that sending to it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route<'a> {
    pub(crate) target: TargetId,
    /// What the provider is asked for.
    pub(crate) model: &'a str,
    pub(crate) timeouts: Timeouts,
    pub(crate) deployment: &'a Deployment,
    pub(crate) account: &'a Account,
    pub(crate) upstream: &'a Upstream,
    /// What a request is charged there.
    pub(crate) charge: &'a Arc<ChargeRule>,
}

impl Snapshot {
    /// What serving `policy` takes. Accounts that are reached as they were in `before` keep their connections and the turn of
    /// their keys, whatever else of them changed; what was learned of limits that are not configured stays.
    pub(crate) fn new(policy: Policy, before: Option<&Self>) -> Result<Self, SnapshotError> {
        let mut learned = before
            .map(|before| before.learned.clone())
            .unwrap_or_default();
        learned.retain_accounts(|name| {
            let mut accounts = policy.accounts.iter();
            let account = accounts.find(|account| *account.name == *name);
            account.is_some_and(|account| before.is_some_and(|before| before.has_alike(account)))
        });
        Self::with(policy, before, learned)
    }

    /// The same policy with other limits learned.
    ///
    /// # Errors
    ///
    /// When the policy cannot be served with them.
    pub(crate) fn learned(&self, learned: LearnedLimits) -> Result<Self, SnapshotError> {
        Self::with(self.policy.clone(), Some(self), learned)
    }

    /// What `signals`, with an answer from `route` about `model` by the provider's name, tell of limits that are not configured;
    /// `None` where nothing of it is new.
    pub(crate) fn news(
        &self,
        route: Route<'_>,
        model: &str,
        signals: &[Signal],
        now: Timestamp,
    ) -> Option<News> {
        let scope = Scope {
            account: Arc::clone(&route.account.name),
            model: model.to_owned(),
        };
        let ours = signals
            .iter()
            .filter(|signal| !self.configures(route, signal.meter));
        let told = ours.filter_map(|signal| LearnedLimits::told(route.account, &scope, signal));
        self.learned.with(&scope, told, now)
    }

    /// Whether a limit of that name was learned.
    pub(crate) fn is_learned(&self, limit: &Limit) -> bool {
        self.learned.has(limit)
    }

    /// Adds to `signals` of limits that are not configured the period, where the row of the provider of `route` leaves no doubt of
    /// it.
    pub(crate) fn complete(&self, route: Route<'_>, signals: &mut [Signal]) {
        for signal in signals {
            if signal.per.is_none() && !self.configures(route, signal.meter) {
                signal.per = route.account.provider.told_period(signal.meter);
            }
        }
    }

    /// Whether the configuration says something of `meter` where `route` leads.
    fn configures(&self, route: Route<'_>, meter: Meter) -> bool {
        let limits = self.limits.limits();
        let target = &self.limits.targets()[route.target.index()];
        let mut limits = target.limits.iter().map(|id| &limits[id.index()]);
        limits.any(|limit| limit.meter == meter && !self.learned.has(limit))
    }

    fn with(
        policy: Policy,
        before: Option<&Self>,
        mut learned: LearnedLimits,
    ) -> Result<Self, SnapshotError> {
        let mut books = Books::of(&policy);
        let model_targets = books.extend(&policy, &learned);
        learned.retain(|limit| books.limits.contains(limit));
        let tickets_max = policy.queue.max_tickets.get();
        let limits = sluicegate_core::Policy::new(
            books.limits,
            books.targets,
            tickets_max,
            RESERVATION_TTL,
        )?
        .with_lanes(policy.lanes.rules())
        .with_bytes_max(policy.queue.max_bytes);
        let upstream =
            |account: &Account| {
                let kept = before.and_then(|before| before.upstream_of(account));
                match kept {
                    Some(upstream) => Ok(upstream),
                    None => Upstream::new(account).map(Arc::new).map_err(|source| {
                        SnapshotError::Upstream {
                            account: Arc::clone(&account.name),
                            source,
                        }
                    }),
                }
            };
        let upstreams = policy
            .accounts
            .iter()
            .map(upstream)
            .collect::<Result<_, _>>()?;
        let charges = policy.deployments.iter().map(|deployment| {
            let rule = &policy.accounts[deployment.account].charge;
            match deployment.output_default {
                Some(tokens) => Arc::new(ChargeRule::clone(rule).with_output_default(tokens)),
                None => Arc::clone(rule),
            }
        });
        Ok(Self {
            charges: charges.collect(),
            policy,
            limits,
            upstreams,
            learned,
            model_targets,
        })
    }

    /// How many keys of each account rest.
    pub(crate) fn keys_benched(&self, now: Timestamp) -> impl Iterator<Item = (&str, usize)> {
        let accounts = self.policy.accounts.iter().zip(&self.upstreams);
        accounts.map(move |(account, upstream)| (&*account.name, upstream.keys().benched(now)))
    }

    /// By account, meter and share: how much more the provider charges than we do.
    pub(crate) fn charge_drift(&self) -> impl Iterator<Item = (&str, Meter, f64)> {
        let accounts = self.policy.accounts.iter().zip(&self.upstreams);
        accounts.flat_map(|(account, upstream)| {
            let shares = upstream.drift().shares().into_iter();
            shares.map(|(meter, share)| (&*account.name, meter, share))
        })
    }

    /// Whether what was learned of this account still holds.
    fn has_alike(&self, account: &Account) -> bool {
        let mut accounts = self.policy.accounts.iter();
        accounts.any(|ours| {
            ours.name == account.name
                && ours.headroom == account.headroom
                && is_reached_alike(ours, account)
        })
    }

    fn upstream_of(&self, account: &Account) -> Option<Arc<Upstream>> {
        let place = self
            .policy
            .accounts
            .iter()
            .position(|ours| is_reached_alike(ours, account))?;
        Some(Arc::clone(&self.upstreams[place]))
    }

    /// What sending to `to` takes, for a request that named `requested`.
    pub(crate) fn route<'a>(&'a self, to: &'a Destination, requested: &'a str) -> Route<'a> {
        let model = to.model(requested);
        self.route_to(to.deployment, model, to.timeouts)
    }

    /// The same destination as `route`, which may be of another snapshot; `None` where it is gone or is another by now.
    pub(crate) fn again<'a>(&'a self, route: Route<'a>) -> Option<Route<'a>> {
        let mut deployments = self.policy.deployments.iter();
        let index = deployments.position(|ours| ours.name == route.deployment.name)?;
        let again = self.route_to(index, route.model, route.timeouts);
        std::ptr::eq(again.upstream, route.upstream).then_some(again)
    }

    fn route_to<'a>(&'a self, index: usize, model: &'a str, timeouts: Timeouts) -> Route<'a> {
        let deployment = &self.policy.deployments[index];
        let own = || self.model_targets.get(&(index, model.to_owned()));
        let own = (!self.model_targets.is_empty()).then(own).flatten();
        Route {
            target: own.copied().unwrap_or(TargetId::new(index)),
            model,
            timeouts,
            deployment,
            account: &self.policy.accounts[deployment.account],
            upstream: &self.upstreams[deployment.account],
            charge: &self.charges[index],
        }
    }
}

impl Route<'_> {
    /// The upstream as its health is known.
    pub(crate) fn whose(&self) -> Whose<'_> {
        let is_wildcard = self.deployment.model == UpstreamModel::Requested
            && matches!(self.deployment.pattern, Pattern::Prefix(_));
        Whose {
            deployment: &self.deployment.name,
            model: is_wildcard.then_some(self.model),
        }
    }
}

/// Whether an [`Upstream`] of the one would serve the other: all that it is made of is the same.
fn is_reached_alike(one: &Account, other: &Account) -> bool {
    one.provider.auth == other.provider.auth
        && one.provider.paths == other.provider.paths
        && one.api_keys == other.api_keys
        && one.aws == other.aws
        && one.provider.aws_service == other.provider.aws_service
        && one.base_url == other.base_url
        && one.timeouts.connect == other.timeouts.connect
        && one.ca_file == other.ca_file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(account: &str, before: Option<&Snapshot>) -> Snapshot {
        let text = format!(
            "accounts: {{ a: {{ provider: openai, {account} }} }}\ndeployments: {{ m: {{ account: a }} }}\n"
        );
        let policy = sluicegate_config::parse("a.yaml", &text, &|_| None).expect("a valid policy");
        Snapshot::new(policy, before).expect("a policy that can be served")
    }

    #[test]
    fn connections_outlive_a_row_whose_limits_change() {
        let snapshot = |row: &str, before: Option<&Snapshot>| {
            let text = format!(
                "providers: {{ lab: {{ like: openai, {row} }} }}
accounts: {{ a: {{ provider: lab, api_key: k, limits: {{ rpm: 5 }} }} }}
deployments: {{ m: {{ account: a }} }}
"
            );
            let policy =
                sluicegate_config::parse("a.yaml", &text, &|_| None).expect("a valid policy");
            Snapshot::new(policy, before).expect("a policy that can be served")
        };
        let before = snapshot("limits: { rpm: { per: 60s } }", None);
        for (row, is_kept) in [
            ("limits: { rpm: { per: 10s } }, charge: observed", true),
            ("auth: { header: x-key }", false),
            ("paths: { chat: /elsewhere }", false),
        ] {
            let after = snapshot(row, Some(&before));
            let same = Arc::ptr_eq(&before.upstreams[0], &after.upstreams[0]);
            assert_eq!(same, is_kept, "{row}");
        }
    }

    #[test]
    fn connections_outlive_what_they_are_not_made_of() {
        let before = snapshot("api_key: k, limits: { tpm: 1000 }", None);
        for (account, is_kept) in [
            ("api_key: k, limits: { tpm: 2000, rpm: 5 }", true),
            ("api_key: k, headroom: 0.5, timeouts: { head: 9s }", true),
            ("api_key: other, limits: { tpm: 1000 }", false),
            ("api_keys: [k, other], limits: { tpm: 1000 }", false),
            ("api_key: k, base_url: https://elsewhere.example", false),
            ("api_key: k, timeouts: { connect: 9s }", false),
        ] {
            let after = snapshot(account, Some(&before));
            let same = Arc::ptr_eq(&before.upstreams[0], &after.upstreams[0]);
            assert_eq!(same, is_kept, "{account}");
        }
    }
}
