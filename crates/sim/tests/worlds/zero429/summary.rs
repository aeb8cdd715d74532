//! A line for each trouble of what all rows together came to, as `cargo xtask soak zero429` collects it.

use super::expected::adapts;
use super::{Load, Outcome, Trouble};

/// With this each line begins.
const LINE: &str = "zero429 | ";

/// Of each trouble calls, 429s, those of rows that adapt, the row with the most 429s for its calls and the one that was given
/// least.
pub(super) fn lines(outcomes: &[Outcome]) -> String {
    let line = |trouble| {
        let of_it: Vec<_> = outcomes
            .iter()
            .filter(|one| one.trouble == trouble)
            .collect();
        let calls: u64 = of_it.iter().map(|one| one.calls + one.rejections).sum();
        let fixed = of_it.iter().filter(|one| !adapts(one.provider));
        let fixed: u64 = fixed.map(|one| one.rejections).sum();
        let all: u64 = of_it.iter().map(|one| one.rejections).sum();
        let refused = of_it
            .iter()
            .filter(|one| !adapts(one.provider) && one.rejections > 0)
            .max_by_key(|one| one.rejections * 1_000_000 / (one.calls + one.rejections));
        let most = refused.map_or_else(
            || "none".to_owned(),
            |one| {
                let calls = one.calls + one.rejections;
                format!("{}: {} of {calls}", named(one), one.rejections)
            },
        );
        let least = of_it
            .iter()
            .min_by_key(|one| one.share)
            .map(|one| {
                format!(
                    "{}: {}.{:02} %",
                    named(one),
                    one.share / 100,
                    one.share % 100
                )
            })
            .expect("every trouble has rows");
        let trouble = match trouble {
            Trouble::Dear => "dear",
            Trouble::Cheap => "cheap",
            Trouble::Others => "others",
            Trouble::Cut => "cut",
        };
        let adapting = all - fixed;
        format!("{LINE}{trouble} | {calls} | {fixed} | {adapting} | {most} | {least}\n")
    };
    Trouble::ALL.map(line).concat()
}

fn named(outcome: &Outcome) -> String {
    let load = match outcome.load {
        Load::Small => "small",
        Load::Large => "large",
    };
    format!("`{}` {load}", outcome.provider)
}
