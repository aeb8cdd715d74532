//! Which limits the core counts, and on which of them a request to each deployment is charged: the configured ones, the slots of
//! those whose number is found out as it goes, and what was learned where nothing is configured.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use sluicegate_config::{Deployment, Pattern, Policy, Slots, UpstreamModel};
use sluicegate_core::{
    Authority, BasisPoints, Book, Failures, Headroom, Limit, LimitId, Meter, Mode, Settlement,
    Start, Target, TargetId, Window,
};

use crate::learned_limits::{LearnedLimits, Scope};

/// No upstream is given more requests at once, however fast it answers.
const SLOTS_MAX: NonZeroU64 = NonZeroU64::new(1_000).expect("above zero");

/// The limits and targets of a policy.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) limits: Vec<Limit>,
    /// One for each deployment, in their order; behind them those of [`extend`](Self::extend).
    pub(crate) targets: Vec<Target>,
}

impl Books {
    /// What `policy` configures.
    pub(crate) fn of(policy: &Policy) -> Self {
        let ledgers = policy.ledgers();
        let target = |(deployment, limits): (&Deployment, &Vec<usize>)| Target {
            name: deployment.name.as_str().into(),
            limits: limits.iter().map(|&limit| LimitId::new(limit)).collect(),
        };
        let targets = policy.deployments.iter().zip(&ledgers.targets).map(target);
        let mut books = Self {
            targets: targets.collect(),
            limits: ledgers.limits,
        };
        for (index, deployment) in policy.deployments.iter().enumerate() {
            if deployment.slots == Slots::Adaptive {
                books.find_slots(policy, index);
            }
        }
        books
    }

    /// Adds the slots of a deployment, which those of one account and model share.
    fn find_slots(&mut self, policy: &Policy, index: usize) {
        let limit = slots_of(policy, index);
        let mut limits = self.limits.iter();
        let known = limits.position(|known| known.name == limit.name);
        let id = LimitId::new(known.unwrap_or(self.limits.len()));
        if known.is_none() {
            self.limits.push(limit);
        }
        self.targets[index].limits.push(id);
    }

    /// Adds what was learned of meters that are not configured. A model of a wildcard gets a target of its own, since the others
    /// have other limits: these by deployment and model.
    pub(crate) fn extend(
        &mut self,
        policy: &Policy,
        learned: &LearnedLimits,
    ) -> BTreeMap<(usize, String), TargetId> {
        let mut model_targets = BTreeMap::new();
        for scope in learned.scopes() {
            for index in 0..policy.deployments.len() {
                let serves = serves(policy, index, scope);
                if serves == Serves::Nothing {
                    continue;
                }
                let ids = self.index_learned(index, learned.of(scope));
                if ids.is_empty() {
                    continue;
                }
                if serves == Serves::Alone {
                    self.targets[index].limits.extend(ids);
                    continue;
                }
                let mut target = self.targets[index].clone();
                target.name = Arc::from(format!("{} {}", target.name, scope.model));
                target.limits.extend(ids);
                let id = TargetId::new(self.targets.len());
                model_targets.insert((index, scope.model.clone()), id);
                self.targets.push(target);
            }
        }
        model_targets
    }

    /// Those of `learned` whose meters no limit of a deployment counts.
    fn index_learned(&mut self, deployment: usize, learned: &[Limit]) -> Vec<LimitId> {
        let configured = &self.targets[deployment].limits;
        let meters: Vec<_> = configured
            .iter()
            .map(|id| self.limits[id.index()].meter)
            .collect();
        let learned = learned
            .iter()
            .filter(|limit| !meters.contains(&limit.meter));
        let mut ids = Vec::new();
        for limit in learned {
            let known = self.limits.iter().position(|known| known == limit);
            ids.push(LimitId::new(known.unwrap_or(self.limits.len())));
            if known.is_none() {
                self.limits.push(limit.clone());
            }
        }
        ids
    }
}

/// The slots of a deployment, as many as it serves without slowing down.
fn slots_of(policy: &Policy, index: usize) -> Limit {
    let deployment = &policy.deployments[index];
    let account = &policy.accounts[deployment.account].name;
    let name = match (&deployment.model, &deployment.pattern) {
        (UpstreamModel::Named(model), _) | (UpstreamModel::Requested, Pattern::Exact(model)) => {
            format!("account {account} model {model} concurrent adaptive")
        }
        (UpstreamModel::Requested, Pattern::Prefix(_)) => {
            format!("deployment {} concurrent adaptive", deployment.name)
        }
    };
    Limit {
        name: name.into(),
        meter: Meter::Concurrent,
        amount: SLOTS_MAX,
        window: Window::Adaptive,
        quantum: None,
        headroom: Headroom::Share(BasisPoints::WHOLE),
        start: Start::Full,
        mode: Mode::Enforce,
        settlement: Settlement::Keep,
        failures: Failures::Count,
        arrival_spread: Duration::ZERO,
        authority: Authority::Local,
        book: Book::Mirror,
    }
}

/// What a deployment has to do with a model of an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Serves {
    Nothing,
    /// It asks for this model always.
    Alone,
    /// It asks for this one among others.
    AmongOthers,
}

fn serves(policy: &Policy, index: usize, scope: &Scope) -> Serves {
    let deployment = &policy.deployments[index];
    if policy.accounts[deployment.account].name != scope.account {
        return Serves::Nothing;
    }
    match (&deployment.model, &deployment.pattern) {
        (UpstreamModel::Named(model), _) | (UpstreamModel::Requested, Pattern::Exact(model)) => {
            if *model == scope.model {
                Serves::Alone
            } else {
                Serves::Nothing
            }
        }
        (UpstreamModel::Requested, Pattern::Prefix(_)) => match policy.find(&scope.model) {
            Some((found, _)) if found == index => Serves::AmongOthers,
            _ => Serves::Nothing,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_core::{Meter, Signal, Timestamp};

    const POLICY: &str = r#"
accounts:
  up: { provider: openai, api_key: k, limits: { rpm: 10 } }
  other: { provider: openai, api_key: k }
deployments:
  alias: { account: up, model: one }
  one: { account: up }
  "*": { account: up }
  elsewhere: { account: other, model: one }
  "o*": { account: other }
"#;

    fn books(told: &[(Meter, &str)]) -> (Books, Vec<(usize, String)>) {
        let policy = sluicegate_config::parse("a.yaml", POLICY, &|_| None).expect("it is valid");
        let mut learned = LearnedLimits::default();
        for &(meter, model) in told {
            let scope = Scope {
                account: "up".into(),
                model: model.to_owned(),
            };
            let signal = Signal {
                limit: Some(500),
                per: Some(std::time::Duration::from_secs(60)),
                ..Signal::on(meter)
            };
            let limit = LearnedLimits::told(&policy.accounts[0], &scope, &signal);
            let news = learned.with(&scope, limit.into_iter(), Timestamp::ZERO);
            learned = news.expect("it is new").limits;
        }
        let mut books = Books::of(&policy);
        let models = books.extend(&policy, &learned);
        (books, models.into_keys().collect())
    }

    fn charged_on(books: &Books) -> Vec<(&str, Vec<&str>)> {
        let name = |id: &LimitId| &*books.limits[id.index()].name;
        let targets = books.targets.iter();
        targets
            .map(|target| (&*target.name, target.limits.iter().map(name).collect()))
            .collect()
    }

    #[test]
    fn a_learned_limit_is_charged_wherever_its_model_is_asked_for() {
        let (books, models) = books(&[(Meter::Tokens, "one"), (Meter::Tokens, "two")]);
        assert_eq!(models, [(2, "two".to_owned())]);
        let requests = "account up requests/60s";
        let one = "account up model one learned tokens/60s";
        let two = "account up model two learned tokens/60s";
        assert_eq!(
            charged_on(&books),
            [
                ("alias", vec![requests, one]),
                ("one", vec![requests, one]),
                ("*", vec![requests]),
                ("elsewhere", vec![]),
                ("o*", vec![]),
                ("* two", vec![requests, two]),
            ]
        );
    }

    #[test]
    fn slots_that_are_found_out_are_shared_by_an_account_and_model() {
        let text = r#"
accounts: { up: { provider: vllm, base_url: http://127.0.0.1:9, limits: { concurrent: auto } } }
deployments: { alias: { account: up, model: one }, one: { account: up }, "*": { account: up } }
"#;
        let policy = sluicegate_config::parse("a.yaml", text, &|_| None).expect("it is valid");
        let books = Books::of(&policy);
        let one = "account up model one concurrent adaptive";
        assert_eq!(
            charged_on(&books),
            [
                ("alias", vec![one]),
                ("one", vec![one]),
                ("*", vec!["deployment * concurrent adaptive"]),
            ]
        );
    }

    #[test]
    fn a_configured_meter_is_not_learned() {
        let (books, models) = books(&[(Meter::Requests, "one"), (Meter::Requests, "two")]);
        assert_eq!(models, []);
        assert_eq!(books.limits.len(), 1);
    }
}
