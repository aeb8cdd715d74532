//! What is known of one deployment, and of each model where it is a wildcard.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sluicegate_core::{
    Breaker, BreakerRule, BreakerState, FailureKind, RetryBudget, RetryBudgetRule, Timestamp,
};

/// Models of one wildcard that are told apart. Clients name them, so there is a bound: a further one takes the place of the one that
/// was used least lately and of which nothing bad is known, or shares what is known of the deployment.
const MODELS_MAX: usize = 256;
/// The newest answer counts for so much of the latency: one in eight.
const LATENCY_SHARE: u32 = 8;

/// What is known of a deployment.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) account: Arc<str>,
    /// Of a wildcard it is what concerns every model: how one begins of which nothing is known.
    one: One,
    models: BTreeMap<String, One>,
    /// How often a model's own was asked for.
    uses: u64,
}

/// What is known of one upstream.
#[derive(Clone, Debug)]
pub(super) struct One {
    pub(super) breaker: Breaker,
    pub(super) budget: RetryBudget,
    latency: Option<Duration>,
    /// What it asked to be left alone for, when it last did.
    pub(super) held_for: Option<FailureKind>,
    /// Which use it was the last one of.
    used: u64,
}

impl Known {
    pub(super) fn new(account: &Arc<str>, breaker: BreakerRule, budget: RetryBudgetRule) -> Self {
        Self {
            account: Arc::clone(account),
            one: One {
                breaker: Breaker::new(breaker),
                budget: RetryBudget::new(budget),
                latency: None,
                held_for: None,
                used: 0,
            },
            models: BTreeMap::new(),
            uses: 0,
        }
    }

    pub(super) fn reconfigure(&mut self, breaker: BreakerRule, budget: RetryBudgetRule) {
        for one in self.each() {
            one.breaker.reconfigure(breaker);
            one.budget.reconfigure(budget);
        }
    }

    /// What is known of `model`, to look at.
    pub(super) fn of(&self, model: Option<&str>) -> &One {
        let known = model.and_then(|model| self.models.get(model));
        known.unwrap_or(&self.one)
    }

    /// What is known of `model`, to change: its own from now on.
    pub(super) fn own(&mut self, model: Option<&str>) -> &mut One {
        let Some(model) = model else {
            return &mut self.one;
        };
        if !self.models.contains_key(model) {
            if self.models.len() >= MODELS_MAX && !self.forget_one() {
                return &mut self.one;
            }
            self.models.insert(model.to_owned(), self.one.clone());
        }
        self.uses += 1;
        let own = self.models.get_mut(model);
        let own = own.expect("it was there or has just been put there");
        own.used = self.uses;
        own
    }

    /// Makes room for another model. False where something bad is known of every one.
    fn forget_one(&mut self) -> bool {
        let well = self.models.iter().filter(|(_, one)| one.is_well());
        let oldest = well.min_by_key(|(_, one)| one.used);
        let oldest = oldest.map(|(model, _)| model.clone());
        oldest.is_some_and(|model| self.models.remove(&model).is_some())
    }

    /// The account as a whole is of no use for `wait`.
    pub(super) fn bench(&mut self, wait: Option<Duration>, now: Timestamp) {
        for one in self.each() {
            one.breaker.bench(wait, now);
        }
    }

    /// All of it; models by their names.
    pub(super) fn all(&self) -> impl Iterator<Item = (Option<&str>, &One)> {
        let models = self.models.iter();
        let models = models.map(|(model, one)| (Some(model.as_str()), one));
        std::iter::once((None, &self.one)).chain(models)
    }

    fn each(&mut self) -> impl Iterator<Item = &mut One> {
        std::iter::once(&mut self.one).chain(self.models.values_mut())
    }
}

impl One {
    /// Whether nothing of it need be remembered.
    fn is_well(&self) -> bool {
        // A closed one is closed at any time.
        let closed = self.breaker.state(Timestamp::ZERO) == BreakerState::Closed;
        closed && self.held_for.is_none()
    }

    /// How long the first byte took of late.
    pub(super) const fn latency(&self) -> Option<Duration> {
        self.latency
    }

    /// The head of an answer took so long.
    pub(super) fn head_took(&mut self, took: Duration) {
        let rest = self
            .latency
            .unwrap_or(took)
            .saturating_mul(LATENCY_SHARE - 1);
        self.latency = Some(rest.saturating_add(took) / LATENCY_SHARE);
    }
}

#[cfg(test)]
mod tests {
    use sluicegate_core::{Elsewhere, ErrorClass, Failure};

    use super::*;

    fn known() -> Known {
        let rule = BreakerRule {
            consecutive: 1,
            ..BreakerRule::default()
        };
        Known::new(&"a".into(), rule, RetryBudgetRule::default())
    }

    fn state(known: &Known, model: Option<&str>) -> BreakerState {
        known.of(model).breaker.state(Timestamp::ZERO)
    }

    fn fails(known: &mut Known, model: Option<&str>) {
        let (breaker, now) = (&mut known.own(model).breaker, Timestamp::ZERO);
        let pass = breaker.ask(Elsewhere::Impossible, now).into_pass();
        let failure = Failure::answered(ErrorClass::Server);
        breaker.failed(pass.expect("it passes"), &failure, now);
    }

    #[test]
    fn one_model_of_a_wildcard_says_nothing_of_the_others() {
        let mut known = known();
        fails(&mut known, Some("x"));
        assert_eq!(state(&known, Some("x")), BreakerState::Open);
        assert_eq!(state(&known, Some("y")), BreakerState::Closed);
        assert_eq!(state(&known, None), BreakerState::Closed);
    }

    #[test]
    fn what_concerns_the_account_concerns_models_that_come_later() {
        let mut known = known();
        known.own(Some("x"));
        known.bench(None, Timestamp::ZERO);
        known.own(Some("y"));
        for model in ["x", "y", "z"] {
            assert_eq!(state(&known, Some(model)), BreakerState::Open, "{model}");
        }
    }

    #[test]
    fn names_that_clients_make_up_take_the_place_of_nothing_bad() {
        let mut known = known();
        fails(&mut known, Some("bad"));
        for model in 0..MODELS_MAX * 2 {
            known.own(Some(&model.to_string()));
        }
        assert_eq!(known.all().count(), MODELS_MAX + 1);
        assert_eq!(state(&known, Some("bad")), BreakerState::Open);
        // The newest are told apart, and one that fails fails alone.
        fails(&mut known, Some("one more"));
        assert_eq!(state(&known, Some("one more")), BreakerState::Open);
        assert_eq!(state(&known, Some("and another")), BreakerState::Closed);
    }

    #[test]
    fn where_all_are_bad_a_further_one_shares_what_is_known_of_the_deployment() {
        let mut known = known();
        for model in 0..MODELS_MAX {
            fails(&mut known, Some(&model.to_string()));
        }
        fails(&mut known, Some("one more"));
        assert_eq!(known.all().count(), MODELS_MAX + 1);
        assert_eq!(state(&known, Some("and another")), BreakerState::Open);
    }
}
