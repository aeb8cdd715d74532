//! Which models there are.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Uri};
use serde_json::{Value, json};
use sluicegate_config::{Pattern, Policy};
use sluicegate_dialect::Dialect;
use sluicegate_dialect::gemini::Call;

use super::Failure;
use crate::gateway::Gateway;

/// Every model by name, and every route, which is one to a client; of a wildcard those that its provider is known for.
pub(super) async fn list(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Response {
    listed(&gateway, dialect_of(&headers))
}

/// The same to Google's clients.
pub(super) async fn list_google(State(gateway): State<Arc<Gateway>>) -> Response {
    listed(&gateway, Dialect::Gemini)
}

fn listed(gateway: &Gateway, dialect: Dialect) -> Response {
    let snapshot = gateway.driver().snapshot();
    let names = names(&snapshot.policy);
    let models = names
        .iter()
        .map(|(name, provider)| model(dialect, name, provider));
    let models: Vec<Value> = models.collect();
    answer(&match dialect {
        Dialect::Anthropic => json!({
            "data": models,
            "has_more": false,
            "first_id": names.first().map(|(name, _)| name),
            "last_id": names.last().map(|(name, _)| name),
        }),
        Dialect::Gemini => json!({ "models": models }),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            json!({ "object": "list", "data": models })
        }
    })
}

/// One model, whether it is listed or only answered for.
pub(super) async fn one(
    State(gateway): State<Arc<Gateway>>,
    Path(name): Path<String>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if is_call(&name) {
        return super::posted_only(method, uri.path().to_owned());
    }
    described(&gateway, name, dialect_of(&headers))
}

/// The same to Google's clients.
pub(super) async fn one_google(
    State(gateway): State<Arc<Gateway>>,
    Path(name): Path<String>,
    method: Method,
    uri: Uri,
) -> Response {
    if is_call(&name) {
        return super::posted_only(method, uri.path().to_owned());
    }
    described(&gateway, name, Dialect::Gemini)
}

/// Whether it names a method of a model's, which is called and not described.
fn is_call(name: &str) -> bool {
    let method = name.rsplit_once(':').map(|(_, method)| method);
    method.and_then(Call::named).is_some()
}

fn described(gateway: &Gateway, name: String, dialect: Dialect) -> Response {
    let snapshot = gateway.driver().snapshot();
    let Some((_, route)) = snapshot.policy.route(&name) else {
        return Failure::UnknownModel(name).response(dialect);
    };
    let first = snapshot.route(&route.primary[0], &name);
    answer(&model(dialect, &name, &first.account.provider.id))
}

/// Three dialects share the path: SDKs of Anthropic's always name its version, Google's themselves or the key in its header.
fn dialect_of(headers: &HeaderMap) -> Dialect {
    if headers.contains_key("anthropic-version") {
        Dialect::Anthropic
    } else if headers.contains_key("x-goog-api-client") || headers.contains_key("x-goog-api-key") {
        Dialect::Gemini
    } else {
        Dialect::OpenAiChat
    }
}

/// A model that answers, to show how to ask.
pub(crate) fn example_model(policy: &Policy) -> String {
    if let Some((name, _)) = names(policy).into_iter().next() {
        return name;
    }
    // Of a wildcard that nobody knows a model of, the bare beginning is answered too.
    let stems = policy
        .deployments
        .iter()
        .map(|deployment| match &deployment.pattern {
            Pattern::Exact(name) | Pattern::Prefix(name) => name.clone(),
        });
    stems
        .into_iter()
        .find(|stem| !stem.is_empty())
        .unwrap_or_else(|| "any".to_owned())
}

fn names(policy: &Policy) -> Vec<(String, &str)> {
    let mut names = Vec::new();
    for route in &policy.routes {
        let deployment = &policy.deployments[route.primary[0].deployment];
        let provider = &policy.accounts[deployment.account].provider;
        match &route.pattern {
            Pattern::Exact(name) => names.push((name.clone(), provider.id.as_str())),
            Pattern::Prefix(_) => {
                let known = provider
                    .models
                    .iter()
                    .filter(|name| route.pattern.matches(name));
                names.extend(known.map(|name| (name.clone(), provider.id.as_str())));
            }
        }
    }
    names.sort_unstable();
    names.dedup_by(|one, other| one.0 == other.0);
    names
}

fn model(dialect: Dialect, name: &str, provider: &str) -> Value {
    match dialect {
        // Nobody knows when it was made.
        Dialect::Anthropic => json!({
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "1970-01-01T00:00:00Z",
        }),
        Dialect::Gemini => json!({
            "name": format!("models/{name}"),
            "displayName": name,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens", "embedContent"],
        }),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            json!({ "id": name, "object": "model", "created": 0, "owned_by": provider })
        }
    }
}

fn answer(body: &Value) -> Response {
    let body = Bytes::from(body.to_string());
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
