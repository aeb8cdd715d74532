//! A failure's body and the status that it comes with, to the clients of each dialect.

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use sluicegate_dialect::{Dialect, classify};

use crate::fixtures::row;

/// What a client reads of a failure of `provider`.
fn read(client: Dialect, provider: &str, status: u16, body: &str) -> Value {
    let status = StatusCode::from_u16(status).expect("a status");
    let error = classify(&row(provider), status, &HeaderMap::new(), body.as_bytes());
    serde_json::from_slice(&client.write_error(&error)).expect("a body is JSON")
}

/// A status, the type of OpenAI's dialects, that of Anthropic's, and Google's word.
const STATUSES: [(u16, &str, &str, &str); 15] = [
    (
        400,
        "invalid_request_error",
        "invalid_request_error",
        "INVALID_ARGUMENT",
    ),
    (
        401,
        "authentication_error",
        "authentication_error",
        "UNAUTHENTICATED",
    ),
    (402, "billing_error", "billing_error", "FAILED_PRECONDITION"),
    (
        403,
        "authentication_error",
        "permission_error",
        "PERMISSION_DENIED",
    ),
    (404, "invalid_request_error", "not_found_error", "NOT_FOUND"),
    (408, "api_error", "timeout_error", "DEADLINE_EXCEEDED"),
    (409, "invalid_request_error", "conflict_error", "ABORTED"),
    (
        413,
        "invalid_request_error",
        "request_too_large",
        "INVALID_ARGUMENT",
    ),
    (
        422,
        "invalid_request_error",
        "invalid_request_error",
        "INVALID_ARGUMENT",
    ),
    (
        429,
        "rate_limit_error",
        "rate_limit_error",
        "RESOURCE_EXHAUSTED",
    ),
    (500, "api_error", "api_error", "INTERNAL"),
    (502, "api_error", "api_error", "INTERNAL"),
    (503, "api_error", "overloaded_error", "UNAVAILABLE"),
    (504, "api_error", "timeout_error", "DEADLINE_EXCEEDED"),
    (529, "api_error", "overloaded_error", "UNAVAILABLE"),
];

/// Who is not asked what a row says, but what the status says: of the texts only one is of a row.
const SAID: [&str; 3] = [
    "",
    r#"{"message":"no"}"#,
    r#"{"message":"prompt is too long"}"#,
];

#[test]
fn the_body_says_the_status_that_is_sent() {
    for provider in ["openai", "anthropic", "gemini", "bedrock", "cohere"] {
        for ((status, openai, anthropic, google), said) in STATUSES
            .iter()
            .flat_map(|row| SAID.map(|said| (*row, said)))
        {
            let at = format!("{provider}: {status} {said}");
            for client in [Dialect::OpenAiChat, Dialect::OpenAiResponses] {
                assert_eq!(
                    read(client, provider, status, said)["error"]["type"],
                    openai,
                    "{at}"
                );
            }
            let body = read(Dialect::Anthropic, provider, status, said);
            assert_eq!(body["error"]["type"], anthropic, "{at}");
            let body = read(Dialect::Gemini, provider, status, said);
            assert_eq!(body["error"]["code"], status, "{at}");
            assert_eq!(body["error"]["status"], google, "{at}");
        }
    }
}

#[test]
fn what_was_not_found_is_a_model_where_it_is_said_so() {
    let cases = [
        (
            "anthropic",
            r#"{"error":{"type":"not_found_error","message":"model: claude-0"}}"#,
            "model_not_found",
        ),
        (
            "gemini",
            r#"{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}"#,
            "model_not_found",
        ),
        (
            "bedrock",
            r#"{"message":"Could not resolve the foundation model from the provided model identifier."}"#,
            "model_not_found",
        ),
        (
            "cohere",
            r#"{"message":"model 'x' not found, make sure the correct model ID was used"}"#,
            "model_not_found",
        ),
        ("cohere", r#"{"message":"no such page"}"#, "not_found"),
        ("bedrock", "", "not_found"),
    ];
    for (provider, body, code) in cases {
        for client in [Dialect::OpenAiChat, Dialect::OpenAiResponses] {
            let said = read(client, provider, 404, body);
            assert_eq!(said["error"]["code"], code, "{provider}: {body}");
        }
    }
}

#[test]
fn other_statuses_of_a_mistake_have_their_code() {
    for (status, code) in [
        (400, "invalid_request"),
        (409, "conflict"),
        (413, "request_too_large"),
        (422, "invalid_request"),
    ] {
        let said = read(Dialect::OpenAiChat, "anthropic", status, "");
        assert_eq!(said["error"]["code"], code);
    }
    let said = read(Dialect::OpenAiChat, "anthropic", 403, "");
    assert_eq!(said["error"]["code"], "permission_denied");
}

#[test]
fn what_a_mistake_is_has_openais_code_whoever_says_it() {
    let said = [
        (
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens.",
        ),
        (
            "context_length_exceeded",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        ),
        (
            "content_filter",
            "Output blocked by content filtering policy",
        ),
        (
            "content_filter",
            "The response was filtered by a content policy.",
        ),
    ];
    for provider in ["anthropic", "gemini", "bedrock", "cohere"] {
        for (code, message) in said {
            let body = match provider {
                "anthropic" => {
                    json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
                }
                "gemini" => {
                    json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": message}})
                }
                _ => json!({"message": message}),
            };
            for client in [Dialect::OpenAiChat, Dialect::OpenAiResponses] {
                let said = read(client, provider, 400, &body.to_string());
                assert_eq!(said["error"]["code"], code, "{provider}: {message}");
                assert_eq!(said["error"]["type"], "invalid_request_error");
            }
        }
    }
}
