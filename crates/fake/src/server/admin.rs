//! The endpoints that are not the provider's: what arrived, the counters, settings and faults at runtime.

use bytes::Bytes;
use http::{Method, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::fault::{Fault, QUEUED_MAX};
use crate::settings::Settings;

use super::body::Body;
use super::error::Failure;
use super::log::Bodies;
use super::state::{QueueFull, Shared};

/// The largest administrative request.
const BODY_MAX: usize = 4 * 1_024 * 1_024;
/// Calls that `/_log` shows unless asked for fewer.
const SHOWN_MAX: usize = 100_000;

/// Answers a request for one of the paths that begin with `/_`.
pub(super) async fn answer(shared: &Shared, request: http::Request<Incoming>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let result = match (parts.uri.path(), &parts.method) {
        ("/_log", &Method::GET) => Ok(log(shared, parts.uri.query().unwrap_or_default())),
        ("/_stats", &Method::GET) => Ok(stats(shared, parts.uri.query().unwrap_or_default())),
        ("/_reset", &Method::POST) => {
            shared.lock().reset();
            Ok(json!({"reset": true}))
        }
        ("/_settings", &Method::GET) => Ok(json!(*shared.settings())),
        ("/_settings", &Method::PUT) => change_settings(shared, body).await,
        ("/_faults", &Method::POST) => add_faults(shared, body).await,
        ("/_faults", &Method::GET) => Ok(json!({"queued": shared.lock().queue.len()})),
        ("/_faults", &Method::DELETE) => {
            shared.lock().queue = Default::default();
            Ok(json!({"queued": 0}))
        }
        ("/_log" | "/_stats" | "/_reset" | "/_settings" | "/_faults", method) => {
            Err(Failure::no_method(method, parts.uri.path()))
        }
        (path, method) => Err(Failure::no_path(method, path)),
    };
    match result {
        Ok(value) => json_response(StatusCode::OK, value.to_string().into()),
        Err(failure) => failed(failure),
    }
}

/// A failure without anything of the provider about it.
pub(super) fn failed(failure: Failure) -> Response<Body> {
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::BAD_REQUEST);
    json_response(status, failure.body)
}

/// A JSON answer.
pub(super) fn json_response(status: StatusCode, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

fn log(shared: &Shared, query: &str) -> Value {
    let bodies = if value(query, "bodies") == Some("1") {
        Bodies::Shown
    } else {
        Bodies::Hidden
    };
    let limit = number(query, "limit")
        .and_then(|limit| usize::try_from(limit).ok())
        .unwrap_or(SHOWN_MAX);
    let after = number(query, "after").unwrap_or(0);
    let entries = shared.lock().log.select(after, limit);
    entries.iter().map(|entry| entry.to_json(bodies)).collect()
}

fn stats(shared: &Shared, query: &str) -> Value {
    let state = shared.lock();
    let mut stats = state.log.stats(&state.settings.provider.limits());
    stats["faults_queued"] = json!(state.queue.len());
    for (index, tally) in state.model.tallies().iter().enumerate() {
        stats["limits"][index]["taken"] = json!(tally.calls);
        stats["limits"][index]["taken_by_others"] = json!(tally.others);
    }
    if let (Some(from), Some(to)) = (number(query, "from"), number(query, "to")) {
        for (index, flow) in state.model.theoretical(from, to).iter().enumerate() {
            stats["limits"][index]["theoretical"] = json!(flow.amount);
        }
    }
    stats
}

/// A parameter of a query.
fn value<'a>(query: &'a str, wanted: &str) -> Option<&'a str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find_map(|(name, value)| (name == wanted).then_some(value))
}

fn number(query: &str, wanted: &str) -> Option<u64> {
    value(query, wanted).and_then(|text| text.parse().ok())
}

/// Merges an object into the settings (RFC 7396: `null` restores a default) and puts the result in force.
async fn change_settings(shared: &Shared, body: Incoming) -> Result<Value, Failure> {
    let patch: Value = read(body).await?;
    let mut state = shared.lock();
    let mut merged = json!(*state.settings);
    merge(&mut merged, patch);
    let settings: Settings = serde_json::from_value(merged)
        .map_err(|error| Failure::bad_admin(&format!("These settings cannot be used: {error}.")))?;
    state
        .replace_settings(settings)
        .map_err(|QueueFull| too_many_faults())?;
    Ok(json!(*state.settings))
}

async fn add_faults(shared: &Shared, body: Incoming) -> Result<Value, Failure> {
    let faults = match read(body).await? {
        faults @ Value::Array(_) => faults,
        fault => Value::Array(vec![fault]),
    };
    let faults: Vec<Fault> = serde_json::from_value(faults)
        .map_err(|error| Failure::bad_admin(&format!("These faults cannot be played: {error}.")))?;
    let mut state = shared.lock();
    if !state.queue.extend(faults) {
        return Err(too_many_faults());
    }
    Ok(json!({"queued": state.queue.len()}))
}

fn too_many_faults() -> Failure {
    Failure::bad_admin(&format!(
        "More than {QUEUED_MAX} faults would wait; DELETE /_faults drops them."
    ))
}

async fn read(body: Incoming) -> Result<Value, Failure> {
    let body = Limited::new(body, BODY_MAX)
        .collect()
        .await
        .map_err(|_| Failure::too_large(BODY_MAX))?
        .to_bytes();
    serde_json::from_slice(&body)
        .map_err(|error| Failure::bad_admin(&format!("The body is not JSON: {error}.")))
}

fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (name, value) in patch {
                if value.is_null() {
                    target.remove(&name);
                } else {
                    merge(target.entry(name).or_insert(Value::Null), value);
                }
            }
        }
        (target, patch) => *target = patch,
    }
}
