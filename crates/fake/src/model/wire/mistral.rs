//! Mistral, as seen in September 2025: requests by the shortest window, tokens by minute and month, and what the call cost;
//! no resets.

use serde_json::json;

use super::{Header, Meter, Period, Reason, View, Worded};

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    if let Some(limit) = view.shortest(Meter::Requests) {
        let names = if limit.per >= Period::MINUTE {
            [
                "x-ratelimit-limit-req-minute",
                "x-ratelimit-remaining-req-minute",
            ]
        } else {
            [
                "x-ratelimit-limit-req-10-second",
                "x-ratelimit-remaining-req-10-second",
            ]
        };
        headers.push((names[0], limit.amount.to_string()));
        headers.push((names[1], limit.remaining.to_string()));
    }
    if let Some(limit) = view.shortest(Meter::Tokens) {
        headers.push(("x-ratelimit-limit-tokens-minute", limit.amount.to_string()));
        headers.push((
            "x-ratelimit-remaining-tokens-minute",
            limit.remaining.to_string(),
        ));
    }
    if let Some(limit) = view.month(Meter::Tokens) {
        headers.push(("x-ratelimit-limit-tokens-month", limit.amount.to_string()));
        headers.push((
            "x-ratelimit-remaining-tokens-month",
            limit.remaining.to_string(),
        ));
    }
    headers
}

/// The headers of an answer that is served: those of the limits, and the cost.
pub(super) fn served(view: &View<'_>) -> Vec<Header> {
    let mut headers = state(view);
    if view.shortest(Meter::Tokens).is_some() {
        headers.push(("x-ratelimit-tokens-query-cost", view.query_cost.to_string()));
    }
    headers
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let wait = match reason {
        Reason::Slots { .. } => None,
        Reason::Room(refusal) => refusal.wait,
    };
    let mut headers: Vec<Header> = view.retry_after(wait).into_iter().collect();
    headers.extend(state(view));
    Worded {
        status: 429,
        headers,
        body: json!({"message": "Rate limit exceeded"}),
    }
}
