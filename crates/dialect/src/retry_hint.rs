//! How long a failure asks us to wait.

use std::time::{Duration, UNIX_EPOCH};

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use sluicegate_catalog::{BodyHint, Provider, ResetMeans, SignalRow};
use sluicegate_core::WallTime;

use crate::clock_text::{protobuf_duration, seconds};
use crate::error_text::ErrorText;
use crate::header_text::{text, whole};
use crate::refusal;
use crate::signal::{barred, signal};

/// The longest wait that a hint can ask for.
const HINT_MAX: Duration = Duration::from_secs(86_400);

/// How long the answer of `provider` with that status, those headers and that body asks us to wait;
/// more than nothing and at most a day.
///
/// Read only on 429 and 5xx, since some providers send the header with successes. The first of
/// these that asks for more than nothing: `retry-after-ms`; `retry-after`, which may be seconds,
/// whole or not, or an HTTP date; the provider's own headers of that kind; the body, where the row
/// says that it holds one; the next renewal of a limit with nothing left. What is zero, negative,
/// past or unreadable asks for nothing, and so does a limit of zero, which no wait helps.
///
/// Where nothing is left of a limit whose headers name its renewal period but whose reset says 0,
/// the wait is at least that period: Azure answers with `retry-after: 1` then, and nothing passes
/// for a minute (observed in 2026-08).
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, HeaderValue, StatusCode};
/// use sluicegate_core::WallTime;
/// let openai = sluicegate_catalog::provider("openai").expect("a row of that name");
/// let hint = |headers: &HeaderMap, status, body: &str| {
///     sluicegate_dialect::retry_hint(openai, status, headers, body.as_bytes(), WallTime::default())
/// };
/// let body = r#"{"error":{"message":"Please try again in 84ms."}}"#;
/// let mut headers = HeaderMap::new();
/// assert_eq!(hint(&headers, StatusCode::TOO_MANY_REQUESTS, body), Some(Duration::from_millis(84)));
/// headers.insert("retry-after", HeaderValue::from_static("1.5"));
/// assert_eq!(hint(&headers, StatusCode::TOO_MANY_REQUESTS, body), Some(Duration::from_millis(1_500)));
/// assert_eq!(hint(&headers, StatusCode::OK, body), None);
/// ```
pub fn retry_hint(
    provider: &Provider,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    wall: WallTime,
) -> Option<Duration> {
    let is_refusal = status == StatusCode::TOO_MANY_REQUESTS;
    if !is_refusal && !status.is_server_error() || is_refusal && barred(provider, headers).is_some()
    {
        return None;
    }
    let rows = provider.signals.iter();
    let asked = in_headers(headers, wall)
        .or_else(|| {
            rows.clone()
                .filter_map(|row| in_own_header(row, headers))
                .max()
        })
        .or_else(|| in_body(provider, body))
        .or_else(|| {
            rows.clone()
                .filter_map(|row| next(row, headers, wall))
                .max()
        });
    let renewal = rows
        .filter(|_| is_refusal)
        .filter_map(|row| renewal(row, headers, wall))
        .max();
    asked.max(renewal).map(|wait| wait.min(HINT_MAX))
}

fn in_headers(headers: &HeaderMap, wall: WallTime) -> Option<Duration> {
    let millis = text(headers, "retry-after-ms").and_then(seconds);
    let after = || text(headers, RETRY_AFTER.as_str());
    positive(millis.map(|wait| wait / 1_000))
        .or_else(|| positive(after().and_then(seconds)))
        .or_else(|| positive(after().and_then(|date| until_date(date, wall))))
}

fn in_own_header(row: &SignalRow, headers: &HeaderMap) -> Option<Duration> {
    positive(seconds(text(headers, row.retry_after.as_deref()?)?))
}

fn in_body(provider: &Provider, body: &[u8]) -> Option<Duration> {
    if provider.retry_in_body.is_empty() || body.is_empty() {
        return None;
    }
    let text = ErrorText::of_body(body);
    // Google asks for seconds also where a day's quota is used up.
    if text.names.iter().any(|name| name.contains("PerDay")) {
        return None;
    }
    provider.retry_in_body.iter().find_map(|hint| {
        positive(match hint {
            BodyHint::ProtobufDuration => protobuf_duration(&text.retry_delay),
            BodyHint::TextTryAgain => refusal::of_text(&text)?.wait,
        })
    })
}

/// Time until something is let through again by a limit that has nothing left.
fn next(row: &SignalRow, headers: &HeaderMap, wall: WallTime) -> Option<Duration> {
    let exhausted = row.reset_means == ResetMeans::Next;
    let signal = exhausted.then(|| signal(row, headers, wall))??;
    positive(signal.reset.filter(|_| signal.remaining == Some(0)))
}

/// The renewal period of a limit that has nothing left and whose reset says that this is over
/// already.
fn renewal(row: &SignalRow, headers: &HeaderMap, wall: WallTime) -> Option<Duration> {
    let period = text(headers, row.period.as_deref()?).and_then(whole)?;
    let signal = signal(row, headers, wall)?;
    let untrue = signal.remaining == Some(0) && positive(signal.reset).is_none();
    positive(untrue.then(|| Duration::from_secs(period)))
}

fn until_date(date: &str, wall: WallTime) -> Option<Duration> {
    let date = httpdate::parse_http_date(date).ok()?;
    let epoch = date.duration_since(UNIX_EPOCH).ok()?;
    epoch.checked_sub(Duration::from_nanos(wall.as_unix_nanos()))
}

fn positive(wait: Option<Duration>) -> Option<Duration> {
    wait.filter(|wait| !wait.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;
    use sluicegate_catalog::provider;

    const WALL: WallTime = WallTime::from_unix_nanos(1_790_000_000 * 1_000_000_000);
    const DAY: Option<Duration> = Some(Duration::from_secs(86_400));
    const REFUSED: StatusCode = StatusCode::TOO_MANY_REQUESTS;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let name = |name: &str| HeaderName::from_bytes(name.as_bytes()).expect("a name");
        let value = |value: &str| HeaderValue::from_str(value).expect("a value");
        lines.iter().map(|(n, v)| (name(n), value(v))).collect()
    }

    fn hint(id: &str, status: StatusCode, lines: &[(&str, &str)], body: &str) -> Option<Duration> {
        let provider = provider(id).expect("a row");
        retry_hint(provider, status, &headers(lines), body.as_bytes(), WALL)
    }

    fn millis(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    #[test]
    fn a_hint_is_positive_and_bounded() {
        let hint = |name, value| {
            hint(
                "openai",
                StatusCode::SERVICE_UNAVAILABLE,
                &[(name, value)],
                "",
            )
        };
        assert_eq!(hint("retry-after", "7"), millis(7_000));
        assert_eq!(hint("retry-after", "0.25"), millis(250));
        assert_eq!(hint("retry-after-ms", "2000"), millis(2_000));
        assert_eq!(
            hint("retry-after-ms", "12.5"),
            Some(Duration::from_micros(12_500))
        );
        // 1,790,000,000 s after the epoch is 2026-09-21T14:13:20Z.
        assert_eq!(
            hint("retry-after", "Mon, 21 Sep 2026 14:13:30 GMT"),
            millis(10_000)
        );
        for junk in [
            "0",
            "-3",
            "nan",
            "inf",
            "1e400",
            "",
            "soon",
            "Mon, 21 Sep 2026 14:13:10 GMT",
        ] {
            assert_eq!(hint("retry-after", junk), None, "{junk}");
        }
        assert_eq!(hint("retry-after", "99999999999999"), DAY);
        assert_eq!(hint("retry-after", "Mon, 21 Sep 2099 14:13:30 GMT"), DAY);
    }

    #[test]
    fn the_first_that_says_something_is_taken() {
        let text = r#"{"error":{"message":"Please try again in 6m0s."}}"#;
        let hint = |ms, after, body| {
            hint(
                "openai",
                REFUSED,
                &[("retry-after-ms", ms), ("retry-after", after)],
                body,
            )
        };
        assert_eq!(hint("40", "9", text), millis(40));
        assert_eq!(hint("0", "9", text), millis(9_000));
        assert_eq!(hint("junk", "9", text), millis(9_000));
        assert_eq!(
            hint("junk", "Mon, 21 Sep 2026 14:13:30 GMT", text),
            millis(10_000)
        );
        assert_eq!(hint("0", "0", text), millis(360_000));
        assert_eq!(
            hint(
                "0",
                "0",
                r#"{"error":{"message":"Please try again in 0s."}}"#
            ),
            None
        );
        assert_eq!(
            hint(
                "0",
                "0",
                r#"{"error":{"message":"Please try again in 9999 days."}}"#
            ),
            DAY
        );
    }

    #[test]
    fn only_refusals_and_failures_ask_for_a_wait() {
        let status = |status| hint("openai", status, &[("retry-after", "59")], "");
        // Anthropic and others send it with successes.
        assert_eq!(status(StatusCode::OK), None);
        assert_eq!(status(StatusCode::BAD_REQUEST), None);
        assert_eq!(status(StatusCode::BAD_GATEWAY), millis(59_000));
        assert_eq!(status(REFUSED), millis(59_000));
    }

    #[test]
    fn nothing_left_and_no_reset_means_the_renewal_period() {
        let tokens = |remaining, reset, period, after| {
            let lines = [
                ("x-ratelimit-limit-tokens", "1000"),
                ("x-ratelimit-remaining-tokens", remaining),
                ("x-ratelimit-reset-tokens", reset),
                ("x-ratelimit-renewalperiod-tokens", period),
                ("retry-after-ms", "0"),
                ("retry-after", after),
            ];
            hint("azure", REFUSED, &lines, "")
        };
        assert_eq!(tokens("0", "0", "60", "1"), millis(60_000));
        assert_eq!(tokens("0", "0", "60", "75"), millis(75_000));
        assert_eq!(tokens("0", "0", "99999999999", "1"), DAY);
        // Something is left, or the reset says when, or no period is told: the hint stands.
        assert_eq!(tokens("5", "0", "60", "1"), millis(1_000));
        assert_eq!(tokens("0", "60", "60", "1"), millis(1_000));
        assert_eq!(tokens("0", "0", "0", "1"), millis(1_000));
        // A quantum is renewed after its own length.
        let lines = [
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-renewalperiod-requests", "10"),
        ];
        assert_eq!(hint("azure", REFUSED, &lines, ""), millis(10_000));
        assert_eq!(hint("azure", StatusCode::BAD_GATEWAY, &lines, ""), None);
        // OpenAI's row names no such period.
        assert_eq!(hint("openai", REFUSED, &lines, ""), None);
    }

    proptest! {
        #[test]
        fn no_wait_is_absurd(
            status in 100_u16..600,
            ms in "[ -~]{0,12}|[0-9]{1,30}",
            after in "[ -~]{0,32}|[0-9.]{1,24}",
            rate in "-?[0-9]{0,22}|[0-9hms.]{0,9}",
            body in "\\PC{0,60}|\\{\"error\":\\{\"message\":\"retry in [0-9]{0,40}(s|m|h|d| days)\"\\}\\}",
        ) {
            let status = StatusCode::from_u16(status).expect("a status");
            let lines = [
                ("retry-after-ms", ms.as_str()),
                ("retry-after", &after),
                ("x-ratelimit-remaining-tokens", &rate),
                ("x-ratelimit-reset-tokens", &rate),
                ("x-ratelimit-renewalperiod-tokens", &rate),
            ];
            for id in ["azure", "openai"] {
                if let Some(wait) = hint(id, status, &lines, &body) {
                    prop_assert!(!wait.is_zero() && wait <= HINT_MAX);
                    prop_assert!(status == REFUSED || status.is_server_error());
                }
            }
        }
    }
}
