//! How an upstream failed, and what that is to those who decide what follows. What the caller caused never comes here: it passes as
//! the upstream said it.

mod words;

use std::time::Duration;

use super::candidate::Unsayable;
use http::StatusCode;
use sluicegate_catalog::ErrorClass;
use sluicegate_core::{Failure, FailureKind};
use sluicegate_dialect::{Misshapen, UpstreamError};

/// How an upstream failed.
#[derive(Debug)]
pub(crate) struct UpstreamFailure {
    /// The deployment.
    pub(crate) deployment: String,
    pub(crate) kind: UpstreamFailureKind,
    /// Every attempt of the request, this one last; empty while it may go on.
    attempts: Vec<Tried>,
    /// How often the request was sent.
    calls: usize,
    /// When some target could take the request, where that is known to be sooner than this one wants it.
    opens: Option<Duration>,
    client: ClientRetry,
    /// Who was not tried, and why, in words.
    untried: Option<String>,
}

/// An attempt that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tried {
    pub(crate) deployment: String,
    /// How it failed.
    pub(crate) kind: FailureKind,
}

/// Whether the client should try again by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClientRetry {
    /// It may.
    Welcome,
    /// It has been tried again here: its retries would multiply with ours.
    Multiplies,
}

#[derive(Debug)]
pub(crate) enum UpstreamFailureKind {
    /// It answered with an error.
    Error {
        status: Option<StatusCode>,
        error: UpstreamError,
        /// How long it wants us to wait.
        hint: Option<Duration>,
        /// A limit of ours keeps that wait.
        limit_closed: bool,
    },
    /// No connection came about: nothing was sent.
    Connect(String),
    /// No connection came about in that time: nothing was sent.
    ConnectTimeout(Duration),
    /// The connection ended before the head of the answer.
    Lost(String),
    /// The connection ended before the answer did.
    Cut(String),
    /// It was silent for too long.
    Silent {
        /// Waiting for what.
        what: &'static str,
        after: Duration,
    },
    /// It answered with something that is no answer.
    Unreadable(&'static str),
    /// A stream ended in good order but before its answer did.
    Unfinished,
    /// Its answer is whole, but not of the form that was asked for.
    Misshapen(Misshapen),
}

impl UpstreamFailure {
    pub(crate) fn new(deployment: String, kind: UpstreamFailureKind) -> Self {
        Self {
            deployment,
            kind,
            attempts: Vec::new(),
            calls: 0,
            opens: None,
            client: ClientRetry::Welcome,
            untried: None,
        }
    }

    /// The same as the last word to a client, after these attempts in so many `calls`, the last one this.
    pub(super) fn after(
        mut self,
        attempts: Vec<Tried>,
        calls: usize,
        client: ClientRetry,
        opens: Option<Duration>,
    ) -> Self {
        self.attempts = attempts;
        self.calls = calls;
        self.client = client;
        self.opens = opens;
        self
    }

    /// The same where `deployment` was not tried, since it cannot be told what the request says.
    pub(super) fn without(self, deployment: &str, unsayable: &Unsayable) -> Self {
        Self {
            untried: Some(format!("{deployment} was not tried: {}", unsayable.why())),
            ..self
        }
    }

    /// The failure as those see it who decide what follows.
    pub(crate) fn in_core(&self) -> Failure {
        let kind = match &self.kind {
            UpstreamFailureKind::Error { error, .. } => FailureKind::Answered(error.class),
            UpstreamFailureKind::Connect(_) => FailureKind::Connect,
            UpstreamFailureKind::ConnectTimeout(_) => FailureKind::ConnectTimeout,
            UpstreamFailureKind::Lost(_) => FailureKind::ConnectionLost,
            UpstreamFailureKind::Silent { .. } => FailureKind::HeadTimeout,
            UpstreamFailureKind::Cut(_) | UpstreamFailureKind::Unfinished => {
                FailureKind::CutBeforeContent
            }
            UpstreamFailureKind::Unreadable(_) => FailureKind::Unreadable,
            UpstreamFailureKind::Misshapen(_) => FailureKind::Misshapen,
        };
        match self.kind {
            UpstreamFailureKind::Error {
                hint: Some(hint), ..
            } => Failure::of(kind).with_hint(hint),
            _ => Failure::of(kind),
        }
    }

    /// The same for the deployment's breaker: without a hint that a limit keeps.
    pub(crate) fn for_breaker(&self) -> Failure {
        match self.kind {
            UpstreamFailureKind::Error {
                limit_closed: true, ..
            } => Failure::of(self.in_core().kind),
            _ => self.in_core(),
        }
    }

    /// Whether the deployment did what it is for, all the same.
    pub(crate) const fn served(&self) -> bool {
        matches!(self.kind, UpstreamFailureKind::Misshapen(_))
    }

    /// Whether the upstream said that it has too much to do.
    pub(super) fn is_overload(&self) -> bool {
        matches!(&self.kind, UpstreamFailureKind::Error { error, .. } if error.class == ErrorClass::Overload)
    }

    /// How often the request was sent, where it is the last word.
    pub(super) fn calls(&self) -> Option<usize> {
        (self.calls > 0).then_some(self.calls)
    }
}

#[cfg(test)]
mod tests {
    use sluicegate_catalog::ErrorClass;

    use super::*;

    pub(super) fn refused(
        class: ErrorClass,
        status: StatusCode,
        hint: Option<Duration>,
    ) -> UpstreamFailureKind {
        let error = UpstreamError {
            class,
            status: Some(status),
            code: "some_code".to_owned(),
            kind: String::new(),
            message: "key sk-12…89 is no good.".to_owned(),
        };
        UpstreamFailureKind::Error {
            status: Some(status),
            error,
            hint,
            limit_closed: false,
        }
    }

    #[test]
    fn what_became_of_a_connection_is_a_kind_of_its_own() {
        let after = Duration::from_secs(5);
        let problem = || "reset".to_owned();
        for (kind, expected) in [
            (
                UpstreamFailureKind::Connect(problem()),
                FailureKind::Connect,
            ),
            (
                UpstreamFailureKind::ConnectTimeout(after),
                FailureKind::ConnectTimeout,
            ),
            (
                UpstreamFailureKind::Lost(problem()),
                FailureKind::ConnectionLost,
            ),
            (
                UpstreamFailureKind::Silent { what: "it", after },
                FailureKind::HeadTimeout,
            ),
            (
                UpstreamFailureKind::Cut(problem()),
                FailureKind::CutBeforeContent,
            ),
            (
                UpstreamFailureKind::Unfinished,
                FailureKind::CutBeforeContent,
            ),
            (
                UpstreamFailureKind::Unreadable("a page"),
                FailureKind::Unreadable,
            ),
            (
                UpstreamFailureKind::Misshapen(Misshapen {
                    problem: problem(),
                    said: String::new(),
                }),
                FailureKind::Misshapen,
            ),
        ] {
            let failure = UpstreamFailure::new("m".to_owned(), kind);
            assert_eq!(failure.in_core(), Failure::of(expected));
        }
    }

    #[test]
    fn a_hint_that_a_limit_keeps_is_not_the_breakers() {
        let hint = Duration::from_secs(20);
        for limit_closed in [false, true] {
            let failure = refused(ErrorClass::Rate, StatusCode::TOO_MANY_REQUESTS, Some(hint));
            let mut failure = UpstreamFailure::new("m".to_owned(), failure);
            if let UpstreamFailureKind::Error {
                limit_closed: closed,
                ..
            } = &mut failure.kind
            {
                *closed = limit_closed;
            }
            let bare = Failure::answered(ErrorClass::Rate);
            assert_eq!(failure.in_core(), bare.with_hint(hint));
            let expected = if limit_closed {
                bare
            } else {
                bare.with_hint(hint)
            };
            assert_eq!(failure.for_breaker(), expected);
        }
    }
}
