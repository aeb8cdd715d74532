//! Gemini and Vertex: no headers at all. Gemini's body names the quota and how long to wait, for a day no longer than a
//! minute, as clients have found out; Vertex only says that it is too much.

use serde_json::{Value, json};

use super::{Meter, Reason, View, Worded, go_duration};

/// The longest delay that is ever named, also where a day is used up.
const DELAY_MAX: u64 = 60_000_000_000;

pub(super) fn gemini_refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let Reason::Room(refusal) = reason else {
        return exhausted("Too many concurrent requests.", json!([]));
    };
    let (metric, id) = match (refusal.meter, refusal.is_daily()) {
        (Meter::Requests, false) => (
            "generate_content_free_tier_requests",
            "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
        ),
        (Meter::Requests, true) => (
            "generate_content_free_tier_requests",
            "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        ),
        (_, false) => (
            "generate_content_free_tier_input_token_count",
            "GenerateContentInputTokensPerModelPerMinute-FreeTier",
        ),
        (_, true) => (
            "generate_content_free_tier_input_token_count",
            "GenerateContentInputTokensPerModelPerDay-FreeTier",
        ),
    };
    let delay = refusal.wait.unwrap_or(DELAY_MAX).min(DELAY_MAX);
    let (limit, model) = (refusal.limit, view.model);
    let message = format!(
        "You exceeded your current quota. Quota exceeded for metric: {metric}, limit: {limit}, model: {model}. \
         Please retry in {}.",
        go_duration(delay)
    );
    let details = json!([
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{
                "quotaMetric": format!("generativelanguage.googleapis.com/{metric}"),
                "quotaId": id,
                "quotaDimensions": {"model": model},
                "quotaValue": limit.to_string(),
            }],
        },
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": protobuf_duration(delay)},
    ]);
    exhausted(&message, details)
}

/// A refusal by a limit is of the quota; by what is in flight, of the shared pool.
pub(super) fn vertex_refusal(reason: &Reason) -> Worded {
    let message = match reason {
        Reason::Slots { .. } => "Resource exhausted, please try again later.",
        Reason::Room(refusal) if refusal.cut => "Resource exhausted, please try again later.",
        Reason::Room(_) => "Quota exceeded for the tokens of this model. Please try again later.",
    };
    exhausted(message, json!([]))
}

fn exhausted(message: &str, details: Value) -> Worded {
    let mut error = json!({"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED"});
    if details
        .as_array()
        .is_some_and(|details| !details.is_empty())
    {
        error["details"] = details;
    }
    Worded {
        status: 429,
        headers: Vec::new(),
        body: json!({"error": error}),
    }
}

/// A duration in JSON: seconds with a fraction of three or nine digits, if any.
fn protobuf_duration(nanos: u64) -> String {
    let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    match (fraction, fraction % 1_000_000) {
        (0, _) => format!("{seconds}s"),
        (_, 0) => format!("{seconds}.{:03}s", fraction / 1_000_000),
        _ => format!("{seconds}.{fraction:09}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_look_like_protobuf() {
        for (nanos, text) in [
            (37_000_000_000, "37s"),
            (7_660_000_000, "7.660s"),
            (1, "0.000000001s"),
        ] {
            assert_eq!(protobuf_duration(nanos), text);
        }
    }
}
