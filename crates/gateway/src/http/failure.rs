//! The one place that turns a failure into a response.
//!
//! Every way in which a call can end without the upstream's own answer is a variant here, and one exhaustive match (`words.rs`) gives
//! each its status, code and words. A message says what happened, which limit, and what would help; it never holds a key or a prompt.

mod words;

use std::borrow::Cow;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::BytesMut;
use http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use sluicegate_dialect::{AnswerStream, Dialect, ErrorOut, Operation, RequestError};

use super::candidate::Unsayable;
use super::upstream_failure::UpstreamFailure;
use crate::driver::Refused;
use crate::gateway::RequestId;

pub(super) use words::invalid;

/// How often a request was sent.
pub(super) const ATTEMPTS: HeaderName = HeaderName::from_static("x-sluicegate-attempts");
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
/// Said where nobody knows better.
pub(super) const WAIT_UNKNOWN: Duration = Duration::from_secs(2);
/// A client that would have to wait longer should not keep its user waiting.
const WAIT_WORTHWHILE_MAX: Duration = Duration::from_secs(60);

/// Why a call ends without an upstream's answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The body means nothing.
    Request(RequestError),
    /// A header means nothing, or is one that only a web page would send.
    Header {
        /// Which.
        name: &'static str,
        /// What was expected.
        expected: String,
    },
    /// A task that no route is named after.
    UnknownTask(String),
    /// The body is compressed, or otherwise not as it is: its `content-encoding`.
    Encoded(String),
    /// The body is longer than allowed.
    BodyTooLarge {
        /// The bound, in bytes.
        max: u64,
    },
    /// The client did not finish its body.
    BodyBroken,
    /// The client did not finish its body in time: what it did instead.
    BodySlow(&'static str),
    /// The bodies of other requests fill the memory for them.
    NoRoom,
    /// No deployment answers for that model.
    UnknownModel(String),
    /// None of the upstreams that it may go to can be asked for it.
    Unsayable {
        /// The route.
        route: String,
        /// What the first of them speaks.
        dialect: &'static str,
        operation: Operation,
        unsayable: Unsayable,
    },
    NoSuchPath {
        method: Method,
        path: String,
    },
    WrongMethod {
        method: Method,
        path: String,
    },
    /// The core refused.
    Refused(Refused),
    /// Every deployment that the request may go to is left alone for now.
    CoolingDown {
        /// The route.
        route: String,
        /// Until one of them may be tried, where that is known.
        wait: Option<Duration>,
        /// Whether that is because one limits, and not because one failed.
        limits: bool,
    },
    /// The upstream failed.
    Upstream(Box<UpstreamFailure>),
    /// The process is about to stop, and this was not sent, or failed and is not sent again.
    ShuttingDown,
    /// The process stops, and the call with it that was under way.
    BrokenOff,
}

/// A failure in words, before it has a wire format.
pub(super) struct Described {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) kind: &'static str,
    /// The member of the request that it is about, as its client has written it.
    pub(super) param: Option<Cow<'static, str>>,
    pub(super) message: String,
    /// For 429 and 503.
    pub(super) wait: Option<Duration>,
    pub(super) retry: Retry,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// The client may know best.
    Maybe,
    /// It cannot help.
    Useless,
}

impl Failure {
    /// The response to a client that speaks `dialect`.
    pub(crate) fn response(&self, dialect: Dialect) -> Response {
        let mut described = self.describe();
        described.status = status_in(dialect, described.status, self.is_overload());
        let body = dialect.error_body(&described.out());
        let mut response = (described.status, Body::from(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(wait) = described.wait {
            // Rounded up: who comes back after exactly that long must not be too early.
            let millis = wait.as_nanos().div_ceil(1_000_000);
            let millis = u64::try_from(millis).unwrap_or(u64::MAX).max(1);
            headers.insert(RETRY_AFTER, HeaderValue::from(millis.div_ceil(1_000)));
            headers.insert(RETRY_AFTER_MS, HeaderValue::from(millis));
        }
        let too_long = described
            .wait
            .is_some_and(|wait| wait > WAIT_WORTHWHILE_MAX);
        if matches!(self, Self::BodyTooLarge { .. } | Self::BodySlow(_)) {
            // The rest of the body is not read, so nothing more can come on this connection.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Self::Upstream(failure) = self
            && let Some(calls) = failure.calls()
        {
            headers.insert(ATTEMPTS, HeaderValue::from(calls));
        }
        if described.retry == Retry::Useless || too_long {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        response
    }

    /// Whether it is an upstream's that has too much to do.
    fn is_overload(&self) -> bool {
        matches!(self, Self::Upstream(failure) if failure.is_overload())
    }

    /// Ends an `answer` that has already begun: appends to `out` what tells its client.
    pub(crate) fn break_off(&self, answer: &mut AnswerStream, out: &mut BytesMut) {
        answer.break_off(&self.describe().out(), out);
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.describe().status
    }

    /// Tells the operator: loudly what an upstream did, quietly what a caller did.
    pub(crate) fn log(&self, id: RequestId) {
        let reason = self.message();
        match self {
            Self::Upstream(failure) => {
                tracing::warn!(%id, deployment = failure.deployment, reason, "upstream failed");
            }
            _ => tracing::debug!(%id, reason, "request failed"),
        }
    }

    /// For the log.
    pub(crate) fn message(&self) -> String {
        self.describe().message
    }
}

/// The status in a dialect. Clients of Anthropic's know one of its own for an upstream that has too much to do.
fn status_in(dialect: Dialect, status: StatusCode, overload: bool) -> StatusCode {
    match (dialect, StatusCode::from_u16(529)) {
        (Dialect::Anthropic, Ok(overloaded)) if overload => overloaded,
        _ => status,
    }
}

impl Described {
    /// Goes on with `more`.
    pub(super) fn add(&mut self, more: &str) {
        let last = self.message.trim_end_matches('.').len();
        self.message.truncate(last);
        self.message.push_str("; ");
        self.message.push_str(more);
    }

    fn out(&self) -> ErrorOut<'_> {
        ErrorOut {
            status: self.status,
            wait: self.wait,
            message: &self.message,
            kind: self.kind,
            code: self.code,
            param: self.param.as_deref(),
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<UpstreamFailure> for Failure {
    fn from(failure: UpstreamFailure) -> Self {
        Self::Upstream(Box::new(failure))
    }
}
