//! What each provider's answers tell of its limits: literal headers and bodies against what is read
//! from them.
//!
//! The rows are fixtures and not the catalog's, so that a test that fails says something of the
//! reader, whatever the catalog holds for a provider today.

use std::fmt::Write as _;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;
use serde::Deserialize;
use sluicegate_catalog::{BodyHint, Provider, SignalRow, provider};
use sluicegate_core::{Meter, WallTime};
use sluicegate_dialect::{charge_told, retry_hint, signals};

mod providers;

/// 2026-09-21T14:13:20Z.
const WALL: WallTime = WallTime::from_unix_nanos(1_790_000_000 * 1_000_000_000);

const ANTHROPIC: &str = include_str!("../../fixtures/limits/anthropic.toml");
const CEREBRAS: &str = include_str!("../../fixtures/limits/cerebras.toml");
const COHERE: &str = include_str!("../../fixtures/limits/cohere.toml");
const FIREWORKS: &str = include_str!("../../fixtures/limits/fireworks.toml");
const GEMINI: &str = include_str!("../../fixtures/limits/gemini.toml");
const GROQ: &str = include_str!("../../fixtures/limits/groq.toml");
const MISTRAL: &str = include_str!("../../fixtures/limits/mistral.toml");
const OPENROUTER: &str = include_str!("../../fixtures/limits/openrouter.toml");
const RAON: &str = include_str!("../../fixtures/limits/raon.toml");
const TOGETHER: &str = include_str!("../../fixtures/limits/together.toml");
const UPSTAGE: &str = include_str!("../../fixtures/limits/upstage.toml");
const ROWS: [&str; 11] = [
    ANTHROPIC, CEREBRAS, COHERE, FIREWORKS, GEMINI, GROQ, MISTRAL, OPENROUTER, RAON, TOGETHER,
    UPSTAGE,
];

fn row(text: &str) -> Provider {
    #[derive(Deserialize)]
    struct Row {
        retry_in_body: Vec<BodyHint>,
        signals: Vec<SignalRow>,
    }
    let row: Row = toml::from_str(text).expect("a row");
    let mut provider = Provider::clone(provider("openai").expect("a row"));
    provider.retry_in_body = row.retry_in_body;
    provider.signals = row.signals;
    provider
}

fn headers(lines: &str) -> HeaderMap {
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.map(|line| line.split_once(':').expect("a header has a colon"));
    let name = |name: &str| HeaderName::from_bytes(name.as_bytes()).expect("a name");
    let value = |value: &str| HeaderValue::from_str(value.trim()).expect("a value");
    lines.map(|(n, v)| (name(n), value(v))).collect()
}

/// One line for each limit, then one for the hint and for the charge where there are any.
fn read(provider: &Provider, status: u16, lines: &str, body: &str) -> String {
    let headers = headers(lines);
    let status = StatusCode::from_u16(status).expect("a status");
    let number = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
    let time = |time: Option<Duration>| time.map_or("?".to_owned(), |time| format!("{time:?}"));
    let mut out = String::new();
    for told in signals(provider, &headers, WALL) {
        let (left, limit) = (number(told.remaining), number(told.limit));
        let (reset, per) = (time(told.reset), time(told.per));
        let _ = writeln!(
            out,
            "{} {left}/{limit} per {per}, reset {reset}",
            told.meter
        );
    }
    if let Some(hint) = retry_hint(provider, status, &headers, body.as_bytes(), WALL) {
        let _ = writeln!(out, "wait {hint:?}");
    }
    if let Some(charge) = charge_told(provider, &headers) {
        for meter in Meter::ALL.into_iter().filter(|&meter| charge.of(meter) > 0) {
            let _ = writeln!(out, "charged {} {meter}", charge.of(meter));
        }
    }
    out
}

#[track_caller]
fn check(provider: &Provider, status: u16, lines: &str, body: &str, expected: &[&str]) {
    let found = read(provider, status, lines, body);
    assert_eq!(
        found.lines().collect::<Vec<_>>(),
        expected,
        "{status} {lines} {body}"
    );
}

proptest! {
    #[test]
    fn nothing_absurd_is_read(
        status in prop::sample::select(vec![200_u16, 400, 429, 500, 529]),
        values in prop::collection::vec("-?[0-9]{0,20}|[0-9hms.]{0,10}|[ -~]{0,24}", 8),
        body in "\\PC{0,40}",
    ) {
        let mut rows: Vec<Provider> = ROWS.into_iter().map(row).collect();
        rows.extend(["azure", "openai"].map(|id| Provider::clone(provider(id).expect("a row"))));
        for row in rows {
            let names = row.signals.iter().flat_map(|signal| {
                [&signal.limit, &signal.remaining, &signal.reset, &signal.period, &signal.retry_after]
            });
            let names = names.flatten().map(String::as_str).chain(["ratelimit", "ratelimit-policy"]);
            let mut headers = HeaderMap::new();
            for (name, value) in names.zip(values.iter().cycle()) {
                let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
                headers.insert(name, HeaderValue::from_str(value).expect("a value"));
            }
            let month = Duration::from_secs(31 * 86_400);
            for told in signals(&row, &headers, WALL) {
                prop_assert!(told.limit != Some(0));
                prop_assert!(told.limit.is_some() || told.remaining.is_some());
                prop_assert!(told.reset.is_none_or(|reset| reset <= month));
                prop_assert!(told.per.is_none_or(|per| per <= month));
            }
            let status = StatusCode::from_u16(status).expect("a status");
            if let Some(hint) = retry_hint(&row, status, &headers, body.as_bytes(), WALL) {
                prop_assert!(!hint.is_zero() && hint <= Duration::from_secs(86_400));
                prop_assert!(status.as_u16() >= 429);
            }
        }
    }
}
