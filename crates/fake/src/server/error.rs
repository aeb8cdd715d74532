//! Error answers as the providers word them. The only place where a refusal that is not a limit's becomes a body.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::answer::Frame;
use crate::ask::Complaint;
use crate::dialect::Dialect;
use crate::fault::ErrorKind;
use crate::model::{ErrorWords, Profile, Rejected, error_body};

use super::log::redacted;

const JSON: &str = "application/json";
const INVALID: &str = "invalid_request_error";

/// A status, a content type and a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    pub(super) status: u16,
    /// The exception that AWS names in a header, where the status does not tell it.
    pub(super) exception: Option<&'static str>,
    pub(super) content_type: &'static str,
    pub(super) body: Bytes,
}

impl Failure {
    fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            exception: None,
            content_type: JSON,
            body: body.to_string().into(),
        }
    }

    /// What a limit turned away, in its own words where the provider that counts speaks in this manner, else in the usual
    /// ones.
    pub(super) fn limited(profile: Profile, manners: Profile, rejected: &Rejected) -> Self {
        if profile == manners {
            return Self::json(rejected.status, &rejected.body);
        }
        let wait = rejected.headers.iter();
        let wait = wait.filter(|(name, _)| *name == "retry-after");
        let wait = wait.map(|(_, wait)| wait.as_str()).next();
        Self::of_kind(manners, ErrorKind::Rate, rejected.status, wait)
    }

    /// What `kind` of error looks like with this status, with `wait` seconds to wait where they are a number and the body
    /// has a place for them.
    pub(super) fn of_kind(
        profile: Profile,
        kind: ErrorKind,
        status: u16,
        wait: Option<&str>,
    ) -> Self {
        let (content_type, body) = match kind {
            ErrorKind::Html => (
                "text/html",
                format!(
                    "<html>\r\n<head><title>{status} Bad Gateway</title></head>\r\n<body>\r\n<center><h1>{status} Bad \
                     Gateway</h1></center>\r\n</body>\r\n</html>\r\n"
                ),
            ),
            ErrorKind::Text => (
                "text/plain",
                "upstream connect error or disconnect".to_owned(),
            ),
            ErrorKind::Empty => ("text/plain", String::new()),
            ErrorKind::Junk => (JSON, "{\"error\": {\"mess\u{fffd}".to_owned()),
            _ => {
                let mut body = error(profile, kind, status);
                let google = matches!(profile, Profile::Gemini | Profile::Vertex);
                if let Some(wait) = wait.filter(|wait| google && wait.parse::<u32>().is_ok()) {
                    body["error"]["details"] = json!([{
                        "@type": "type.googleapis.com/google.rpc.RetryInfo",
                        "retryDelay": format!("{wait}s"),
                    }]);
                }
                (JSON, body.to_string())
            }
        };
        Self {
            status,
            exception: None,
            content_type,
            body: body.into(),
        }
    }

    /// The request is wrong.
    pub(super) fn complaint(profile: Profile, complaint: &Complaint) -> Self {
        // Both of OpenAI's kind say so in the same shape.
        let profile = match profile {
            Profile::Azure | Profile::AzurePtu => Profile::OpenAi,
            _ => profile,
        };
        let status = match profile {
            Profile::Mistral | Profile::Tgi => 422,
            _ => 400,
        };
        let words = ErrorWords {
            status,
            message: &complaint.message,
            r#type: INVALID,
            code: complaint.code,
            param: complaint.param,
        };
        Self::json(status, &error_body(profile, &words))
    }

    /// Anthropic is asked without its header.
    pub(super) fn no_version() -> Self {
        let message = "anthropic-version: header is required";
        let words = words(400, message, INVALID, None);
        Self::json(400, &error_body(Profile::Anthropic, &words))
    }

    /// The key is not one of those that are accepted.
    pub(super) fn unauthorized(profile: Profile, key: &str) -> Self {
        let message = match profile {
            Profile::Azure | Profile::AzurePtu => {
                "Access denied due to invalid subscription key or wrong API endpoint.".to_owned()
            }
            _ if key.is_empty() => {
                "You didn't provide an API key. Send one as a bearer token in the Authorization header.".to_owned()
            }
            _ => format!("Incorrect API key provided: {}.", redacted(key)),
        };
        let code = match profile {
            Profile::Cerebras => "wrong_api_key",
            _ => "invalid_api_key",
        };
        Self::json(
            401,
            &error_body(profile, &words(401, &message, INVALID, Some(code))),
        )
    }

    /// Gemini's answer to a wrong key, or to none.
    pub(super) fn wrong_gemini_key(key: &str) -> Self {
        if key.is_empty() {
            let message = "Method doesn't allow unregistered callers (callers without established identity). Please use API \
                           Key or other form of API consumer identity to call this API.";
            return Self::json(
                403,
                &error_body(Profile::Gemini, &words(403, message, INVALID, None)),
            );
        }
        let message = "API key not valid. Please pass a valid API key.";
        let mut body = error_body(Profile::Gemini, &words(400, message, INVALID, None));
        body["error"]["details"] = json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID", "domain": "googleapis.com",
        }]);
        Self::json(400, &body)
    }

    /// AWS' answer to credentials that it does not take, with the reason.
    pub(super) fn forbidden(exception: &'static str, message: &str) -> Self {
        Self {
            exception: Some(exception),
            ..Self::json(403, &json!({"message": message}))
        }
    }

    /// There is no such model.
    pub(super) fn no_model(profile: Profile, model: &str) -> Self {
        if matches!(profile, Profile::Azure | Profile::AzurePtu) {
            let message = "The API deployment for this resource does not exist.";
            let error = json!({"code": "DeploymentNotFound", "message": message});
            return Self::json(404, &json!({"error": error}));
        }
        let message =
            format!("The model `{model}` does not exist or you do not have access to it.");
        let words = words(404, &message, INVALID, Some("model_not_found"));
        Self::json(404, &error_body(profile, &words))
    }

    /// There is nothing at this path.
    pub(super) fn no_path(method: &http::Method, path: &str) -> Self {
        let message = format!("Unknown request URL: {method} {path}.");
        Self::json(
            404,
            &openai(&message, "invalid_request_error", Some("unknown_url")),
        )
    }

    /// The path has other methods.
    pub(super) fn no_method(method: &http::Method, path: &str) -> Self {
        let message = format!("Method {method} is not allowed for {path}.");
        Self::json(
            405,
            &openai(
                &message,
                "invalid_request_error",
                Some("method_not_supported"),
            ),
        )
    }

    /// The body is larger than `most` bytes.
    pub(super) fn too_large(most: usize) -> Self {
        let message = format!("The request body is larger than {most} bytes.");
        Self::json(
            413,
            &openai(&message, "invalid_request_error", Some("request_too_large")),
        )
    }

    /// An administrative request is wrong.
    pub(super) fn bad_admin(message: &str) -> Self {
        Self::json(400, &openai(message, "invalid_request_error", None))
    }
}

/// The kind of error that a status means where none is named.
pub(super) fn usual_kind(status: u16) -> ErrorKind {
    match status {
        401 => ErrorKind::Auth,
        403 => ErrorKind::Permission,
        404 => ErrorKind::NotFound,
        429 => ErrorKind::Rate,
        503 | 529 => ErrorKind::Overloaded,
        400..500 => ErrorKind::Invalid,
        _ => ErrorKind::Server,
    }
}

/// An error as the event of a stream that `sent` others came before.
pub(super) fn frame(dialect: Dialect, manners: Profile, kind: ErrorKind, sent: usize) -> Frame {
    let status = match kind {
        ErrorKind::Overloaded if dialect == Dialect::Messages => 529,
        ErrorKind::Overloaded => 503,
        ErrorKind::Rate | ErrorKind::SlowDown | ErrorKind::Quota => 429,
        ErrorKind::Server => 500,
        _ => 400,
    };
    let error = match dialect {
        Dialect::Chat => error(manners, kind, 500),
        _ => error(manners, kind, status),
    };
    let named = |name, error: &Value| Frame {
        name: Some(name),
        data: error.to_string(),
    };
    match dialect {
        Dialect::Chat | Dialect::Completions | Dialect::Embeddings | Dialect::Gemini => Frame {
            name: None,
            data: error.to_string(),
        },
        Dialect::Responses => {
            let told = &error["error"];
            let event = json!({
                "type": "error", "sequence_number": sent, "code": told["code"],
                "message": told["message"], "param": told["param"],
            });
            named("error", &event)
        }
        Dialect::Messages => named("error", &error),
        Dialect::Converse => named(stream_exception(kind), &error),
        Dialect::Cohere => {
            let delta = json!({"finish_reason": "ERROR", "error": error["message"]});
            named(
                "message-end",
                &json!({"type": "message-end", "delta": delta}),
            )
        }
    }
}

/// The exception with which Bedrock ends a stream.
fn stream_exception(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Rate | ErrorKind::SlowDown | ErrorKind::Quota => "throttlingException",
        ErrorKind::Overloaded => "serviceUnavailableException",
        ErrorKind::Server => "internalServerException",
        _ => "validationException",
    }
}

/// The body of an error.
pub(super) fn error(profile: Profile, kind: ErrorKind, status: u16) -> Value {
    let invalid = INVALID;
    let (message, r#type, code) = match kind {
        ErrorKind::Server => (
            "The server had an error while processing your request.",
            "server_error",
            None,
        ),
        ErrorKind::Overloaded => (
            "The server is currently overloaded. Please try again later.",
            "service_unavailable_error",
            Some("server_is_overloaded"),
        ),
        ErrorKind::Rate => (
            "Rate limit reached for requests.",
            "requests",
            Some("rate_limit_exceeded"),
        ),
        ErrorKind::SlowDown => (
            "Traffic grew too fast. Please slow down.",
            "rate_limit_error",
            Some("slow_down"),
        ),
        ErrorKind::Quota => (
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            Some("insufficient_quota"),
        ),
        ErrorKind::Auth => (
            "Incorrect API key provided.",
            invalid,
            Some("invalid_api_key"),
        ),
        ErrorKind::Permission => (
            "You may not use this model.",
            invalid,
            Some("permission_denied"),
        ),
        ErrorKind::Context => (
            "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
            invalid,
            Some("context_length_exceeded"),
        ),
        ErrorKind::Filter => (
            "The response was filtered by a content policy.",
            invalid,
            Some("content_filter"),
        ),
        ErrorKind::NotFound => (
            "The model does not exist.",
            invalid,
            Some("model_not_found"),
        ),
        ErrorKind::Invalid
        | ErrorKind::Html
        | ErrorKind::Text
        | ErrorKind::Empty
        | ErrorKind::Junk => (
            "Invalid value for a parameter of the request.",
            invalid,
            Some("invalid_value"),
        ),
    };
    let param = (kind == ErrorKind::Context && profile != Profile::Azure).then_some("messages");
    let words = ErrorWords {
        param,
        ..words(status, message, r#type, code)
    };
    error_body(profile, &words)
}

fn words<'a>(
    status: u16,
    message: &'a str,
    r#type: &'a str,
    code: Option<&'a str>,
) -> ErrorWords<'a> {
    ErrorWords {
        status,
        message,
        r#type,
        code,
        param: None,
    }
}

fn openai(message: &str, r#type: &str, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": r#type, "param": null, "code": code}})
}
