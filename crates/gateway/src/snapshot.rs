//! One resolved policy with everything that is made from it once: the core's limits, the connections to each account.
//!
//! A request holds the snapshot that it began with to its end, so a reload changes nothing under its feet.

use std::sync::Arc;
use std::time::Duration;

use sluicegate_catalog::ChargeRule;
use sluicegate_config::{Account, Deployment, Policy, UpstreamModel};
use sluicegate_core::{LimitId, PolicyError, Target, TargetId, Timestamp};

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

/// A deployment and all that sending to it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route<'a> {
    pub(crate) target: TargetId,
    pub(crate) deployment: &'a Deployment,
    pub(crate) account: &'a Account,
    pub(crate) upstream: &'a Upstream,
    /// What a request is charged there.
    pub(crate) charge: &'a Arc<ChargeRule>,
}

impl Snapshot {
    /// What serving `policy` takes. Accounts that are reached as they were in `before` keep their connections and the turn of
    /// their keys, whatever else of them changed.
    pub(crate) fn new(policy: Policy, before: Option<&Self>) -> Result<Self, SnapshotError> {
        let ledgers = policy.ledgers();
        let target = |(deployment, limits): (&Deployment, &Vec<usize>)| Target {
            name: deployment.name.as_str().into(),
            limits: limits.iter().map(|&limit| LimitId::new(limit)).collect(),
        };
        let targets = policy
            .deployments
            .iter()
            .zip(&ledgers.targets)
            .map(target)
            .collect();
        let tickets_max = policy.queue.max_tickets.get();
        let limits =
            sluicegate_core::Policy::new(ledgers.limits, targets, tickets_max, RESERVATION_TTL)?;
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
        })
    }

    /// How many keys of each account rest.
    pub(crate) fn keys_benched(&self, now: Timestamp) -> impl Iterator<Item = (&str, usize)> {
        let accounts = self.policy.accounts.iter().zip(&self.upstreams);
        accounts.map(move |(account, upstream)| (&*account.name, upstream.keys().benched(now)))
    }

    fn upstream_of(&self, account: &Account) -> Option<Arc<Upstream>> {
        let place = self
            .policy
            .accounts
            .iter()
            .position(|ours| is_reached_alike(ours, account))?;
        Some(Arc::clone(&self.upstreams[place]))
    }

    /// Where requests for `model` go.
    pub(crate) fn route(&self, model: &str) -> Option<Route<'_>> {
        let (index, deployment) = self.policy.find(model)?;
        Some(Route {
            target: TargetId::new(index),
            deployment,
            account: &self.policy.accounts[deployment.account],
            upstream: &self.upstreams[deployment.account],
            charge: &self.charges[index],
        })
    }
}

/// Whether an [`Upstream`] of the one would serve the other: all that it is made of is the same.
fn is_reached_alike(one: &Account, other: &Account) -> bool {
    one.provider.auth == other.provider.auth
        && one.provider.paths == other.provider.paths
        && one.api_keys == other.api_keys
        && one.base_url == other.base_url
        && one.timeouts.connect == other.timeouts.connect
        && one.ca_file == other.ca_file
}

impl<'a> Route<'a> {
    /// The model to ask the provider for, where it is not the one that the client named.
    pub(crate) fn other_model(self, requested: &str) -> Option<&'a str> {
        match &self.deployment.model {
            UpstreamModel::Named(model) if model != requested => Some(model),
            _ => None,
        }
    }
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
