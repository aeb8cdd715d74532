//! Bedrock, runtime and mantle: throttling is named in a header and by text; nothing tells how much is left or how long to
//! wait. The runtime tells what a call used.

use serde_json::json;

use super::{Header, Meter, Reason, View, Worded};

pub(super) fn state(view: &View<'_>) -> Vec<Header> {
    let Some(usage) = view.usage else {
        return Vec::new();
    };
    let uncached = usage.input.saturating_sub(usage.cached);
    vec![
        ("x-amzn-bedrock-input-token-count", uncached.to_string()),
        (
            "x-amzn-bedrock-output-token-count",
            usage.output.to_string(),
        ),
        (
            "x-amzn-bedrock-cache-read-input-token-count",
            usage.cached.to_string(),
        ),
        (
            "x-amzn-bedrock-cache-write-input-token-count",
            "0".to_owned(),
        ),
    ]
}

pub(super) fn refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let message = match reason {
        Reason::Slots { .. } => "Too many requests, please wait before trying again.",
        Reason::Room(refusal) => match (refusal.meter, refusal.is_daily()) {
            (Meter::Requests, _) => "Too many requests, please wait before trying again.",
            (_, true) => "Too many tokens per day, please wait before trying again.",
            (_, false) => "Too many tokens, please wait before trying again.",
        },
    };
    Worded {
        status: 429,
        headers: vec![
            ("x-amzn-errortype", "ThrottlingException".to_owned()),
            ("x-amzn-requestid", view.id()),
        ],
        body: json!({"message": message}),
    }
}
