//! The shape of an error that is not a limit's: the same words, as each provider packs them.

use serde_json::{Value, json};

use super::Profile;

/// What an error says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorWords<'a> {
    /// The status it comes with.
    pub(crate) status: u16,
    /// What happened.
    pub(crate) message: &'a str,
    /// OpenAI's `type`.
    pub(crate) r#type: &'a str,
    /// OpenAI's `code`.
    pub(crate) code: Option<&'a str>,
    /// OpenAI's `param`.
    pub(crate) param: Option<&'a str>,
}

/// The body that carries `words`.
pub(crate) fn error_body(profile: Profile, words: &ErrorWords<'_>) -> Value {
    let ErrorWords {
        status,
        message,
        r#type,
        code,
        param,
    } = *words;
    match profile {
        Profile::OpenAi
        | Profile::Raon
        | Profile::Groq
        | Profile::DeepSeek
        | Profile::Together
        | Profile::Fireworks
        | Profile::Upstage => {
            json!({"error": {"message": message, "type": r#type, "param": param, "code": code}})
        }
        Profile::Azure | Profile::AzurePtu => match code {
            Some("content_filter") => json!({"error": {
                "message": message, "type": null, "param": "prompt", "code": code, "status": status,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }}),
            Some("context_length_exceeded" | "invalid_value" | "invalid_type") => {
                json!({"error": {"message": message, "type": r#type, "param": param, "code": code}})
            }
            _ => json!({"error": {"code": status.to_string(), "message": message}}),
        },
        Profile::Anthropic => json!({
            "type": "error",
            "error": {"type": anthropic_type(status), "message": message},
            "request_id": "req_fake",
        }),
        Profile::Gemini | Profile::Vertex => json!({"error": {
            "code": status, "message": message, "status": google_status(status),
        }}),
        Profile::BedrockRuntime | Profile::BedrockMantle => json!({"message": message}),
        Profile::Mistral => json!({
            "object": "error", "message": message, "type": r#type, "param": param, "code": code,
        }),
        Profile::Cerebras => json!({
            "message": message, "type": r#type, "param": param, "code": code,
        }),
        Profile::Xai => json!({"code": code.unwrap_or(r#type), "error": message}),
        Profile::Cohere => json!({"id": "fake", "message": message}),
        Profile::OpenRouter => json!({"error": {
            "code": status, "message": message, "metadata": {"error_type": code.unwrap_or(r#type)},
        }}),
        Profile::Naver => json!({
            "status": {"code": format!("{status}00"), "message": message}, "result": null,
        }),
        Profile::Vllm => json!({"error": {
            "message": message, "type": r#type, "param": param, "code": status,
        }}),
        Profile::Tgi => json!({"error": message, "error_type": tgi_type(status)}),
    }
}

/// The exception that Bedrock names in a header for this status.
pub(crate) fn bedrock_exception(status: u16) -> &'static str {
    match status {
        401 | 403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 => "ModelTimeoutException",
        424 => "ModelErrorException",
        429 => "ThrottlingException",
        503 => "ServiceUnavailableException",
        400..500 => "ValidationException",
        _ => "InternalServerException",
    }
}

fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}

fn google_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        400..500 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

fn tgi_type(status: u16) -> &'static str {
    match status {
        422 => "validation",
        424 => "generation",
        429 => "overloaded",
        500 => "incomplete_generation",
        _ => "unknown",
    }
}
