//! The right to make one call, and what becomes of it.

use std::sync::Arc;
use std::time::Duration;

use sluicegate_core::{ErrorClass, Failure, FailureKind, Pass, Timestamp};

use super::{Health, Whose};
use crate::notices::Notice;

/// The right to make one call to an upstream. However the call ends, it is given back once; dropped, it says nothing of the
/// upstream.
#[derive(Debug)]
pub(crate) struct Passed {
    health: Arc<Health>,
    deployment: String,
    model: Option<String>,
    /// `None` once it is given back.
    pass: Option<Pass>,
}

impl Passed {
    pub(super) fn new(health: Arc<Health>, whose: Whose<'_>, pass: Option<Pass>) -> Self {
        Self {
            health,
            deployment: whose.deployment.to_owned(),
            model: whose.model.map(str::to_owned),
            pass,
        }
    }

    /// The head of the answer is there, after `took`.
    pub(crate) fn head_took(&self, took: Duration) {
        if let Some(known) = self.health.known().get_mut(&self.deployment) {
            known.own(self.model.as_deref()).head_took(took);
        }
    }

    /// The first content is there.
    pub(crate) fn answers(&mut self, now: Timestamp) {
        if let Some(mut pass) = self.pass.take() {
            self.health.change(self.whose(), now, |breaker| {
                breaker.answers(&mut pass, now);
            });
            self.pass = Some(pass);
        }
    }

    /// The call was answered to its end.
    pub(crate) fn served(mut self, now: Timestamp) {
        if let Some(pass) = self.pass.take() {
            self.health.change(self.whose(), now, |breaker| {
                breaker.served(pass, now);
            });
        }
    }

    /// The call failed. For as long as `failure` hints nothing more passes; whoever closed a limit for it leaves the hint out.
    pub(crate) fn failed(mut self, failure: &Failure, now: Timestamp) {
        let Some(pass) = self.pass.take() else {
            return;
        };
        let opened = self.health.change(self.whose(), now, |breaker| {
            breaker.failed(pass, failure, now);
        });
        if failure.hint.is_some() {
            self.is_held_for(failure.kind);
        }
        let penniless = failure.kind == FailureKind::Answered(ErrorClass::Billing);
        let account = self.account().filter(|_| penniless);
        if let Some(account) = &account {
            let hint = failure.hint.filter(|hint| !hint.is_zero());
            self.health.bench(account, hint, now);
        }
        if opened || failure.hint.is_some() {
            self.health.left_alone.notify_waiters();
        }
        if opened {
            let reason = failure.kind.name();
            self.health.notices.tell(match account {
                Some(account) => Notice::AccountBenched { account, reason },
                None => Notice::BreakerOpened {
                    deployment: self.whose().to_string(),
                    reason,
                },
            });
        }
    }

    fn is_held_for(&self, kind: FailureKind) {
        if let Some(known) = self.health.known().get_mut(&self.deployment) {
            known.own(self.model.as_deref()).held_for = Some(kind);
        }
    }

    fn account(&self) -> Option<String> {
        let known = self.health.known();
        Some(known.get(&self.deployment)?.account.to_string())
    }

    fn whose(&self) -> Whose<'_> {
        Whose {
            deployment: &self.deployment,
            model: self.model.as_deref(),
        }
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        if let Some(pass) = self.pass.take() {
            let mut known = self.health.known();
            if let Some(known) = known.get_mut(&self.deployment) {
                known.own(self.model.as_deref()).breaker.abandoned(pass);
            }
            drop(known);
            self.health.ended.notify_waiters();
        }
    }
}
