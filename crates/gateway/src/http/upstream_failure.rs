//! How an upstream failed, and what its failure is called towards the client.
//!
//! What the caller caused never comes here: it passes as the upstream said it. What the operator caused (a bad key, an empty account) is
//! a 502 that no retry can help; the rest says what happened and, where somebody knows, when to come back.

use std::time::Duration;

use http::StatusCode;
use sluicegate_catalog::ErrorClass;
use sluicegate_core::{Failure, FailureKind};
use sluicegate_dialect::openai::UpstreamError;

use super::failure::{Described, Retry, WAIT_UNKNOWN, invalid};

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

    /// The failure as those see it who decide what follows.
    pub(crate) fn in_core(&self) -> Failure {
        let kind = match &self.kind {
            UpstreamFailureKind::Error { error, .. } => FailureKind::Answered(error.class),
            UpstreamFailureKind::Connect(_) => FailureKind::Connect,
            UpstreamFailureKind::ConnectTimeout(_) => FailureKind::ConnectTimeout,
            UpstreamFailureKind::Lost(_) => FailureKind::ConnectionLost,
            UpstreamFailureKind::Silent { .. } => FailureKind::HeadTimeout,
            UpstreamFailureKind::Cut(_)
            | UpstreamFailureKind::Unreadable(_)
            | UpstreamFailureKind::Unfinished => FailureKind::CutBeforeContent,
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

    /// How often the request was sent, where it is the last word.
    pub(super) fn calls(&self) -> Option<usize> {
        (self.calls > 0).then_some(self.calls)
    }

    /// For the log.
    pub(super) fn message(&self) -> String {
        self.describe().message
    }

    pub(super) fn describe(&self) -> Described {
        let mut described = self.describe_last();
        if let (Some(wait), Some(opens)) = (described.wait, self.opens) {
            described.wait = Some(wait.min(opens));
        }
        if self.attempts.len() > 1 {
            let tried = self.attempts.iter();
            let tried = tried.map(|tried| format!("{} ({})", tried.deployment, tried.kind.name()));
            let tried: Vec<String> = tried.collect();
            let attempts = format!("; {} attempts: {}", tried.len(), tried.join(", "));
            let last = described.message.trim_end_matches('.').len();
            described.message.truncate(last);
            described.message.push_str(&attempts);
        }
        if self.client == ClientRetry::Multiplies {
            described.retry = Retry::Useless;
        }
        described
    }

    fn describe_last(&self) -> Described {
        let name = &self.deployment;
        let api = |status, code, message| Described {
            status,
            code,
            kind: "api_error",
            param: None,
            message,
            wait: (status == StatusCode::SERVICE_UNAVAILABLE).then_some(WAIT_UNKNOWN),
            retry: Retry::Maybe,
        };
        match &self.kind {
            UpstreamFailureKind::Error {
                status,
                error,
                hint,
                ..
            } => describe_error(name, *status, error, *hint),
            UpstreamFailureKind::Connect(problem) => api(
                StatusCode::SERVICE_UNAVAILABLE,
                "upstream_unavailable",
                format!("{name} cannot be reached: {problem}; nothing was sent"),
            ),
            UpstreamFailureKind::ConnectTimeout(after) => api(
                StatusCode::SERVICE_UNAVAILABLE,
                "upstream_unavailable",
                format!(
                    "{name} cannot be reached: no connection within {after:?}; nothing was sent"
                ),
            ),
            UpstreamFailureKind::Lost(problem) | UpstreamFailureKind::Cut(problem) => api(
                StatusCode::BAD_GATEWAY,
                "upstream_error",
                format!("{name} broke off: {problem}"),
            ),
            UpstreamFailureKind::Silent { what, after } => api(
                StatusCode::GATEWAY_TIMEOUT,
                "upstream_timeout",
                format!(
                    "{name} was silent for {:.1} s while {what} was awaited",
                    after.as_secs_f64()
                ),
            ),
            UpstreamFailureKind::Unreadable(what) => api(
                StatusCode::BAD_GATEWAY,
                "upstream_error",
                format!("{name} answered with {what}"),
            ),
            UpstreamFailureKind::Unfinished => api(
                StatusCode::BAD_GATEWAY,
                "upstream_error",
                format!("{name} ended its stream before the answer was finished"),
            ),
        }
    }
}

fn describe_error(
    name: &str,
    status: Option<StatusCode>,
    error: &UpstreamError,
    hint: Option<Duration>,
) -> Described {
    let said = said_by(name, status, error);
    let api = |status, code, retry| Described {
        status,
        code,
        kind: "api_error",
        param: None,
        message: said.clone(),
        wait: (status == StatusCode::SERVICE_UNAVAILABLE).then(|| hint.unwrap_or(WAIT_UNKNOWN)),
        retry,
    };
    match error.class {
        ErrorClass::Rate | ErrorClass::Ramp | ErrorClass::Daily => Described {
            status: StatusCode::TOO_MANY_REQUESTS,
            code: "overloaded",
            kind: "rate_limit_error",
            wait: Some(hint.unwrap_or(WAIT_UNKNOWN)),
            ..api(StatusCode::TOO_MANY_REQUESTS, "overloaded", Retry::Maybe)
        },
        ErrorClass::TooLargeForLimit => Described {
            code: "token_limit_exceeded",
            ..invalid(said)
        },
        ErrorClass::Billing => api(StatusCode::BAD_GATEWAY, "upstream_billing", Retry::Useless),
        ErrorClass::Auth => api(StatusCode::BAD_GATEWAY, "upstream_auth", Retry::Useless),
        ErrorClass::Overload => api(
            StatusCode::SERVICE_UNAVAILABLE,
            "upstream_unavailable",
            Retry::Maybe,
        ),
        ErrorClass::Timeout => api(
            StatusCode::GATEWAY_TIMEOUT,
            "upstream_timeout",
            Retry::Maybe,
        ),
        ErrorClass::Server => api(StatusCode::BAD_GATEWAY, "upstream_error", Retry::Maybe),
        // A redirect, say: nothing that the caller could mend.
        _ if status.is_some_and(|status| !status.is_client_error()) => {
            api(StatusCode::BAD_GATEWAY, "upstream_error", Retry::Maybe)
        }
        // Inside a stream; as an answer of its own it passes unchanged.
        ErrorClass::Context | ErrorClass::Policy | ErrorClass::Invalid => {
            Described { ..invalid(said) }
        }
    }
}

/// What the provider said, in one line.
fn said_by(name: &str, status: Option<StatusCode>, error: &UpstreamError) -> String {
    let status = status
        .map(|status| format!(" with status {}", status.as_u16()))
        .unwrap_or_default();
    let code = [&error.code, &error.kind]
        .into_iter()
        .find(|name| !name.is_empty());
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    // What a provider says of a key or an account is the operator's to read.
    let message = match error.class {
        ErrorClass::Auth => "it does not accept our key; whoever runs this gateway can mend that",
        ErrorClass::Billing => {
            "our account there is out of money or quota; whoever runs this gateway can mend that"
        }
        _ if error.message.is_empty() => "no message",
        _ => &error.message,
    };
    format!("{name} failed{status}{code}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(
        class: ErrorClass,
        status: StatusCode,
        hint: Option<Duration>,
    ) -> UpstreamFailureKind {
        let error = UpstreamError {
            class,
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

    fn told(class: ErrorClass, status: StatusCode) -> Described {
        UpstreamFailure::new("m".to_owned(), refused(class, status, None)).describe()
    }

    #[test]
    fn a_redirect_is_no_fault_of_the_caller() {
        let described = told(ErrorClass::Invalid, StatusCode::TEMPORARY_REDIRECT);
        assert_eq!(
            (described.status, described.code),
            (StatusCode::BAD_GATEWAY, "upstream_error")
        );
    }

    #[test]
    fn what_a_provider_says_of_our_key_or_account_is_not_the_callers_to_read() {
        for (class, status, code) in [
            (ErrorClass::Auth, StatusCode::UNAUTHORIZED, "upstream_auth"),
            (
                ErrorClass::Billing,
                StatusCode::TOO_MANY_REQUESTS,
                "upstream_billing",
            ),
        ] {
            let described = told(class, status);
            assert_eq!(
                (described.status, described.code),
                (StatusCode::BAD_GATEWAY, code)
            );
            assert!(
                described.message.contains("some_code"),
                "{}",
                described.message
            );
            assert!(
                !described.message.contains("sk-12"),
                "{}",
                described.message
            );
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

    #[test]
    fn the_last_word_lists_the_attempts_and_names_the_shortest_wait() {
        let hint = Duration::from_secs(45);
        let kind = refused(
            ErrorClass::Overload,
            StatusCode::SERVICE_UNAVAILABLE,
            Some(hint),
        );
        let tried = |deployment: &str, kind| Tried {
            deployment: deployment.to_owned(),
            kind,
        };
        let attempts = vec![
            tried("a", FailureKind::ConnectionLost),
            tried("b", FailureKind::Answered(ErrorClass::Overload)),
        ];
        let opens = Some(Duration::from_secs(15));
        let described = UpstreamFailure::new("b".to_owned(), kind)
            .after(attempts, 2, ClientRetry::Multiplies, opens)
            .describe();
        let listed = "2 attempts: a (connection), b (overload)";
        assert!(described.message.ends_with(listed), "{}", described.message);
        assert!(!described.message.contains(".;"), "{}", described.message);
        assert_eq!(described.wait, opens);
        assert!(described.retry == Retry::Useless);
    }
}
