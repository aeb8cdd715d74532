//! Upstage: trios of its own names with the Unix second of the reset, and how long to wait for each meter; what is not
//! limited is shown as -1.

use serde_json::json;

use super::{Header, Meter, Reason, Standing, Trio, View, Worded, whole_seconds};

const REQUESTS: Trio = [
    "x-upstage-ratelimit-limit-requests",
    "x-upstage-ratelimit-remaining-requests",
    "x-upstage-ratelimit-reset-requests",
];
const TOKENS: Trio = [
    "x-upstage-ratelimit-limit-tokens",
    "x-upstage-ratelimit-remaining-tokens",
    "x-upstage-ratelimit-reset-tokens",
];

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let limits = [
        (REQUESTS, minute(view, Meter::Requests)),
        (TOKENS, minute(view, Meter::Tokens)),
    ];
    if limits.iter().all(|(_, limit)| limit.is_none()) {
        return Vec::new();
    }
    let mut headers: Vec<Header> = Vec::new();
    for (names, limit) in limits {
        match limit {
            Some(limit) => {
                let reset = whole_seconds(view.at.saturating_add(limit.reset));
                headers.push((names[0], limit.amount.to_string()));
                headers.push((names[1], limit.remaining.to_string()));
                headers.push((names[2], reset.to_string()));
            }
            None => headers.push((names[1], "-1".to_owned())),
        }
    }
    headers
}

/// The limit that is shown: of several the longest, which is the minute beside the second.
fn minute<'a>(view: &'a View<'_>, meter: Meter) -> Option<&'a Standing> {
    view.longest(meter)
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let mut headers = state(view);
    let message = match reason {
        Reason::Slots { limit } => format!("Too many concurrent requests: {limit}."),
        Reason::Room(refusal) => {
            let (name, meter) = match refusal.meter {
                Meter::Requests => ("x-upstage-ratelimit-retry-after-requests", "requests"),
                _ => ("x-upstage-ratelimit-retry-after-tokens", "tokens"),
            };
            if let Some(wait) = refusal.wait {
                headers.push((name, whole_seconds(wait).max(1).to_string()));
            }
            format!(
                "The limit of {} {meter} per {} is used up.",
                refusal.limit,
                refusal.unit()
            )
        }
    };
    Worded {
        status: 429,
        headers,
        body: json!({"error": {
            "message": message, "type": "rate_limit_error", "param": null, "code": "too_many_requests",
        }}),
    }
}
