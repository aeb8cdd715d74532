//! Provider by provider: what is sent, and what is read from it.

use http::StatusCode;
use sluicegate_catalog::provider;
use sluicegate_dialect::classify;

use crate::{
    ANTHROPIC, CEREBRAS, COHERE, FIREWORKS, GEMINI, GROQ, MISTRAL, OPENROUTER, RAON, TOGETHER,
    UPSTAGE, check, headers, row,
};

#[test]
fn openai() {
    let openai = provider("openai").expect("a row");
    // A low tier shows the day's requests, without saying so.
    let low = "
        x-ratelimit-limit-requests: 10000
        x-ratelimit-remaining-requests: 9999
        x-ratelimit-reset-requests: 8.64s
        x-ratelimit-limit-tokens: 200000
        x-ratelimit-remaining-tokens: 199983
        x-ratelimit-reset-tokens: 5ms";
    check(
        openai,
        200,
        low,
        "",
        &[
            "requests 9999/10000 per 86400s, reset 8.64s",
            "tokens 199983/200000 per 60s, reset 5ms",
        ],
    );
    // A project's limit on the same meter and period is tighter; the minute and the day both speak.
    let project = "
        x-ratelimit-limit-tokens: 1000000
        x-ratelimit-remaining-tokens: 900000
        x-ratelimit-reset-tokens: 2h24m0s
        x-ratelimit-limit-project-tokens: 500000
        x-ratelimit-remaining-project-tokens: 400000
        x-ratelimit-reset-project-tokens: 12s";
    check(
        openai,
        200,
        project,
        "",
        &[
            "tokens 900000/1000000 per 86400s, reset 8640s",
            "tokens 400000/500000 per 60s, reset 12s",
        ],
    );
    let text = r#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. Please try again in 644ms.","type":"tokens","code":"rate_limit_exceeded"}}"#;
    check(openai, 429, "", text, &["wait 644ms"]);
    check(openai, 429, "retry-after: 1", text, &["wait 1s"]);
    check(openai, 400, "retry-after: 1", text, &[]);
}

#[test]
fn azure() {
    let azure = provider("azure").expect("a row");
    let milliseconds = "
        x-ratelimit-limit-requests: 120
        x-ratelimit-remaining-requests: 119
        x-ratelimit-reset-requests: 500
        x-ratelimit-renewalperiod-requests: 10
        x-ratelimit-limit-tokens: 120000
        x-ratelimit-remaining-tokens: 119986
        x-ratelimit-reset-tokens: 7
        x-ratelimit-renewalperiod-tokens: 60";
    check(
        azure,
        200,
        milliseconds,
        "",
        &[
            "requests 119/120 per 60s, reset 500ms",
            "tokens 119986/120000 per 60s, reset 7ms",
        ],
    );
    let untrue = "
        retry-after: 1
        retry-after-ms: 0
        x-ratelimit-limit-tokens: 1500000
        x-ratelimit-remaining-tokens: 0
        x-ratelimit-reset-tokens: 0
        x-ratelimit-renewalperiod-tokens: 60
        x-ratelimit-type: Tokens";
    let body = r#"{"error":{"code":"429","message":"Requests have exceeded token rate limit. Please retry after 1 second."}}"#;
    check(
        azure,
        429,
        untrue,
        body,
        &["tokens 0/1500000 per 60s, reset ?", "wait 60s"],
    );
    let minus = "
        x-ratelimit-limit-tokens: -1
        x-ratelimit-remaining-tokens: -1
        x-ratelimit-reset-tokens: 0";
    check(azure, 429, minus, "", &[]);
    check(
        azure,
        429,
        minus,
        &body.replace("1 second", "7 seconds"),
        &["wait 7s"],
    );
}

#[test]
fn anthropic() {
    let anthropic = row(ANTHROPIC);
    let tokens = "
        anthropic-ratelimit-input-tokens-limit: 2000000
        anthropic-ratelimit-input-tokens-remaining: 1998000
        anthropic-ratelimit-input-tokens-reset: 2026-09-21T14:13:20Z
        anthropic-ratelimit-output-tokens-limit: 400000
        anthropic-ratelimit-output-tokens-remaining: 400000
        anthropic-ratelimit-output-tokens-reset: 2026-09-21T14:13:19Z
        retry-after: 59";
    let all = format!(
        "{tokens}
        anthropic-ratelimit-requests-limit: 1000
        anthropic-ratelimit-requests-remaining: 966
        anthropic-ratelimit-requests-reset: 2026-09-21T14:13:22Z"
    );
    let (input, output) = (
        "input_tokens 1998000/2000000 per 60s, reset 0ns",
        "output_tokens 400000/400000 per 60s, reset 0ns",
    );
    let requests = "requests 966/1000 per 60s, reset 2s";
    // Some organisations get no `requests` headers, and some a wait with a success.
    check(&anthropic, 200, &all, "", &[requests, input, output]);
    check(&anthropic, 200, tokens, "", &[input, output]);
    check(&anthropic, 529, tokens, "", &[input, output, "wait 59s"]);
}

#[test]
fn gemini() {
    let gemini = row(GEMINI);
    let body = |quota: &str, details: &str| {
        format!(
            r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota.\nPlease retry in 12.5s.","details":[{{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{"quotaId":"{quota}","quotaValue":"10"}}]}}{details}]}}}}"#
        )
    };
    let minute = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
    let day = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
    let delay = r#",{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}"#;
    check(&gemini, 429, "", &body(minute, delay), &["wait 37s"]);
    check(&gemini, 429, "", &body(minute, ""), &["wait 12.5s"]);
    // A day's quota is not back in 37 s, whatever is said.
    check(&gemini, 429, "", &body(day, delay), &[]);
    check(
        &gemini,
        429,
        "",
        &format!("[{}]", body(minute, delay)),
        &["wait 37s"],
    );
}

#[test]
fn mistral() {
    let mistral = row(MISTRAL);
    let first = "
        ratelimitbysize-limit: 500000
        ratelimitbysize-remaining: 467990
        ratelimitbysize-reset: 41
        ratelimitbysize-query-cost: 32010
        x-ratelimitbysize-limit-minute: 500000
        x-ratelimitbysize-remaining-minute: 467990
        x-ratelimitbysize-limit-month: 1000000000
        x-ratelimitbysize-remaining-month: 999967990";
    check(
        &mistral,
        200,
        first,
        "",
        &[
            "tokens 467990/500000 per 60s, reset 41s",
            "tokens 999967990/1000000000 per 2592000s, reset ?",
            "charged 32010 tokens",
        ],
    );
    let second = "
        x-ratelimit-limit-req-10-second: 60
        x-ratelimit-remaining-req-10-second: 59
        x-ratelimit-limit-tokens-minute: 500000
        x-ratelimit-remaining-tokens-minute: 499893
        x-ratelimit-limit-tokens-month: 1000000000
        x-ratelimit-remaining-tokens-month: 999960000
        x-ratelimit-tokens-query-cost: 107";
    check(
        &mistral,
        200,
        second,
        "",
        &[
            "requests 59/60 per 10s, reset ?",
            "tokens 499893/500000 per 60s, reset ?",
            "tokens 999960000/1000000000 per 2592000s, reset ?",
            "charged 107 tokens",
        ],
    );
    let third = "
        x-ratelimit-limit-req-minute: 60
        x-ratelimit-remaining-req-minute: 0
        retry-after: 12";
    check(
        &mistral,
        429,
        third,
        "",
        &["requests 0/60 per 60s, reset ?", "wait 12s"],
    );
    // A model that is not on the plan: no wait helps, and no ledger is to believe it.
    let barred = "
        x-ratelimit-limit-req-minute: 0
        x-ratelimit-remaining-req-minute: 0
        retry-after: 12";
    check(&mistral, 429, barred, "", &[]);
    let body = br#"{"message":"Rate limit exceeded"}"#;
    let error = classify(
        &mistral,
        StatusCode::TOO_MANY_REQUESTS,
        &headers(barred),
        body,
    );
    assert_eq!(error.class.name(), "too_large_for_limit");
    let error = classify(
        &mistral,
        StatusCode::TOO_MANY_REQUESTS,
        &headers(third),
        body,
    );
    assert_eq!(error.class.name(), "rate");
}

#[test]
fn groq() {
    let groq = row(GROQ);
    let lines = "
        x-ratelimit-limit-requests: 14400
        x-ratelimit-remaining-requests: 14370
        x-ratelimit-reset-requests: 2m59.56s
        x-ratelimit-limit-tokens: 18000
        x-ratelimit-remaining-tokens: 15702
        x-ratelimit-reset-tokens: 7.66s";
    let told = [
        "requests 14370/14400 per 86400s, reset 179.56s",
        "tokens 15702/18000 per 60s, reset 7.66s",
    ];
    check(&groq, 200, lines, "", &told);
    let body = r#"{"error":{"message":"Rate limit reached for model `m` on tokens per minute (TPM): Limit 12000, Used 4437, Requested 9854. Please try again in 11.455s.","type":"tokens","code":"rate_limit_exceeded"}}"#;
    check(&groq, 429, lines, body, &[told[0], told[1], "wait 11.455s"]);
    let with_header = format!("{lines}\nretry-after: 12");
    check(
        &groq,
        429,
        &with_header,
        body,
        &[told[0], told[1], "wait 12s"],
    );
}

#[test]
fn cerebras() {
    let lines = "
        x-ratelimit-limit-requests-day: 14400
        x-ratelimit-remaining-requests-day: 14399
        x-ratelimit-reset-requests-day: 33011.382867
        x-ratelimit-limit-tokens-minute: 60000
        x-ratelimit-remaining-tokens-minute: 59000
        x-ratelimit-reset-tokens-minute: 11.38";
    check(
        &row(CEREBRAS),
        200,
        lines,
        "",
        &[
            "requests 14399/14400 per 86400s, reset 33011.382867s",
            "tokens 59000/60000 per 60s, reset 11.38s",
        ],
    );
}

#[test]
fn together() {
    let together = row(TOGETHER);
    let lines = |left| {
        format!(
            "
        x-ratelimit-limit: 2
        x-ratelimit-remaining: {left}
        x-ratelimit-reset: 2
        x-tokenlimit-limit: 180000
        x-tokenlimit-remaining: 179500"
        )
    };
    let tokens = "tokens 179500/180000 per ?, reset ?";
    let left = "requests 1/2 per ?, reset 2s";
    check(&together, 200, &lines("1"), "", &[left, tokens]);
    // No `retry-after` is ever sent: the reset is the wait.
    let none = "requests 0/2 per ?, reset 2s";
    check(&together, 429, &lines("0"), "", &[none, tokens, "wait 2s"]);
    check(&together, 429, &lines("1"), "", &[left, tokens]);
}

#[test]
fn fireworks_and_cohere() {
    let fireworks = "
        x-ratelimit-limit-requests: 6000
        x-ratelimit-remaining-requests: 5999
        X-Ratelimit-Limit-Tokens-Prompt: 3600000
        X-Ratelimit-Remaining-Tokens-Prompt: 3599000
        x-ratelimit-limit-tokens-generated: 36000
        x-ratelimit-over-limit: no";
    check(
        &row(FIREWORKS),
        200,
        fireworks,
        "",
        &[
            "requests 5999/6000 per ?, reset ?",
            "input_tokens 3599000/3600000 per ?, reset ?",
            "output_tokens ?/36000 per ?, reset ?",
        ],
    );
    let trial = "
        x-endpoint-monthly-call-limit: 1000
        x-trial-endpoint-call-limit: 20
        x-trial-endpoint-call-remaining: 19";
    check(
        &row(COHERE),
        200,
        trial,
        "",
        &[
            "requests 19/20 per 60s, reset ?",
            "requests ?/1000 per 2592000s, reset ?",
        ],
    );
}

#[test]
fn openrouter() {
    let openrouter = row(OPENROUTER);
    let lines = "
        x-ratelimit-limit: 20
        x-ratelimit-remaining: 0
        x-ratelimit-reset: 1790000042500";
    let told = "requests 0/20 per ?, reset 42.5s";
    check(&openrouter, 429, lines, "", &[told, "wait 42.5s"]);
    let hinted = format!("{lines}\nretry-after: 3");
    check(&openrouter, 429, &hinted, "", &[told, "wait 3s"]);
}

#[test]
fn upstage() {
    let upstage = row(UPSTAGE);
    let lines = "
        X-Upstage-RateLimit-Limit-Requests: 100
        X-Upstage-RateLimit-Remaining-Requests: 0
        X-Upstage-RateLimit-Reset-Requests: 1790000030
        X-Upstage-RateLimit-Limit-Tokens: 50000
        X-Upstage-RateLimit-Remaining-Tokens: -1
        X-Upstage-RateLimit-Reset-Tokens: 1790000030";
    let requests = "requests 0/100 per ?, reset 30s";
    let tokens = "tokens ?/50000 per ?, reset 30s";
    check(&upstage, 429, lines, "", &[requests, tokens, "wait 30s"]);
    let hinted = format!(
        "{lines}
        X-Upstage-RateLimit-Retry-After-Requests: 4
        X-Upstage-RateLimit-Retry-After-Tokens: 11"
    );
    check(&upstage, 429, &hinted, "", &[requests, tokens, "wait 11s"]);
    check(&upstage, 200, &hinted, "", &[requests, tokens]);
    // Half used and half a minute to go would reveal a minute, if this were the time until it is
    // whole; a window's end says nothing of its length.
    let half = lines.replace("Requests: 0", "Requests: 50");
    let told = "requests 50/100 per ?, reset 30s";
    check(&upstage, 429, &half, "", &[told, tokens]);
}

#[test]
fn raon() {
    let raon = row(RAON);
    let lines = "
        x-ratelimit-limit-requests: 3000
        x-ratelimit-remaining-requests: 2999
        x-ratelimit-reset-requests: 1790000029";
    check(
        &raon,
        200,
        lines,
        "",
        &["requests 2999/3000 per 60s, reset 29s"],
    );
    let refused = "
        x-ratelimit-limit-requests: 60
        x-ratelimit-remaining-requests: 0
        x-ratelimit-reset-requests: 1790000025
        retry-after: 25";
    let told = "requests 0/60 per 60s, reset 25s";
    check(&raon, 429, refused, "", &[told, "wait 25s"]);
    let without = refused.replace("retry-after: 25", "");
    check(&raon, 429, &without, "", &[told, "wait 25s"]);
    check(&raon, 429, "retry-after: 2", "", &["wait 2s"]);
    // A clock of ours that is ahead makes the window's end past.
    let past = refused.replace("1790000025", "1789999999");
    check(
        &raon,
        429,
        &past,
        "",
        &["requests 0/60 per 60s, reset 0ns", "wait 25s"],
    );
}

#[test]
fn whoever_sends_the_standard_fields() {
    let openai = provider("openai").expect("a row");
    let structured = r#"
        ratelimit-policy: "fixed window";"api";q=1000;w=300
        ratelimit: "api";r=0;t=120
        retry-after: 59"#;
    let told = "requests 0/1000 per 300s, reset 120s";
    check(openai, 200, structured, "", &[told]);
    check(openai, 429, structured, "", &[told, "wait 59s"]);
    let older = "
        ratelimit-remaining: 599
        ratelimit-reset: 1";
    check(openai, 200, older, "", &["requests 599/? per ?, reset 1s"]);
    // The provider's own headers are believed before them.
    let both = "
        ratelimit-limit: 5
        ratelimit-remaining: 1
        x-ratelimit-limit-requests: 500
        x-ratelimit-remaining-requests: 499
        x-ratelimit-reset-requests: 120ms";
    check(
        openai,
        200,
        both,
        "",
        &["requests 499/500 per 60s, reset 120ms"],
    );
}

#[test]
fn who_sends_nothing_tells_nothing() {
    let gemini = row(GEMINI);
    check(&gemini, 429, "", "", &[]);
    check(
        &gemini,
        503,
        "x-ratelimit-limit-requests: 5",
        "<html>busy</html>",
        &[],
    );
    check(
        &gemini,
        429,
        "",
        r#"{"message":"Too many tokens, please wait before trying again."}"#,
        &[],
    );
}
