//! Cohere: a key with a monthly limit is a trial key, and only those see headers; the remaining calls are missing on a 429.

use serde_json::json;

use super::{Header, Meter, Reason, View, Window, Worded};

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let mut headers = on_refusal(view);
    if let (Some(_), Some(limit)) = (view.month(Meter::Requests), view.shortest(Meter::Requests)) {
        headers.push((
            "x-trial-endpoint-call-remaining",
            limit.remaining.to_string(),
        ));
    }
    headers
}

fn on_refusal(view: &View<'_>) -> Vec<Header> {
    let Some(month) = view.month(Meter::Requests) else {
        return Vec::new();
    };
    let mut headers = vec![("x-endpoint-monthly-call-limit", month.amount.to_string())];
    if let Some(limit) = view.shortest(Meter::Requests) {
        headers.push(("x-trial-endpoint-call-limit", limit.amount.to_string()));
    }
    headers
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let trial = view.month(Meter::Requests).is_some();
    let key = if trial { "Trial" } else { "Production" };
    let message = match reason {
        Reason::Slots { limit } => format!("Too many concurrent requests: {limit}."),
        Reason::Room(refusal) => {
            let unit = match refusal.window {
                Window::Month => "month",
                _ => "minute",
            };
            format!(
                "You are using a {key} key, which is limited to {} API calls / {unit}.",
                refusal.limit
            )
        }
    };
    Worded {
        status: 429,
        headers: on_refusal(view),
        body: json!({"id": view.id(), "message": message}),
    }
}
