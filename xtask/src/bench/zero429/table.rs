//! The outcomes for people and for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::{Args, MEASURED_WINDOWS, WARM_UP_WINDOWS, WINDOW};
use crate::machine::Machine;

pub(super) fn markdown(outcomes: &[Outcome], machine: &Machine, args: &Args) -> String {
    let mut page = format!(
        "# Three times the limits, over sockets

Every provider's row of the catalog, the release binary as gateway and as provider, each provider by its own rule: three
times what the limits allow, 300 requests and 300,000 tokens a window of {} s in place of a minute, and all else ten times
as fast too, but nothing shorter than a second. Up to 80 ms of jitter on the way, fixed windows that begin when nobody knows,
{WARM_UP_WINDOWS} windows to warm up and {MEASURED_WINDOWS} that count. All speak OpenAI's shape, with their own headers and
errors. *Small* calls run into limits on requests, *large* ones into limits on tokens. *Turned away* is what the provider
refused, *served* the share of what it could have given of the limit that gave most. A call waits for 1 s at most and most
do: at three times the limits two of three are refused.

Machine: {machine}. {} rows at a time, seed {}.

| provider | calls | offered | taken | turned away | served | of | wait p50, ms | p99, ms |
|---|---|--:|--:|---|--:|---|--:|--:|
",
        WINDOW.as_secs(),
        args.at_once,
        args.seed,
    );
    for outcome in outcomes {
        line(&mut page, outcome);
    }
    page
}

fn line(page: &mut String, outcome: &Outcome) {
    let by_limit = outcome.rejections.iter();
    let by_limit: Vec<String> = by_limit
        .map(|(limit, count)| format!("{count} ({limit})"))
        .collect();
    let turned_away = match by_limit.as_slice() {
        [] => "0".to_owned(),
        some => some.join(", "),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "| `{}` | {} | {} | {} | {turned_away} | {:.1} % | {} | {} | {} |",
        outcome.provider,
        outcome.load,
        outcome.offered,
        outcome.taken,
        outcome.share_percent,
        outcome.binding,
        outcome.wait_ms_p50,
        outcome.wait_ms_p99,
    );
}

pub(super) fn json(outcomes: &[Outcome], machine: &Machine, args: &Args) -> Value {
    json!({
        "machine": machine.to_string(),
        "at_once": args.at_once,
        "seed": args.seed,
        "window_s": WINDOW.as_secs(),
        "warm_up_windows": WARM_UP_WINDOWS,
        "measured_windows": MEASURED_WINDOWS,
        "outcomes": outcomes,
    })
}
