//! Which path is whose.

use std::convert::Infallible;

use http::{Method, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::body::Body;
use super::door::door;
use super::error::Failure;
use super::socket::Line;
use super::state::Shared;
use super::{admin, call};
use crate::dialect::Door;

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
        if let Some(door) = door(path, query) {
            return Self::Call(door);
        }
        let rest = path
            .strip_prefix("/openai/v1/models")
            .or_else(|| path.strip_prefix("/v1/models"));
        match rest.map(|rest| (rest, rest.strip_prefix('/'))) {
            Some(("", _)) => Self::Models(None),
            Some((_, Some(model))) => Self::Models(Some(model)),
            _ => Self::Nowhere,
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
    use crate::dialect::Dialect;

    #[test]
    fn paths_lead_where_they_should() {
        for (path, place) in [
            ("/v1/chat/completions", Place::Call(Door::to(Dialect::Chat))),
            ("/v1/models", Place::Models(None)),
            ("/v1/models/m", Place::Models(Some("m"))),
            ("/v1/modelsm", Place::Nowhere),
            ("/_log", Place::Admin),
            ("/v2/models", Place::Nowhere),
        ] {
            assert_eq!(Place::of(path, None), place, "{path}");
        }
    }
}
