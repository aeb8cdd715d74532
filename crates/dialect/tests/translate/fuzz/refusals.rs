//! What a failure and its headers tell, by the row of every provider: waits are bounded, and nothing is told that was not said.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sluicegate_catalog::{Provider, providers};
use sluicegate_core::{Meter, WallTime};
use sluicegate_dialect::{
    charge_refused, charge_told, classify, refusal_facts, retry_hint, signals, told_by_refusal,
    work_time,
};

use super::{fuzz_texts, spoilt};
use crate::fixtures::{DIALECTS, fixtures};

/// 2026-09-21T14:13:20Z.
const WALL: WallTime = WallTime::from_unix_nanos(1_790_000_000 * 1_000_000_000);
/// The longest wait that a failure can ask for.
const HINT_MAX: Duration = Duration::from_secs(86_400);

#[test]
fn retry_hints_and_refusals() {
    let lines = header_lines();
    fuzz_texts(&bodies(), |body, draws| {
        let lines = spoilt(&lines, draws);
        let headers = headers(&lines);
        let status = 400 + u16::try_from(draws.below(200)).expect("a status");
        let status = StatusCode::from_u16(status).expect("a status");
        let facts = refusal_facts(body);
        if let Some(facts) = &facts {
            let _ = (facts.signal(), charge_refused(facts));
        }
        for provider in providers() {
            let error = classify(provider, status, &headers, body);
            let hint = retry_hint(provider, status, &headers, body, WALL);
            assert!(hint.is_none_or(|hint| !hint.is_zero() && hint <= HINT_MAX));
            let told = told_by_refusal(&error, body, hint);
            assert!(told.len() <= Meter::ALL.len() + 1);
            let _ = (
                charge_told(provider, &headers),
                work_time(provider, &headers),
            );
            assert!(signals(provider, &headers, WALL).len() <= 4 * headers.len());
        }
    });
}

/// Refusals as providers write them, and the errors of every dialect.
fn bodies() -> Vec<Vec<u8>> {
    let texts = [
        r#"{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        r#"{"error":{"message":"Requests to this model have exceeded the call rate limit. Please retry after 1h2m3.5s.","code":"429"}}"#,
        r#"{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}"#,
        r#"{"error":{"message":"Rate limit exceeded: free-models-per-day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1741305600000"}}}}"#,
        "Too many requests, please wait 2 minutes",
    ];
    let errors = DIALECTS
        .iter()
        .map(|(_, folder, _)| *folder)
        .chain(["bedrock", "cohere"]);
    let errors = errors.flat_map(|folder| fixtures(folder, ".error.json"));
    let texts = texts.map(|text| text.as_bytes().to_vec());
    texts
        .into_iter()
        .chain(errors.map(|(_, text)| text))
        .collect()
}

/// For each row the headers that it names, with values of every form.
fn header_lines() -> Vec<Vec<u8>> {
    let values = [
        "0",
        "1.5",
        "6m0s",
        "10000",
        "1790000060",
        "1790000060000",
        "2026-09-21T14:14:20Z",
        "Mon, 21 Sep 2026 14:14:20 GMT",
        "\"default\";r=50;t=30",
    ];
    let lines = |(at, provider): (usize, &std::sync::Arc<Provider>)| {
        let names = provider.signals.iter().flat_map(|row| {
            [
                &row.limit,
                &row.remaining,
                &row.reset,
                &row.period,
                &row.charged,
                &row.retry_after,
            ]
        });
        let names = names.flatten().map(String::as_str);
        let names = names.chain(["retry-after", "retry-after-ms", "ratelimit", "date"]);
        let line = |(n, name)| format!("{name}: {}\n", values[(at + n) % values.len()]);
        names.enumerate().map(line).collect::<String>().into_bytes()
    };
    providers().iter().enumerate().map(lines).collect()
}

/// The lines that are headers.
fn headers(lines: &[u8]) -> HeaderMap {
    let lines = lines.split(|byte| *byte == b'\n');
    let parts = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
        Some((name, value))
    });
    let mut headers = HeaderMap::new();
    for (name, value) in parts {
        headers.append(name, value);
    }
    headers
}
