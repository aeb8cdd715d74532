//! The model against published numbers and cases counted by hand.

mod clouds;
mod disturbances;
mod hosts;
mod labs;

use std::num::NonZeroU64;

use proptest::prelude::*;

use super::*;
use crate::Period;

/// Headers and their values.
type Shown = &'static [(&'static str, &'static str)];

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// A multiple of a day, so that aligned windows begin here.
const T0: u64 = 20_000 * 86_400 * S;

fn provider(json: serde_json::Value) -> Model {
    Model::new(serde_json::from_value(json).unwrap())
}

/// A call that the prompt rule charges `tokens`.
fn call(tokens: u64) -> Call<'static> {
    Call {
        model: "m",
        prompt_bytes: (tokens - 1) * 4,
        ..Call::default()
    }
}

fn accepted(model: &mut Model, at: u64, call: &Call<'_>) -> Accepted {
    match model.arrive(at, call) {
        Verdict::Accepted(accepted) => accepted,
        Verdict::Rejected(rejected) => panic!("rejected: {rejected:?}"),
    }
}

fn rejected(model: &mut Model, at: u64, call: &Call<'_>) -> Rejected {
    match model.arrive(at, call) {
        Verdict::Rejected(rejected) => rejected,
        Verdict::Accepted(accepted) => panic!("accepted: {accepted:?}"),
    }
}

fn header<'a>(headers: &'a [Header], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value.as_str())
}

/// Each of `shown` is among `headers` with its value.
fn assert_shown(headers: &[Header], shown: Shown) {
    for (name, value) in shown {
        assert_eq!(header(headers, name), Some(*value), "{name} in {headers:?}");
    }
}

/// A call with a prompt of `prompt` tokens and a maximum of `output`.
fn sized(prompt: u64, output: u64) -> Call<'static> {
    Call {
        model: "m",
        prompt_bytes: prompt * 4,
        prompt_tokens: Some(prompt),
        output_max: Some(output),
        ..Call::default()
    }
}

fn used(input: u64, cached: u64, output: u64) -> Usage {
    Usage {
        input,
        cached,
        output,
    }
}

/// What is used of the limits, in their order.
fn levels(model: &Model, at: u64) -> Vec<u64> {
    let call = Call::default();
    let standings = model.standings(at, &call);
    standings.iter().map(|standing| standing.used).collect()
}

fn message(rejected: &Rejected) -> &str {
    rejected.body["error"]["message"].as_str().unwrap()
}

/// Eleven captured rejections: limit, used, requested, and the wait that the provider stated.
#[test]
fn openai_states_the_published_waits() {
    let minute = Period::MINUTE;
    let day = Period::DAY;
    for (meter, per, limit, used, requested, stated) in [
        ("tokens", minute, 50_000, 47_949, 3_006, "1.146s"),
        ("tokens", minute, 200_000, 195_869, 4_412, "84ms"),
        ("tokens", minute, 30_000, 22_999, 12_528, "11.054s"),
        ("tokens", minute, 30_000, 29_937, 385, "644ms"),
        ("tokens", minute, 30_000, 18_928, 11_159, "174ms"),
        ("tokens", minute, 30_000, 28_039, 3_906, "3.89s"),
        ("tokens", minute, 10_000, 8_554, 3_082, "9.816s"),
        ("requests", minute, 3, 3, 1, "20s"),
        ("requests", day, 200, 200, 1, "7m12s"),
        ("requests", day, 50, 50, 1, "28m48s"),
        ("requests", day, 2_000, 2_000, 1, "43.2s"),
    ] {
        let mut model = provider(serde_json::json!({
            "charge": "prompt",
            "limits": [{"meter": meter, "amount": limit, "per": per}],
        }));
        if meter == "tokens" {
            accepted(&mut model, T0, &call(used));
        } else {
            for _ in 0..used {
                accepted(&mut model, T0, &call(1));
            }
        }
        let refused = rejected(&mut model, T0, &call(requested));
        assert!(
            message(&refused).contains(&format!(
                "Limit {limit}, Used {used}, Requested {requested}. Please try again in {stated}."
            )),
            "{}",
            message(&refused)
        );
        assert_eq!(refused.body["error"]["type"], meter);
        assert_eq!(refused.body["error"]["code"], "rate_limit_exceeded");

        let wait = refused.wait.unwrap();
        let just_before = model.clone().arrive(T0 + wait - 1, &call(requested));
        assert!(
            matches!(just_before, Verdict::Rejected(_)),
            "the wait is not a nanosecond too long"
        );
        accepted(&mut model, T0 + wait, &call(requested));
    }
}

/// Captured triples of limit, remaining and reset.
#[test]
fn openai_headers_say_when_everything_is_back() {
    for (meter, limit, taken, reset) in [
        ("requests", 3_000, 1, "20ms"),
        ("requests", 5_000, 1, "12ms"),
        ("tokens", 250_000, 11, "2ms"),
        ("tokens", 4_000_000, 4, "0s"),
    ] {
        let mut model = provider(serde_json::json!({
            "charge": "prompt",
            "limits": [{"meter": meter, "amount": limit, "per": "60s"}],
        }));
        let answer = accepted(&mut model, T0, &call(taken));
        let shown = |what: &str| header(&answer.headers, &format!("x-ratelimit-{what}-{meter}"));
        assert_eq!(shown("limit"), Some(limit.to_string().as_str()));
        assert_eq!(
            shown("remaining"),
            Some((limit - taken).to_string().as_str())
        );
        assert_eq!(shown("reset"), Some(reset));
    }
}

#[test]
fn the_tightest_limit_of_a_meter_is_shown() {
    let mut model = provider(serde_json::json!({"limits": {"rpm": 3, "rpd": 200}}));
    let answer = accepted(&mut model, T0, &call(1));
    assert_eq!(
        header(&answer.headers, "x-ratelimit-limit-requests"),
        Some("200")
    );
    assert_eq!(
        header(&answer.headers, "x-ratelimit-reset-requests"),
        Some("7m12s")
    );
}

#[test]
fn what_never_fits_is_told_so() {
    let mut model = provider(serde_json::json!({"limits": {"tpm": 1000}}));
    let call = Call {
        model: "m",
        output_max: Some(1_001),
        ..Call::default()
    };
    let refused = rejected(&mut model, T0, &call);
    assert_eq!(refused.wait, None);
    assert!(message(&refused).starts_with("Request too large for m"));
    assert!(message(&refused).contains("Limit 1000, Requested 1001"));
    assert_eq!(header(&refused.headers, "retry-after"), None);
    accepted(
        &mut model,
        T0,
        &Call {
            output_max: Some(1_000),
            ..call
        },
    );
}

#[test]
fn azure_counts_aligned_minutes_and_ten_seconds() {
    let mut model =
        provider(serde_json::json!({"profile": "azure", "limits": {"rpm": 60, "tpm": 5_000}}));
    let call = Call {
        model: "gpt",
        prompt_bytes: 41,
        output_max: Some(89),
        ..Call::default()
    };
    // 11 + 89 = 100 tokens; 10 requests in an aligned 10 s.
    for _ in 0..10 {
        accepted(&mut model, T0 + 9_700 * MS, &call);
    }
    let refused = rejected(&mut model, T0 + 9_700 * MS, &call);
    assert_eq!(refused.limit, "requests quantum");
    assert_eq!(header(&refused.headers, "retry-after-ms"), Some("300"));
    assert_eq!(header(&refused.headers, "retry-after"), Some("1"));
    assert_eq!(
        header(&refused.headers, "x-ratelimit-type"),
        Some("Requests")
    );
    assert_eq!(
        header(&refused.headers, "x-ratelimit-renewalperiod-requests"),
        Some("10")
    );
    assert_eq!(
        header(&refused.headers, "x-ratelimit-renewalperiod-tokens"),
        Some("60")
    );
    assert_eq!(refused.body["error"]["code"], "429");
    assert!(message(&refused).contains("exceeded call rate limit"));
    assert!(message(&refused).contains("retry after 1 second."));

    for slice in 1..5 {
        for _ in 0..10 {
            accepted(&mut model, T0 + slice * 10 * S, &call);
        }
    }
    let refused = rejected(&mut model, T0 + 53 * S, &call);
    assert_eq!(refused.limit, "tokens");
    assert_eq!(refused.wait, Some(7 * S));
    assert!(message(&refused).contains("exceeded token rate limit"));
    assert!(message(&refused).contains("retry after 7 seconds."));
    assert_eq!(
        header(&refused.headers, "x-ratelimit-remaining-tokens"),
        Some("0")
    );
    assert_eq!(
        header(&refused.headers, "x-ratelimit-reset-tokens"),
        Some("7")
    );
    accepted(&mut model, T0 + 60 * S, &call);
}

#[test]
fn azure_resets_may_be_milliseconds() {
    let mut model = provider(serde_json::json!({
        "profile": "azure", "reset_unit": "ms", "charge": "prompt",
        "limits": [{"meter": "requests", "amount": 120, "per": "60s"}],
    }));
    let answer = accepted(&mut model, T0, &call(1));
    assert_eq!(
        header(&answer.headers, "x-ratelimit-reset-requests"),
        Some("500")
    );
}

#[test]
fn five_in_any_second_holds_across_edges() {
    let mut model = provider(serde_json::json!({"limits": [{
        "meter": "requests", "amount": 300, "per": "60s", "window": "sliding",
        "quantum": {"per": "1s", "any": true},
    }]}));
    for _ in 0..5 {
        accepted(&mut model, T0 + 900 * MS, &call(1));
    }
    let refused = rejected(&mut model, T0 + 1_100 * MS, &call(1));
    assert_eq!(
        (refused.limit.as_str(), refused.wait),
        ("requests quantum", Some(800 * MS))
    );
    accepted(&mut model, T0 + 1_900 * MS, &call(1));
}

#[test]
fn a_rejection_takes_nothing_from_any_limit() {
    let mut model =
        provider(serde_json::json!({"charge": "prompt", "limits": {"rpm": 10, "tpm": 100}}));
    accepted(&mut model, T0, &call(60));
    let refused = rejected(&mut model, T0, &call(60));
    assert_eq!(
        header(&refused.headers, "x-ratelimit-remaining-requests"),
        Some("9")
    );
    assert_eq!(
        header(&refused.headers, "x-ratelimit-remaining-tokens"),
        Some("40")
    );
}

#[test]
fn a_rejection_takes_a_request_where_told_so_but_never_beyond_the_limit() {
    let mut model = provider(serde_json::json!({
        "rejected_count": true, "charge": "prompt",
        "limits": [
            {"meter": "requests", "amount": 3, "per": "60s", "window": "fixed"},
            {"meter": "tokens", "amount": 10, "per": "60s", "window": "fixed"},
        ],
    }));
    accepted(&mut model, T0, &call(10));
    assert_eq!(rejected(&mut model, T0, &call(5)).limit, "tokens");
    let second = rejected(&mut model, T0, &call(5));
    assert_eq!(
        header(&second.headers, "x-ratelimit-remaining-requests"),
        Some("0")
    );
    for _ in 0..5 {
        assert_eq!(rejected(&mut model, T0, &call(5)).limit, "requests");
    }
    accepted(&mut model, T0 + 60 * S, &call(5));
}

#[test]
fn failures_keep_their_charge_unless_told_otherwise() {
    for (kept, remaining) in [(true, "8"), (false, "9")] {
        let mut model = provider(serde_json::json!({
            "failed_count": kept,
            "limits": [{"meter": "requests", "amount": 10, "per": "60s", "window": "fixed"}],
        }));
        let first = accepted(&mut model, T0, &call(1));
        model.finish(T0, first.ticket, Outcome::Failed);
        let second = accepted(&mut model, T0, &call(1));
        assert_eq!(
            header(&second.headers, "x-ratelimit-remaining-requests"),
            Some(remaining)
        );
    }
}

#[test]
fn slots_come_back_when_calls_end() {
    let mut model = Model::new(Settings {
        concurrent: NonZeroU64::new(2),
        ..Settings::default()
    });
    let first = accepted(&mut model, T0, &call(1));
    accepted(&mut model, T0, &call(1));
    assert_eq!(rejected(&mut model, T0, &call(1)).limit, "concurrent");
    model.finish(T0, first.ticket, Outcome::Served(Usage::default()));
    assert_eq!(model.in_flight(), 1);
    accepted(&mut model, T0, &call(1));
}

#[test]
fn scopes_are_counted_apart() {
    let mut model = provider(serde_json::json!({"limits": [
        {"meter": "requests", "amount": 1, "per": "60s", "scope": "model"},
    ]}));
    accepted(
        &mut model,
        T0,
        &Call {
            model: "a",
            ..call(1)
        },
    );
    accepted(
        &mut model,
        T0,
        &Call {
            model: "b",
            ..call(1)
        },
    );
    rejected(
        &mut model,
        T0,
        &Call {
            model: "a",
            ..call(1)
        },
    );
}

#[test]
fn a_clock_that_runs_backwards_changes_no_count() {
    let mut model = provider(serde_json::json!({"limits": [
        {"meter": "requests", "amount": 2, "per": "60s", "window": "sliding"},
    ]}));
    accepted(&mut model, T0 + 60 * S, &call(1));
    accepted(&mut model, T0, &call(1));
    let refused = rejected(&mut model, T0 + 61 * S, &call(1));
    assert_eq!(refused.wait, Some(59 * S));
}

#[test]
fn unknown_and_impossible_settings_are_refused() {
    for (json, part) in [
        (r#"{"limits": {"rpn": 3}}"#, "unknown field `rpn`"),
        (
            r#"{"limits": [{"meter": "requests", "amount": 0, "per": "60s"}]}"#,
            "nonzero",
        ),
        (
            r#"{"limits": [{"meter": "requests", "amount": 1, "per": "0s"}]}"#,
            "`0s` is no period",
        ),
        (r#"{"profil": "azure"}"#, "unknown field `profil`"),
    ] {
        let error = serde_json::from_str::<Settings>(json)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_crowd_of_keys_does_not_make_the_account_forget() {
    let mut model = provider(serde_json::json!({"limits": [
        {"meter": "requests", "amount": 5_000, "per": "60s", "window": "sliding"},
        {"meter": "requests", "amount": 1, "per": "60s", "window": "sliding", "scope": "key"},
    ]}));
    let keys: Vec<String> = (0..5_000).map(|number| format!("key-{number}")).collect();
    for key in &keys {
        accepted(&mut model, T0, &Call { key, ..call(1) });
    }
    assert!(model.counts.len() <= SCOPES_MAX);
    let refused = rejected(
        &mut model,
        T0,
        &Call {
            key: "another",
            ..call(1)
        },
    );
    assert_eq!(refused.limit, "requests");
}

#[derive(Clone, Copy, Debug)]
struct Step {
    pause_ms: u64,
    tokens: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..1_500_u64, 1..40_u64).prop_map(|(pause_ms, tokens)| Step { pause_ms, tokens });
    proptest::collection::vec(step, 1..80)
}

proptest! {
    /// Whatever comes: no window holds more than its amount, a wait is exact, and a refusal changes nothing.
    #[test]
    fn windows_hold_and_waits_are_exact(steps in steps(), window in 0..3_usize, phase in 0..10_u64) {
        let per = Period::from_seconds(10).unwrap();
        let name = ["fixed", "sliding", "bucket"][window];
        let mut limit = serde_json::json!({"meter": "tokens", "amount": 50, "per": per, "window": name});
        if phase > 0 {
            limit["phase"] = serde_json::json!(format!("{phase}s"));
        }
        let mut model = provider(serde_json::json!({"charge": "prompt", "limits": [limit]}));
        let mut arrivals = Vec::new();
        let mut at = T0;
        for step in steps {
            at += step.pause_ms * MS;
            let call = call(step.tokens);
            if let Verdict::Rejected(refused) = model.arrive(at, &call) {
                let wait = refused.wait.unwrap();
                prop_assert!(wait > 0);
                let early = model.clone().arrive(at + wait - 1, &call);
                prop_assert!(matches!(early, Verdict::Rejected(_)));
                at += wait;
                accepted(&mut model, at, &call);
            }
            arrivals.push((at, step.tokens));
        }
        let shifted = arrivals.iter().map(|(at, tokens)| (at - phase * S, *tokens));
        match name {
            "fixed" => prop_assert!(peak_aligned(shifted, per) <= 50),
            "sliding" => prop_assert!(peak_in_any(arrivals, per) <= 50),
            // A full bucket and what refills meanwhile, less than a whole period's.
            _ => prop_assert!(peak_in_any(arrivals, per) <= 100),
        }
    }
}
