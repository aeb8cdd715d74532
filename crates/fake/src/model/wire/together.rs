//! Together: limits that move with what the platform can carry. `x-ratelimit-reset` is a suggested wait, not a time until
//! everything is back; a refusal while the platform itself is short is a 503.

use serde_json::json;

use super::{Header, Meter, Reason, View, Worded, whole_seconds};

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    if let Some(limit) = view.shortest(Meter::Requests) {
        // One request's worth of time, as the limit is evened out.
        let next = limit.per.as_nanos() / limit.amount;
        headers.push(("x-ratelimit-limit", limit.amount.to_string()));
        headers.push(("x-ratelimit-remaining", limit.remaining.to_string()));
        headers.push(("x-ratelimit-reset", whole_seconds(next).max(1).to_string()));
    }
    if let Some(limit) = view.shortest(Meter::Tokens) {
        headers.push(("x-tokenlimit-limit", limit.amount.to_string()));
        headers.push(("x-tokenlimit-remaining", limit.remaining.to_string()));
    }
    headers
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (status, kind, message) = match reason {
        Reason::Slots { .. } => (503, "service_unavailable", "The service is overloaded."),
        Reason::Room(refusal) if refusal.cut => (
            503,
            "service_unavailable",
            "The model has no capacity left at the moment.",
        ),
        Reason::Room(refusal) if refusal.meter == Meter::Requests => (
            429,
            "dynamic_request_limited",
            "Requests grew faster than the dynamic rate limit allows.",
        ),
        Reason::Room(_) => (
            429,
            "dynamic_token_limited",
            "Tokens grew faster than the dynamic rate limit allows.",
        ),
    };
    Worded {
        status,
        headers: state(view),
        body: json!({
            "error": {"message": message, "type": kind, "param": null, "code": null},
            "error_type": kind,
        }),
    }
}
