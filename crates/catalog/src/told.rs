//! The limit that a provider's own word describes where nobody configured one.
//!
//! A provider's word names a meter, an amount and sometimes a period; how that is counted, settled and refilled is the row's.

use std::num::NonZeroU64;
use std::time::Duration;

use sluicegate_core::{Meter, Window};

use crate::{LimitRow, LimitTemplate, Provider};

/// A period that is in no row is counted as the row's other ones are, up to this. A longer one could close a door for longer than
/// anybody watches, on a guess.
const GUESSED_MAX: Duration = Duration::from_secs(3_600);

impl Provider {
    /// The limit of `amount` on `meter` that this provider told, over `per` where it said so.
    ///
    /// The row's limit of that meter and period says how it counts. Of a period that is in no row, up to an hour, it is the
    /// row's first limit on the meter, with the period as told; a calendar window then holds wherever it starts, as nobody knows where that is.
    /// `None` where the row has no such limit, where several could be meant, and where the window cannot be counted.
    ///
    /// ```
    /// use std::{num::NonZeroU64, time::Duration};
    /// use sluicegate_catalog::provider;
    /// use sluicegate_core::Meter;
    /// let openai = provider("openai").expect("a row of that name");
    /// let amount = NonZeroU64::new(500).expect("not zero");
    /// let minute = openai.told_limit(Meter::Requests, Some(Duration::from_secs(60)), amount);
    /// assert_eq!(minute, openai.limit("rpm", amount).ok());
    /// // Of the minute or of the day?
    /// assert_eq!(openai.told_limit(Meter::Requests, None, amount), None);
    /// ```
    pub fn told_limit(
        &self,
        meter: Meter,
        per: Option<Duration>,
        amount: NonZeroU64,
    ) -> Option<LimitTemplate> {
        let templates = self.countable(meter, amount);
        let per = per.or_else(|| self.told_period(meter))?;
        let told = |template: &&LimitTemplate| template.window().per() == Some(per);
        if let Some(template) = templates.iter().find(told) {
            return Some(template.clone());
        }
        let guessed = templates
            .first()
            .filter(|_| !per.is_zero() && per <= GUESSED_MAX)?;
        let window = match guessed.window() {
            Window::Bucket { .. } => Window::Bucket { per },
            _ => Window::Sliding { per },
        };
        Some(guessed.clone().with_window(window))
    }

    /// The period of a limit on `meter` that was told without one: that of the row's limits on it, where they have one only.
    pub fn told_period(&self, meter: Meter) -> Option<Duration> {
        let mut rows = self.limits.iter().filter(|row| row.meter == meter);
        let templates = self.countable(meter, NonZeroU64::MIN);
        let per = templates.first()?.window().per();
        let same = |row: &LimitRow| {
            let template = self.limit(&row.short, NonZeroU64::MIN);
            template.is_ok_and(|template| template.window().per() == per)
        };
        rows.all(same).then_some(per)?
    }

    fn countable(&self, meter: Meter, amount: NonZeroU64) -> Vec<LimitTemplate> {
        let rows = self.limits.iter().filter(|row| row.meter == meter);
        let templates = rows.filter_map(|row| self.limit(&row.short, amount).ok());
        let templates = templates.filter(|template| template.window().per().is_some());
        templates.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    fn told(id: &str, meter: Meter, per_s: Option<u64>) -> Option<Window> {
        let amount = NonZeroU64::new(300).expect("not zero");
        let per = per_s.map(Duration::from_secs);
        let limit = provider(id).expect("a row").told_limit(meter, per, amount);
        limit.map(|template| template.named("a".into()).window)
    }

    #[test]
    fn the_row_says_how_a_told_limit_counts() {
        let seconds = Duration::from_secs;
        let (minute, day) = (seconds(60), seconds(86_400));
        for (id, meter, per_s, window) in [
            (
                "openai",
                Meter::Tokens,
                Some(60),
                Some(Window::Bucket { per: minute }),
            ),
            (
                "groq",
                Meter::Requests,
                Some(86_400),
                Some(Window::Bucket { per: day }),
            ),
            (
                "mistral",
                Meter::Tokens,
                Some(60),
                Some(Window::Fixed { per: minute }),
            ),
            // Nothing but minutes.
            (
                "raon",
                Meter::Requests,
                None,
                Some(Window::Floating { per: minute }),
            ),
            // Ten seconds are in no row, but requests are.
            (
                "mistral",
                Meter::Requests,
                Some(10),
                Some(Window::Sliding { per: seconds(10) }),
            ),
            // A month is no guess.
            ("mistral", Meter::Tokens, Some(2_592_000), None),
            ("mistral", Meter::Tokens, Some(0), None),
            ("mistral", Meter::InputTokens, Some(60), None),
            ("openai", Meter::Concurrent, None, None),
        ] {
            assert_eq!(told(id, meter, per_s), window, "{id} {meter} {per_s:?}");
        }
    }
}
