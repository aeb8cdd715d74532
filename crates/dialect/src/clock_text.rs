//! Times and durations as headers write them. Integers only; what does not fit is not read.

use std::time::Duration;

use crate::header_text::whole;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// A duration as Go prints it: `6m0s`, `7.66s`, `12ms`, `1h2m`. A sign, a missing unit and an
/// unknown one are refused.
pub(crate) fn go_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let end = tail
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let unit_ns = match unit {
            "h" => 3_600 * NANOS_PER_SECOND,
            "m" => 60 * NANOS_PER_SECOND,
            "s" => NANOS_PER_SECOND,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        total = total.checked_add(scaled(number, unit_ns)?)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
}

/// A duration as protobuf's JSON form writes it: seconds, whole or with a fraction, and an `s`.
pub(crate) fn protobuf_duration(text: &str) -> Option<Duration> {
    seconds(text.strip_suffix('s')?)
}

/// The duration that `words` begin with, as people and programs write it: `1.146s`, `6m0s`, `7
/// seconds`, `1 minute 30 seconds`. What follows it does not matter.
pub(crate) fn spelled_duration<'t>(words: impl IntoIterator<Item = &'t str>) -> Option<Duration> {
    let mut words = words.into_iter().peekable();
    let mut total: Option<Duration> = None;
    while let Some(word) = words.next_if(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
        // A bare number is one of the unit that follows.
        let part = match seconds(word) {
            Some(_) => scaled(word, unit_ns(words.next()?)?)?,
            None => go_duration(word)?,
        };
        total = Some(total.unwrap_or_default().checked_add(part)?);
        let _ = words.next_if_eq(&"and");
    }
    total
}

/// Seconds, whole or with a fraction. A sign, an exponent and what is no number are refused.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    scaled(text, NANOS_PER_SECOND)
}

/// An instant like `2026-10-04T12:00:00.5Z` or with an offset like `+09:00`, as time after the Unix
/// epoch.
pub(crate) fn rfc3339(text: &str) -> Option<Duration> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut date = date
        .splitn(3, '-')
        .map(|part| whole(part).and_then(|n| i64::try_from(n).ok()));
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let zone_at = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone_at);
    let mut clock = clock.splitn(3, ':');
    let (hour, minute) = (whole(clock.next()?)?, whole(clock.next()?)?);
    let second = seconds(clock.next()?)?;
    let sane = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (1970..=9999).contains(&year)
        && hour < 24
        && minute < 60
        && second < Duration::from_secs(61);
    if !sane {
        return None;
    }
    let local = i64::try_from(hour * 3_600 + minute * 60).ok()?
        + days_since_epoch(year, month, day) * 86_400;
    let utc = u64::try_from(local - offset_seconds(zone)?).ok()?;
    Some(Duration::from_secs(utc) + second)
}

/// Nanoseconds of a unit of time that stands as a word of its own.
fn unit_ns(word: &str) -> Option<u128> {
    let singular = word.strip_suffix('s').filter(|stem| stem.len() > 1);
    Some(match singular.unwrap_or(word) {
        "d" | "day" => 86_400 * NANOS_PER_SECOND,
        "h" | "hr" | "hour" => 3_600 * NANOS_PER_SECOND,
        "m" | "min" | "minute" => 60 * NANOS_PER_SECOND,
        "s" | "sec" | "second" => NANOS_PER_SECOND,
        "ms" | "msec" | "millisecond" => 1_000_000,
        _ => return None,
    })
}

fn offset_seconds(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (hours, minutes) = (whole(hours)?, whole(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * i64::try_from(hours * 3_600 + minutes * 60).ok()?)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. The year is taken to begin in March,
/// so that the leap day ends it.
const fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days_of_months = (153 * month + 2) / 5;
    let days_of_years = 365 * year + year / 4 - year / 100 + year / 400;
    days_of_years + days_of_months + day - 1 - 719_468
}

/// `number` times a unit, digits below a nanosecond dropped.
fn scaled(number: &str, unit_ns: u128) -> Option<Duration> {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    if integer.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(integer) || !digits(fraction) {
        return None;
    }
    // 18 digits of a fraction are more than any unit resolves.
    let fraction = &fraction[..fraction.len().min(18)];
    let integer: u128 = if integer.is_empty() {
        0
    } else {
        u128::from(whole(integer)?)
    };
    let part: u128 = if fraction.is_empty() {
        0
    } else {
        u128::from(whole(fraction)?)
    };
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let nanos = integer
        .checked_mul(unit_ns)?
        .checked_add(part * unit_ns / scale)?;
    let seconds = u64::try_from(nanos / NANOS_PER_SECOND).ok()?;
    Some(Duration::new(
        seconds,
        u32::try_from(nanos % NANOS_PER_SECOND).ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_of_go_are_sums() {
        let cases = [
            ("6m0s", 360_000_000),
            ("7.66s", 7_660_000),
            ("12ms", 12_000),
            ("2m59.56s", 179_560_000),
            ("1h2m", 3_720_000_000),
            ("0s", 0),
            ("0", 0),
            ("1.5ms", 1_500),
            ("250µs", 250),
        ];
        for (text, micros) in cases {
            assert_eq!(
                go_duration(text),
                Some(Duration::from_micros(micros)),
                "{text}"
            );
        }
        for text in [
            "",
            "5",
            "s",
            "-1s",
            "1x",
            "1s2",
            "1..2s",
            "99999999999999999999s",
            "1e3s",
        ] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }

    #[test]
    fn protobuf_writes_seconds() {
        for (text, millis) in [("37s", 37_000), ("7.66s", 7_660), ("0s", 0)] {
            let expected = Some(Duration::from_millis(millis));
            assert_eq!(protobuf_duration(text), expected, "{text}");
        }
        for text in ["", "s", "37", "6m0s", "-1s", "1e3s", "12ms"] {
            assert_eq!(protobuf_duration(text), None, "{text}");
        }
    }

    #[test]
    fn durations_are_spelled_in_many_ways() {
        let cases = [
            ("1.146s", 1_146),
            ("84ms", 84),
            ("6m0s", 360_000),
            ("28m48s visit the page", 1_728_000),
            ("7 seconds", 7_000),
            ("1 second", 1_000),
            ("2.5 s", 2_500),
            ("800 ms", 800),
            ("20 minutes", 1_200_000),
            ("1 minute 30 seconds", 90_000),
            ("1 hour and 5 mins", 3_900_000),
            ("2 days", 172_800_000),
            ("1m 30s", 90_000),
        ];
        for (text, millis) in cases {
            let expected = Some(Duration::from_millis(millis));
            assert_eq!(spelled_duration(text.split(' ')), expected, "{text}");
        }
        for text in [
            "",
            "7",
            "soon",
            "a 7 seconds",
            "7 dwarfs",
            "7 ss",
            "-7 seconds",
        ] {
            assert_eq!(spelled_duration(text.split(' ')), None, "{text}");
        }
    }

    #[test]
    fn seconds_are_plain_numbers() {
        assert_eq!(seconds("33011.38"), Some(Duration::from_millis(33_011_380)));
        assert_eq!(seconds(".5"), Some(Duration::from_millis(500)));
        assert_eq!(
            seconds("1.0000000004999999999999999999"),
            Some(Duration::from_secs(1))
        );
        for text in ["", ".", "-1", "+1", "1e3", "nan", "1,5", " 1"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn instants_are_read_with_their_zone() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-09-21T14:13:20Z", 1_790_000_000),
            ("2026-09-21T23:13:20+09:00", 1_790_000_000),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("2100-03-01T00:00:00-00:30", 4_107_544_200),
        ];
        for (text, epoch) in cases {
            assert_eq!(rfc3339(text), Some(Duration::from_secs(epoch)), "{text}");
        }
        for text in [
            "",
            "2026-09-21",
            "2026-13-01T00:00:00Z",
            "2026-09-21T14:13:20",
            "2026-09-21T24:00:00Z",
        ] {
            assert_eq!(rfc3339(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "\\PC{0,24}|[0-9.hmsuntTZ:+-]{0,30}") {
            let _ = (go_duration(&text), seconds(&text), rfc3339(&text));
            let _ = (protobuf_duration(&text), spelled_duration(text.split(' ')));
        }
    }
}
