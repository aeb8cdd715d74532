//! Cerebras: requests of the day and tokens of the minute, resets in seconds with a fraction; flat errors whose code tells
//! requests, tokens and the queue apart.

use serde_json::json;

use super::{Header, Meter, Reason, Trio, View, Worded, put};

const REQUESTS: Trio = [
    "x-ratelimit-limit-requests-day",
    "x-ratelimit-remaining-requests-day",
    "x-ratelimit-reset-requests-day",
];
const TOKENS: Trio = [
    "x-ratelimit-limit-tokens-minute",
    "x-ratelimit-remaining-tokens-minute",
    "x-ratelimit-reset-tokens-minute",
];

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let mut headers = Vec::new();
    if let Some(limit) = view.longest(Meter::Requests) {
        put(&mut headers, REQUESTS, limit, float_seconds);
    }
    if let Some(limit) = view.shortest(Meter::Tokens) {
        put(&mut headers, TOKENS, limit, float_seconds);
    }
    headers
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (code, message) = match reason {
        Reason::Slots { .. } => (
            "queue_exceeded",
            "We're experiencing high traffic right now! Please try again soon.".to_owned(),
        ),
        Reason::Room(refusal) => {
            let (code, meter) = match refusal.meter {
                Meter::Requests => ("request_quota_exceeded", "Requests"),
                _ => ("token_quota_exceeded", "Tokens"),
            };
            let unit = refusal.unit();
            (
                code,
                format!(
                    "{meter} per {unit} limit exceeded - too many {} processed.",
                    meter.to_lowercase()
                ),
            )
        }
    };
    Worded {
        status: 429,
        headers: state(view),
        body: json!({
            "message": message, "type": "too_many_requests_error", "param": "quota", "code": code,
        }),
    }
}

/// As Python prints seconds: at least one digit after the point, no more than six.
fn float_seconds(nanos: u64) -> String {
    let micros = nanos / 1_000;
    let (seconds, fraction) = (micros / 1_000_000, format!("{:06}", micros % 1_000_000));
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    format!("{seconds}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_look_like_python() {
        for (nanos, text) in [
            (33_011_380_000_000, "33011.38"),
            (1_000_000_000, "1.0"),
            (0, "0.0"),
            (1_234_567, "0.001234"),
        ] {
            assert_eq!(float_seconds(nanos), text);
        }
    }
}
