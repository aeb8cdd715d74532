//! Which models there are.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use sluicegate_config::{Pattern, Policy};

use super::Failure;
use crate::gateway::Gateway;

/// Every model by name, and every route, which is one to a client; of a wildcard those that its provider is known for.
pub(super) async fn list(State(gateway): State<Arc<Gateway>>) -> Response {
    let snapshot = gateway.driver().snapshot();
    let data: Vec<Value> = names(&snapshot.policy)
        .into_iter()
        .map(|(name, provider)| model(&name, provider))
        .collect();
    answer(&json!({ "object": "list", "data": data }))
}

/// One model, whether it is listed or only answered for.
pub(super) async fn one(State(gateway): State<Arc<Gateway>>, Path(name): Path<String>) -> Response {
    let snapshot = gateway.driver().snapshot();
    let Some((_, route)) = snapshot.policy.route(&name) else {
        return Failure::UnknownModel(name).response();
    };
    let first = snapshot.route(&route.primary[0], &name);
    answer(&model(&name, &first.account.provider.id))
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

fn model(name: &str, provider: &str) -> Value {
    json!({ "id": name, "object": "model", "created": 0, "owned_by": provider })
}

fn answer(body: &Value) -> Response {
    let body = Bytes::from(body.to_string());
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
