//! Raon: headers for requests only, with the Unix second at which the window ends; what never fits is a 400; too many calls
//! in flight is an overload, which carries no limit headers.

use serde_json::json;

use super::{Header, Meter, Reason, View, Worded, whole_seconds};

/// Seconds after which an overloaded server wants to be asked again.
const OVERLOADED_SECONDS: u64 = 2;

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let Some(limit) = view.shortest(Meter::Requests) else {
        return Vec::new();
    };
    // The window ends when it ends, used or not; nothing used leaves only the present to name.
    let ends = whole_seconds(view.at.saturating_add(limit.reset));
    vec![
        ("x-ratelimit-limit-requests", limit.amount.to_string()),
        (
            "x-ratelimit-remaining-requests",
            limit.remaining.to_string(),
        ),
        ("x-ratelimit-reset-requests", ends.to_string()),
    ]
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (status, code, message, wait) = match reason {
        Reason::Slots { .. } => (
            429,
            "overloaded",
            "The service is overloaded. Please try again shortly.".to_owned(),
            Some(OVERLOADED_SECONDS * 1_000_000_000),
        ),
        Reason::Room(refusal) => {
            let meter = match refusal.meter {
                Meter::Requests => "requests",
                Meter::Tokens => "tokens",
                Meter::InputTokens => "input tokens",
                Meter::OutputTokens => "output tokens",
            };
            let unit = refusal.unit();
            match refusal.wait {
                Some(wait) => (
                    429,
                    "rate_limit_exceeded",
                    format!(
                        "The limit of {} {meter} per {unit} is used up.",
                        refusal.limit
                    ),
                    Some(wait),
                ),
                None => (
                    400,
                    "token_limit_exceeded",
                    format!(
                        "This request alone needs {} {meter}, above the limit of {} per {unit}.",
                        refusal.requested, refusal.limit
                    ),
                    None,
                ),
            }
        }
    };
    let mut headers: Vec<Header> = view.retry_after(wait).into_iter().collect();
    if code == "rate_limit_exceeded" {
        headers.extend(state(view));
    }
    let kind = if status == 400 {
        "invalid_request_error"
    } else {
        "rate_limit_error"
    };
    Worded {
        status,
        headers,
        body: json!({"error": {"message": message, "type": kind, "param": null, "code": code}}),
    }
}
