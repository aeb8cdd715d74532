//! Providers that say little: xAI, DeepSeek, Naver, and the servers one runs oneself.

use serde_json::json;

use super::openai::{REQUESTS, TOKENS};
use super::{Header, Meter, Reason, View, Worded};

/// xAI: limit and remaining, but no resets.
pub(super) fn xai_state(view: &View<'_>) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    for (meter, names) in [(Meter::Requests, REQUESTS), (Meter::Tokens, TOKENS)] {
        if let Some(limit) = view.tightest(meter) {
            headers.push((names[0], limit.amount.to_string()));
            headers.push((names[1], limit.remaining.to_string()));
        }
    }
    headers
}

/// xAI: two flat strings.
pub(super) fn xai_refusal(view: &View<'_>, reason: &Reason) -> Worded {
    let limit = match reason {
        Reason::Slots { limit } => format!("{limit} concurrent requests"),
        Reason::Room(refusal) if refusal.meter == Meter::Requests => {
            format!("{} requests per {}", refusal.limit, refusal.unit())
        }
        Reason::Room(refusal) => format!("{} tokens per {}", refusal.limit, refusal.unit()),
    };
    Worded {
        status: 429,
        headers: xai_state(view),
        body: json!({
            "code": "Some resource has been exhausted",
            "error": format!("Too many requests for team fake and model {}: the limit is {limit}.", view.model),
        }),
    }
}

/// DeepSeek: the shape of OpenAI, without numbers.
pub(super) fn deepseek_refusal(reason: &Reason) -> Worded {
    let message = match reason {
        Reason::Slots { .. } => "Too many requests are in flight for this account.",
        Reason::Room(_) => "Rate limit reached.",
    };
    bare(
        429,
        json!({"error": {
            "message": message, "type": "rate_limit_error", "param": null, "code": "rate_limit_exceeded",
        }}),
    )
}

/// Naver CLOVA Studio: codes of five digits, one for requests and one for tokens.
pub(super) fn naver_refusal(reason: &Reason) -> Worded {
    let (code, message) = match reason {
        Reason::Room(refusal) if refusal.meter != Meter::Requests => {
            ("64429", "Too many requests - token quota exceeded")
        }
        _ => ("42901", "Too many requests - rate exceeded"),
    };
    bare(
        429,
        json!({"status": {"code": code, "message": message}, "result": null}),
    )
}

/// vLLM: the queue is full, which is a 503.
pub(super) fn vllm_refusal(reason: &Reason) -> Worded {
    let message = match reason {
        Reason::Slots { limit } => {
            format!("QueueOverflowError: more than {limit} requests are running or waiting.")
        }
        Reason::Room(_) => "QueueOverflowError: too much waits already.".to_owned(),
    };
    bare(
        503,
        json!({"error": {
            "message": message, "type": "ServiceUnavailableError", "param": null, "code": 503,
        }}),
    )
}

/// TGI: no permit is free. Its 429 means overload.
pub(super) fn tgi_refusal() -> Worded {
    bare(
        429,
        json!({"error": "Model is overloaded", "error_type": "overloaded"}),
    )
}

fn bare(status: u16, body: serde_json::Value) -> Worded {
    Worded {
        status,
        headers: Vec::new(),
        body,
    }
}
