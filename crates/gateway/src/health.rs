//! How well each deployment serves: its breaker, what retries may still add to its calls, how fast it answers.
//!
//! Kept by the deployment's name, beside the snapshots: what is known of an upstream survives an edit of the configuration. A
//! deployment that is configured no longer lets through what still goes to it, and nothing is learned of it.
//!
//! One lock for all, held for as long as a comparison takes. It must not know what a route is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sluicegate_config::Policy;
use sluicegate_core::{
    Breaker, BreakerState, Elsewhere, ErrorClass, Failure, FailureKind, Pass, Passage, Prospect,
    RetryBudget, RetryBudgetRule, Timestamp,
};
use tokio::sync::Notify;

use crate::notices::{Notice, Notices};

/// The newest answer counts for so much of the latency: one in eight.
const LATENCY_SHARE: u32 = 8;

/// The health of all deployments.
#[derive(Debug)]
pub(crate) struct Health {
    deployments: Mutex<BTreeMap<String, Known>>,
    notices: Arc<Notices>,
    /// A call has ended: who waits for a probe asks again.
    ended: Notify,
    /// A deployment is left alone from now on: who waits for room there may go elsewhere.
    left_alone: Notify,
}

#[derive(Debug)]
struct Known {
    account: Arc<str>,
    breaker: Breaker,
    budget: RetryBudget,
    latency: Option<Duration>,
    /// What it asked to be left alone for, when it last did.
    held_for: Option<FailureKind>,
}

/// The right to make one call to a deployment. However the call ends, it is given back once; dropped, it says nothing of the
/// deployment.
#[derive(Debug)]
pub(crate) struct Passed {
    health: Arc<Health>,
    deployment: String,
    /// `None` once it is given back.
    pass: Option<Pass>,
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
            let account = Arc::clone(&policy.accounts[deployment.account].name);
            let kept = before.remove(&deployment.name);
            let mut kept = kept
                .filter(|kept| kept.account == account)
                .unwrap_or_else(|| Known {
                    account,
                    breaker: Breaker::new(deployment.breaker),
                    budget: RetryBudget::new(policy.retry.budget),
                    latency: None,
                    held_for: None,
                });
            kept.breaker.reconfigure(deployment.breaker);
            kept.budget.reconfigure(policy.retry.budget);
            known.insert(deployment.name.clone(), kept);
        }
    }

    /// When the breaker of `deployment` lets a request pass that could go `elsewhere`.
    pub(crate) fn passes(
        &self,
        deployment: &str,
        elsewhere: Elsewhere,
        now: Timestamp,
    ) -> Prospect {
        let known = self.known();
        let Some(known) = known.get(deployment) else {
            return Prospect::At(now);
        };
        let from = known.breaker.passes_from(elsewhere, now);
        from.map_or(Prospect::OnRelease, Prospect::At)
    }

    /// Passes the breaker of `deployment`.
    ///
    /// # Errors
    ///
    /// Where it does not let the request pass: when it would.
    pub(crate) fn pass(
        self: &Arc<Self>,
        deployment: &str,
        elsewhere: Elsewhere,
        now: Timestamp,
    ) -> Result<Passed, Prospect> {
        let mut known = self.known();
        let passage = known
            .get_mut(deployment)
            .map(|known| known.breaker.ask(elsewhere, now));
        let pass = match passage {
            None => None,
            Some(Passage::Flows(pass) | Passage::Probe(pass)) => Some(pass),
            Some(Passage::NotBefore(until)) => return Err(Prospect::At(until)),
            Some(Passage::AfterProbe) => return Err(Prospect::OnRelease),
        };
        Ok(Passed {
            health: Arc::clone(self),
            deployment: deployment.to_owned(),
            pass,
        })
    }

    /// What `ask` says of the budget of retries to `deployment`.
    pub(crate) fn with_budget<R>(
        &self,
        deployment: &str,
        ask: impl FnOnce(&mut RetryBudget) -> R,
    ) -> R {
        match self.known().get_mut(deployment) {
            Some(known) => ask(&mut known.budget),
            None => ask(&mut RetryBudget::new(RetryBudgetRule::default())),
        }
    }

    /// How long the first byte of `deployment` took of late.
    pub(crate) fn latency(&self, deployment: &str) -> Option<Duration> {
        self.known().get(deployment)?.latency
    }

    /// Whether `deployment` is left alone at `now` because it limits, and not because it fails.
    pub(crate) fn is_limiting(&self, deployment: &str, now: Timestamp) -> bool {
        let known = self.known();
        known.get(deployment).is_some_and(|known| {
            let limits = |kind| {
                matches!(
                    kind,
                    FailureKind::Answered(ErrorClass::Rate | ErrorClass::Ramp | ErrorClass::Daily)
                )
            };
            known.breaker.held_until(now).is_some() && known.held_for.is_some_and(limits)
        })
    }

    /// No key of `account` works: its deployments are left alone where others are.
    pub(crate) fn bench_account(&self, account: &str, now: Timestamp) {
        let mut known = self.known();
        bench(&mut known, account, None, now);
        drop(known);
        self.left_alone.notify_waiters();
    }

    /// The state of every breaker.
    pub(crate) fn states(&self, now: Timestamp) -> Vec<(String, BreakerState)> {
        let known = self.known();
        let states = known
            .iter()
            .map(|(name, known)| (name.clone(), known.breaker.state(now)));
        states.collect()
    }

    /// Ends when the next call to any deployment has ended.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> {
        self.ended.notified()
    }

    /// Ends when the next deployment is left alone.
    pub(crate) fn left_alone(&self) -> impl Future<Output = ()> {
        self.left_alone.notified()
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        // Each deployment's state is whole after every call; whoever panicked left none of them half changed.
        self.deployments
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn bench(
    known: &mut BTreeMap<String, Known>,
    account: &str,
    wait: Option<Duration>,
    now: Timestamp,
) {
    let of_account = known
        .values_mut()
        .filter(|known| *known.account == *account);
    for known in of_account {
        known.breaker.bench(wait, now);
    }
}

impl Passed {
    /// The head of the answer is there, after `took`.
    pub(crate) fn head_took(&self, took: Duration) {
        if let Some(known) = self.health.known().get_mut(&self.deployment) {
            let before = known.latency.unwrap_or(took);
            let rest = before.saturating_mul(LATENCY_SHARE - 1);
            known.latency = Some(rest.saturating_add(took) / LATENCY_SHARE);
        }
    }

    /// The first content is there.
    pub(crate) fn answers(&mut self, now: Timestamp) {
        if let Some(pass) = &mut self.pass {
            self.health.change(&self.deployment, now, |breaker| {
                breaker.answers(pass, now);
            });
        }
    }

    /// The call was answered to its end.
    pub(crate) fn served(mut self, now: Timestamp) {
        if let Some(pass) = self.pass.take() {
            self.health.change(&self.deployment, now, |breaker| {
                breaker.served(pass, now);
            });
        }
    }

    /// The call failed. The hint of `failure` closes the deployment; whoever closed a limit for it leaves it out.
    pub(crate) fn failed(mut self, failure: &Failure, now: Timestamp) {
        let Some(pass) = self.pass.take() else {
            return;
        };
        let opened = self.health.change(&self.deployment, now, |breaker| {
            breaker.failed(pass, failure, now);
        });
        let mut known = self.health.known();
        let Some(this) = known.get_mut(&self.deployment) else {
            return;
        };
        if failure.hint.is_some() {
            this.held_for = Some(failure.kind);
        }
        let account = Arc::clone(&this.account);
        let penniless = failure.kind == FailureKind::Answered(ErrorClass::Billing);
        if penniless {
            let hint = failure.hint.filter(|hint| !hint.is_zero());
            bench(&mut known, &account, hint, now);
        }
        drop(known);
        if opened || failure.hint.is_some() {
            self.health.left_alone.notify_waiters();
        }
        if opened && penniless {
            self.health.notices.tell(Notice::AccountBenched {
                account: account.to_string(),
                reason: failure.kind.name(),
            });
        } else if opened {
            self.health.notices.tell(Notice::BreakerOpened {
                deployment: self.deployment.clone(),
                reason: failure.kind.name(),
            });
        }
    }
}

impl Health {
    /// Changes a breaker; whether that opened it.
    fn change(&self, deployment: &str, now: Timestamp, change: impl FnOnce(&mut Breaker)) -> bool {
        let mut known = self.known();
        let Some(known) = known.get_mut(deployment) else {
            return false;
        };
        let before = known.breaker.state(now);
        change(&mut known.breaker);
        let after = known.breaker.state(now);
        if before != BreakerState::Closed && after == BreakerState::Closed {
            tracing::info!(deployment, "the breaker closes: it serves again");
        }
        self.ended.notify_waiters();
        before != BreakerState::Open && after == BreakerState::Open
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        if let Some(pass) = self.pass.take()
            && let Some(known) = self.health.known().get_mut(&self.deployment)
        {
            known.breaker.abandoned(pass);
            self.health.ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_OF_ONE: &str = "
accounts:
  a: { provider: openai, base_url: http://127.0.0.1:9 }
  b: { provider: openai, base_url: http://127.0.0.1:9 }
breaker: { consecutive: 2, open: 10s }
deployments: { m: { account: a }, n: { account: a }, o: { account: b } }
";

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
        let pass = health.pass(deployment, Elsewhere::Impossible, now);
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
            health.passes("m", elsewhere, at(1)),
            Prospect::At(at(10)),
            "it is open"
        );
        let probe = health.pass("m", elsewhere, at(10)).expect("the probe");
        let second = health.pass("m", elsewhere, at(10)).err();
        assert_eq!(second, Some(Prospect::OnRelease));
        drop(probe);
        let probe = health.pass("m", elsewhere, at(11)).expect("another one");
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
        assert_eq!(health.passes("n", Elsewhere::Possible, at(1)), now);
        let pass = health.pass("n", Elsewhere::Possible, at(1));
        pass.expect("it passes").served(at(1));
    }

    #[test]
    fn latency_follows_the_newest_answers() {
        let health = health(TWO_OF_ONE);
        let pass = health.pass("m", Elsewhere::Impossible, at(0));
        let pass = pass.expect("it passes");
        assert_eq!(health.latency("m"), None);
        pass.head_took(Duration::from_millis(80));
        assert_eq!(health.latency("m"), Some(Duration::from_millis(80)));
        pass.head_took(Duration::from_millis(160));
        assert_eq!(health.latency("m"), Some(Duration::from_millis(90)));
    }

    #[test]
    fn whether_it_limits_is_remembered_while_it_is_left_alone() {
        let health = health(TWO_OF_ONE);
        let hint = Duration::from_secs(20);
        for (deployment, class, limits) in [
            ("m", ErrorClass::Rate, true),
            ("o", ErrorClass::Overload, false),
        ] {
            let pass = health.pass(deployment, Elsewhere::Impossible, at(0));
            let failure = Failure::answered(class).with_hint(hint);
            pass.expect("it passes").failed(&failure, at(0));
            assert_eq!(
                health.passes(deployment, Elsewhere::Impossible, at(5)),
                Prospect::At(at(20)),
                "also where there is no other"
            );
            assert_eq!(health.is_limiting(deployment, at(5)), limits);
            assert!(!health.is_limiting(deployment, at(20)));
        }
    }
}
