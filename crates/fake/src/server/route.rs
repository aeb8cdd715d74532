//! Which path is whose.

use std::convert::Infallible;

use http::{Method, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::body::Body;
use super::error::Failure;
use super::socket::Line;
use super::state::Shared;
use super::{admin, call};
use crate::dialect::{Dialect, Door, Task};

/// Listed when any model is accepted.
const ANY_MODEL: &str = "gpt-fake";

/// Answers a request.
pub(super) async fn answer(
    shared: Shared,
    line: Line,
    request: http::Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    Ok(match Place::of(&path, request.uri().query()) {
        Place::Call(door) if method == Method::POST => {
            call::answer(shared, line, request, door).await
        }
        Place::Models(model) if method == Method::GET => models(&shared, model),
        Place::Admin => admin::answer(&shared, request).await,
        Place::Call(_) | Place::Models(_) => admin::failed(Failure::no_method(&method, &path)),
        Place::Nowhere => admin::failed(Failure::no_path(&method, &path)),
    })
}

/// What a path is.
#[derive(PartialEq, Eq, Debug)]
enum Place<'a> {
    /// A call.
    Call(Door),
    /// All models, or one.
    Models(Option<&'a str>),
    Admin,
    Nowhere,
}

impl<'a> Place<'a> {
    fn of(path: &'a str, query: Option<&str>) -> Self {
        if path.starts_with("/_") {
            return Self::Admin;
        }
        if let Some(rest) = path.strip_prefix("/openai/deployments/") {
            // Azure knows no deployment path without a version.
            let versioned = query.is_some_and(|query| query.contains("api-version="));
            return match rest.strip_suffix("/chat/completions").filter(|_| versioned) {
                Some(deployment) if !deployment.is_empty() => Self::Call(Door {
                    model: Some(deployment.to_owned()),
                    ..Door::to(Dialect::Chat)
                }),
                _ => Self::Nowhere,
            };
        }
        match path
            .strip_prefix("/openai/v1")
            .or_else(|| path.strip_prefix("/v1"))
        {
            Some("/chat/completions") => Self::Call(Door::to(Dialect::Chat)),
            Some("/messages") if path.starts_with("/v1") => Self::Call(Door::to(Dialect::Messages)),
            Some("/messages/count_tokens") if path.starts_with("/v1") => Self::Call(Door {
                task: Task::Count,
                ..Door::to(Dialect::Messages)
            }),
            Some("/models") => Self::Models(None),
            Some(rest) => rest
                .strip_prefix("/models/")
                .map_or(Self::Nowhere, |m| Self::Models(Some(m))),
            None => Self::Nowhere,
        }
    }
}

fn models(shared: &Shared, wanted: Option<&str>) -> Response<Body> {
    let settings = shared.settings();
    let known = &settings.models;
    let answer = match wanted {
        None if known.is_empty() => json!({"object": "list", "data": [model(ANY_MODEL)]}),
        None => {
            let all: Vec<Value> = known.iter().map(|name| model(name)).collect();
            json!({"object": "list", "data": all})
        }
        Some(name) if known.is_empty() || known.iter().any(|known| known == name) => model(name),
        Some(name) => {
            return admin::failed(Failure::no_model(settings.provider.profile, name));
        }
    };
    admin::json_response(StatusCode::OK, answer.to_string().into())
}

fn model(name: &str) -> Value {
    json!({"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "fake"})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_where_they_should() {
        let version = Some("api-version=2024-10-21");
        let chat = |model: Option<&str>| {
            Place::Call(Door {
                model: model.map(str::to_owned),
                ..Door::to(Dialect::Chat)
            })
        };
        for (path, query, place) in [
            ("/v1/chat/completions", None, chat(None)),
            ("/openai/v1/chat/completions", version, chat(None)),
            (
                "/openai/deployments/d/chat/completions",
                version,
                chat(Some("d")),
            ),
            (
                "/openai/deployments/d/chat/completions",
                None,
                Place::Nowhere,
            ),
            (
                "/openai/deployments//chat/completions",
                version,
                Place::Nowhere,
            ),
            ("/v1/models", None, Place::Models(None)),
            ("/v1/models/m", None, Place::Models(Some("m"))),
            ("/_log", None, Place::Admin),
            ("/v2/models", None, Place::Nowhere),
        ] {
            assert_eq!(Place::of(path, query), place, "{path}");
        }
    }
}
