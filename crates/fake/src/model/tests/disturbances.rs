//! What keeps a client from knowing its provider, and what a simulator measures against.

use serde_json::json;

use super::*;

fn flows(model: &Model, from: u64, to: u64) -> Vec<u64> {
    let flows = model.theoretical(from, to);
    flows.iter().map(|flow| flow.amount).collect()
}

#[test]
fn a_cut_is_in_force_and_shown_and_passes() {
    let mut model = provider(json!({
        "charge": "prompt", "limits": {"tpm": 6_000},
        "cuts": [{"at": "10s", "for": "20s", "factor": 0.5}],
    }));
    accepted(&mut model, T0, &call(6_000));
    // Ten seconds at 100, then at 50: 1,000 + 250 drained.
    assert_eq!(levels(&model, T0 + 15 * S), [4_750]);
    let refused = rejected(&mut model, T0 + 15 * S, &call(1));
    assert!(message(&refused).contains("Limit 3000, Used 4750, Requested 1."));
    assert_shown(&refused.headers, &[("x-ratelimit-limit-tokens", "3000")]);
    // More than the cut limit ever holds: it must wait for the end of the cut.
    assert_eq!(
        rejected(&mut model, T0 + 15 * S, &call(3_001)).wait,
        Some(15 * S)
    );
    // 1,000 + 1,000 drained by the end of the cut.
    assert_eq!(levels(&model, T0 + 30 * S), [4_000]);
    accepted(&mut model, T0 + 30 * S, &call(2_000));
    assert_eq!(flows(&model, T0, T0 + 60 * S), [5_000]);
}

#[test]
fn of_cuts_that_overlap_the_least_holds() {
    let mut model = provider(json!({
        "limits": [{"meter": "requests", "amount": 8, "per": "60s", "window": "fixed"}],
        "cuts": [{"for": "60s", "factor": 0.5}, {"at": "30s", "for": "60s", "factor": 0.25}],
    }));
    let mut shown = Vec::new();
    for seconds in [0, 31, 61, 91] {
        let headers = match model.arrive(T0 + seconds * S, &call(1)) {
            Verdict::Accepted(accepted) => accepted.headers,
            Verdict::Rejected(rejected) => rejected.headers,
        };
        shown.push(
            header(&headers, "x-ratelimit-limit-requests")
                .unwrap()
                .to_owned(),
        );
    }
    assert_eq!(shown, ["4", "2", "2", "8"]);
}

/// Nobody else calls: what the other client takes is its share, in many pieces, the same for the same seed.
#[test]
fn the_other_client_takes_its_share() {
    let account = |window: &str, seed: u64| {
        let mut model = provider(json!({
            "charge": "prompt",
            "limits": [{"meter": "tokens", "amount": 10_000, "per": "60s", "window": window}],
            "other_traffic": {"share": 0.3, "seed": seed},
        }));
        accepted(&mut model, T0, &call(1));
        for second in 1..=600 {
            model.arrive(T0 + second * S, &call(20_000));
        }
        model.tallies()[0]
    };
    for window in ["fixed", "sliding", "bucket"] {
        let tally = account(window, 1);
        assert_eq!(tally.calls, 1);
        // Ten windows of 3,000.
        assert!(
            (29_500..=30_500).contains(&tally.others),
            "{window}: {tally:?}"
        );
        assert_eq!(tally, account(window, 1));
        assert_ne!(tally, account(window, 2));
    }
}

#[test]
fn the_other_client_is_limited_too_and_holds_slots() {
    let mut model = provider(json!({
        "charge": "prompt", "concurrent": 10,
        "limits": [{"meter": "tokens", "amount": 1_000, "per": "60s", "window": "fixed"}],
        "other_traffic": {"share": 1.0},
    }));
    assert_eq!(rejected(&mut model, T0, &call(1)).limit, "concurrent");
    rejected(&mut model, T0 + 59 * S, &call(1));
    assert!((800..=1_000).contains(&levels(&model, T0 + 59 * S)[0]));
    for second in 60..600 {
        rejected(&mut model, T0 + second * S, &call(1));
        assert!(levels(&model, T0 + second * S)[0] <= 1_000);
    }
}

#[test]
fn a_phase_holds_for_every_fixed_window_but_days() {
    let mut model = provider(json!({
        "phase": "7s",
        "limits": [
            {"meter": "requests", "amount": 1, "per": "60s", "window": "fixed"},
            {"meter": "requests", "amount": 2, "per": "24h", "window": "day"},
        ],
        "utc_offset": "+09:00",
    }));
    accepted(&mut model, T0, &call(1));
    assert_eq!(rejected(&mut model, T0 + S, &call(1)).wait, Some(6 * S));
    accepted(&mut model, T0 + 7 * S, &call(1));
    // Midnight UTC is nine in the morning.
    let refused = rejected(&mut model, T0 + 67 * S, &call(1));
    assert_eq!(refused.wait, Some((15 * 3_600 - 67) * S));
}

#[test]
fn a_wrong_estimate_changes_the_charge_and_not_the_settlement() {
    let mut model = provider(json!({
        "profile": "raon", "limits": {"itpm": 10_000}, "estimate": {"bias": -0.1},
    }));
    let answer = accepted(&mut model, T0, &sized(1_000, 10));
    assert_eq!(levels(&model, T0), [900]);
    model.finish(T0, answer.ticket, Outcome::Served(used(1_000, 0, 10)));
    assert_eq!(levels(&model, T0), [1_000]);
}

#[test]
fn what_a_rule_could_have_given_is_its_rate() {
    let model = provider(json!({"limits": [
        {"meter": "tokens", "amount": 6_000, "per": "60s"},
        {"meter": "requests", "amount": 119, "per": "60s", "window": "fixed", "quantum": {"per": "1s"}},
        {"meter": "tokens", "amount": 31_000, "per": "30d", "window": "month"},
    ]}));
    // A second holds one request of 119 a minute. October has 31 days, of which one passes.
    assert_eq!(flows(&model, T0, T0 + 90 * S), [9_000, 90, 1]);
    assert_eq!(flows(&model, T0, T0 + 86_400 * S)[2], 1_000);
}

/// Refunds and overruns reach a bucket when they are known, and nothing falls below empty.
#[test]
fn a_bucket_is_settled_in_the_present() {
    let mut model = provider(json!({
        "charge": "sum", "settle": "total", "limits": {"tpm": 6_000},
    }));
    let first = accepted(&mut model, T0, &sized(1_000, 4_000));
    let second = accepted(&mut model, T0, &sized(500, 500));
    assert_eq!(levels(&model, T0), [6_000]);
    model.finish(
        T0 + 10 * S,
        first.ticket,
        Outcome::Served(used(1_000, 0, 1_000)),
    );
    assert_eq!(
        levels(&model, T0 + 10 * S),
        [2_000],
        "6,000 - 1,000 drained - 3,000 back"
    );
    model.finish(
        T0 + 30 * S,
        second.ticket,
        Outcome::Served(used(500, 0, 1_700)),
    );
    assert_eq!(
        levels(&model, T0 + 30 * S),
        [1_200],
        "empty since 10 s, then 1,200 more than was taken"
    );
    assert_eq!(model.tallies()[0].calls, 2_000 + 2_200);
}

proptest! {
    /// Whatever is charged and settled: what calls took in all is what they were charged in the end.
    #[test]
    fn tallies_add_up(steps in steps(), rule in 0..4_usize) {
        let (charge, settle) = [("sum", "total"), ("input", "uncached_total"), ("produced", "output"), ("sum", "keep")][rule];
        let mut model = provider(json!({"limits": [{
            "meter": "tokens", "amount": 5_000, "per": "10s", "charge": charge, "settle": settle,
        }]}));
        let (mut at, mut expected) = (T0, 0);
        let mut running: Vec<(Ticket, u64)> = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            at += step.pause_ms * MS;
            if let Verdict::Accepted(answer) = model.arrive(at, &sized(step.tokens, 7)) {
                running.push((answer.ticket, step.tokens));
            }
            if index % 2 == 1 && !running.is_empty() {
                let (ticket, tokens) = running.remove(0);
                let usage = used(tokens + 1, 1, 3);
                if tokens % 3 == 0 {
                    model.produced(at, &ticket, 2);
                }
                model.finish(at, ticket, Outcome::Served(usage));
                expected += [tokens + 4, tokens + 3, 3, tokens + 7][rule];
            }
        }
        let open: u64 = running.iter().map(|(_, tokens)| [tokens + 7, *tokens, 0, tokens + 7][rule]).sum();
        prop_assert_eq!(model.tallies()[0].calls, expected + open);
    }
}
