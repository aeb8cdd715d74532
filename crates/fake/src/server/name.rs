//! How an answer is named: the header in which each provider puts an id, who it says it is, and how long it says it worked.

use std::time::Duration;

use crate::model::{Header, Profile};

/// The headers that name the answer `id`.
pub(super) fn name_headers(profile: Profile, id: &str) -> Vec<Header> {
    match profile {
        Profile::OpenAi => vec![
            ("x-request-id", format!("req_{id}")),
            ("openai-organization", "org-fake".to_owned()),
            ("openai-version", "2020-10-01".to_owned()),
        ],
        Profile::Azure | Profile::AzurePtu => vec![
            ("x-request-id", id.to_owned()),
            ("apim-request-id", id.to_owned()),
            ("x-ms-region", "Fake Central".to_owned()),
        ],
        Profile::Anthropic => vec![
            ("request-id", format!("req_{id}")),
            ("anthropic-organization-id", "org-fake".to_owned()),
        ],
        Profile::BedrockRuntime | Profile::BedrockMantle => {
            vec![("x-amzn-requestid", id.to_owned())]
        }
        Profile::Mistral => vec![("x-kong-request-id", id.to_owned())],
        Profile::Cerebras => vec![("cerebras-request-id", id.to_owned())],
        Profile::DeepSeek => vec![("x-ds-trace-id", id.to_owned())],
        Profile::Cohere => vec![("x-debug-trace-id", id.to_owned())],
        Profile::Groq
        | Profile::Raon
        | Profile::Together
        | Profile::Fireworks
        | Profile::OpenRouter
        | Profile::Upstage
        | Profile::Xai => vec![("x-request-id", id.to_owned())],
        Profile::Gemini | Profile::Vertex | Profile::Naver | Profile::Vllm | Profile::Tgi => {
            Vec::new()
        }
    }
}

/// The header in which a provider that worked for `work` says so, in whole milliseconds.
pub(super) fn work_header(profile: Profile, work: Duration) -> Option<Header> {
    let name = match profile {
        Profile::OpenAi => "openai-processing-ms",
        Profile::Azure | Profile::AzurePtu | Profile::Mistral | Profile::Cohere => {
            "x-envoy-upstream-service-time"
        }
        _ => return None,
    };
    Some((name, work.as_millis().to_string()))
}
