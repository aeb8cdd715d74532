//! How well each upstream serves: its breaker, what retries may still add to its calls, how fast it answers.
//!
//! Kept by the deployment's name, beside the snapshots: what is known of an upstream survives an edit of the configuration. A
//! deployment that is configured no longer lets through what still goes to it, and nothing is learned of it. Of a wildcard each
//! model is an upstream of its own: that one is short of capacity says nothing of the others.
//!
//! One lock for all, held for as long as a comparison takes. It must not know what a route is.

mod known;
mod passed;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sluicegate_config::Policy;
use sluicegate_core::{
    Breaker, BreakerState, Elsewhere, ErrorClass, FailureKind, Passage, Prospect, RetryBudget,
    RetryBudgetRule, Timestamp,
};
use tokio::sync::Notify;

use crate::notices::Notices;
use known::Known;

pub(crate) use passed::Passed;

/// The health of all upstreams.
#[derive(Debug)]
pub(crate) struct Health {
    deployments: Mutex<BTreeMap<String, Known>>,
    notices: Arc<Notices>,
    /// A call has ended: who waits for a probe asks again.
    ended: Notify,
    /// An upstream is left alone from now on: who waits for room there may go elsewhere.
    left_alone: Notify,
}

/// One addressable upstream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Whose<'a> {
    /// The deployment's name.
    pub(crate) deployment: &'a str,
    /// Which model of it, where it is a wildcard.
    pub(crate) model: Option<&'a str>,
}

impl Health {
    pub(crate) fn new(notices: Arc<Notices>) -> Self {
        Self {
            deployments: Mutex::default(),
            notices,
            ended: Notify::new(),
            left_alone: Notify::new(),
        }
    }

    /// Holds to `policy` from now on; what is known of deployments that are still there stays.
    pub(crate) fn reconfigure(&self, policy: &Policy) {
        let mut known = self.known();
        let mut before = std::mem::take(&mut *known);
        for deployment in &policy.deployments {
            let account = &policy.accounts[deployment.account].name;
            let (breaker, budget) = (deployment.breaker, policy.retry.budget);
            let kept = before.remove(&deployment.name);
            let kept = kept.filter(|kept| kept.account == *account);
            let mut kept = kept.unwrap_or_else(|| Known::new(account, breaker, budget));
            kept.reconfigure(breaker, budget);
            known.insert(deployment.name.clone(), kept);
        }
    }

    /// When the breaker of `whose` lets a request pass that could go `elsewhere`.
    pub(crate) fn passes(
        &self,
        whose: Whose<'_>,
        elsewhere: Elsewhere,
        now: Timestamp,
    ) -> Prospect {
        let known = self.known();
        let Some(known) = known.get(whose.deployment) else {
            return Prospect::At(now);
        };
        let from = known.of(whose.model).breaker.passes_from(elsewhere, now);
        from.map_or(Prospect::OnRelease, Prospect::At)
    }

    /// Passes the breaker of `whose`.
    ///
    /// # Errors
    ///
    /// Where it does not let the request pass: when it would.
    pub(crate) fn pass(
        self: &Arc<Self>,
        whose: Whose<'_>,
        elsewhere: Elsewhere,
        now: Timestamp,
    ) -> Result<Passed, Prospect> {
        let mut known = self.known();
        let known = known.get_mut(whose.deployment);
        let passage = known.map(|known| known.own(whose.model).breaker.ask(elsewhere, now));
        let pass = match passage {
            None => None,
            Some(Passage::Flows(pass) | Passage::Probe(pass)) => Some(pass),
            Some(Passage::NotBefore(until)) => return Err(Prospect::At(until)),
            Some(Passage::AfterProbe) => return Err(Prospect::OnRelease),
        };
        Ok(Passed::new(Arc::clone(self), whose, pass))
    }

    /// What `ask` says of the budget of retries to `whose`.
    pub(crate) fn with_budget<R>(
        &self,
        whose: Whose<'_>,
        ask: impl FnOnce(&mut RetryBudget) -> R,
    ) -> R {
        match self.known().get_mut(whose.deployment) {
            Some(known) => ask(&mut known.own(whose.model).budget),
            None => ask(&mut RetryBudget::new(RetryBudgetRule::default())),
        }
    }

    /// How long the first byte of `whose` took of late.
    pub(crate) fn latency(&self, whose: Whose<'_>) -> Option<Duration> {
        self.known()
            .get(whose.deployment)?
            .of(whose.model)
            .latency()
    }

    /// Whether `whose` is left alone at `now` because it limits, and not because it fails.
    pub(crate) fn is_limiting(&self, whose: Whose<'_>, now: Timestamp) -> bool {
        let limits = |kind| {
            matches!(
                kind,
                FailureKind::Answered(ErrorClass::Rate | ErrorClass::Ramp | ErrorClass::Daily)
            )
        };
        let known = self.known();
        known.get(whose.deployment).is_some_and(|known| {
            let one = known.of(whose.model);
            one.breaker.held_until(now).is_some() && one.held_for.is_some_and(limits)
        })
    }

    /// No key of `account` works: its deployments are left alone where others are.
    pub(crate) fn bench_account(&self, account: &str, now: Timestamp) {
        self.bench(account, None, now);
        self.left_alone.notify_waiters();
    }

    /// The state of every breaker, by deployment, and of a wildcard by model behind it.
    pub(crate) fn states(&self, now: Timestamp) -> Vec<(String, BreakerState)> {
        let known = self.known();
        let states = known.iter().flat_map(|(name, known)| {
            let states = known.all();
            states.map(move |(model, one)| {
                let whose = Whose {
                    deployment: name,
                    model,
                };
                (whose.to_string(), one.breaker.state(now))
            })
        });
        states.collect()
    }

    /// Whether half of the upstreams or more are left alone: then it is load for everybody. One that may be probed is not: were it
    /// load, a lane that is held for it could not send the probe that ends it.
    pub(crate) fn are_left_alone(&self, now: Timestamp) -> bool {
        let known = self.known();
        let (mut left_alone, mut all) = (0, 0);
        for (_, one) in known.values().flat_map(Known::all) {
            all += 1;
            left_alone += usize::from(one.breaker.state(now) == BreakerState::Open);
        }
        left_alone > 0 && 2 * left_alone >= all
    }

    /// Ends when the next call to any upstream has ended.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> {
        self.ended.notified()
    }

    /// Ends when the next upstream is left alone.
    pub(crate) fn left_alone(&self) -> impl Future<Output = ()> {
        self.left_alone.notified()
    }

    fn bench(&self, account: &str, wait: Option<Duration>, now: Timestamp) {
        let mut known = self.known();
        let of_account = known.values_mut();
        for known in of_account.filter(|known| *known.account == *account) {
            known.bench(wait, now);
        }
    }

    /// Changes a breaker; whether that opened it.
    fn change(&self, whose: Whose<'_>, now: Timestamp, change: impl FnOnce(&mut Breaker)) -> bool {
        let mut known = self.known();
        let Some(known) = known.get_mut(whose.deployment) else {
            return false;
        };
        let breaker = &mut known.own(whose.model).breaker;
        let before = breaker.state(now);
        change(breaker);
        let after = breaker.state(now);
        if before != BreakerState::Closed && after == BreakerState::Closed {
            tracing::info!(deployment = %whose, "the breaker closes: it serves again");
        }
        self.ended.notify_waiters();
        before != BreakerState::Open && after == BreakerState::Open
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        // Each upstream's state is whole after every call; whoever panicked left none of them half changed.
        self.deployments
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Display for Whose<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.deployment)?;
        match self.model {
            Some(model) => write!(f, " {model}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use sluicegate_core::Failure;

    use super::*;

    const TWO_OF_ONE: &str = "
accounts:
  a: { provider: openai, base_url: http://127.0.0.1:9 }
  b: { provider: openai, base_url: http://127.0.0.1:9 }
breaker: { consecutive: 2, open: 10s }
deployments: { m: { account: a }, n: { account: a }, o: { account: b } }
";

    fn whose(deployment: &str) -> Whose<'_> {
        let model = None;
        Whose { deployment, model }
    }

    fn health(text: &str) -> Arc<Health> {
        let health = Arc::new(Health::new(Arc::default()));
        health.reconfigure(&policy(text));
        health
    }

    fn policy(text: &str) -> Policy {
        sluicegate_config::parse("a.yaml", text, &|_| None).expect("a valid policy")
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(Duration::from_secs(seconds))
    }

    fn fails(health: &Arc<Health>, deployment: &str, class: ErrorClass, now: Timestamp) {
        let pass = health.pass(whose(deployment), Elsewhere::Impossible, now);
        pass.expect("it passes")
            .failed(&Failure::answered(class), now);
    }

    fn state(health: &Health, deployment: &str, now: Timestamp) -> BreakerState {
        let states: BTreeMap<_, _> = health.states(now).into_iter().collect();
        states[deployment]
    }

    #[test]
    fn one_probe_at_a_time_and_a_dropped_one_makes_room_for_the_next() {
        let health = health(TWO_OF_ONE);
        fails(&health, "m", ErrorClass::Server, at(0));
        fails(&health, "m", ErrorClass::Server, at(0));
        let elsewhere = Elsewhere::Possible;
        assert_eq!(
            health.passes(whose("m"), elsewhere, at(1)),
            Prospect::At(at(10)),
            "it is open"
        );
        let probe = health
            .pass(whose("m"), elsewhere, at(10))
            .expect("the probe");
        let second = health.pass(whose("m"), elsewhere, at(10)).err();
        assert_eq!(second, Some(Prospect::OnRelease));
        drop(probe);
        let probe = health
            .pass(whose("m"), elsewhere, at(11))
            .expect("another one");
        probe.served(at(12));
        assert_eq!(state(&health, "m", at(12)), BreakerState::Closed);
    }

    #[test]
    fn an_account_that_cannot_pay_closes_all_its_deployments_and_no_others() {
        let health = health(TWO_OF_ONE);
        fails(&health, "m", ErrorClass::Billing, at(0));
        for (deployment, expected) in [
            ("m", BreakerState::Open),
            ("n", BreakerState::Open),
            ("o", BreakerState::Closed),
        ] {
            assert_eq!(state(&health, deployment, at(1)), expected, "{deployment}");
        }
    }

    #[test]
    fn what_is_known_survives_an_edit_as_long_as_the_account_is_the_same() {
        let health = health(TWO_OF_ONE);
        fails(&health, "m", ErrorClass::Billing, at(0));
        let moved = TWO_OF_ONE.replace("n: { account: a }", "n: { account: b }");
        health.reconfigure(&policy(&moved));
        assert_eq!(state(&health, "m", at(1)), BreakerState::Open);
        assert_eq!(state(&health, "n", at(1)), BreakerState::Closed);
        let gone = moved.replace("n: { account: b },", "");
        health.reconfigure(&policy(&gone));
        let now = Prospect::At(at(1));
        assert_eq!(health.passes(whose("n"), Elsewhere::Possible, at(1)), now);
        let pass = health.pass(whose("n"), Elsewhere::Possible, at(1));
        pass.expect("it passes").served(at(1));
    }

    #[test]
    fn half_of_the_upstreams_are_load_until_one_may_be_probed() {
        let health = health(&TWO_OF_ONE.replace(", o: { account: b }", ""));
        fails(&health, "m", ErrorClass::Server, at(0));
        assert!(!health.are_left_alone(at(0)));
        fails(&health, "m", ErrorClass::Server, at(0));
        assert!(health.are_left_alone(at(0)));
        assert!(health.are_left_alone(at(9)));
        assert_eq!(state(&health, "m", at(10)), BreakerState::HalfOpen);
        assert!(!health.are_left_alone(at(10)));
    }

    #[test]
    fn latency_follows_the_newest_answers() {
        let health = health(TWO_OF_ONE);
        let pass = health.pass(whose("m"), Elsewhere::Impossible, at(0));
        let pass = pass.expect("it passes");
        assert_eq!(health.latency(whose("m")), None);
        pass.head_took(Duration::from_millis(80));
        assert_eq!(health.latency(whose("m")), Some(Duration::from_millis(80)));
        pass.head_took(Duration::from_millis(160));
        assert_eq!(health.latency(whose("m")), Some(Duration::from_millis(90)));
    }

    #[test]
    fn whether_it_limits_is_remembered_while_it_is_left_alone() {
        let health = health(TWO_OF_ONE);
        let hint = Duration::from_secs(20);
        for (deployment, class, limits) in [
            ("m", ErrorClass::Rate, true),
            ("o", ErrorClass::Overload, false),
        ] {
            let pass = health.pass(whose(deployment), Elsewhere::Impossible, at(0));
            let failure = Failure::answered(class).with_hint(hint);
            pass.expect("it passes").failed(&failure, at(0));
            assert_eq!(
                health.passes(whose(deployment), Elsewhere::Impossible, at(5)),
                Prospect::At(at(20)),
                "also where there is no other"
            );
            assert_eq!(health.is_limiting(whose(deployment), at(5)), limits);
            assert!(!health.is_limiting(whose(deployment), at(20)));
        }
    }
}
