//! Routes: names of deployments to destinations, and what would make a route lead in a circle or nowhere.

use std::sync::Arc;

use sluicegate_core::{Balance, Condition, Lane};

use super::pattern;
use super::server::timeouts;
use crate::checked::{Data, Named, Section, Text, Value};
use crate::errors::Problems;
use crate::route::{Destination, Fallback, Origin, Route};
use crate::shape::{listed, nearest};
use crate::{Deployment, Pattern, UpstreamModel};

/// The routes of the file, then those of the deployments to themselves. Names are looked at also where `deployments` are
/// broken, of which `names` are then still known.
pub(super) fn routes(
    entries: &[Named],
    names: &[Named],
    deployments: Option<&[Deployment]>,
    problems: &mut Problems,
) -> Option<Vec<Route>> {
    let known = Known::new(names, entries, deployments);
    let written: Vec<Option<Route>> = entries
        .iter()
        .map(|entry| route(entry, &known, problems))
        .collect();
    let mut routes = written.into_iter().collect::<Option<Vec<_>>>()?;
    let own = deployments?.iter().enumerate().filter(|(_, deployment)| {
        let mut entries = entries.iter();
        entries.all(|entry| entry.name != deployment.name)
    });
    routes.extend(own.map(|(index, deployment)| Route::of(index, deployment)));
    Some(routes)
}

fn route(entry: &Named, known: &Known<'_>, problems: &mut Problems) -> Option<Route> {
    let Data::Section(section) = &entry.value.data else {
        return None;
    };
    let own = pattern(&entry.name);
    if let Err(why) = &own {
        problems.add(
            entry.at,
            &entry.value.path,
            format!("not a name for a route: {why}"),
        );
    }
    let mut reader = Reader {
        section,
        own: own.as_ref().ok(),
        known,
        problems,
    };
    let primary = reader.primary();
    let fallbacks = reader.fallbacks(primary.as_deref());
    let degrade_to = reader.degrade_to(primary.as_deref());
    let balance = reader.balance(primary.as_deref());
    reader.refuse_simple_alone();
    Some(Route {
        name: Arc::from(entry.name.as_str()),
        pattern: own.ok()?,
        origin: Origin::Written,
        primary: primary?,
        balance: balance?,
        fallbacks: fallbacks?,
        degrade_to: degrade_to?,
        lane: section.word("lane").and_then(Lane::from_name),
        simple: section.flag("simple")?,
        lossy: section.word("lossy")? == "allow",
        output_floor: section.count("output_floor")?,
        template: section
            .text("template")
            .map(|text| Arc::from(text.value.as_str())),
        raise_cap: section.count("raise_cap"),
    })
}

/// Reads one route.
struct Reader<'a, 'p> {
    section: &'a Section,
    /// `None` where the route's own name is broken.
    own: Option<&'a Pattern>,
    known: &'a Known<'a>,
    problems: &'p mut Problems,
}

impl<'a> Reader<'a, '_> {
    fn primary(&mut self) -> Option<Vec<Destination>> {
        let value = self.section.value("primary")?;
        let items = match &value.data {
            Data::List(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        // Every one is looked at before any is missed.
        let targets: Vec<_> = items.iter().map(|item| self.target(item)).collect();
        let mut pool: Vec<Destination> = Vec::new();
        for (item, target) in items.iter().zip(targets) {
            let target = target?;
            if pool.iter().any(|other| other.is_same(&target)) {
                self.refuse(item, "stands twice in the pool", "remove one of the two");
            }
            pool.push(target);
        }
        Some(pool)
    }

    fn fallbacks(&mut self, primary: Option<&[Destination]>) -> Option<Vec<Fallback>> {
        let mut fallbacks: Vec<Fallback> = Vec::new();
        let mut are_whole = !self.section.is_broken("fallbacks");
        for item in self.section.list("fallbacks") {
            let Some(fallback) = self.fallback(item, &ON_FAILURE) else {
                are_whole = false;
                continue;
            };
            let to = &fallback.to;
            if is_in(primary, to) {
                let what = "is where the route goes anyway";
                self.refuse_target(
                    item,
                    what,
                    "name another deployment, or remove the fallback",
                );
            } else if fallbacks.iter().any(|other| other.to.is_same(to)) {
                let what = "is a fallback already";
                self.refuse_target(item, what, "write one fallback with the conditions of both");
            }
            fallbacks.push(fallback);
        }
        are_whole.then_some(fallbacks)
    }

    /// The outer `None` where it is broken.
    #[expect(
        clippy::option_option,
        reason = "none written and none possible differ"
    )]
    fn degrade_to(&mut self, primary: Option<&[Destination]>) -> Option<Option<Fallback>> {
        let Some(value) = self.section.value("degrade_to") else {
            return Some(None);
        };
        let fallback = self.fallback(value, &[Condition::BatchLowPriority])?;
        // Of a pool one may be the smaller.
        let only = primary.filter(|primary| primary.len() == 1);
        if is_in(only, &fallback.to) {
            let what = "is where the route goes anyway";
            self.refuse_target(
                value,
                what,
                "name a smaller deployment, or remove degrade_to",
            );
        }
        Some(Some(fallback))
    }

    fn fallback(&mut self, value: &'a Value, unless_said: &[Condition]) -> Option<Fallback> {
        let Data::Section(section) = &value.data else {
            return None;
        };
        let to = self.target(section.value("to")?);
        let mut when = unless_said.to_vec();
        if section.has("when") {
            when.clear();
            for item in section.list("when") {
                let condition = condition(item)?;
                if !when.contains(&condition) {
                    when.push(condition);
                }
            }
        }
        Some(Fallback {
            to: to?,
            when: (!when.is_empty()).then_some(when)?,
        })
    }

    fn balance(&mut self, primary: Option<&[Destination]>) -> Option<Balance> {
        let word = self.section.word("balance")?;
        let balance = Balance::ALL.into_iter().find(|way| way.name() == word)?;
        let pool = primary.unwrap_or_default();
        let deployments = self.known.deployments.unwrap_or_default();
        let mut pool = pool.iter().map(|to| &deployments[to.deployment]);
        if balance == Balance::Price
            && let Some(free) = pool.find(|deployment| deployment.price.is_none())
        {
            let what = format!("deployment \"{}\" has no price", free.name);
            let value = self.section.value("balance")?;
            self.refuse(value, &what, "write a price at each deployment of the pool");
        }
        Some(balance)
    }

    fn refuse_simple_alone(&mut self) {
        if self.section.flag("simple") == Some(true)
            && !self.section.has("degrade_to")
            && let Some(value) = self.section.value("simple")
        {
            let what = "there is no smaller deployment to go to";
            self.refuse(value, what, "add degrade_to, or remove simple");
        }
    }

    fn target(&mut self, value: &'a Value) -> Option<Destination> {
        let Data::Text(name) = &value.data else {
            return None;
        };
        let Some(found) = self.known.find(&name.value) else {
            self.known.refuse_unknown(name, value, self.problems);
            return None;
        };
        let deployment = self.known.deployments?.get(found.deployment)?;
        let model = match (&deployment.model, found.model) {
            (UpstreamModel::Named(model), _) => UpstreamModel::Named(model.clone()),
            (UpstreamModel::Requested, Some(model)) => UpstreamModel::Named(model.to_owned()),
            (UpstreamModel::Requested, None) => {
                self.passed_through(name, value, deployment)?;
                UpstreamModel::Requested
            }
        };
        Some(Destination {
            deployment: found.deployment,
            model,
            timeouts: timeouts(self.section.section("timeouts"), deployment.timeouts),
        })
    }

    /// Whether the requested name may pass through this route to a wildcard: all names that lead here have to be models of it.
    fn passed_through(
        &mut self,
        name: &Text,
        value: &Value,
        deployment: &Deployment,
    ) -> Option<()> {
        let own = self.own?;
        let what = match own {
            Pattern::Prefix(_) if deployment.pattern.covers(own) => return Some(()),
            Pattern::Prefix(_) => "and not all names of this route are models of it",
            Pattern::Exact(_) => "and the name of this route is no model",
        };
        let what = format!("{} passes the requested name on, {what}", name.shown);
        self.refuse(value, &what, "name one model in place of the *");
        None
    }

    fn refuse(&mut self, value: &Value, what: &str, mend: &str) {
        self.problems.add(value.at, &value.path, what).mend(mend);
    }

    /// Refuses where a fallback leads.
    fn refuse_target(&mut self, fallback: &Value, what: &str, mend: &str) {
        if let Data::Section(section) = &fallback.data
            && let Some(to) = section.value("to")
        {
            self.refuse(to, what, mend);
        }
    }
}

fn is_in(pool: Option<&[Destination]>, to: &Destination) -> bool {
    pool.is_some_and(|pool| pool.iter().any(|other| other.is_same(to)))
}

/// A fallback's conditions where none are written: what keeps a deployment from answering. Content that one provider refused is
/// shown to another, and batch sent to a smaller model, only where that is asked for.
const ON_FAILURE: [Condition; 6] = [
    Condition::Provider5xx,
    Condition::RateLimitAfterRetryBudget,
    Condition::Capacity,
    Condition::ContextLengthNeeded,
    Condition::PrimaryUnavailable,
    Condition::Timeout,
];

fn condition(value: &Value) -> Option<Condition> {
    let Data::Word(word) = value.data else {
        return None;
    };
    let mut all = Condition::ALL.into_iter();
    all.find(|condition| condition.name() == word)
}

/// The names that a route may lead to.
struct Known<'a> {
    names: Vec<(&'a str, Pattern)>,
    routes: &'a [Named],
    /// In the order of `names`; `None` where one is broken.
    deployments: Option<&'a [Deployment]>,
}

/// What a name in a route means.
struct Found<'a> {
    /// The index of the deployment.
    deployment: usize,
    /// The one model that is meant of a wildcard.
    model: Option<&'a str>,
}

impl<'a> Known<'a> {
    fn new(names: &'a [Named], routes: &'a [Named], deployments: Option<&'a [Deployment]>) -> Self {
        let names = names.iter().map(|entry| {
            let exact = |_| Pattern::Exact(entry.name.clone());
            let pattern = pattern(&entry.name).unwrap_or_else(exact);
            (entry.name.as_str(), pattern)
        });
        Self {
            names: names.collect(),
            routes,
            deployments,
        }
    }

    /// The deployment of exactly that name, else the one of the longest wildcard that matches, for this one model.
    fn find<'n>(&self, name: &'n str) -> Option<Found<'n>> {
        if let Some(deployment) = self.names.iter().position(|(known, _)| *known == name) {
            let model = None;
            return Some(Found { deployment, model });
        }
        let names = self.names.iter().enumerate();
        let (deployment, _) = names
            .filter(|(_, (_, pattern))| !name.contains('*') && pattern.matches(name))
            .max_by_key(|(_, (_, pattern))| pattern.closeness())?;
        let model = Some(name);
        Some(Found { deployment, model })
    }

    fn refuse_unknown(&self, name: &Text, value: &Value, problems: &mut Problems) {
        let names = || self.names.iter().map(|(name, _)| *name);
        let what = format!("no deployment {}", name.shown);
        let problem = problems.add(value.at, &value.path, what);
        if self.routes.iter().any(|route| route.name == name.value) {
            problem.mend("it is a route, and routes lead to deployments only: name one");
            return;
        }
        match nearest(&name.value, names()) {
            Some(near) => problem.mend(format!("did you mean \"{near}\"?")),
            None => problem.expected(listed(names().take(10))),
        };
    }
}
