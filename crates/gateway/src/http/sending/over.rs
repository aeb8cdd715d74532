//! How a call ends for its client: with an answer, or with what is left of the last attempt, or with what was in the way of the first.

use std::time::Duration;

use sluicegate_config::Pattern;
use sluicegate_core::{Attempts, Prospect, Reason, Role};
use sluicegate_dialect::Outbound;
use sluicegate_dialect::canonical::Inexpressible;

use super::{Last, Sending};
use crate::attempt::Answer;
use crate::http::Failure;
use crate::http::calling::Ended;
use crate::http::candidate::Unsayable;
use crate::http::upstream_failure::ClientRetry;
use crate::snapshot::Route;

/// A call that an upstream has answered.
pub(in crate::http) struct Answered {
    pub(in crate::http) answer: Answer,
    /// The deployment that answered, as the client is told of it.
    pub(in crate::http) name: String,
    pub(in crate::http) role: Role,
    /// How often it was sent.
    pub(in crate::http) attempts: usize,
    /// How long it waited before it was first sent.
    pub(in crate::http) waited: Duration,
    /// What it has left of its attempts.
    pub(in crate::http) left: Attempts,
    /// What was dropped of it, because who answered cannot be told, or goes on without.
    pub(in crate::http) dropped: Vec<Inexpressible>,
}

impl Answered {
    /// The same answer where another call for it went before.
    pub(in crate::http) fn after(self, before: &Self) -> Self {
        Self {
            attempts: before.attempts + self.attempts,
            waited: before.waited,
            ..self
        }
    }
}

impl Sending<'_> {
    pub(super) fn answer(self, answer: Answer) -> Answered {
        let place = self.at.unwrap_or(0);
        let outbound = self.candidates.outbound(place);
        let dropped = |outbound: &Outbound| [&*outbound.inexpressible, &outbound.foregone].concat();
        Answered {
            dropped: outbound.map_or_else(|_| Vec::new(), dropped),
            answer,
            name: shown_name(self.candidates.at(place).route).to_owned(),
            role: self.role,
            attempts: self.calls,
            waited: self.waited.unwrap_or_default(),
            left: self.attempts,
        }
    }

    /// Nothing more is tried; the first candidate `opens`.
    pub(super) fn over(mut self, opens: Prospect) -> Result<Answered, Failure> {
        let now = self.now();
        let wait = match opens {
            Prospect::At(at) if at > now => Some(at.saturating_since(now)),
            Prospect::At(_) | Prospect::OnRelease | Prospect::Never => None,
        };
        if let Some(Last { ended, reason }) = self.last.take() {
            let failure = match ended {
                Ended::Answer(answer, _) => return Ok(self.answer(answer)),
                Ended::Failure(failure) => failure,
            };
            let client = if self.attempts.made() > 1 || reason == Some(Reason::BudgetUsed) {
                ClientRetry::Multiplies
            } else {
                ClientRetry::Welcome
            };
            let failure = failure.after(self.tried, self.calls, client, wait);
            let untried = self.unsayable.take();
            return Err(Failure::from(match untried {
                Some((place, unsayable)) => {
                    failure.without(shown_name(self.candidates.at(place).route), &unsayable)
                }
                None => failure,
            }));
        }
        if let Some((_, mut refused)) = self.refused.take() {
            if let (Some(own), Some(wait)) = (refused.wait, wait) {
                refused.wait = Some(own.min(wait));
            }
            return Err(Failure::Refused(refused));
        }
        let (name, route) = (self.candidates.name(), self.unsayable.take());
        if let Some((place, unsayable)) = route {
            let provider = &self.candidates.at(place).route.account.provider;
            return Err(Failure::Unsayable {
                route: name.to_owned(),
                dialect: provider.dialect.name(),
                operation: self.envelope.operation(),
                unsayable,
            });
        }
        if self
            .candidates
            .places()
            .all(|place| self.candidates.at(place).crossing.is_none())
        {
            return Err(Failure::Unsayable {
                route: name.to_owned(),
                dialect: self.candidates.at(0).route.account.provider.dialect.name(),
                operation: self.envelope.operation(),
                unsayable: Unsayable::Operation,
            });
        }
        let limits = |place| {
            let whose = self.candidates.at(place).route.whose();
            self.gateway.health().is_limiting(whose, now)
        };
        Err(Failure::CoolingDown {
            route: self.candidates.name().to_owned(),
            wait,
            limits: self.candidates.places().any(limits),
        })
    }
}

/// A deployment as clients are told of it: a wildcard by the name that it stood for.
fn shown_name(route: Route<'_>) -> &str {
    match route.deployment.pattern {
        Pattern::Exact(_) => &route.deployment.name,
        Pattern::Prefix(_) => route.model,
    }
}
