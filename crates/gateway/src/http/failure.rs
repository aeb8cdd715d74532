//! The one place that turns a failure into a response.
//!
//! Every way in which a call can end without the upstream's own answer is a variant here, and one exhaustive match gives each its
//! status, code and words. A message says what happened, which limit, and what would help; it never holds a key or a prompt.

use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::BytesMut;
use http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use sluicegate_core::Refusal;
use sluicegate_dialect::{AnswerStream, Dialect, ErrorOut, Operation, RequestError};

use super::candidate::Unsayable;
use super::upstream_failure::UpstreamFailure;
use crate::driver::Refused;
use crate::gateway::RequestId;

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
    /// The body is longer than allowed.
    BodyTooLarge {
        /// The bound, in bytes.
        max: u64,
    },
    /// The client did not finish its body: what it did instead.
    BodyBroken(&'static str),
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
    pub(super) param: Option<&'static str>,
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
        if described.status == StatusCode::PAYLOAD_TOO_LARGE {
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

    fn describe(&self) -> Described {
        match self {
            Self::Request(error) => Described {
                param: error.param,
                ..invalid(error.message.clone())
            },
            Self::Header { name, expected } => invalid(format!("header {name}: {expected}")),
            Self::UnknownTask(task) => invalid(format!(
                "unknown task {task:?}: no route of that name is configured; leave x-sluicegate-task out to choose by model"
            )),
            Self::BodyTooLarge { max } => Described {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                code: "request_too_large",
                ..invalid(format!(
                    "the request body is larger than {max} bytes; send less, or raise server.body_max"
                ))
            },
            Self::BodyBroken(what) => {
                invalid(format!("the request body {what} before it was complete"))
            }
            Self::NoRoom => Described {
                status: StatusCode::TOO_MANY_REQUESTS,
                code: "overloaded",
                kind: "rate_limit_error",
                param: None,
                message: "the bodies of other requests fill the memory that is set aside for them; send it again"
                    .to_owned(),
                wait: Some(WAIT_UNKNOWN),
                retry: Retry::Maybe,
            },
            Self::UnknownModel(model) => Described {
                status: StatusCode::NOT_FOUND,
                code: "model_not_found",
                param: Some("model"),
                ..invalid(format!(
                    "no deployment answers for the model {model:?}; GET /v1/models lists those that there are"
                ))
            },
            Self::NoSuchPath { method, path } => Described {
                status: StatusCode::NOT_FOUND,
                ..invalid(match path.strip_prefix("/v1/") {
                    Some(rest) if rest.starts_with("v1") => format!(
                        "nothing is served at {method} {path}: this SDK adds the version itself, so leave it out of the base URL"
                    ),
                    Some(_) => format!(
                        "{method} {path} is not served (yet): there are POST /v1/chat/completions, /v1/responses, /v1/completions, /v1/embeddings, /v1/messages, /v1/messages/count_tokens, /v1beta/models/{{model}}:generateContent and GET /v1/models"
                    ),
                    None if path.starts_with("/v1beta/") => format!(
                        "{method} {path} is not served: models have the methods generateContent, streamGenerateContent, countTokens, embedContent and batchEmbedContents"
                    ),
                    None => format!(
                        "nothing is served at {method} {path}; the base URL of OpenAI's SDKs ends in /v1, that of Anthropic's and Google's in nothing"
                    ),
                })
            },
            Self::WrongMethod { method, path } => Described {
                status: StatusCode::METHOD_NOT_ALLOWED,
                ..invalid(format!("{path} does not take {method}"))
            },
            Self::Unsayable {
                route,
                dialect,
                operation,
                unsayable,
            } => describe_unsayable(route, dialect, *operation, unsayable),
            Self::Refused(refused) => describe_refused(refused),
            Self::CoolingDown {
                route,
                wait,
                limits,
            } => describe_cooling(route, *wait, *limits),
            Self::Upstream(failure) => failure.describe(),
            Self::ShuttingDown => describe_stopping("takes no more requests; send it again"),
            Self::BrokenOff => describe_stopping(
                "broke this call off, which the upstream may finish and bill all the same; send it again",
            ),
        }
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
            param: self.param,
        }
    }
}

pub(super) fn invalid(message: String) -> Described {
    Described {
        status: StatusCode::BAD_REQUEST,
        code: "invalid_request",
        kind: "invalid_request_error",
        param: None,
        message,
        wait: None,
        retry: Retry::Useless,
    }
}

/// SDKs name items by their ids, unless they are told that these are stored nowhere.
const KEPT_NOWHERE: &str = "an item_reference names what OpenAI keeps of an earlier answer and nobody else does: with `store: false` \
     the SDK sends the item itself";

fn describe_unsayable(
    route: &str,
    dialect: &str,
    operation: Operation,
    unsayable: &Unsayable,
) -> Described {
    match unsayable {
        Unsayable::Operation => invalid(format!(
            "{} of {} clients cannot be had from {route}, whose provider speaks the {dialect} dialect: they are not translated",
            operation.name(),
            operation.dialect().name()
        )),
        Unsayable::Members(members) => {
            let names_kept = members
                .iter()
                .any(|member| member.field.ends_with(".item_reference"));
            let members = members.iter().map(|member| format!("`{}`", member.field));
            let members: Vec<String> = members.collect();
            let mut described = invalid(format!(
                "{} cannot be said to {route}, whose provider speaks the {dialect} dialect; leave it out, or write `lossy: allow` into the route to have it dropped",
                members.join(", ")
            ));
            if names_kept {
                described.add(KEPT_NOWHERE);
            }
            described
        }
        Unsayable::Body(error) => Described {
            param: error.param,
            ..invalid(error.message.clone())
        },
    }
}

fn describe_refused(refused: &Refused) -> Described {
    let limit = match &refused.limit {
        Some((name, _)) => format!("the limit of {name}"),
        None => "a limit".to_owned(),
    };
    let overloaded = |message: String| Described {
        status: StatusCode::TOO_MANY_REQUESTS,
        code: "overloaded",
        kind: "rate_limit_error",
        param: None,
        message,
        wait: Some(refused.wait.unwrap_or(WAIT_UNKNOWN)),
        retry: Retry::Maybe,
    };
    let lane = refused.lane;
    if let Some(level) = refused.held {
        let falls = match refused.wait {
            Some(wait) => format!(
                "it will have fallen far enough in {:.3} s if nothing adds to it; send it again then",
                wait.as_secs_f64()
            ),
            None => "it is too early to tell for how long; send it again later".to_owned(),
        };
        return overloaded(format!(
            "load is {level}, so nothing of the lane {lane} starts: {falls}, or allow a longer wait in x-sluicegate-max-wait"
        ));
    }
    let when = match refused.wait {
        Some(wait) => format!("it would fit in {:.3} s", wait.as_secs_f64()),
        None => "it would fit when calls that are still in flight have ended".to_owned(),
    };
    match refused.refusal {
        Refusal::TooLarge { demand, .. } => {
            let amount = refused.limit.as_ref().map_or(0, |(_, amount)| *amount);
            Described {
                code: "token_limit_exceeded",
                ..invalid(format!(
                    "this request asks for {demand} of {limit}, which never holds more than {amount}; no retry will help: shorten the prompt or lower max_tokens"
                ))
            }
        }
        Refusal::NotGranted { .. } => Described {
            code: "token_limit_exceeded",
            ..invalid(format!(
                "{limit} will never grant this request; no retry will help"
            ))
        },
        Refusal::Deadline { .. } => overloaded(format!(
            "{limit} leaves no room before the longest wait of this request is over: {when}; wait that long, or allow a longer wait in x-sluicegate-max-wait"
        )),
        Refusal::Shed { .. } => overloaded(format!(
            "what is left of {limit} is kept for more urgent requests than those of the lane {lane}: {when}; wait that long, or allow a longer wait in x-sluicegate-max-wait"
        )),
        Refusal::LineFull { .. } => overloaded(format!(
            "the waiting line is full for the lane {lane}: {when}"
        )),
        Refusal::NoSuchTarget => Described {
            status: StatusCode::NOT_FOUND,
            code: "model_not_found",
            param: Some("model"),
            ..invalid(
                "the deployment that this request waited for was taken out of the configuration"
                    .to_owned(),
            )
        },
    }
}

fn describe_stopping(so: &str) -> Described {
    Described {
        status: StatusCode::SERVICE_UNAVAILABLE,
        code: "shutting_down",
        kind: "api_error",
        param: None,
        message: format!("this gateway is shutting down and {so}"),
        wait: Some(WAIT_UNKNOWN),
        retry: Retry::Maybe,
    }
}

fn describe_cooling(route: &str, wait: Option<Duration>, limits: bool) -> Described {
    let (status, code, kind, why) = if limits {
        let status = StatusCode::TOO_MANY_REQUESTS;
        (status, "overloaded", "rate_limit_error", "asked for")
    } else {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        (status, "upstream_unavailable", "api_error", "need")
    };
    let when = match wait {
        Some(wait) => format!("the first may be asked in {:.3} s", wait.as_secs_f64()),
        None => "one is being tried just now".to_owned(),
    };
    Described {
        status,
        code,
        kind,
        param: None,
        message: format!(
            "all upstreams of {route} are left alone for a while, as they {why}: {when}; wait that long, or allow a longer wait in \
             x-sluicegate-max-wait"
        ),
        wait: Some(wait.unwrap_or(WAIT_UNKNOWN)),
        retry: Retry::Maybe,
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
