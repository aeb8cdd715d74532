//! A hundred thousand batch calls wait, and interactive ones, up to half of the limit, notice nothing.

use std::fmt::Write as _;
use std::ops::Range;

use sluicegate_core::{BasisPoints, Lane};
use sluicegate_fake::model::{Limits, Window};
use sluicegate_sim::workload::Gaps;
use sluicegate_sim::{LaneSetting, Scenario};

use super::figures::{charged_in, ms, of_lane, percent, play, share, wait_p99_us};
use super::kept;

const LIMIT: u64 = 100_000;
const MINUTES: u64 = 11;
/// The first one is for learning what interactive wants.
const MEASURED: Range<u64> = 1..MINUTES;
/// In the minute in which it joins, batch empties a bucket that nobody used up.
const SHARED: Range<u64> = 2..MINUTES;
const SEEDS: Range<u64> = 0..2;

#[test]
fn interactive_notices_nothing_of_a_hundred_thousand_batch_tickets() {
    let mut rows = Vec::new();
    for window in [Window::Bucket, Window::Fixed, Window::Sliding] {
        for offer in OFFERS {
            for size in [100, 1_000] {
                rows.push(Row::of(window, offer, size));
            }
        }
    }
    let mut table = String::from(HEAD);
    for row in &rows {
        row.write(&mut table);
    }
    for row in &rows {
        assert!(
            row.added_max_us.is_none_or(|most| row.added_us <= most),
            "interactive waits:\n{table}"
        );
        assert!(
            row.batch >= 9_000 || row.added_max_us.is_none() && row.batch >= 8_000,
            "batch gets too little:\n{table}"
        );
    }
    kept::check("1. Interactive beside 100,000 waiting batch calls", &table);
}

/// What interactive wants.
#[derive(Clone, Copy)]
struct Offer {
    name: &'static str,
    /// Of the limit, in hundredths.
    percent: u64,
    gaps: Gaps,
    /// What batch leaves at most, in hundredths of a percent.
    leaves: u16,
}

const OFFERS: [Offer; 4] = [
    Offer {
        name: "10 %",
        percent: 10,
        gaps: Gaps::Poisson,
        leaves: 5_000,
    },
    Offer {
        name: "30 %",
        percent: 30,
        gaps: Gaps::Poisson,
        leaves: 5_000,
    },
    Offer {
        name: "50 % of each minute",
        percent: 50,
        gaps: Gaps::Scattered,
        leaves: 5_000,
    },
    // More than half comes in every other minute: batch must leave more than it does by default.
    Offer {
        name: "50 % on average, batch leaves 80 %",
        percent: 50,
        gaps: Gaps::Poisson,
        leaves: 8_000,
    },
];

const HEAD: &str = "\
Interactive calls come by themselves (a Poisson process), batch calls have 500 tokens. They join after a
minute in which the core learns what interactive wants; waits of the ten minutes after that are
measured, and what batch has from its second minute on, when it has emptied a bucket that nobody used up. Waits are of 99 in 100; of two seeds each the worst.
In a sliding window nothing comes back all at once, so what is left to interactive there is lost to batch for good: less is left.

| window | interactive offers | tokens a call | it waits alone, ms | batch adds, ms | may add, ms | batch has of what is left |
|---|---|--:|--:|--:|--:|--:|
";

/// The worst of all seeds.
struct Row {
    window: Window,
    offer: Offer,
    size: u64,
    alone_us: u64,
    added_us: u64,
    /// `None` where nothing is promised.
    added_max_us: Option<u64>,
    batch: u64,
}

impl Row {
    fn of(window: Window, offer: Offer, size: u64) -> Self {
        let mut row = Self {
            window,
            offer,
            size,
            alone_us: 0,
            added_us: 0,
            added_max_us: match window {
                // What it takes for the call to drip in.
                Window::Bucket => Some(size * 60_000_000 / LIMIT),
                Window::Fixed => Some(100_000),
                _ => None,
            },
            batch: u64::MAX,
        };
        for seed in SEEDS {
            row.play(&scenario(window, offer, size, seed));
        }
        row
    }

    fn play(&mut self, scenario: &Scenario) {
        let beside = play(scenario);
        let alone = play(&Scenario {
            jobs: Vec::new(),
            ..scenario.clone()
        });
        let wait = |run| wait_p99_us(run, Lane::Interactive, MEASURED);
        let charged = |lane| -> u64 {
            let minutes = SHARED.map(|minute| charged_in(&beside, minute, of_lane(lane)));
            minutes.sum()
        };
        let left = LIMIT * (SHARED.end - SHARED.start) - charged(Lane::Interactive);
        self.alone_us = self.alone_us.max(wait(&alone));
        self.added_us = self.added_us.max(wait(&beside) - wait(&alone));
        self.batch = self.batch.min(share(charged(Lane::Batch), left));
    }

    fn write(&self, table: &mut String) {
        writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} |",
            format!("{:?}", self.window).to_lowercase(),
            self.offer.name,
            self.size,
            ms(self.alone_us),
            ms(self.added_us),
            self.added_max_us.map_or(String::new(), ms),
            percent(self.batch),
        )
        .expect("a string takes everything");
    }
}

fn scenario(window: Window, offer: Offer, size: u64, seed: u64) -> Scenario {
    let text = "
        provider: { charge: input, limits: [{ meter: tokens, amount: 100000, per: 60s }] }
        answering: { head_ms: 100, ms_per_token: 10 }
        jobs:
          - { count: 100000, begin_ms: 60000, turns: 1, prompt_tokens: 500, output_max: 0, answer_tokens: 10, lane: batch }
        arrivals:
          - { count: 0, gap_us: 0, prompt_tokens: [0, 0], output_max: 0, answer_tokens: 10, lane: interactive }";
    let mut scenario = Scenario::from_yaml(text).expect("a scenario");
    let mut limits = scenario.provider.limits();
    limits[0].window = window;
    scenario.provider.limits = Limits::Full(limits);
    scenario.lanes.push(LaneSetting {
        lane: Lane::Batch,
        min_share: BasisPoints::ZERO,
        leaves: BasisPoints::new(offer.leaves).expect("a share"),
    });
    let calls = &mut scenario.arrivals[0];
    calls.gap_us = 60_000_000 * 100 * size / (LIMIT * offer.percent);
    // More than come by the end, however they fall.
    calls.count = (MINUTES + 2) * 60_000_000 / calls.gap_us;
    calls.gaps = offer.gaps;
    calls.prompt_tokens = (size, size);
    scenario.end_ms = Some(MINUTES * 60_000);
    scenario.seed = seed;
    scenario
}
