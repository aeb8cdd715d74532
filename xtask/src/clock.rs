//! The only place in this program where a clock is read.
//!
//! It measures how long steps take and names result files by day; nothing is decided by it but time limits.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Since the Unix epoch, to be compared with what servers on this machine note.
pub(crate) fn unix_nanos() -> u64 {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX)
}

/// Today in UTC as `2026-01-31`.
pub(crate) fn today() -> String {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    date_of_day(since_epoch.as_secs() / 86_400)
}

/// The date of a day counted from 1970-01-01. Years are counted from March, so that the leap day comes last.
fn date_of_day(days_since_epoch: u64) -> String {
    let days = days_since_epoch + 719_468; // from 0000-03-01
    let era = days / 146_097; // 400 years
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_around_leap_days_and_year_ends() {
        for (days, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (790, "1972-03-01"),
            (10_956, "1999-12-31"),
            (11_016, "2000-02-29"),
            (20_454, "2026-01-01"),
        ] {
            assert_eq!(date_of_day(days), date, "{days} days after the epoch");
        }
    }
}
