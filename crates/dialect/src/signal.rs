//! What an answer's headers tell about the provider's limits.
//!
//! Which headers there are and how they write time is the provider's row; headers of one name mean
//! different things at different providers, so beside the standard fields nothing is read that the
//! row does not list. What cannot be right is dropped rather than passed on: a wrong signal would
//! correct a ledger that was right.

use std::time::Duration;

use http::HeaderMap;
use sluicegate_catalog::{Provider, ResetFormat, ResetMeans, SignalRow};
use sluicegate_core::{Meter, Signal, WallTime};

use crate::clock_text::{go_duration, rfc3339, seconds};
use crate::header_text::{text, whole};
use crate::period::{PERIODS, QUANTA, period_of, refill_ms};
use crate::rate_limit_fields;

/// No limit is whole later than this: a reset beyond it is none.
const RESET_MAX: Duration = Duration::from_secs(31 * 86_400);

/// The state of `provider`'s limits as `headers` tell it at `wall`: every limit that they show, of
/// several on one meter and period the one with less left (a project's within an account's, say).
///
/// Absent, negative and unreadable values are `None`; a limit of which nothing can be read is left
/// out, and so is one of zero, of which the error's class tells. The period is the row's where it names
/// one; else it is believed or worked out only where it comes near a minute, a day or 30 days. The
/// standard `ratelimit` fields are read for meters of which the row's headers tell nothing.
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use sluicegate_core::WallTime;
/// let openai = sluicegate_catalog::provider("openai").expect("a row of that name");
/// let mut headers = HeaderMap::new();
/// headers.insert("x-ratelimit-limit-requests", HeaderValue::from_static("200"));
/// headers.insert("x-ratelimit-remaining-requests", HeaderValue::from_static("199"));
/// headers.insert("x-ratelimit-reset-requests", HeaderValue::from_static("7m12s"));
/// let told = sluicegate_dialect::signals(openai, &headers, WallTime::default());
/// assert_eq!(told[0].remaining, Some(199));
/// assert_eq!(told[0].per.map(|per| per.as_secs()), Some(86_400));
/// ```
pub fn signals(provider: &Provider, headers: &HeaderMap, wall: WallTime) -> Vec<Signal> {
    let mut signals: Vec<Signal> = Vec::new();
    let rows = provider.signals.iter();
    for signal in rows.filter_map(|row| signal(row, headers, wall)) {
        keep_tighter(&mut signals, signal);
    }
    let listed = signals.len();
    for signal in rate_limit_fields::signals(headers) {
        if signals[..listed]
            .iter()
            .all(|told| told.meter != signal.meter)
        {
            keep_tighter(&mut signals, signal);
        }
    }
    signals
}

/// The meter on which `headers` show a limit of zero: the model is not on the account's plan, and
/// no wait will help. Only a refusal makes it credible.
///
/// Mistral shows `x-ratelimit-limit-req-minute: 0` so.
pub(crate) fn barred(provider: &Provider, headers: &HeaderMap) -> Option<Meter> {
    let is_zero = |row: &&SignalRow| {
        let limit = row.limit.as_deref().and_then(|name| text(headers, name));
        limit.and_then(whole) == Some(0)
    };
    provider.signals.iter().find(is_zero).map(|row| row.meter)
}

/// What `headers` tell of the limit of `row`, if anything.
pub(crate) fn signal(row: &SignalRow, headers: &HeaderMap, wall: WallTime) -> Option<Signal> {
    let number = |name: &Option<String>| text(headers, name.as_deref()?).and_then(whole);
    let mut signal = Signal::on(row.meter);
    signal.limit = number(&row.limit);
    signal.remaining = number(&row.remaining);
    if signal.limit == Some(0) || signal.limit.is_none() && signal.remaining.is_none() {
        return None;
    }
    signal.reset = reset(row, headers, &signal, wall);
    let named = row.per_s.map(|per_s| Duration::from_secs(per_s.get()));
    let told = || {
        let told = number(&row.period).map(Duration::from_secs);
        told.filter(|per| PERIODS.contains(per))
    };
    let inferred = || match row.reset_means {
        ResetMeans::Whole => {
            let (used, limit) = used(&signal)?;
            period_of(signal.reset?, used, limit)
        }
        ResetMeans::Next => None,
    };
    signal.per = named.or_else(told).or_else(inferred);
    let told_s = number(&row.period).map(Duration::from_secs);
    signal.quantum = told_s.filter(|quantum| QUANTA.contains(quantum));
    Some(signal)
}

/// Time from `wall` to the reset that `row`'s header tells; zero where it is past.
fn reset(
    row: &SignalRow,
    headers: &HeaderMap,
    signal: &Signal,
    wall: WallTime,
) -> Option<Duration> {
    let reset = text(headers, row.reset.as_deref()?)?;
    let reset = match row.reset_format? {
        ResetFormat::GoDuration => go_duration(reset),
        ResetFormat::IntAuto => of_unknown_unit(whole(reset)?, signal),
        ResetFormat::IntSeconds | ResetFormat::FloatSeconds => seconds(reset),
        ResetFormat::IntMs => whole(reset).map(Duration::from_millis),
        ResetFormat::EpochSeconds => seconds(reset).map(|epoch| since(epoch, wall)),
        ResetFormat::EpochMs => whole(reset).map(|ms| since(Duration::from_millis(ms), wall)),
        ResetFormat::Rfc3339 => rfc3339(reset).map(|epoch| since(epoch, wall)),
    };
    reset.filter(|reset| *reset <= RESET_MAX)
}

/// Adds `signal`, unless one of its meter and period with no more left is there.
fn keep_tighter(signals: &mut Vec<Signal>, signal: Signal) {
    let left = |signal: &Signal| signal.remaining.unwrap_or(u64::MAX);
    let same = |other: &&mut Signal| (other.meter, other.per) == (signal.meter, signal.per);
    match signals.iter_mut().find(same) {
        Some(other) if left(&signal) < left(other) => *other = signal,
        Some(_) => {}
        None => signals.push(signal),
    }
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
            let expected_ms = refill_ms(used, limit, per);
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

/// Time from `wall` to an instant after the epoch; zero where that is past.
fn since(epoch: Duration, wall: WallTime) -> Duration {
    epoch.saturating_sub(Duration::from_nanos(wall.as_unix_nanos()))
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
        let ten_seconds = Some(Duration::from_secs(10));
        for (told, per, quantum) in [("60", MINUTE, None), ("10", None, ten_seconds)] {
            let lines = headers(&[
                ("x-ratelimit-limit-requests", "120"),
                ("x-ratelimit-remaining-requests", "120"),
                ("x-ratelimit-renewalperiod-requests", told),
            ]);
            let told = signals(azure, &lines, WALL)[0];
            assert_eq!((told.per, told.quantum), (per, quantum));
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
}
