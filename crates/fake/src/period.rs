//! A period as people write it in a settings file: `300ms`, `60s`, `1m`, `24h`, `30d`.
//!
//! A type of its own, so that a period of zero (which would divide by zero wherever something refills) is refused while
//! reading, with its line, and needs no check afterwards.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
];

/// A length of time above zero, in whole milliseconds, at most about 584 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Period(NonZeroU64);

impl Period {
    /// One second.
    pub const SECOND: Self = Self::from_nanos(NonZeroU64::new(1_000_000_000).expect("not zero"));
    /// One minute.
    pub const MINUTE: Self = Self::from_nanos(NonZeroU64::new(60_000_000_000).expect("not zero"));
    /// One hour.
    pub const HOUR: Self = Self::from_nanos(NonZeroU64::new(3_600_000_000_000).expect("not zero"));
    /// Thirty days: a month where it is not a calendar's.
    pub const MONTH: Self =
        Self::from_nanos(NonZeroU64::new(2_592_000_000_000_000).expect("not zero"));
    /// 86,400 seconds.
    pub const DAY: Self = Self::from_nanos(NonZeroU64::new(86_400_000_000_000).expect("not zero"));

    /// A period of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: NonZeroU64) -> Self {
        Self(nanos)
    }

    /// A period of `seconds`; `None` for zero and for what does not fit.
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        seconds
            .checked_mul(1_000_000_000)
            .and_then(NonZeroU64::new)
            .map(Self)
    }

    /// So many times as long.
    pub(crate) const fn times(self, factor: NonZeroU64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0.get()
    }

    /// Whole seconds, rounded up.
    pub const fn as_seconds(self) -> u64 {
        self.0.get().div_ceil(1_000_000_000)
    }
}

/// Why a text is no [`Period`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no period: write a whole number above zero and a unit, like 300ms, 60s, 1m, 24h or 30d"
)]
pub struct PeriodError(String);

impl FromStr for Period {
    type Err = PeriodError;

    fn from_str(text: &str) -> Result<Self, PeriodError> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .and_then(|(_, nanos)| number.parse::<u64>().ok()?.checked_mul(*nanos))
            .and_then(NonZeroU64::new)
            .map(Self)
            .ok_or_else(|| PeriodError(text.to_owned()))
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.as_nanos();
        match UNITS.iter().find(|(_, unit)| nanos.is_multiple_of(*unit)) {
            Some((name, unit)) => write!(f, "{}{name}", nanos / unit),
            None => write!(f, "{}ms", nanos / 1_000_000),
        }
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_refuses_the_rest() {
        for (text, nanos) in [
            ("300ms", 300_000_000),
            ("60s", 60_000_000_000),
            ("1m", 60_000_000_000),
            ("2h", 7_200_000_000_000),
            ("1d", 86_400_000_000_000),
        ] {
            let period: Period = text.parse().unwrap();
            assert_eq!(period.as_nanos(), nanos);
            assert_eq!(period.to_string().parse::<Period>().unwrap(), period);
        }
        for text in ["", "60", "0s", "s", "-1s", "1.5s", "1 s", "99999999999d"] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }
}
