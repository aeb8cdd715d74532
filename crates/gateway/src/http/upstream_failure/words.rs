//! What an upstream's failure is called towards the client.
//!
//! What the operator caused (a bad key, an empty account) is a 502 that no retry can help; the rest says what happened and, where
//! somebody knows, when to come back.

use std::time::Duration;

use http::StatusCode;
use sluicegate_catalog::ErrorClass;
use sluicegate_dialect::UpstreamError;

use super::{ClientRetry, UpstreamFailure, UpstreamFailureKind};
use crate::http::failure::{Described, Retry, WAIT_UNKNOWN, invalid};

impl UpstreamFailure {
    /// For the log.
    pub(in crate::http) fn message(&self) -> String {
        self.describe().message
    }

    pub(in crate::http) fn describe(&self) -> Described {
        let mut described = self.describe_last();
        if let (Some(wait), Some(opens)) = (described.wait, self.opens) {
            described.wait = Some(wait.min(opens));
        }
        if self.attempts.len() > 1 {
            let tried = self.attempts.iter();
            let tried = tried.map(|tried| format!("{} ({})", tried.deployment, tried.kind.name()));
            let tried: Vec<String> = tried.collect();
            described.add(&format!("{} attempts: {}", tried.len(), tried.join(", ")));
        }
        if let Some(untried) = &self.untried {
            described.add(untried);
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
            UpstreamFailureKind::Misshapen(wrong) => api(
                StatusCode::BAD_GATEWAY,
                "upstream_error",
                format!(
                    "{name} answered with what is not of the form that was asked for: {}",
                    wrong.problem
                ),
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
    use sluicegate_core::FailureKind;

    use super::super::Tried;
    use super::super::tests::refused;
    use super::*;

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
