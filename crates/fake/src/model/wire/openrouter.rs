//! OpenRouter: headers on its own 429 only, the reset in Unix milliseconds; the code is a number.

use serde_json::json;

use super::{Header, Reason, View, Worded};

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (message, headers) = match reason {
        Reason::Slots { limit } => (
            format!("Too many concurrent requests: {limit}."),
            Vec::<Header>::new(),
        ),
        Reason::Room(refusal) => {
            let period = if refusal.is_daily() { "day" } else { "min" };
            let wait = refusal.wait.unwrap_or(refusal.per.as_nanos());
            let reset = view.at.saturating_add(wait).div_ceil(1_000_000);
            let remaining = refusal.limit.saturating_sub(refusal.used);
            (
                format!("Rate limit exceeded: free-models-per-{period}."),
                vec![
                    ("x-ratelimit-limit", refusal.limit.to_string()),
                    ("x-ratelimit-remaining", remaining.to_string()),
                    ("x-ratelimit-reset", reset.to_string()),
                ],
            )
        }
    };
    Worded {
        status: 429,
        headers,
        body: json!({"error": {
            "code": 429, "message": message, "metadata": {"error_type": "rate_limit_exceeded"},
        }}),
    }
}
