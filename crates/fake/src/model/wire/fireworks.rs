//! Fireworks: prompt tokens, prompt tokens without what is cached, and generated tokens, each with what is left; no resets.

use serde_json::json;

use super::super::settings::SettleRule;
use super::{Header, Meter, Reason, View, Worded};

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let uncached = |settle| settle == SettleRule::UncachedInput;
    let prompt = view
        .of(Meter::InputTokens)
        .find(|limit| !uncached(limit.settle));
    let adjusted = view
        .of(Meter::InputTokens)
        .find(|limit| uncached(limit.settle));
    let shown = [
        (
            [
                "x-ratelimit-limit-requests",
                "x-ratelimit-remaining-requests",
            ],
            view.shortest(Meter::Requests),
        ),
        (
            [
                "x-ratelimit-limit-tokens-prompt",
                "x-ratelimit-remaining-tokens-prompt",
            ],
            prompt,
        ),
        (
            [
                "x-ratelimit-limit-tokens-cache-adjusted-prompt",
                "x-ratelimit-remaining-tokens-cache-adjusted-prompt",
            ],
            adjusted,
        ),
        (
            [
                "x-ratelimit-limit-tokens-generated",
                "x-ratelimit-remaining-tokens-generated",
            ],
            view.shortest(Meter::OutputTokens),
        ),
    ];
    let mut headers: Vec<Header> = Vec::new();
    for ([limit, remaining], standing) in shown {
        if let Some(standing) = standing {
            headers.push((limit, standing.amount.to_string()));
            headers.push((remaining, standing.remaining.to_string()));
        }
    }
    if let Some(usage) = view.usage {
        headers.push(("fireworks-prompt-tokens", usage.input.to_string()));
        headers.push(("fireworks-cached-prompt-tokens", usage.cached.to_string()));
    }
    headers
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (status, message) = match reason {
        Reason::Slots { .. } => (503, "The service is overloaded."),
        Reason::Room(_) => (
            429,
            "Request didn't generate first token before the given deadline: rate limit exceeded.",
        ),
    };
    Worded {
        status,
        headers: state(view),
        body: json!({"error": {
            "message": message, "type": "error", "param": null, "code": "rate_limit_exceeded",
        }}),
    }
}
