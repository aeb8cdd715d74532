//! How numbers with units are written: counts, durations, sizes, shares, dollars.
//!
//! Everything is decimal and exact: `1.5M` is a million and a half, `0.0005k` is refused because it is not whole. A plain
//! number where a duration stands is refused, since seconds and milliseconds look alike.

use std::time::Duration;

use sluicegate_core::BasisPoints;

/// Why a text is not what it should be, and, where one thing was likely meant, how to write it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) what: &'static str,
    pub(crate) mend: Option<String>,
}

impl Wrong {
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, mend: None }
    }

    fn write(what: &'static str, mend: String) -> Self {
        Self {
            what,
            mend: Some(mend),
        }
    }
}

/// A whole number, like `500`, `300_000`, `300k`, `1.5M`, `2G`.
pub(crate) fn count(text: &str) -> Result<u64, Wrong> {
    const UNITS: [(&str, u64); 5] = [
        ("", 1),
        ("k", 1_000),
        ("K", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
    ];
    let (number, unit) = Decimal::split(text).ok_or(Wrong::new("is not a number"))?;
    let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(Wrong::new("is not a number"));
    };
    number
        .times(*unit)
        .ok_or(Wrong::new("is not a whole number"))
}

/// A time with its unit, like `300ms`, `5s`, `1.5s`, `2m`, `24h`, `1d`, `1m30s`.
pub(crate) fn duration(text: &str) -> Result<Duration, Wrong> {
    const UNITS: [(&str, u64); 5] = [
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ];
    let mut nanos: u64 = 0;
    let mut rest = text;
    loop {
        let (number, tail) = Decimal::split(rest).ok_or(Wrong::new("is not a duration"))?;
        if tail.is_empty() {
            return Err(if rest.len() == text.len() {
                Wrong::write("has no unit", format!("write {text}s for seconds"))
            } else {
                Wrong::new("is not a duration")
            });
        }
        let len = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == &tail[..len]) else {
            return Err(Wrong::new("is not a duration"));
        };
        nanos = number
            .times(*unit)
            .and_then(|part| nanos.checked_add(part))
            .ok_or(Wrong::new("is not a duration"))?;
        rest = &tail[len..];
        if rest.is_empty() {
            return Ok(Duration::from_nanos(nanos));
        }
    }
}

/// A size, like `32MiB`, `512KiB`, `10MB`, `4096`.
pub(crate) fn bytes(text: &str) -> Result<u64, Wrong> {
    const UNITS: [(&str, u64); 8] = [
        ("", 1),
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ];
    let (number, unit) = Decimal::split(text).ok_or(Wrong::new("is not a size"))?;
    let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == unit.trim_start()) else {
        return Err(Wrong::new("is not a size"));
    };
    number
        .times(*unit)
        .ok_or(Wrong::new("is not a whole number of bytes"))
}

/// A share from nothing to the whole, like `0.97` or `97%`.
pub(crate) fn share(text: &str) -> Result<BasisPoints, Wrong> {
    let (number, unit) = Decimal::split(text).ok_or(Wrong::new("is not a share"))?;
    let points = match unit {
        "" => number.times(10_000),
        "%" => number.times(100),
        _ => return Err(Wrong::new("is not a share")),
    };
    let points = points.ok_or(Wrong::new("is finer than a hundredth of a percent"))?;
    match u16::try_from(points).ok().and_then(BasisPoints::new) {
        Some(share) => Ok(share),
        None if unit.is_empty() && number.times(100).is_some_and(|points| points <= 10_000) => {
            Err(Wrong::write("is above the whole", format!("write {text}%")))
        }
        None => Err(Wrong::new("is above the whole")),
    }
}

/// `true` or `false`, or `yes` or `no` as YAML once had it.
pub(crate) fn flag(text: &str) -> Result<bool, Wrong> {
    match text {
        "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        _ => Err(Wrong::new("is neither true nor false")),
    }
}

/// What a token counts as, like `0.1` or `5`, in thousandths.
pub(crate) fn weight(text: &str) -> Result<u32, Wrong> {
    const MAX: u32 = 1_000_000;
    let Some((number, "")) = Decimal::split(text) else {
        return Err(Wrong::new("is not a number"));
    };
    let thousandths = number
        .times(1_000)
        .ok_or(Wrong::new("is finer than a thousandth or too large"))?;
    match u32::try_from(thousandths) {
        Ok(thousandths) if thousandths <= MAX => Ok(thousandths),
        _ => Err(Wrong::new("is too large")),
    }
}

/// Dollars, like `1.25`, in micro-dollars.
pub(crate) fn dollars(text: &str) -> Result<u64, Wrong> {
    match Decimal::split(text) {
        Some((number, "")) => number
            .times(1_000_000)
            .ok_or(Wrong::new("is finer than a micro-dollar or too large")),
        _ => Err(Wrong::new("is not an amount of dollars")),
    }
}

/// A number as it was written: its digits, and how many of them stand after the point.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u64,
    fraction: u32,
}

impl Decimal {
    /// The number that `text` begins with, and the rest. `_` may stand between digits.
    fn split(text: &str) -> Option<(Self, &str)> {
        let mut number = Self {
            digits: 0,
            fraction: 0,
        };
        let bytes = text.as_bytes();
        let (mut at, mut point) = (0, false);
        while let Some(&byte) = bytes.get(at) {
            let digit_after = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
            match byte {
                b'0'..=b'9' => {
                    let digit = u64::from(byte - b'0');
                    number.digits = number.digits.checked_mul(10)?.checked_add(digit)?;
                    number.fraction += u32::from(point);
                }
                b'_' if at > 0 && bytes[at - 1].is_ascii_digit() && digit_after => {}
                b'.' if at > 0 && !point && digit_after => point = true,
                _ => break,
            }
            at += 1;
        }
        (at > 0).then(|| (number, &text[at..]))
    }

    /// The number times `unit`; `None` where that is not whole or too large.
    fn times(self, unit: u64) -> Option<u64> {
        let scale = 10_u128.checked_pow(self.fraction)?;
        let product = u128::from(self.digits) * u128::from(unit);
        (product % scale == 0)
            .then(|| u64::try_from(product / scale).ok())
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_take_suffixes_and_separators() {
        for (text, expected) in [
            ("500", Some(500)),
            ("300_000", Some(300_000)),
            ("300k", Some(300_000)),
            ("2M", Some(2_000_000)),
            ("1.5M", Some(1_500_000)),
            ("1G", Some(1_000_000_000)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("1.5", None),
            ("0.0005k", None),
            ("_1", None),
            ("1_", None),
            ("1__0", None),
            ("-1", None),
            ("1e3", None),
            ("", None),
            ("k", None),
            ("1kk", None),
        ] {
            assert_eq!(count(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn durations_need_a_unit() {
        for (text, expected) in [
            ("300ms", Some(300)),
            ("5s", Some(5_000)),
            ("1.5s", Some(1_500)),
            ("2m", Some(120_000)),
            ("1m30s", Some(90_000)),
            ("24h", Some(86_400_000)),
            ("1d", Some(86_400_000)),
            ("5 s", None),
            ("5sec", None),
            ("1m30", None),
            ("", None),
            ("s", None),
            ("600000000000000d", None),
        ] {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(duration(text).ok(), expected, "{text}");
        }
        let wrong = duration("30").expect_err("no unit");
        assert_eq!(wrong.mend.as_deref(), Some("write 30s for seconds"));
    }

    #[test]
    fn sizes_shares_and_dollars() {
        assert_eq!(bytes("32MiB"), Ok(33_554_432));
        assert_eq!(bytes("1.5 KiB"), Ok(1_536));
        assert_eq!(bytes("10MB"), Ok(10_000_000));
        assert!(bytes("10mb").is_err() && bytes("0.5").is_err());

        assert_eq!(share("0.97").map(BasisPoints::points), Ok(9_700));
        assert_eq!(share("97.5%").map(BasisPoints::points), Ok(9_750));
        assert_eq!(share("1").map(BasisPoints::points), Ok(10_000));
        assert_eq!(share("0%").map(BasisPoints::points), Ok(0));
        assert!(share("0.00001").is_err() && share("101%").is_err() && share("-1%").is_err());
        assert_eq!(
            share("97").expect_err("above").mend.as_deref(),
            Some("write 97%")
        );

        assert_eq!(dollars("1.25"), Ok(1_250_000));
        assert_eq!(dollars("0.000001"), Ok(1));
        assert!(dollars("0.0000001").is_err() && dollars("$1").is_err());
    }
}
