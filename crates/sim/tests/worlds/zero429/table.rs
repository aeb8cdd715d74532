//! The outcomes as the Markdown table that is kept.

use std::fmt::Write as _;
use std::path::Path;

use sluicegate_catalog::providers;

use super::expected::bounds;
use super::row::left_out;
use super::{Load, Outcome, Trouble};

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
    for trouble in Trouble::ALL {
        text.push_str(head(trouble));
        for outcome in outcomes.iter().filter(|one| one.trouble == trouble) {
            line(&mut text, outcome);
        }
    }
    text.push_str(NOT_REACHED);
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
    let refused = match (&outcome.rejected_by, outcome.trouble) {
        (Some(limit), Trouble::Cut) => format!(
            "{} + {} ({limit}) | {}",
            outcome.rejections_at_once,
            outcome.rejections - outcome.rejections_at_once,
            outcome.rejections_a_minute
        ),
        (None, Trouble::Cut) => "0 | 0".to_owned(),
        (Some(limit), _) => format!("{} ({limit})", outcome.rejections),
        (None, _) => "0".to_owned(),
    };
    writeln!(
        text,
        "| `{}` | {load} | {} | {refused} | {}.{:02} % | {} | {} | {} | {} |",
        outcome.provider,
        outcome.calls,
        outcome.share / 100,
        outcome.share % 100,
        outcome.binding,
        outcome.wait_ms_p50,
        outcome.wait_ms_p99,
        bounds(outcome).cause,
    )
    .expect("a string takes everything");
}

const fn head(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Dear => {
            "\n## The provider estimates prompts a tenth higher than we do\n\n\
             | provider | calls | taken | 429s | served | of | wait p50, ms | p99, ms | why not all |\n\
             |---|---|--:|--:|--:|---|--:|--:|---|\n"
        }
        Trouble::Cheap => {
            "\n## A tenth lower\n\n\
             | provider | calls | taken | 429s | served | of | wait p50, ms | p99, ms | why not all |\n\
             |---|---|--:|--:|--:|---|--:|--:|---|\n"
        }
        Trouble::Others => {
            "\n## Another client takes 30 % of the account\n\n*Served* is the share of what it leaves.\n\n\
             | provider | calls | taken | 429s | served | of | wait p50, ms | p99, ms | why not all |\n\
             |---|---|--:|--:|--:|---|--:|--:|---|\n"
        }
        Trouble::Cut => {
            "\n## Limits are cut to half from the fourth minute on, for ten\n\n429s count from then on to the end: of \
             calls that were on their way when the first of them was known, and of later ones, with the most of these that were \
             sent in one minute. *Served* is of three minutes, from three minutes after the cut ended.\n\n\
             | provider | calls | taken | 429s | a minute | served | of | wait p50, ms | p99, ms | why not all |\n\
             |---|---|--:|--:|--:|--:|---|--:|--:|---|\n"
        }
    }
}

const HEAD: &str = "# Three times the limits, in virtual time

<!-- Generated: UPDATE_EXPECTED=1 cargo test -p sluicegate-sim zero429 -->

Every provider's row of the catalog against the fake's rule for that provider, by the fake's own counting: three times
what the limits allow, 300 requests and 300,000 tokens a minute, requests up to a hundredth of that, up to 150 ms on the
way, fixed windows that begin 23 s after the minute, prompts that the provider estimates by up to a twentieth otherwise
than we do. *Small* calls run into limits on requests, *large* ones into limits on tokens; where a limit holds over a
second, small calls have 1,200 a minute. The first three minutes do not count, eight do. *Served* is the share of what the
provider could have given of the limit that gave most. A call waits for 10 s at most and most do: at three times the limits
two of three are refused.
";

const NOT_REACHED: &str = "
## What is not reached yet

- With another client, where headers tell, 0.5 % of calls may be refused: Upstage, Mistral and xAI large are at 0.6, 0.7 and 0.9 %,
  Together at 0.8 and 1.3 %. What others took of requests lately is left free for the time that a told remainder is late, and of
  a limit of a second what they take in one. The same of a quantum made two bursts of Azure large worse, 2.2 %, the same of tokens
  those of Together, and both are left out. Bursts are what remains: after a silence nothing new is known of others, and large
  calls that waited start together. Fireworks large is told requests but not output: 1.9 %. Fireworks small, whose
  windows nobody tells the end of, is refused up to 20 times in a minute under some seeds.
- With a cut that nobody shows, one refusal a window is allowed after what was on its way: most rows have two in some minute,
  Azure PTU three, Naver large four, Upstage small and Bedrock large five, and Vertex and Mistral small, whose limit of a second the fake
  counts over ten, six and seven. Some of the twos are one refusal in each of two windows that share a minute of the clock.
";
