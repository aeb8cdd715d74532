//! How long a request is willing to wait, from its headers.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use sluicegate_config::Lanes;

use super::Failure;

const LANE: HeaderName = HeaderName::from_static("x-sluicegate-lane");
const MAX_WAIT: HeaderName = HeaderName::from_static("x-sluicegate-max-wait");
/// How long the client's SDK waits for an answer, in seconds.
const SDK_TIMEOUTS: [HeaderName; 2] = [
    HeaderName::from_static("x-stainless-read-timeout"),
    HeaderName::from_static("x-stainless-timeout"),
];

/// The longest wait in the queue that is of use to the sender of `headers`.
pub(super) fn max_wait(headers: &HeaderMap, lanes: &Lanes) -> Result<Duration, Failure> {
    let lane = match headers.get(LANE).map(HeaderValue::as_bytes) {
        None | Some(b"api") => &lanes.api,
        Some(b"interactive") => &lanes.interactive,
        Some(b"batch") => &lanes.batch,
        Some(_) => {
            let expected = "expected interactive, api or batch".to_owned();
            return Err(Failure::Header {
                name: "x-sluicegate-lane",
                expected,
            });
        }
    };
    let asked = match headers.get(MAX_WAIT) {
        None => lane.max_wait,
        Some(value) => value
            .to_str()
            .ok()
            .and_then(duration)
            .ok_or_else(|| Failure::Header {
                name: "x-sluicegate-max-wait",
                expected: "expected a duration like 5s, 300ms, 2m or 0s".to_owned(),
            })?,
    };
    let sdk = SDK_TIMEOUTS
        .iter()
        .filter_map(|name| seconds(headers.get(name)?))
        .min();
    Ok(sdk.map_or(asked, |sdk| asked.min(sdk)))
}

/// `300ms`, `5s`, `1.5s`, `2m`, `1h`.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * factor).ok()
}

/// A number of seconds that an SDK may mean: some send words where nothing is set.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    let seconds: f64 = value.to_str().ok()?.trim().parse().ok()?;
    if seconds > 0.0 {
        Duration::try_from_secs_f64(seconds).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_write_them() {
        for (text, expected) in [
            ("300ms", Some(Duration::from_millis(300))),
            ("5s", Some(Duration::from_secs(5))),
            ("1.5s", Some(Duration::from_millis(1_500))),
            ("2m", Some(Duration::from_secs(120))),
            ("24h", Some(Duration::from_secs(86_400))),
            ("0s", Some(Duration::ZERO)),
            ("5", None),
            ("s", None),
            ("-5s", None),
            ("5 s", None),
            ("1e400s", None),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(duration(text), expected, "{text}");
        }
    }

    #[test]
    fn an_sdk_that_says_nothing_useful_bounds_nothing() {
        for text in ["NOT_GIVEN", "0", "-1", "nan", "inf", ""] {
            assert_eq!(
                seconds(&HeaderValue::from_str(text).expect("ASCII")),
                None,
                "{text}"
            );
        }
        let value = HeaderValue::from_static("600.5");
        assert_eq!(seconds(&value), Some(Duration::from_millis(600_500)));
    }
}
