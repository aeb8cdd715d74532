//! Azure OpenAI, standard and provisioned: OpenAI's names with bare numbers, the length of each window, and texts that name
//! a rate and whole seconds only.

use serde_json::{Value, json};

use super::super::settings::ResetUnit;
use super::openai::{REQUESTS, TOKENS, too_many_in_flight};
use super::{Header, Meter, Profile, Reason, Refusal, View, Worded, put, whole_seconds};

const RENEWAL: [&str; 2] = [
    "x-ratelimit-renewalperiod-requests",
    "x-ratelimit-renewalperiod-tokens",
];

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let mut headers = Vec::new();
    let reset = |nanos: u64| match view.settings.reset_unit {
        ResetUnit::Seconds => (nanos / 1_000_000_000).to_string(),
        ResetUnit::Milliseconds => (nanos / 1_000_000).to_string(),
    };
    let meters = [
        (Meter::Requests, REQUESTS, RENEWAL[0]),
        (Meter::Tokens, TOKENS, RENEWAL[1]),
    ];
    for (meter, names, renewal) in meters {
        if let Some(limit) = view.tightest(meter) {
            put(&mut headers, names, limit, reset);
            let per = limit.quantum.unwrap_or(limit.per);
            headers.push((renewal, per.as_seconds().to_string()));
        }
    }
    if !headers.is_empty() {
        headers.push(("x-ratelimit-key", view.model.to_owned()));
        headers.push(("x-ratelimit-abusepenalty-active", "False".to_owned()));
    }
    headers
}

/// Azure does not tell apart what never fits: it asks to come back after the renewal period.
pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let (wait, meter, message) = match reason {
        Reason::Slots { limit } => (None, None, too_many_in_flight(*limit)),
        Reason::Room(refusal) => {
            let wait = refusal.wait.unwrap_or(refusal.per.as_nanos());
            let text = match view.settings.profile {
                Profile::AzurePtu => provisioned(wait),
                _ => standard(refusal, wait),
            };
            (Some(wait), Some(refusal.meter), text)
        }
    };
    let mut headers: Vec<Header> = view.retry_after_ms(wait).into_iter().collect();
    headers.extend(view.retry_after(wait));
    if let Some(meter) = meter {
        let name = match meter {
            Meter::Requests => "Requests",
            Meter::Tokens | Meter::InputTokens | Meter::OutputTokens => "Tokens",
        };
        headers.push(("x-ratelimit-type", name.to_owned()));
    }
    headers.extend(state(view));
    Worded {
        status: 429,
        headers,
        body: error(&message),
    }
}

fn error(message: &str) -> Value {
    json!({"error": {"code": "429", "message": message}})
}

fn standard(refusal: &Refusal, wait: u64) -> String {
    let rate = match refusal.meter {
        Meter::Requests => "call",
        Meter::Tokens | Meter::InputTokens | Meter::OutputTokens => "token",
    };
    format!(
        "Requests to the ChatCompletions_Create Operation have exceeded {rate} rate limit of your current \
         pricing tier. Please retry after {}.",
        seconds(wait)
    )
}

fn provisioned(wait: u64) -> String {
    format!(
        "The provisioned deployment is used to its full capacity. Please retry after {}.",
        seconds(wait)
    )
}

fn seconds(wait: u64) -> String {
    match whole_seconds(wait).max(1) {
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}
