//! Two tenants of weights 3 and 1 share every window as they weigh; one alone has everything.

use std::fmt::Write as _;
use std::ops::Range;

use sluicegate_fake::model::{Limits, Window};
use sluicegate_sim::Scenario;

use super::figures::{charged_in, of_tenant, percent, play, share};
use super::kept;

const LIMIT: u64 = 100_000;
const MINUTES: u64 = 11;
/// In the first one the line of the heavier stands alone for an instant, and a bucket begins full.
const MEASURED: Range<u64> = 1..MINUTES;

const HEAD: &str = "\
Weights 3 to 1, both with more than they can get; ten windows, each counted for itself.

| window | tokens a call of the heavier | of the lighter | the heavier has in each window | one alone has of the limit |
|---|--:|--:|--:|--:|
";

#[test]
fn tenants_share_each_window_as_they_weigh() {
    let mut table = String::from(HEAD);
    let mut failed = false;
    for window in [Window::Bucket, Window::Fixed, Window::Sliding] {
        for sizes in [(100, 1_000), (1_000, 100), (100, 100), (1_000, 1_000)] {
            let heavier = shares(&scenario(window, sizes));
            let mut alone = scenario(window, sizes);
            alone.jobs.truncate(1);
            let run = play(&alone);
            let charged: u64 = MEASURED
                .map(|minute| charged_in(&run, minute, |_| true))
                .sum();
            let alone = share(charged, LIMIT * (MEASURED.end - MEASURED.start));
            failed |= heavier.0 < 7_200 || heavier.1 > 7_800 || alone < 9_900;
            writeln!(
                table,
                "| {} | {} | {} | {} to {} | {} |",
                format!("{window:?}").to_lowercase(),
                sizes.0,
                sizes.1,
                percent(heavier.0),
                percent(heavier.1),
                percent(alone)
            )
            .expect("a string takes everything");
        }
    }
    assert!(!failed, "{table}");
    kept::check("5. Two tenants", &table);
}

/// The least and the most that the heavier tenant had of a window's charges.
fn shares(scenario: &Scenario) -> (u64, u64) {
    let run = play(scenario);
    let shares = MEASURED.map(|minute| {
        let [heavier, lighter] = [0, 1].map(|tenant| charged_in(&run, minute, of_tenant(tenant)));
        share(heavier, heavier + lighter)
    });
    shares.fold((u64::MAX, 0), |(least, most), share| {
        (least.min(share), most.max(share))
    })
}

/// Both lines stand at the beginning and last to the end.
fn scenario(window: Window, (heavier, lighter): (u64, u64)) -> Scenario {
    let text = "
        provider: { charge: input, limits: [{ meter: tokens, amount: 100000, per: 60s }] }
        weights: [3, 1]
        jobs:
          - { count: 0, turns: 1, prompt_tokens: 0, output_max: 0, answer_tokens: 10, tenant: 0 }
          - { count: 0, turns: 1, prompt_tokens: 0, output_max: 0, answer_tokens: 10, tenant: 1 }";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    let mut limits = scenario.provider.limits();
    limits[0].window = window;
    scenario.provider.limits = Limits::Full(limits);
    for (jobs, tokens) in scenario.jobs.iter_mut().zip([heavier, lighter]) {
        jobs.prompt_tokens = tokens;
        jobs.count = (MINUTES + 1) * LIMIT / tokens;
    }
    scenario.end_ms = Some(MINUTES * 60_000);
    scenario
}
