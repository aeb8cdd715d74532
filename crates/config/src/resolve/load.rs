//! The levels of load: thresholds that rise with the levels, and effects.

use std::time::Duration;

use sluicegate_core::{BasisPoints, LoadEffects, LoadLevel, LoadRule, LoadRules};

use crate::checked::{Data, Section};
use crate::errors::Problems;
use crate::shape::brief;

pub(super) fn load(section: Option<&Section>, problems: &mut Problems) -> Option<LoadRules> {
    let section = section?;
    let mut rules = Some(LoadRules::default());
    let mut below: Option<(LoadLevel, LoadRule)> = None;
    // Every level is looked at before any is missed.
    for level in LoadLevel::ALL {
        if level == LoadLevel::Normal {
            continue;
        }
        let written = section.section(level.name());
        let Some((rule, effects)) = written.and_then(|written| {
            let rule = rule(written)?;
            if let Some((lower, threshold)) = below {
                refuse_disorder(written, rule, lower, threshold, problems);
            }
            below = Some((level, rule));
            Some((rule, effects(written)?))
        }) else {
            rules = None;
            continue;
        };
        rules = rules.map(|rules| rules.with(level, rule, effects));
    }
    rules
}

fn rule(section: &Section) -> Option<LoadRule> {
    Some(LoadRule {
        budget_below: section.share("budget_below")?,
        wait_above: match section.value("wait_above")?.data {
            Data::Duration(wait) => wait,
            Data::Word(_) => Duration::MAX,
            _ => return None,
        },
        breaker_open: section.flag("breaker_open")?,
    })
}

fn effects(section: &Section) -> Option<LoadEffects> {
    Some(LoadEffects {
        output_share: section.share("output_share")?,
        degrades_simple: section.flag("degrade_simple")?,
        holds_batch: section.flag("hold_batch")?,
        answers_from_template: section.flag("answer_from_template")?,
    })
}

/// A level that is reached before the one below it hides that one. Zero and "never" reach nothing.
fn refuse_disorder(
    section: &Section,
    rule: LoadRule,
    lower: LoadLevel,
    below: LoadRule,
    problems: &mut Problems,
) {
    let mut refuse = |key: &str, own: String, other: String| {
        if let Some(value) = section.value(key) {
            problems
                .add(
                    value.at,
                    &value.path,
                    format!("{own} is reached before the {other} of {lower}"),
                )
                .mend("the thresholds have to rise with the levels: change one of the two");
        }
    };
    if below.budget_below > BasisPoints::ZERO && rule.budget_below > below.budget_below {
        refuse(
            "budget_below",
            percent(rule.budget_below),
            percent(below.budget_below),
        );
    }
    if below.wait_above < Duration::MAX && rule.wait_above < below.wait_above {
        refuse(
            "wait_above",
            brief(rule.wait_above),
            brief(below.wait_above),
        );
    }
}

fn percent(share: BasisPoints) -> String {
    let (whole, hundredths) = (share.points() / 100, share.points() % 100);
    match hundredths {
        0 => format!("{whole}%"),
        tenths if tenths % 10 == 0 => format!("{whole}.{}%", tenths / 10),
        hundredths => format!("{whole}.{hundredths:02}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_read_as_they_are_written() {
        for (points, text) in [(0, "0%"), (1, "0.01%"), (250, "2.5%"), (10_000, "100%")] {
            let share = BasisPoints::new(points).expect("at most the whole");
            assert_eq!(percent(share), text);
        }
    }
}
