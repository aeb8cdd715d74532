//! OpenAI: one limit of requests and one of tokens, the tightest of each; resets as Go prints durations, until everything is
//! back; the error text holds all numbers of the decision.

use serde_json::{Value, json};

use super::{Header, Meter, Reason, Refusal, Trio, View, Worded, go_duration, put};

pub(super) const REQUESTS: Trio = [
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
];
pub(super) const TOKENS: Trio = [
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
];

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let mut headers = Vec::new();
    for (meter, names) in [(Meter::Requests, REQUESTS), (Meter::Tokens, TOKENS)] {
        if let Some(limit) = view.tightest(meter) {
            put(&mut headers, names, limit, go_duration);
        }
    }
    headers
}

/// What can never fit is a 429 too, without a hint.
pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (wait, body) = match reason {
        Reason::Slots { limit } => (None, error(&too_many_in_flight(*limit), "requests")),
        Reason::Room(refusal) => (
            refusal.wait,
            error(&message(view.model, refusal), kind(refusal)),
        ),
    };
    let mut headers: Vec<Header> = view.retry_after_ms(wait).into_iter().collect();
    headers.extend(view.retry_after(wait));
    headers.extend(state(view));
    Worded {
        status: 429,
        headers,
        body,
    }
}

pub(super) fn too_many_in_flight(limit: u64) -> String {
    format!(
        "Too many concurrent requests: Limit {limit}. Please try again when a running request ends."
    )
}

fn error(message: &str, kind: &str) -> Value {
    json!({"error": {
        "message": message, "type": kind, "param": null, "code": "rate_limit_exceeded",
    }})
}

pub(super) fn kind(refusal: &Refusal) -> &'static str {
    match refusal.meter {
        Meter::Requests => "requests",
        Meter::Tokens | Meter::InputTokens | Meter::OutputTokens => "tokens",
    }
}

/// The limit as the texts name it: `tokens per min (TPM)`.
fn unit(refusal: &Refusal) -> &'static str {
    match (refusal.meter, refusal.is_daily()) {
        (Meter::Requests, false) => "requests per min (RPM)",
        (Meter::Requests, true) => "requests per day (RPD)",
        (Meter::InputTokens, false) => "input tokens per min (ITPM)",
        (Meter::OutputTokens, false) => "output tokens per min (OTPM)",
        (Meter::Tokens, false) => "tokens per min (TPM)",
        (_, true) => "tokens per day (TPD)",
    }
}

fn message(model: &str, refusal: &Refusal) -> String {
    let Refusal {
        limit,
        used,
        requested,
        ..
    } = *refusal;
    let unit = unit(refusal);
    match refusal.wait {
        Some(wait) => format!(
            "Rate limit reached for {model} in organization org-fake on {unit}: Limit {limit}, Used {used}, \
             Requested {requested}. Please try again in {}.",
            go_duration(wait)
        ),
        None => format!(
            "Request too large for {model} in organization org-fake on {unit}: Limit {limit}, \
             Requested {requested}. The input or output tokens must be reduced in order to run successfully."
        ),
    }
}
