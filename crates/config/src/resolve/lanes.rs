//! Lanes, and the bounds of their lines.

use std::num::NonZeroUsize;

use sluicegate_core::{BasisPoints, LaneRule, RetryRule};

use crate::checked::Section;
use crate::errors::Problems;
use crate::{Lane, Lanes, Queue};

pub(super) fn queue(section: Option<&Section>) -> Option<Queue> {
    let section = section?;
    Some(Queue {
        max_tickets: tickets(section, "max_tickets")?,
        max_bytes: section.bytes("max_bytes")?,
    })
}

fn tickets(section: &Section, key: &str) -> Option<NonZeroUsize> {
    let count = usize::try_from(section.count(key)?).ok()?;
    NonZeroUsize::new(count)
}

/// The lanes; without a `queue`, which is then broken, what depends on it is not looked at.
pub(super) fn lanes(
    section: Option<&Section>,
    queue: Option<&Queue>,
    problems: &mut Problems,
) -> Option<Lanes> {
    let section = section?;
    refuse_more_than_all(section, problems);
    let mut lane = |name: &str| lane(section.section(name)?, queue?, problems);
    // Every one is looked at before any is missed.
    let (interactive, api, batch) = (lane("interactive"), lane("api"), lane("batch"));
    Some(Lanes {
        interactive: interactive?,
        api: api?,
        batch: batch?,
    })
}

fn lane(section: &Section, queue: &Queue, problems: &mut Problems) -> Option<Lane> {
    let leaves = section.share("leaves")?;
    let max_waiting = if section.has("max_waiting") {
        let max_waiting = tickets(section, "max_waiting")?;
        refuse_beyond_queue(section, max_waiting, queue, problems);
        max_waiting
    } else {
        all_but(leaves, queue.max_tickets)
    };
    Some(Lane {
        max_wait: section.duration("max_wait")?,
        retry: RetryRule {
            attempts_max: u32::try_from(section.count("max_attempts")?).ok()?,
            total_max: section.duration("max_total_retry")?,
        },
        rule: LaneRule {
            min_share: section.share("min_share")?,
            leaves,
            waiting_max: max_waiting.get(),
        },
    })
}

/// `whole` less the share `leaves` of it, and at least one.
fn all_but(leaves: BasisPoints, whole: NonZeroUsize) -> NonZeroUsize {
    let points = usize::from(BasisPoints::WHOLE.points() - leaves.points());
    let rest = whole.get() * points / usize::from(BasisPoints::WHOLE.points());
    NonZeroUsize::new(rest).unwrap_or(NonZeroUsize::MIN)
}

fn refuse_beyond_queue(
    section: &Section,
    max_waiting: NonZeroUsize,
    queue: &Queue,
    problems: &mut Problems,
) {
    if let Some(value) = section.value("max_waiting")
        && max_waiting > queue.max_tickets
    {
        problems
            .add(
                value.at,
                &value.path,
                format!("is above queue.max_tickets, {}", queue.max_tickets),
            )
            .mend("lower it, or raise queue.max_tickets");
    }
}

/// No lane can be promised what another was.
fn refuse_more_than_all(section: &Section, problems: &mut Problems) {
    let lanes = ["interactive", "api", "batch"];
    let lanes = lanes.iter().filter_map(|name| section.section(name));
    let shares: Vec<_> = lanes
        .filter_map(|lane| lane.value("min_share").zip(lane.share("min_share")))
        .collect();
    let points: u32 = shares
        .iter()
        .map(|(_, share)| u32::from(share.points()))
        .sum();
    let last = shares.iter().rfind(|(_, share)| *share > BasisPoints::ZERO);
    if let Some((value, _)) = last
        && points > u32::from(BasisPoints::WHOLE.points())
    {
        problems
            .add(
                value.at,
                &value.path,
                "the shares of all lanes together are more than the whole",
            )
            .expected("at most 100% in all");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_room_for_one_at_least() {
        let of = |points, whole| {
            let leaves = BasisPoints::new(points).expect("at most the whole");
            all_but(leaves, NonZeroUsize::new(whole).expect("not zero")).get()
        };
        assert_eq!(of(0, 10_000), 10_000);
        assert_eq!(of(5_000, 10_000), 5_000);
        assert_eq!(of(10_000, 10_000), 1);
        assert_eq!(of(5_000, 1), 1);
        assert_eq!(of(2_000, 10_000_000), 8_000_000);
    }
}
