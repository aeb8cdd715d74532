//! Groq: OpenAI's header names, but requests are those of the day and tokens those of the minute; the texts hold all numbers
//! of the decision; what never fits is a 413.

use serde_json::json;

use super::openai::{REQUESTS, TOKENS, kind, too_many_in_flight};
use super::{Header, Meter, Reason, Refusal, View, Worded, go_duration, put};

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let mut headers = Vec::new();
    if let Some(limit) = view.longest(Meter::Requests) {
        put(&mut headers, REQUESTS, limit, go_duration);
    }
    if let Some(limit) = view.shortest(Meter::Tokens) {
        put(&mut headers, TOKENS, limit, go_duration);
    }
    headers
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (status, kind, message, wait) = match reason {
        Reason::Slots { limit } => (429, "requests", too_many_in_flight(*limit), None),
        Reason::Room(refusal) => {
            let status = if refusal.wait.is_some() { 429 } else { 413 };
            (
                status,
                kind(refusal),
                message(view.model, refusal),
                refusal.wait,
            )
        }
    };
    let mut headers: Vec<Header> = view.retry_after(wait).into_iter().collect();
    headers.extend(state(view));
    Worded {
        status,
        headers,
        body: json!({"error": {"message": message, "type": kind, "code": "rate_limit_exceeded"}}),
    }
}

fn message(model: &str, refusal: &Refusal) -> String {
    let Refusal {
        limit,
        used,
        requested,
        ..
    } = *refusal;
    let unit = match (refusal.meter, refusal.is_daily()) {
        (Meter::Requests, false) => "requests per minute (RPM)",
        (Meter::Requests, true) => "requests per day (RPD)",
        (Meter::InputTokens, false) => "input tokens per minute (ITPM)",
        (Meter::OutputTokens, false) => "output tokens per minute (OTPM)",
        (Meter::Tokens, false) => "tokens per minute (TPM)",
        (_, true) => "tokens per day (TPD)",
    };
    let place = format!(
        "for model `{model}` in organization `org_fake` service tier `on_demand` on {unit}"
    );
    match refusal.wait {
        Some(wait) => format!(
            "Rate limit reached {place}: Limit {limit}, Used {used}, Requested {requested}. Please try again in {}.",
            go_duration(wait)
        ),
        None => format!(
            "Request too large {place}: Limit {limit}, Requested {requested}, please reduce your message size and try again."
        ),
    }
}
