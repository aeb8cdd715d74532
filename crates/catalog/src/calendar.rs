//! The days and months of a zone, as tables of instants that the core can count by.
//!
//! The rules of daylight saving come from the time zone database that is compiled in, never from the machine: what a
//! machine knows of zones may be missing or years old, and then a day would end an hour beside the provider's without a word.
//! A table spans a fixed stretch of years, whenever it is made, so that a policy that is loaded anew holds an equal one.

use std::fmt;

use jiff::ToSpan;
use jiff::civil::{Date, Time, date};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::de::{Deserialize, Deserializer, Error as _};
use sluicegate_core::{Calendar, WallTime};

/// First day of a table.
const FIRST: Date = date(2020, 1, 1);
/// Last day of a table; beyond it the core goes on with the last length.
const LAST: Date = date(2060, 1, 1);

/// A time zone by its name in the database (`America/Los_Angeles`, `UTC`) or as an offset from universal time (`+09:00`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// A time of day on the clocks of a zone, to the minute.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TimeOfDay(Time);

impl Zone {
    /// The zone of that name; `None` where there is none.
    pub fn named(name: &str) -> Option<Self> {
        static PARSER: DateTimeParser = DateTimeParser::new();
        let zones = TimeZoneDatabase::bundled();
        let zone = PARSER.parse_time_zone_with(&zones, name).ok()?;
        Some(Self {
            name: name.to_owned(),
            zone,
        })
    }

    /// The name by which it was found.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Days that begin at `reset`. Where clocks jump over that time, the day begins as much later as they jump; where they show
    /// it twice, at the first.
    pub fn days(&self, reset: TimeOfDay) -> Calendar {
        let name = match reset {
            TimeOfDay::MIDNIGHT => format!("day {}", self.name),
            _ => format!("day {} {reset}", self.name),
        };
        self.calendar(name, FIRST.series(1.day()), reset)
    }

    /// Calendar months, each from midnight on its first day.
    pub fn months(&self) -> Calendar {
        let name = format!("month {}", self.name);
        self.calendar(name, FIRST.series(1.month()), TimeOfDay::MIDNIGHT)
    }

    fn calendar(
        &self,
        name: String,
        begins: impl Iterator<Item = Date>,
        reset: TimeOfDay,
    ) -> Calendar {
        let begins = begins.take_while(|day| *day <= LAST);
        let instants = begins.filter_map(|day| self.instant(day, reset));
        let mut edges: Vec<WallTime> = instants.collect();
        // A zone that crossed the date line left out a whole day.
        edges.dedup();
        Calendar::new(name, edges).expect("decades of days or months follow each other")
    }

    fn instant(&self, day: Date, reset: TimeOfDay) -> Option<WallTime> {
        let instant = self.zone.to_timestamp(day.to_datetime(reset.0)).ok()?;
        let nanos = u64::try_from(instant.as_nanosecond()).ok()?;
        Some(WallTime::from_unix_nanos(nanos))
    }
}

impl TimeOfDay {
    /// The day's first minute.
    pub const MIDNIGHT: Self = Self(Time::midnight());

    /// The time that `text` writes as `07:30`; `None` for everything else.
    pub fn from_text(text: &str) -> Option<Self> {
        let (hour, minute) = text.split_once(':')?;
        let two_digits = |part: &str| {
            let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| part.parse::<i8>().ok())?
        };
        let (hour, minute) = (two_digits(hour)?, two_digits(minute)?);
        Time::new(hour, minute, 0, 0).ok().map(Self)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0.hour(), self.0.minute())
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name)
            .ok_or_else(|| D::Error::custom(format!("there is no time zone `{name}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> Zone {
        Zone::named(name).expect("a zone")
    }

    /// Beginning and end of the window around an instant, in seconds.
    fn around(calendar: &Calendar, seconds: u64) -> (u64, u64) {
        let after = |seconds: u64| {
            let instant = WallTime::from_unix_nanos(seconds * 1_000_000_000);
            calendar.edge_after(instant).as_unix_seconds()
        };
        let end = after(seconds);
        // The longest month and an hour: some edge before.
        let mut begin = after(seconds - 31 * 86_400 - 3_600);
        while after(begin) < end {
            begin = after(begin);
        }
        (begin, end)
    }

    #[test]
    fn pacific_days_are_an_hour_short_in_march_and_an_hour_long_in_november() {
        let days = zone("America/Los_Angeles").days(TimeOfDay::MIDNIGHT);
        for (noon, begin, hours) in [
            // 2027-03-13T20:00Z, and the days after it: midnight is at 08:00Z, then at 07:00Z.
            (1_804_968_000, 1_804_924_800, 24),
            (1_805_054_400, 1_805_011_200, 23),
            (1_805_140_800, 1_805_094_000, 24),
            // 2027-11-06T20:00Z, and the days after it: midnight is at 07:00Z, then at 08:00Z.
            (1_825_531_200, 1_825_484_400, 24),
            (1_825_617_600, 1_825_570_800, 25),
            (1_825_704_000, 1_825_660_800, 24),
        ] {
            assert_eq!(
                around(&days, noon),
                (begin, begin + hours * 3_600),
                "{noon}"
            );
        }
        assert_eq!(days.name(), "day America/Los_Angeles");
        assert_eq!(days.usual_length().as_secs(), 86_400);
    }

    #[test]
    fn months_have_their_own_lengths_and_february_a_day_more_in_a_leap_year() {
        let months = zone("UTC").months();
        for (within, begin, days) in [
            (1_801_500_000, 1_801_440_000, 28), // 2027-02-01
            (1_832_980_000, 1_832_976_000, 29), // 2028-02-01
            (1_835_481_600, 1_835_481_600, 31), // 2028-03-01
        ] {
            assert_eq!(around(&months, within), (begin, begin + days * 86_400));
        }
        assert_eq!(months.name(), "month UTC");
        assert_eq!(months.usual_length().as_secs(), 31 * 86_400);
    }

    #[test]
    fn a_day_may_end_at_another_time_than_midnight() {
        let days = zone("+09:00").days(TimeOfDay::from_text("04:30").expect("a time"));
        // 2027-03-13T19:30Z is half past four of the 14th in Seoul.
        assert_eq!(around(&days, 1_804_968_000), (1_804_966_200, 1_805_052_600));
        assert_eq!(days.name(), "day +09:00 04:30");
    }

    #[test]
    fn a_reset_that_the_clocks_skip_comes_as_much_later() {
        let days = zone("America/Los_Angeles").days(TimeOfDay::from_text("02:30").expect("a time"));
        // On 2027-03-14 the clocks go from 02:00 to 03:00: 02:30 is 03:30 there, 10:30Z.
        assert_eq!(around(&days, 1_805_054_400).0, 1_805_020_200);
    }

    #[test]
    fn a_table_is_the_same_whenever_it_is_made() {
        let pacific = zone("America/Los_Angeles");
        let days = pacific.days(TimeOfDay::MIDNIGHT);
        assert_eq!(days, pacific.days(TimeOfDay::MIDNIGHT));
        assert_ne!(days, zone("UTC").days(TimeOfDay::MIDNIGHT));
        assert_ne!(days, pacific.months());
    }

    #[test]
    fn what_is_no_zone_or_no_time_is_none() {
        for name in ["", "Pacific", "America/Los Angeles", "09:00", "PST8PDT?"] {
            assert_eq!(Zone::named(name), None, "{name}");
        }
        for text in ["", "7:30", "24:00", "12:60", "0730", "+1:00", "07:30:00"] {
            assert_eq!(TimeOfDay::from_text(text), None, "{text}");
        }
        let time = TimeOfDay::from_text("23:59").expect("a time");
        assert_eq!(time.to_string(), "23:59");
    }
}
