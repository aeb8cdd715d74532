//! Days and months in a place eight hours behind: calls go on through midnights and the end of a month, and each day and month
//! gives all it has, with no 429.

use sluicegate_core::Amounts;
use sluicegate_sim::{Run, Scenario, check};

use crate::{MINUTE, run};

const HOUR: u64 = 60 * MINUTE;

/// From 2024-10-29 04:00 there, a call every five minutes, of which hardly one can wait.
const SCENARIO: &str = "
    provider:
      utc_offset: '-08:00'
      limits:
        - { meter: requests, amount: 100, per: 1d, window: day }
        - { meter: requests, amount: 250, per: 30d, window: month }
    begin_ms: 2203200000
    end_ms: 410400000
    transit: { min_ms: 0, max_ms: 80 }
    arrivals:
      - count: 1368
        gap_us: 300000000
        prompt_tokens: [10, 10]
        output_max: 10
        answer_tokens: 10
        patience_ms: 60000";

#[test]
fn days_and_months_give_all_they_have_and_no_429() {
    let scenario = Scenario::from_yaml(SCENARIO).expect("a scenario");
    for seed in 0..4 {
        let scenario = Scenario {
            seed,
            ..scenario.clone()
        };
        let run = run(&scenario, |_| Amounts::one_request());
        assert_eq!(check::rejections(&run), 0, "seed {seed}");
        // October has 250, of which its last day gets the rest.
        assert_eq!(
            started_by_day(&run),
            [100, 100, 50, 100, 100],
            "seed {seed}"
        );
    }
}

/// How many calls started on each day, the first of which had begun four hours before.
fn started_by_day(run: &Run) -> [usize; 5] {
    let mut days = [0; 5];
    for call in check::starts(run) {
        let started = call.started.expect("it started").as_nanos();
        let day = (4 * HOUR + started) / (24 * HOUR);
        days[usize::try_from(day).expect("five days")] += 1;
    }
    days
}
