//! What follows a failure: retries, and breakers, which stand at several levels.

use sluicegate_core::{BackoffRule, BreakerRule, RetryBudgetRule};

use crate::Retry;
use crate::checked::Section;
use crate::errors::Problems;
use crate::shape::brief;

pub(super) fn retry(section: Option<&Section>, problems: &mut Problems) -> Option<Retry> {
    let section = section?;
    let backoff = BackoffRule {
        first: section.duration("first")?,
        max: section.duration("max")?,
    };
    if backoff.first > backoff.max {
        let value = section.value("first")?;
        problems
            .add(
                value.at,
                &value.path,
                format!(
                    "{} is longer than retry.max, {}",
                    brief(backoff.first),
                    brief(backoff.max)
                ),
            )
            .mend("lower it, or raise retry.max");
    }
    Some(Retry {
        backoff,
        budget: RetryBudgetRule {
            share: section.share("budget")?,
            floor_per_second: small(section, "budget_floor")?,
        },
    })
}

/// What `section` says, and else what `outer` does.
pub(super) fn breaker(section: Option<&Section>, outer: BreakerRule) -> BreakerRule {
    let Some(section) = section else {
        return outer;
    };
    BreakerRule {
        failure_rate: section.share("failure_rate").unwrap_or(outer.failure_rate),
        calls_min: small(section, "min_calls").unwrap_or(outer.calls_min),
        over: section.duration("over").unwrap_or(outer.over),
        consecutive: small(section, "consecutive").unwrap_or(outer.consecutive),
        open_for: section.duration("open").unwrap_or(outer.open_for),
        half_open_successes: small(section, "half_open_successes")
            .unwrap_or(outer.half_open_successes),
    }
}

/// A count whose maximum in the table is far below that of the type.
fn small(section: &Section, key: &str) -> Option<u32> {
    u32::try_from(section.count(key)?).ok()
}
