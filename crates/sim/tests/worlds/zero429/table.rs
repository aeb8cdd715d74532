//! The outcomes as the Markdown table that is kept.

use std::fmt::Write as _;
use std::path::Path;

use sluicegate_catalog::providers;

use super::expected::EXPECTED;
use super::{Load, Outcome, left_out};

/// Compares with the kept table, or rewrites that where `UPDATE_EXPECTED` is set.
pub(super) fn check(outcomes: &[Outcome]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/zero429-virtual.md");
    let table = render(outcomes);
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

fn render(outcomes: &[Outcome]) -> String {
    let mut text = String::from(HEAD);
    for outcome in outcomes {
        line(&mut text, outcome);
    }
    text.push_str("\nLeft out on both sides:\n\n");
    for row in providers() {
        for limit in &row.limits {
            if let Some(reason) = left_out(row, &limit.short, Load::Small) {
                writeln!(text, "- `{}` `{}`: {reason}", row.id, limit.short)
                    .expect("a string takes everything");
            }
        }
    }
    text
}

fn line(text: &mut String, outcome: &Outcome) {
    let load = match outcome.load {
        Load::Small => "small",
        Load::Large => "large",
    };
    let refused = match &outcome.rejected_by {
        Some(limit) => format!("{} ({limit})", outcome.rejections),
        None => "0".to_owned(),
    };
    let cause = EXPECTED
        .iter()
        .find(|row| (row.provider, row.load) == (outcome.provider, outcome.load))
        .map_or("", |row| row.cause);
    writeln!(
        text,
        "| `{}` | {load} | {} | {refused} | {}.{:02} % | {} | {} | {} | {cause} |",
        outcome.provider,
        outcome.calls,
        outcome.share / 100,
        outcome.share % 100,
        outcome.binding,
        outcome.wait_ms_p50,
        outcome.wait_ms_p99,
    )
    .expect("a string takes everything");
}

const HEAD: &str = "# Three times the limits, in virtual time

<!-- Generated: UPDATE_EXPECTED=1 cargo test -p sluicegate-sim zero429 -->

Every provider's row of the catalog against the fake's rule for that provider, by the fake's own counting: three times
what the limits allow, 300 requests and 300,000 tokens a minute, requests up to a hundredth of that, 80 ms of jitter on
the way, fixed windows that begin 23 s after the minute, ten minutes of which the last eight count. *Small* calls run
into limits on requests, *large* ones into limits on tokens. *Served* is the share of what the provider could have given
of the limit that gave most. A call waits for 10 s at most and most do: at three times the limits two of three are refused.

| provider | calls | taken | 429s | served | of | wait p50, ms | p99, ms | why not all |
|---|---|--:|--:|--:|---|--:|--:|---|
";
