//! Calendar days and months of the proleptic Gregorian calendar, at a fixed offset from UTC.
//!
//! Counted year by year and month by month, which is slow and needs no trust. No time zone with summer time: an offset is given, as
//! a test wants a day to end at the same time all year.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

/// How far local time is ahead of UTC: `+09:00`, `-08:00`, at most a day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UtcOffset {
    minutes: i32,
}

/// A day, and the nanoseconds since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Date {
    year: u64,
    /// 1 to 12.
    month: u64,
    /// 1 to 31.
    day: u64,
    within: u64,
}

impl UtcOffset {
    /// Pacific standard time, eight hours behind.
    pub(super) const PACIFIC: Self = Self { minutes: -480 };

    /// So many minutes ahead of UTC, negative behind; `None` beyond a day.
    pub const fn from_minutes(minutes: i32) -> Option<Self> {
        if minutes > -1_440 && minutes < 1_440 {
            Some(Self { minutes })
        } else {
            None
        }
    }

    /// Local nanoseconds for `at`; before the epoch there is nothing.
    fn local(self, at: u64) -> u64 {
        at.saturating_add_signed(self.nanos())
    }

    fn utc(self, local: u64) -> u64 {
        local.saturating_add_signed(-self.nanos())
    }

    fn nanos(self) -> i64 {
        i64::from(self.minutes) * 60_000_000_000
    }

    /// How long after a multiple of `per` since the epoch local time is at a multiple of `per`.
    pub(super) fn phase(self, per: u64) -> u64 {
        let per = i128::from(per);
        let phase = (-i128::from(self.nanos())).rem_euclid(per);
        u64::try_from(phase).expect("a remainder lies between zero and a 64-bit period")
    }

    /// The month around `at`: when it began and when the next begins.
    pub(super) fn month(self, at: u64) -> (u64, u64) {
        let local = self.local(at);
        let date = Date::of(local);
        let start = local - date.within - (date.day - 1) * DAY;
        let end = start + days_of_month(date.year, date.month) * DAY;
        (self.utc(start), self.utc(end))
    }
}

impl Date {
    /// The date at `nanos` since the Unix epoch.
    pub(super) fn of(nanos: u64) -> Self {
        let (mut days, within) = (nanos / DAY, nanos % DAY);
        let mut year = 1970;
        while days >= days_of_year(year) {
            days -= days_of_year(year);
            year += 1;
        }
        let mut month = 1;
        while days >= days_of_month(year, month) {
            days -= days_of_month(year, month);
            month += 1;
        }
        Self {
            year,
            month,
            day: days + 1,
            within,
        }
    }
}

/// RFC 3339 in UTC, in whole seconds, rounded up.
pub(super) fn rfc3339(nanos: u64) -> String {
    let Date {
        year,
        month,
        day,
        within,
    } = Date::of(nanos.div_ceil(SECOND).saturating_mul(SECOND));
    let seconds = within / SECOND;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn days_of_year(year: u64) -> u64 {
    365 + u64::from(is_leap(year))
}

fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Why a text is no [`UtcOffset`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no offset from UTC: write a sign, hours and minutes, like +09:00 or -08:00")]
pub struct UtcOffsetError(String);

impl FromStr for UtcOffset {
    type Err = UtcOffsetError;

    fn from_str(text: &str) -> Result<Self, UtcOffsetError> {
        let read = || {
            let (sign, rest) = match text.split_at_checked(1)? {
                ("+", rest) => (1, rest),
                ("-", rest) => (-1, rest),
                _ => return None,
            };
            let (hours, minutes) = rest.split_once(':')?;
            let two_digits = |part: &str| {
                let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
                digits.then(|| part.parse::<i32>().ok())?
            };
            let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
            Self::from_minutes(sign * (hours * 60 + minutes)).filter(|_| minutes < 60)
        };
        read().ok_or_else(|| UtcOffsetError(text.to_owned()))
    }
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.minutes < 0 { '-' } else { '+' };
        let minutes = self.minutes.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl<'de> Deserialize<'de> for UtcOffset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl Serialize for UtcOffset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_are_written_as_known() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds * SECOND), text);
        }
        assert_eq!(rfc3339(1), "1970-01-01T00:00:01Z", "rounded up");
    }

    #[test]
    fn months_begin_where_people_live() {
        // 2024-03-01T03:00:00Z is still February in California, and March in Korea since 12 hours.
        let at = 1_709_262_000 * SECOND;
        let pacific: UtcOffset = "-08:00".parse().unwrap();
        let korea: UtcOffset = "+09:00".parse().unwrap();
        let shown = |(start, end)| (rfc3339(start), rfc3339(end));
        let pair = |start: &str, end: &str| (start.to_owned(), end.to_owned());
        assert_eq!(
            shown(pacific.month(at)),
            pair("2024-02-01T08:00:00Z", "2024-03-01T08:00:00Z")
        );
        assert_eq!(
            shown(korea.month(at)),
            pair("2024-02-29T15:00:00Z", "2024-03-31T15:00:00Z")
        );
        assert_eq!(pacific.phase(DAY), 8 * 3_600 * SECOND);
        assert_eq!(korea.phase(DAY), 15 * 3_600 * SECOND);
    }

    #[test]
    fn offsets_are_read_and_shown() {
        for text in ["+00:00", "+09:00", "-08:00", "+05:45"] {
            assert_eq!(text.parse::<UtcOffset>().unwrap().to_string(), text);
        }
        for text in [
            "", "9", "+9:00", "09:00", "+24:00", "+01:60", "+-1:00", "+0é:0",
        ] {
            assert!(text.parse::<UtcOffset>().is_err(), "{text}");
        }
    }
}
