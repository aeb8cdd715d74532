//! What a failure is called towards the client: status, code and words.
//!
//! Those of an upstream's are in `upstream_failure/words.rs`.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use sluicegate_core::Refusal;
use sluicegate_dialect::Operation;
use sluicegate_dialect::canonical::Inexpressible;

use super::{Described, Failure, Retry, WAIT_UNKNOWN};
use crate::driver::Refused;
use crate::http::candidate::Unsayable;

impl Failure {
    pub(super) fn describe(&self) -> Described {
        match self {
            Self::Request(error) => Described {
                param: error.param.map(Cow::Borrowed),
                ..invalid(error.message.clone())
            },
            Self::Header { name, expected } => invalid(format!("header {name}: {expected}")),
            Self::UnknownTask(task) => invalid(format!(
                "unknown task {task:?}: no route of that name is configured; leave x-sluicegate-task out to choose by model"
            )),
            Self::Encoded(encoding) => Described {
                status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ..invalid(format!(
                    "header content-encoding: bodies are not read as {encoding:?}; send the body as it is, without the header"
                ))
            },
            Self::BodyTooLarge { max } => Described {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                code: "request_too_large",
                ..invalid(format!(
                    "the request body is larger than {max} bytes; send less, or raise server.body_max"
                ))
            },
            Self::BodyBroken => {
                invalid("the request body ended before it was complete".to_owned())
            }
            Self::BodySlow(what) => Described {
                status: StatusCode::REQUEST_TIMEOUT,
                retry: Retry::Maybe,
                ..invalid(format!(
                    "the request body {what} before it was complete; send it again, on a faster line or shorter"
                ))
            },
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
                param: Some(Cow::Borrowed("model")),
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

pub(in crate::http) fn invalid(message: String) -> Described {
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
const KEPT_NOWHERE: &str = "an item that names what OpenAI keeps of an earlier answer, an item_reference, is known to nobody else: with \
     `store: false` the SDK sends what was said itself";

/// Whose tools are strict all together.
const COHERE: &str = sluicegate_catalog::Dialect::Cohere.name();

/// One tool's `strict` is refused only where another's is missing, which its name alone does not tell.
const STRICT_TOGETHER: &str = "Cohere has one `strict_tools` for all tools of a request: write `strict: true` into each of them or into \
     none";

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
            let is_item = |member: &Inexpressible| {
                let index = member.field.strip_prefix("input[");
                let index = index.and_then(|rest| rest.strip_suffix(']'));
                index.is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit()))
            };
            let names_kept = operation == Operation::Responses && members.iter().any(is_item);
            let is_strict = |member: &Inexpressible| member.field.ends_with(".strict");
            let mixes_strict = dialect == COHERE && members.iter().any(is_strict);
            let first = members
                .first()
                .map(|member| Cow::Owned(member.field.clone()));
            let (needed, droppable): (Vec<_>, Vec<_>) =
                members.iter().partition(|it| it.instead.is_some());
            let mut described = invalid(format!(
                "{} cannot be said to {route}, whose provider speaks the {dialect} dialect",
                listed(members)
            ));
            if !droppable.is_empty() {
                described.add(&format!(
                    "{}, or write `lossy: allow` into the route to have it dropped",
                    if needed.is_empty() {
                        "leave it out".to_owned()
                    } else {
                        format!("leave out {}", listed(droppable))
                    }
                ));
            }
            if let Some(instead) = needed.first().and_then(|it| it.instead.as_deref()) {
                described.add(&format!("{} has to be {instead}", listed(needed)));
            }
            described.param = first;
            if names_kept {
                described.add(KEPT_NOWHERE);
            }
            if mixes_strict {
                described.add(STRICT_TOGETHER);
            }
            described
        }
        Unsayable::Body(error) => Described {
            param: error.param.map(Cow::Borrowed),
            ..invalid(error.message.clone())
        },
    }
}

/// The members by name.
fn listed<'a>(members: impl IntoIterator<Item = &'a Inexpressible>) -> String {
    let members = members.into_iter();
    let members: Vec<_> = members
        .map(|member| format!("`{}`", member.field))
        .collect();
    members.join(", ")
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
            param: Some(Cow::Borrowed("model")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_dialect::{Dialect, ProviderDialect, translate_request};

    /// What is said of an input that cannot be said to Cohere.
    fn said(input: &str) -> Described {
        let body = format!(r#"{{"model":"m","input":[{{"role":"user","content":"hi"}},{input}]}}"#);
        let from = Dialect::OpenAiResponses;
        let row = sluicegate_catalog::provider("cohere").expect("a row of the catalog");
        let target = sluicegate_dialect::canonical::Target::of(row, "command-a-03-2025");
        let translation =
            translate_request(from, ProviderDialect::Cohere, body.as_bytes(), &target);
        let unsayable = Unsayable::Members(translation.expect("a request").inexpressible);
        describe_unsayable("r", "cohere", Operation::Responses, &unsayable)
    }

    #[test]
    fn a_name_of_a_tool_that_is_not_taken_is_to_be_another_whatever_the_route_allows() {
        let row = sluicegate_catalog::provider("openai").expect("a row of the catalog");
        let target = sluicegate_dialect::canonical::Target::of(row, "gpt-4.1");
        let body = r#"{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"topK":4},
            "tools":[{"functionDeclarations":[{"name":"read.level"}]}]}"#;
        let to = ProviderDialect::of(row);
        let translation = translate_request(Dialect::Gemini, to, body.as_bytes(), &target);
        let operation = Operation::Content(
            sluicegate_dialect::gemini::Call::GenerateContent,
            sluicegate_dialect::gemini::Framing::Events,
        );
        let members = translation.expect("a request").inexpressible;
        let described =
            |members| describe_unsayable("r", "openai", operation, &Unsayable::Members(members));
        let both = described(members.clone());
        let name = "tools[0].functionDeclarations[0].name";
        assert_eq!(both.param.as_deref(), Some(name));
        let end = "; leave out `generationConfig.topK`, or write `lossy: allow` into the route to have it dropped; \
                   `tools[0].functionDeclarations[0].name` has to be a name of up to 64 ASCII letters, digits, `_`, `-`";
        assert!(both.message.ends_with(end), "{}", both.message);
        let needed = members.into_iter().filter(|it| it.instead.is_some());
        let needed = described(needed.collect());
        assert!(!needed.message.contains("lossy"), "{}", needed.message);
    }

    #[test]
    fn a_slow_body_is_a_timeout_that_ends_the_connection() {
        let words = [
            (Dialect::OpenAiChat, "invalid_request_error"),
            (Dialect::Anthropic, "timeout_error"),
            (Dialect::Gemini, "DEADLINE_EXCEEDED"),
        ];
        for (dialect, word) in words {
            let slow = Failure::BodySlow("fell silent");
            let response = slow.response(dialect);
            assert_eq!(response.status(), StatusCode::REQUEST_TIMEOUT);
            assert_eq!(response.headers()["connection"], "close");
            assert!(!response.headers().contains_key("x-should-retry"));
            let body = dialect.error_body(&slow.describe().out());
            assert!(String::from_utf8_lossy(&body).contains(word), "{body:?}");
        }
    }

    #[test]
    fn who_mixes_strict_tools_is_told_why_cohere_cannot_have_them() {
        let tool = |name: &str, strict: &str| {
            format!(
                r#"{{"type":"function","name":"{name}",{strict}"parameters":{{"type":"object","properties":{{}},"required":[],"additionalProperties":false}}}}"#
            )
        };
        let asked = |tools: &str| {
            let input = format!(r#"{{"role":"user","content":"a"}}],"tools":[{tools}"#);
            let body = format!(r#"{{"model":"m","input":[{input}]}}"#);
            let row = sluicegate_catalog::provider("cohere").expect("a row of the catalog");
            let target = sluicegate_dialect::canonical::Target::of(row, "command-a-03-2025");
            let (from, to) = (Dialect::OpenAiResponses, ProviderDialect::Cohere);
            let translation = translate_request(from, to, body.as_bytes(), &target);
            translation.expect("a request").inexpressible
        };
        let (strict, loose) = (
            tool("a", r#""strict":true,"#),
            tool("b", r#""strict":false,"#),
        );
        assert_eq!(asked(&strict), []);
        let mixed = Unsayable::Members(asked(&format!("{strict},{loose}")));
        let told = describe_unsayable("r", COHERE, Operation::Responses, &mixed);
        assert_eq!(told.param.as_deref(), Some("tools[0].strict"));
        assert!(
            told.message.contains("each of them or into none"),
            "{}",
            told.message
        );
    }

    #[test]
    fn who_names_what_openai_keeps_is_told_how_to_have_it_sent() {
        let kept = said(r#"{"type":"item_reference","id":"msg_1"}"#);
        assert_eq!(kept.param.as_deref(), Some("input[1]"));
        assert!(kept.message.contains("`store: false`"), "{}", kept.message);
        let other = said(
            r#"{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_video"}]}"#,
        );
        assert_eq!(other.param.as_deref(), Some("input[1].content[1]"));
        assert!(
            !other.message.contains("`store: false`"),
            "{}",
            other.message
        );
    }
}
