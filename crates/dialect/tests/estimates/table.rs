//! The errors as the Markdown table that is kept.

use std::fmt::Write as _;
use std::path::Path;

use super::judged::Errors;
use super::samples::Kind;
use super::traffic::Vocabulary;

const HEAD: &str = "\
# How near the estimates are

<!-- Generated: UPDATE_EXPECTED=1 cargo test -p sluicegate-dialect --test estimates -->

Requests with texts of five kinds, counted by real vocabularies. *Before*: the estimate by character class alone. *Alone*: after
200 requests of that kind. *Mixed*: after 200 of each kind in turn, on one model. What is judged shares no paragraph and no name
with what was learned from; prose is drawn from paragraphs written for this, code and JSON are made. `median`: half of the central
estimates are not further from the count. `under`: 99 of 100 are not more below it. `upper`: the same of the upper estimate, which
is what is reserved; below zero, it was never below the count. `spare`: what half of the upper estimates are above it.

Must hold, for what a model reads and for what a rule that counts tokens charges: median at most 5 %, upper at most 10 %. A rule that
counts bytes has no error of its own: the rule is the provider's.

| vocabulary | kind | tokens | before: median | under | alone: median | under | upper | spare | mixed: median | under | upper | spare |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

pub(crate) struct Line {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) kind: Kind,
    pub(crate) tokens: u64,
    pub(crate) before: Errors,
    pub(crate) alone: Errors,
    pub(crate) mixed: Errors,
}

/// Compares with the kept table, or rewrites that where `UPDATE_EXPECTED` is set.
pub(crate) fn check(lines: &[Line]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/estimates.md");
    let table = render(lines);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let kept = std::fs::read(&path).unwrap_or_default();
    assert!(
        kept == table.as_bytes(),
        "{}: the table differs; UPDATE_EXPECTED=1 rewrites it. It is now:\n{table}",
        path.display()
    );
}

fn render(lines: &[Line]) -> String {
    let mut text = String::from(HEAD);
    for line in lines {
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            line.vocabulary.name(),
            line.kind.name(),
            line.tokens,
            percent(line.before.median),
            percent(line.before.under),
            calibrated(&line.alone),
            calibrated(&line.mixed),
        )
        .expect("a string takes everything");
    }
    text
}

fn calibrated(errors: &Errors) -> String {
    let Errors {
        median,
        under,
        upper_under,
        upper_over,
        ..
    } = errors;
    [median, under, upper_under, upper_over]
        .map(|permille| percent(*permille))
        .join(" | ")
}

fn percent(permille: i64) -> String {
    let sign = if permille < 0 { "-" } else { "" };
    let permille = permille.abs();
    format!("{sign}{}.{} %", permille / 10, permille % 10)
}
