//! Which limits apply to which deployment, as the core wants it: one list of limits, and indexes into it.
//!
//! Deployments of one account and model share their own limits, and all deployments of an account share the account's. So a
//! limit stands once in the list, whoever names it, and its name is what tells.

use std::collections::BTreeMap;

use sluicegate_core::Limit;

use crate::{Account, Deployment, Family, Pattern, Policy, UpstreamModel};

/// The limits of a policy, and for each deployment those that a request through it is charged on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledgers {
    /// Every limit once, in the order of the policy: by account, then its families, then deployments.
    pub limits: Vec<Limit>,
    /// For each of [`Policy::deployments`] the indexes of its limits in `limits`, rising.
    pub targets: Vec<Vec<usize>>,
}

impl Policy {
    /// The limits of all accounts, families and deployments, and which of them apply to each deployment.
    pub fn ledgers(&self) -> Ledgers {
        let mut book = Book::default();
        for account in &self.accounts {
            let families = account.families.iter().flat_map(|family| &family.limits);
            for limit in account.limits.iter().chain(families) {
                book.index(limit);
            }
        }
        let targets = self
            .deployments
            .iter()
            .map(|deployment| book.target(&self.accounts[deployment.account], deployment))
            .collect();
        Ledgers {
            limits: book.limits,
            targets,
        }
    }
}

#[derive(Default)]
struct Book {
    limits: Vec<Limit>,
    by_name: BTreeMap<std::sync::Arc<str>, usize>,
}

impl Book {
    fn index(&mut self, limit: &Limit) -> usize {
        if let Some(index) = self.by_name.get(&limit.name) {
            return *index;
        }
        let index = self.limits.len();
        self.by_name.insert(limit.name.clone(), index);
        self.limits.push(limit.clone());
        index
    }

    fn target(&mut self, account: &Account, deployment: &Deployment) -> Vec<usize> {
        let families = account
            .families
            .iter()
            .filter(|family| family.covers(deployment))
            .flat_map(|family| &family.limits);
        let limits = account
            .limits
            .iter()
            .chain(families)
            .chain(&deployment.limits);
        let mut target: Vec<usize> = limits.map(|limit| self.index(limit)).collect();
        target.sort_unstable();
        target
    }
}

impl Family {
    /// Whether every request through `deployment` goes to a model of this family.
    pub(crate) fn covers(&self, deployment: &Deployment) -> bool {
        self.models
            .iter()
            .any(|models| reach(models, deployment) == Reach::All)
    }
}

/// How many of a deployment's requests go to certain models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    None,
    /// It depends on the request.
    Some,
    All,
}

/// How many of `deployment`'s requests go to `models`.
pub(crate) fn reach(models: &Pattern, deployment: &Deployment) -> Reach {
    let model = match (&deployment.model, &deployment.pattern) {
        (UpstreamModel::Named(model), _) | (UpstreamModel::Requested, Pattern::Exact(model)) => {
            return if models.matches(model) {
                Reach::All
            } else {
                Reach::None
            };
        }
        (UpstreamModel::Requested, Pattern::Prefix(prefix)) => prefix,
    };
    match models {
        Pattern::Prefix(stem) if model.starts_with(stem.as_str()) => Reach::All,
        Pattern::Prefix(name) | Pattern::Exact(name) if name.starts_with(model.as_str()) => {
            Reach::Some
        }
        _ => Reach::None,
    }
}
