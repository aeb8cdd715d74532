//! What an answer's headers tell about the provider's limits, and how long it asks us to wait.
//!
//! Which headers there are and how they write time is the provider's row; headers of one name mean
//! different things at different providers, so nothing is read that the row does not list. What
//! cannot be right is dropped rather than passed on: a wrong signal would correct a ledger that was
//! right.

use std::time::{Duration, UNIX_EPOCH};

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use sluicegate_catalog::{Provider, ResetFormat, SignalRow};
use sluicegate_core::{Signal, WallTime};

use crate::clock_text::{go_duration, rfc3339, seconds};

/// Periods that providers use; a signal's period is one of them or unknown.
const PERIODS: [Duration; 3] = [
    Duration::from_secs(60),
    Duration::from_secs(86_400),
    Duration::from_secs(30 * 86_400),
];

/// The longest wait that a hint can ask for.
const HINT_MAX: Duration = Duration::from_secs(86_400);

/// The state of `provider`'s limits as `headers` tell it at `wall`, at most one signal for a meter:
/// where two limits on one meter are shown, the one with less left.
///
/// Absent, negative and unreadable values are `None`; a limit of which nothing can be read is left
/// out. The period is told or inferred only where it comes near a minute, a day or 30 days.
pub fn signals(provider: &Provider, headers: &HeaderMap, wall: WallTime) -> Vec<Signal> {
    let mut signals: Vec<Signal> = Vec::new();
    for row in &provider.signals {
        let Some(signal) = signal(row, headers, wall) else {
            continue;
        };
        let left = |signal: &Signal| signal.remaining.unwrap_or(u64::MAX);
        match signals.iter_mut().find(|other| other.meter == signal.meter) {
            Some(other) if left(&signal) < left(other) => *other = signal,
            Some(_) => {}
            None => signals.push(signal),
        }
    }
    signals
}

/// How long the answer asks us to wait, at most a day.
///
/// Read only on 429 and 5xx, since some providers send the header with successes. `retry-after-ms`
/// comes before `retry-after`, which may be seconds, whole or not, or an HTTP date. What is zero,
/// negative, past or unreadable asks for nothing.
///
/// ```
/// use std::time::Duration;
/// use http::{HeaderMap, HeaderValue, StatusCode};
/// use sluicegate_core::WallTime;
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", HeaderValue::from_static("1.5"));
/// let hint = |status| sluicegate_dialect::retry_hint(&headers, status, WallTime::default());
/// assert_eq!(hint(StatusCode::TOO_MANY_REQUESTS), Some(Duration::from_millis(1_500)));
/// assert_eq!(hint(StatusCode::OK), None);
/// ```
pub fn retry_hint(headers: &HeaderMap, status: StatusCode, wall: WallTime) -> Option<Duration> {
    if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
        return None;
    }
    let millis = text(headers, "retry-after-ms")
        .and_then(seconds)
        .map(|wait| wait / 1_000);
    let after = || text(headers, RETRY_AFTER.as_str());
    let hint = positive(millis)
        .or_else(|| positive(after().and_then(seconds)))
        .or_else(|| positive(after().and_then(|date| until_date(date, wall))));
    hint.map(|wait| wait.min(HINT_MAX))
}

fn signal(row: &SignalRow, headers: &HeaderMap, wall: WallTime) -> Option<Signal> {
    let read = |name: &Option<String>| name.as_deref().and_then(|name| text(headers, name));
    let number = |name: &Option<String>| read(name).and_then(whole);
    let mut signal = Signal::on(row.meter);
    signal.limit = number(&row.limit);
    signal.remaining = number(&row.remaining);
    if signal.limit.is_none() && signal.remaining.is_none() {
        return None;
    }
    signal.reset = read(&row.reset).and_then(|reset| match row.reset_format? {
        ResetFormat::GoDuration => go_duration(reset),
        ResetFormat::IntSeconds | ResetFormat::FloatSeconds => seconds(reset),
        ResetFormat::IntMs => whole(reset).map(Duration::from_millis),
        ResetFormat::IntAuto => whole(reset).and_then(|bare| of_unknown_unit(bare, &signal)),
        ResetFormat::EpochSeconds => since(Duration::from_secs(whole(reset)?), wall),
        ResetFormat::EpochMs => since(Duration::from_millis(whole(reset)?), wall),
        ResetFormat::Rfc3339 => since(rfc3339(reset)?, wall),
    });
    let told = number(&row.period)
        .map(Duration::from_secs)
        .filter(|per| PERIODS.contains(per));
    signal.per = inferred_period(&signal).or(told);
    Some(signal)
}

/// The period over which an even refill would need `reset` for what is used.
fn inferred_period(signal: &Signal) -> Option<Duration> {
    let (used, limit) = used(signal)?;
    let reset_ms = signal.reset?.as_millis();
    if reset_ms == 0 {
        return None;
    }
    // Headers round to a millisecond or more, so small uses say little: one unit either way must
    // not matter.
    let per_ms = reset_ms * u128::from(limit) / u128::from(used);
    let unit_ms = u128::from(limit).div_ceil(u128::from(used));
    PERIODS.into_iter().find(|per| {
        let distance = per_ms.abs_diff(per.as_millis());
        distance <= unit_ms.min(per.as_millis() / 4) || distance * 50 <= per.as_millis()
    })
}

/// A bare number's unit: the one in which it is the time that an even refill needs for what is
/// used.
fn of_unknown_unit(bare: u64, signal: &Signal) -> Option<Duration> {
    let Some((used, limit)) = used(signal) else {
        let whole = signal.limit.is_some() && signal.limit == signal.remaining;
        return (whole && bare == 0).then_some(Duration::ZERO);
    };
    // Less than a second is shown as 0: that says less than the two other numbers.
    if bare == 0 {
        return None;
    }
    let fits = |unit_ms: u128| {
        PERIODS.into_iter().any(|per| {
            let expected_ms = per.as_millis() * u128::from(used) / u128::from(limit);
            let distance = (u128::from(bare) * unit_ms).abs_diff(expected_ms);
            distance <= unit_ms || distance * 50 <= expected_ms
        })
    };
    match (fits(1), fits(1_000)) {
        (true, false) => Some(Duration::from_millis(bare)),
        (false, true) => Some(Duration::from_secs(bare)),
        _ => None,
    }
}

/// What is used, and the limit; `None` where nothing is or it cannot be told.
fn used(signal: &Signal) -> Option<(u64, u64)> {
    let limit = signal.limit?;
    let used = limit.checked_sub(signal.remaining?)?;
    (used > 0).then_some((used, limit))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn whole(text: &str) -> Option<u64> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn until_date(date: &str, wall: WallTime) -> Option<Duration> {
    let date = httpdate::parse_http_date(date).ok()?;
    date.duration_since(UNIX_EPOCH)
        .ok()?
        .checked_sub(Duration::from_nanos(wall.as_unix_nanos()))
}

/// Time from `wall` to an instant after the epoch; zero where that is past.
fn since(epoch: Duration, wall: WallTime) -> Option<Duration> {
    Some(epoch.saturating_sub(Duration::from_nanos(wall.as_unix_nanos())))
}

fn positive(wait: Option<Duration>) -> Option<Duration> {
    wait.filter(|wait| !wait.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use sluicegate_catalog::provider;
    use sluicegate_core::Meter;

    const WALL: WallTime = WallTime::from_unix_nanos(1_790_000_000 * 1_000_000_000);
    const DAY: Option<Duration> = Some(Duration::from_secs(86_400));
    const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let name = |name: &str| HeaderName::from_bytes(name.as_bytes()).expect("a name");
        let value = |value: &str| HeaderValue::from_str(value).expect("a value");
        lines.iter().map(|(n, v)| (name(n), value(v))).collect()
    }

    fn read(id: &str, unit: &str, limit: &str, remaining: &str, reset: &str) -> Option<Signal> {
        let names =
            ["limit", "remaining", "reset"].map(|part| format!("x-ratelimit-{part}-{unit}"));
        let lines = headers(&[
            (&names[0], limit),
            (&names[1], remaining),
            (&names[2], reset),
        ]);
        let found = signals(provider(id).expect("a row"), &lines, WALL);
        assert!(found.len() <= 1);
        found.first().copied()
    }

    fn millis(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    #[test]
    fn openai_writes_durations_and_leaves_the_period_to_be_inferred() {
        let cases = [
            // Limit, remaining, reset as it stands, reset, period.
            ("3000", "2999", "20ms", millis(20), MINUTE),
            ("10000", "9999", "8.64s", millis(8_640), DAY),
            ("200", "199", "7m12s", millis(432_000), DAY),
            (
                "100000",
                "88447",
                "83h10m39s",
                millis(299_439_000),
                Some(Duration::from_secs(2_592_000)),
            ),
            ("4000000", "3999996", "0s", millis(0), None),
            ("5000", "5000", "0s", millis(0), None),
            ("30000", "7001", "46s", millis(46_000), MINUTE),
            ("30000", "7001", "12s", millis(12_000), None),
        ];
        for (limit, remaining, text, reset, per) in cases {
            let signal = read("openai", "requests", limit, remaining, text).expect("a signal");
            assert_eq!(
                (signal.reset, signal.per),
                (reset, per),
                "{limit} {remaining} {text}"
            );
            assert_eq!(signal.meter, Meter::Requests);
            assert_eq!(
                signal.limit.map(|limit| limit.to_string()).as_deref(),
                Some(limit)
            );
        }
    }

    #[test]
    fn azure_writes_bare_numbers_whose_unit_follows() {
        let cases = [
            ("120", "119", "500", millis(500)),
            ("120000", "119986", "7", millis(7)),
            ("20000", "19999", "3", millis(3)),
            ("1500000", "745399", "30", millis(30_000)),
            ("5", "4", "12", millis(12_000)),
            // The header says 0 though nothing is left.
            ("1000", "0", "0", None),
            ("1000", "1000", "0", millis(0)),
            // Neither unit makes sense.
            ("1000", "500", "77", None),
        ];
        for (limit, remaining, text, reset) in cases {
            let signal = read("azure", "tokens", limit, remaining, text).expect("a signal");
            assert_eq!(signal.reset, reset, "{limit} {remaining} {text}");
        }
    }

    #[test]
    fn junk_is_ignored() {
        assert_eq!(read("azure", "tokens", "-1", "-1", "0"), None);
        assert_eq!(read("openai", "tokens", "many", "", "soon"), None);
        let signal = read("openai", "tokens", "1000", "-1", "1e9").expect("the limit can be read");
        assert_eq!(
            (signal.limit, signal.remaining, signal.reset, signal.per),
            (Some(1_000), None, None, None)
        );
        let none = signals(provider("openai").expect("a row"), &HeaderMap::new(), WALL);
        assert_eq!(none, []);
    }

    #[test]
    fn a_told_period_that_is_a_quantum_is_no_period() {
        let azure = provider("azure").expect("a row");
        for (told, per) in [("60", MINUTE), ("10", None)] {
            let lines = headers(&[
                ("x-ratelimit-limit-requests", "120"),
                ("x-ratelimit-remaining-requests", "120"),
                ("x-ratelimit-renewalperiod-requests", told),
            ]);
            assert_eq!(signals(azure, &lines, WALL)[0].per, per);
        }
    }

    #[test]
    fn of_two_limits_on_a_meter_the_tighter_one_speaks() {
        let lines = headers(&[
            ("x-ratelimit-limit-tokens", "1000"),
            ("x-ratelimit-remaining-tokens", "900"),
            ("x-ratelimit-limit-project-tokens", "500"),
            ("x-ratelimit-remaining-project-tokens", "400"),
        ]);
        let found = signals(provider("openai").expect("a row"), &lines, WALL);
        assert_eq!(
            found.iter().map(|signal| signal.limit).collect::<Vec<_>>(),
            [Some(500)]
        );
    }

    #[test]
    fn a_hint_is_positive_and_bounded() {
        let hint = |name: &str, value: &str| {
            retry_hint(
                &headers(&[(name, value)]),
                StatusCode::SERVICE_UNAVAILABLE,
                WALL,
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
    fn milliseconds_come_first_unless_they_say_nothing() {
        let both = |ms| headers(&[("retry-after-ms", ms), ("retry-after", "9")]);
        let hint = |ms| retry_hint(&both(ms), StatusCode::TOO_MANY_REQUESTS, WALL);
        assert_eq!(hint("40"), millis(40));
        assert_eq!(hint("0"), millis(9_000));
        assert_eq!(hint("junk"), millis(9_000));
        let status = |status| retry_hint(&both("40"), status, WALL);
        assert_eq!(status(StatusCode::OK), None);
        assert_eq!(status(StatusCode::BAD_REQUEST), None);
        assert_eq!(status(StatusCode::BAD_GATEWAY), millis(40));
    }
}
