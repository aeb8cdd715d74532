//! Anthropic: four trios, resets as RFC 3339 instants at which everything is back, tokens rounded to the nearest thousand.
//! The `tokens` trio is the sum of input and output where no limit on both is in force.

use serde_json::json;

use super::super::calendar::rfc3339;
use super::{Header, Meter, Reason, Standing, Trio, View, Worded};

const REQUESTS: Trio = [
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
];
const TOKENS: Trio = [
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
];
const INPUT: Trio = [
    "anthropic-ratelimit-input-tokens-limit",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-input-tokens-reset",
];
const OUTPUT: Trio = [
    "anthropic-ratelimit-output-tokens-limit",
    "anthropic-ratelimit-output-tokens-remaining",
    "anthropic-ratelimit-output-tokens-reset",
];

/// What a trio shows.
#[derive(Clone, Copy)]
struct Shown {
    amount: u64,
    remaining: u64,
    reset: u64,
}

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let shown = |meter| view.tightest(meter).map(Shown::of);
    let (input, output) = (shown(Meter::InputTokens), shown(Meter::OutputTokens));
    let sum = match (input, output) {
        (Some(input), Some(output)) => Some(Shown {
            amount: input.amount.saturating_add(output.amount),
            remaining: input.remaining.saturating_add(output.remaining),
            reset: input.reset.max(output.reset),
        }),
        _ => None,
    };
    let mut headers = Vec::new();
    let trios = [
        (REQUESTS, shown(Meter::Requests)),
        (TOKENS, shown(Meter::Tokens).or(sum)),
        (INPUT, input.map(Shown::to_thousands)),
        (OUTPUT, output.map(Shown::to_thousands)),
    ];
    for (names, shown) in trios {
        let Some(shown) = shown else { continue };
        let shown = if names == TOKENS {
            shown.to_thousands()
        } else {
            shown
        };
        headers.push((names[0], shown.amount.to_string()));
        headers.push((names[1], shown.remaining.to_string()));
        headers.push((names[2], rfc3339(view.at.saturating_add(shown.reset))));
    }
    headers
}

impl Shown {
    fn of(limit: &Standing) -> Self {
        Self {
            amount: limit.amount,
            remaining: limit.remaining,
            reset: limit.reset,
        }
    }

    /// Remaining tokens to the nearest thousand.
    fn to_thousands(self) -> Self {
        let remaining = self.remaining.saturating_add(500) / 1_000 * 1_000;
        Self { remaining, ..self }
    }
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (wait, message) = match reason {
        Reason::Slots { limit } => (
            None,
            format!("This request would exceed your limit of {limit} concurrent connections."),
        ),
        Reason::Room(refusal) => {
            let meter = match refusal.meter {
                Meter::Requests => "requests",
                Meter::Tokens => "tokens",
                Meter::InputTokens => "input tokens",
                Meter::OutputTokens => "output tokens",
            };
            let (limit, unit) = (refusal.limit, refusal.unit());
            (
                refusal.wait,
                format!(
                    "This request would exceed the rate limit for your organization of {limit} {meter} per {unit}."
                ),
            )
        }
    };
    let mut headers: Vec<Header> = view.retry_after(wait).into_iter().collect();
    headers.extend(state(view));
    Worded {
        status: 429,
        headers,
        body: json!({
            "type": "error",
            "error": {"type": "rate_limit_error", "message": message},
            "request_id": format!("req_{}", view.id()),
        }),
    }
}
