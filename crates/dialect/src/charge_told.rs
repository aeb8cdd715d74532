//! What a provider says that a request was charged, to hold our formula against.

use std::time::Duration;

use http::HeaderMap;
use sluicegate_catalog::Provider;
use sluicegate_core::{Amounts, Signal};

use crate::RefusalFacts;
use crate::header_text::{text, whole};

/// What `provider`'s headers say that the answered request was charged: zero on meters of which
/// they say nothing, `None` where they say nothing at all.
///
/// Mistral's `x-ratelimit-tokens-query-cost` is exactly the usage that the answer reports
/// (recorded answers, 2025-09); on a stream it is the charge at admission.
pub fn charge_told(provider: &Provider, headers: &HeaderMap) -> Option<Amounts> {
    let mut told = None;
    for row in &provider.signals {
        let charged = row.charged.as_deref().and_then(|name| text(headers, name));
        if let Some(charged) = charged.and_then(whole) {
            told = Some(told.unwrap_or(Amounts::ZERO).with(row.meter, charged));
        }
    }
    told
}

/// What a refusal says that its request would have been charged; zero on the other meters.
pub fn charge_refused(facts: &RefusalFacts) -> Option<Amounts> {
    Some(Amounts::ZERO.with(facts.meter?, facts.requested?))
}

/// What two answers show together that was taken between them, from a limit that was whole again
/// before the later request was `sent_after` the earlier answer.
///
/// A limit that was not whole would need the exact refill in between, which the network's delays
/// blur, so nothing is said of it. What is taken is all that arrived in between: the later
/// request's charge where the caller knows of no other, and an upper bound of it where somebody
/// else may use the account.
///
/// ```
/// use std::time::Duration;
/// use sluicegate_core::{Meter, Signal};
/// let told = |remaining, reset_ms| Signal {
///     limit: Some(250_000),
///     remaining: Some(remaining),
///     reset: Some(Duration::from_millis(reset_ms)),
///     ..Signal::on(Meter::Tokens)
/// };
/// let (before, after) = (told(249_989, 2), told(249_717, 67));
/// let taken = |ms| sluicegate_dialect::taken_between(&before, Duration::from_millis(ms), &after);
/// assert_eq!(taken(300), Some(283));
/// assert_eq!(taken(1), None);
/// ```
pub fn taken_between(before: &Signal, sent_after: Duration, after: &Signal) -> Option<u64> {
    let same = before.meter == after.meter
        && before.limit == after.limit
        && (before.per.is_none() || after.per.is_none() || before.per == after.per);
    let was_whole = before.remaining.is_some() && before.remaining == before.limit
        || before.reset? <= sent_after;
    let limit = after.limit.filter(|_| same && was_whole)?;
    limit.checked_sub(after.remaining?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_core::Meter;

    fn told(limit: u64, remaining: Option<u64>, reset_ms: Option<u64>) -> Signal {
        Signal {
            limit: Some(limit),
            remaining,
            reset: reset_ms.map(Duration::from_millis),
            ..Signal::on(Meter::Tokens)
        }
    }

    #[test]
    fn only_a_limit_that_was_whole_shows_a_charge() {
        let after = told(1_000, Some(900), None);
        let taken = |before: Signal, ms| taken_between(&before, Duration::from_millis(ms), &after);
        assert_eq!(
            taken(told(1_000, Some(500), Some(30_000)), 30_000),
            Some(100)
        );
        assert_eq!(taken(told(1_000, Some(500), Some(30_000)), 29_999), None);
        assert_eq!(taken(told(1_000, Some(1_000), None), 0), Some(100));
        assert_eq!(taken(told(1_000, None, None), 60_000), None);
        // The limit has changed in between, or it is another one.
        assert_eq!(taken(told(2_000, Some(2_000), Some(0)), 1), None);
        let day = Signal {
            per: Some(Duration::from_secs(86_400)),
            ..told(1_000, Some(1_000), Some(0))
        };
        assert_eq!(taken(day, 1), Some(100));
        let minute = Signal {
            per: Some(Duration::from_secs(60)),
            ..after
        };
        assert_eq!(taken_between(&day, Duration::from_secs(1), &minute), None);
    }

    #[test]
    fn a_refusal_names_its_charge() {
        let facts = RefusalFacts {
            meter: Some(Meter::Tokens),
            requested: Some(9_854),
            ..RefusalFacts::default()
        };
        let charge = charge_refused(&facts).expect("it is named");
        assert_eq!(charge, Amounts::ZERO.with(Meter::Tokens, 9_854));
        let unnamed = RefusalFacts {
            meter: None,
            ..facts
        };
        assert_eq!(charge_refused(&unnamed), None);
    }
}
