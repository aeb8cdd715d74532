//! Deployments: what a client may name, and the upstream that answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::account::Slot;
use super::failures::breaker;
use super::limits::{Scope, limits, slots};
use super::pattern;
use super::server::timeouts;
use crate::checked::{Data, Named, Section};
use crate::errors::Problems;
use crate::ledgers::{Reach, reach};
use crate::shape::{listed, nearest};
use crate::{Account, Deployment, Pattern, Price, Slots, UpstreamModel};

pub(super) fn deployments(
    entries: &[Named],
    accounts: &[Slot<'_>],
    problems: &mut Problems,
) -> Option<Vec<Deployment>> {
    let drafts: Vec<Option<Draft<'_>>> = entries
        .iter()
        .map(|entry| Draft::read(entry, accounts, problems))
        .collect();
    let patterns: Vec<&Pattern> = drafts
        .iter()
        .flatten()
        .map(|draft| &draft.pattern)
        .collect();
    let names = ledger_names(drafts.iter().flatten());
    let mut shared: BTreeMap<Upstream, Deployment> = BTreeMap::new();
    let deployments = drafts.iter().map(|draft| {
        let draft = draft.as_ref()?;
        let account = accounts[draft.account].account.as_ref()?;
        let mut deployment = draft.deployment(account, names[&draft.upstream()], problems);
        draft.check_families(account, &deployment, &patterns, problems);
        match shared.get(&draft.upstream()) {
            Some(first) => draft.share(first, &mut deployment, problems),
            None => {
                shared.insert(draft.upstream(), deployment.clone());
            }
        }
        Some(deployment)
    });
    // Every one is looked at before any is missed.
    let deployments: Vec<Option<Deployment>> = deployments.collect();
    deployments.into_iter().collect()
}

/// What has limits of its own: an account's model, or, where the requested name passes through, the entry.
type Upstream = (usize, UpstreamModel, Option<Pattern>);

/// A deployment of which only the name, account and model are known.
struct Draft<'a> {
    name: &'a str,
    section: &'a Section,
    pattern: Pattern,
    account: usize,
    model: UpstreamModel,
}

/// For each upstream the first name, in the order of the alphabet, of the deployments that share its limits: the order of the
/// file may change without a limit losing its count.
fn ledger_names<'a>(drafts: impl Iterator<Item = &'a Draft<'a>>) -> BTreeMap<Upstream, &'a str> {
    let mut names = BTreeMap::new();
    for draft in drafts {
        names
            .entry(draft.upstream())
            .and_modify(|name: &mut &str| *name = draft.name.min(*name))
            .or_insert(draft.name);
    }
    names
}

impl<'a> Draft<'a> {
    fn read(entry: &'a Named, accounts: &[Slot<'_>], problems: &mut Problems) -> Option<Self> {
        let Data::Section(section) = &entry.value.data else {
            return None;
        };
        let pattern = match pattern(&entry.name) {
            Ok(pattern) => Some(pattern),
            Err(why) => {
                problems.add(
                    entry.at,
                    &entry.value.path,
                    format!("not a name for a deployment: {why}"),
                );
                None
            }
        };
        let account = account(section, accounts, problems);
        let pattern = pattern?;
        Some(Self {
            name: &entry.name,
            section,
            model: model(section, &pattern, problems)?,
            account: account?,
            pattern,
        })
    }

    fn upstream(&self) -> Upstream {
        let pattern = match self.model {
            UpstreamModel::Named(_) => None,
            UpstreamModel::Requested => Some(self.pattern.clone()),
        };
        (self.account, self.model.clone(), pattern)
    }

    fn deployment(
        &self,
        account: &Account,
        ledger_name: &str,
        problems: &mut Problems,
    ) -> Deployment {
        let scope = Scope {
            name: format!("deployment {ledger_name}"),
            provider: Arc::clone(&account.provider),
            headroom: account.headroom,
        };
        Deployment {
            name: self.name.to_owned(),
            pattern: self.pattern.clone(),
            account: self.account,
            model: self.model.clone(),
            limits: limits(self.section.value("limits"), &scope, problems),
            context: self.section.count("context"),
            price: self.section.section("price").and_then(price),
            timeouts: timeouts(self.section.section("timeouts"), account.timeouts),
            breaker: breaker(self.section.section("breaker"), account.breaker),
            slots: match account.slots {
                Slots::Adaptive => Slots::Adaptive,
                Slots::Limited => slots(self.section.value("limits")),
            },
            output_default: self.section.count("output_default"),
        }
    }

    /// A family's limits apply to all of a deployment's requests or to none: else they could not be metered. The models that
    /// another deployment answers for, because its name is closer, are none of this one's.
    fn check_families(
        &self,
        account: &Account,
        deployment: &Deployment,
        patterns: &[&Pattern],
        problems: &mut Problems,
    ) {
        for family in &account.families {
            if family.covers(deployment) {
                continue;
            }
            let elsewhere = |models: &Pattern| {
                let mut others = patterns.iter();
                others.any(|other| is_closer(other, &self.pattern) && other.covers(models))
            };
            let mut models = family.models.iter();
            if models.any(|models| reach(models, deployment) == Reach::Some && !elsewhere(models)) {
                problems
                    .add(
                        self.section.at,
                        &self.section.path,
                        format!(
                            "some of its requests fall under the family \"{}\" of account \"{}\" and some do not",
                            family.name, account.name
                        ),
                    )
                    .mend("add a deployment for each of the family's models, so that these requests go there");
            }
        }
    }

    /// Deployments of one account and model are one thing to the provider.
    fn share(&self, first: &Deployment, deployment: &mut Deployment, problems: &mut Problems) {
        let by_name = |deployment: &Deployment| {
            let mut limits = deployment.limits.clone();
            limits.sort_by(|a, b| a.name.cmp(&b.name));
            limits
        };
        if first.slots == deployment.slots && by_name(first) == by_name(deployment) {
            deployment.limits.clone_from(&first.limits);
            return;
        }
        let (at, path) = match self.section.value("limits") {
            Some(value) => (value.at, &value.path),
            None => (self.section.at, &self.section.path),
        };
        problems
            .add(
                at,
                path,
                format!(
                    "other limits than deployment \"{}\", which is the same account and model",
                    first.name
                ),
            )
            .mend("write the same limits at both: they share one ledger");
    }
}

/// Whether a request that fits both goes to `a`.
fn is_closer(a: &Pattern, b: &Pattern) -> bool {
    match (a, b) {
        (Pattern::Exact(_), Pattern::Prefix(_)) => true,
        (Pattern::Prefix(a), Pattern::Prefix(b)) => a.len() > b.len(),
        (_, Pattern::Exact(_)) => false,
    }
}

fn account(section: &Section, accounts: &[Slot<'_>], problems: &mut Problems) -> Option<usize> {
    let name = section.text("account")?;
    let found = accounts.iter().position(|slot| slot.name == name.value);
    if found.is_none() {
        let value = section.value("account")?;
        let known = || accounts.iter().map(|slot| slot.name);
        let problem = problems.add(value.at, &value.path, format!("no account {}", name.shown));
        match nearest(&name.value, known()) {
            Some(near) => problem.mend(format!("did you mean \"{near}\"?")),
            None => problem.expected(listed(known().take(10))),
        };
    }
    found
}

fn model(section: &Section, own: &Pattern, problems: &mut Problems) -> Option<UpstreamModel> {
    if !section.has("model") {
        return Some(match own {
            Pattern::Exact(name) => UpstreamModel::Named(name.clone()),
            Pattern::Prefix(_) => UpstreamModel::Requested,
        });
    }
    let model = section.text("model")?;
    let value = section.value("model")?;
    match (model.value.as_str(), own) {
        ("*", Pattern::Prefix(_)) => Some(UpstreamModel::Requested),
        ("*", Pattern::Exact(_)) => {
            problems
                .add(
                    value.at,
                    &value.path,
                    "\"*\" needs a deployment whose name ends in *",
                )
                .mend("name the provider's model, or end the deployment's name in *");
            None
        }
        (name, _) if name.contains('*') => {
            problems
                .add(
                    value.at,
                    &value.path,
                    format!("{} is not one model", model.shown),
                )
                .expected("a model's name, or \"*\" alone for the requested one");
            None
        }
        (name, _) => Some(UpstreamModel::Named(name.to_owned())),
    }
}

fn price(section: &Section) -> Option<Price> {
    let input_micros = section.dollars("input")?;
    Some(Price {
        input_micros,
        cached_input_micros: section.dollars("cached_input").unwrap_or(input_micros),
        output_micros: section.dollars("output")?,
    })
}
