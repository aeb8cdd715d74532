//! What failures mean, by the rows alone: the status, and the code, type and message that a body held.

use std::collections::BTreeSet;

use sluicegate_catalog::ErrorClass::{
    self, Auth, Billing, Context, Daily, Invalid, Overload, Policy, Ramp, Rate, Server, Timeout,
    TooLargeForLimit,
};
use sluicegate_catalog::{provider, providers};

/// Provider, status, code, type, message in lower case; `None` where the status alone decides.
type Case = (
    &'static str,
    u16,
    &'static str,
    &'static str,
    &'static str,
    Option<ErrorClass>,
);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("anthropic", 400, "", "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", Some(Context)),
    ("anthropic", 400, "", "invalid_request_error", "your credit balance is too low", Some(Billing)),
    ("anthropic", 400, "", "invalid_request_error", "messages: at least one message is required", Some(Invalid)),
    ("anthropic", 429, "", "rate_limit_error", "this request would exceed your organization's rate limit", Some(Rate)),
    ("anthropic", 429, "enforced_spend_limit_reached", "rate_limit_error", "", Some(Billing)),
    ("anthropic", 429, "", "rate_limit_error", "you have hit an acceleration limit", Some(Ramp)),
    ("anthropic", 529, "", "overloaded_error", "overloaded", Some(Overload)),
    ("azure", 429, "429", "", "requests have exceeded token rate limit; retry after 7 seconds", Some(Rate)),
    ("azure", 429, "429", "", "please retry after 86400 seconds", Some(Daily)),
    ("azure_ptu", 429, "429", "", "the system is experiencing high demand", Some(Overload)),
    ("azure_ptu", 429, "429", "", "provisioned-managed utilization is at 100%", Some(Rate)),
    ("azure_ptu", 400, "content_filter", "", "", Some(Policy)),
    ("bedrock", 429, "", "ThrottlingException", "too many tokens, please wait before trying again.", Some(Rate)),
    ("bedrock", 429, "", "ThrottlingException", "too many tokens per day, please wait before trying again.", Some(Daily)),
    ("bedrock", 429, "", "ModelNotReadyException", "", Some(Overload)),
    ("bedrock", 408, "", "ModelTimeoutException", "", Some(Timeout)),
    ("bedrock", 424, "", "ModelErrorException", "", Some(Server)),
    ("bedrock", 400, "", "ValidationException", "input is too long for requested model.", Some(Context)),
    ("bedrock", 400, "", "ServiceQuotaExceededException", "", Some(Billing)),
    ("bedrock_mantle", 429, "", "", "too many tokens", Some(Rate)),
    ("cerebras", 429, "queue_exceeded", "too_many_requests_error", "", Some(Overload)),
    ("cerebras", 429, "token_quota_exceeded", "too_many_requests_error", "", Some(Rate)),
    ("cerebras", 401, "wrong_api_key", "", "", Some(Auth)),
    ("cohere", 429, "", "", "you are using a trial key, which is limited to 20 api calls / minute", Some(Rate)),
    ("cohere", 429, "", "", "you are using a trial key, which is limited to 1000 api calls / month", Some(Daily)),
    ("cohere", 498, "", "", "blocked output", Some(Policy)),
    ("deepseek", 402, "", "", "insufficient balance", Some(Billing)),
    ("deepseek", 429, "", "", "", Some(Rate)),
    ("deepseek", 400, "", "", "this model's maximum context length is 65536 tokens", Some(Context)),
    ("fireworks", 412, "", "", "account is suspended", Some(Billing)),
    ("fireworks", 408, "", "", "", Some(Timeout)),
    ("gemini", 429, "429", "RESOURCE_EXHAUSTED", "quotaid: generaterequestsperdayperprojectpermodel-freetier", Some(Daily)),
    ("gemini", 429, "429", "RESOURCE_EXHAUSTED", "please retry in 12.5s.", Some(Rate)),
    ("gemini", 503, "503", "UNAVAILABLE", "the model is overloaded.", Some(Overload)),
    ("gemini", 400, "400", "FAILED_PRECONDITION", "user location is not supported", Some(Auth)),
    ("groq", 429, "rate_limit_exceeded", "tokens", "on tokens per minute (tpm): limit 12000, used 4437, requested 9854", Some(Rate)),
    ("groq", 429, "rate_limit_exceeded", "tokens", "on tokens per day (tpd): limit 100000, used 97050, requested 3619", Some(Daily)),
    ("groq", 413, "rate_limit_exceeded", "tokens", "request too large for model", Some(TooLargeForLimit)),
    ("groq", 498, "capacity_exceeded", "", "", Some(Overload)),
    ("groq", 400, "tool_use_failed", "invalid_request_error", "", Some(Invalid)),
    ("mistral", 429, "3505", "service_tier_capacity_exceeded", "", Some(Overload)),
    ("mistral", 429, "", "", "rate limit exceeded", Some(Rate)),
    ("mistral", 422, "", "", "", Some(Invalid)),
    ("naver", 429, "42901", "", "", Some(Rate)),
    ("naver", 400, "64400", "", "", Some(Context)),
    ("openai", 429, "slow_down", "", "", Some(Ramp)),
    ("openai", 401, "", "", "", None),
    ("openrouter", 402, "402", "openrouter_in_flight_budget", "", Some(Rate)),
    ("openrouter", 402, "402", "", "insufficient credits", Some(Billing)),
    ("openrouter", 429, "429", "", "rate limit exceeded: free-models-per-day", Some(Daily)),
    ("openrouter", 403, "403", "", "flagged", Some(Policy)),
    ("openrouter", 524, "524", "", "", Some(Timeout)),
    ("raon", 429, "rate_limit_exceeded", "rate_limit_error", "", Some(Rate)),
    ("raon", 429, "overloaded", "rate_limit_error", "", Some(Overload)),
    ("raon", 400, "token_limit_exceeded", "invalid_request_error", "", Some(TooLargeForLimit)),
    ("raon", 402, "insufficient_credit", "", "", Some(Billing)),
    ("tgi", 429, "", "overloaded", "model is overloaded", Some(Overload)),
    ("tgi", 422, "", "validation", "`inputs` tokens + `max_new_tokens` must be <= 4096", Some(Context)),
    ("tgi", 422, "", "validation", "`temperature` must be strictly positive", Some(Invalid)),
    ("tgi", 424, "", "generation", "", Some(Server)),
    ("together", 429, "", "dynamic_token_limited", "", Some(Rate)),
    ("together", 503, "", "", "", Some(Overload)),
    ("together", 402, "", "", "", Some(Billing)),
    ("upstage", 403, "", "", "insufficient credit", Some(Billing)),
    ("upstage", 401, "invalid_api_key", "", "", Some(Auth)),
    ("vertex", 429, "429", "RESOURCE_EXHAUSTED", "resource exhausted, please try again later", Some(Overload)),
    ("vertex", 429, "429", "RESOURCE_EXHAUSTED", "exceeded the provisioned throughput", Some(Rate)),
    ("vertex", 499, "499", "CANCELLED", "", Some(Invalid)),
    ("vllm", 503, "", "", "", Some(Overload)),
    ("vllm", 400, "", "", "this model's maximum context length is 4096 tokens", Some(Context)),
    ("xai", 429, "some resource has been exhausted", "", "too many requests", Some(Rate)),
    ("xai", 400, "client specified an invalid argument", "", "incorrect api key provided", Some(Auth)),
];

#[test]
fn the_first_entry_that_fits_says_what_a_failure_means() {
    for (id, status, code, kind, message, class) in CASES {
        let row = provider(id).expect("a row of that name");
        let mut entries = row.errors.iter();
        let entry = entries.find(|entry| entry.fits(Some(*status), code, kind, message));
        assert_eq!(
            entry.map(|entry| entry.class),
            *class,
            "{id}: {status} {code} {kind} {message}"
        );
    }
    let covered: BTreeSet<_> = CASES.iter().map(|(id, ..)| *id).collect();
    let all: BTreeSet<_> = providers().iter().map(|row| row.id.as_str()).collect();
    assert_eq!(covered, all, "each row has a case");
}
