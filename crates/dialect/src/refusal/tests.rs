//! Refusals as providers have written them.

use proptest::prelude::*;

use super::*;

const HOUR_MS: u64 = 3_600_000;

fn read(message: &str, kind: &str) -> Option<RefusalFacts> {
    let body = serde_json::json!({"error": {"message": message, "type": kind}});
    refusal_facts(body.to_string().as_bytes())
}

fn millis(ms: u64) -> Option<Duration> {
    Some(Duration::from_millis(ms))
}

#[test]
fn the_published_refusals_of_openai_reveal_their_period() {
    // Short name, limit, used, requested, the wait as stated and in milliseconds, the period.
    let cases = [
        ("TPM", 50_000, 47_949, 3_006, "1.146s", 1_146, MINUTE),
        ("TPM", 200_000, 195_869, 4_412, "84ms", 84, MINUTE),
        ("TPM", 30_000, 22_999, 12_528, "11.054s", 11_054, MINUTE),
        ("TPM", 30_000, 29_937, 385, "644ms", 644, MINUTE),
        ("TPM", 30_000, 18_928, 11_159, "174ms", 174, MINUTE),
        ("TPM", 30_000, 28_039, 3_906, "3.89s", 3_890, MINUTE),
        ("TPM", 10_000, 8_554, 3_082, "9.816s", 9_816, MINUTE),
        ("RPM", 3, 3, 1, "20s", 20_000, MINUTE),
        ("RPD", 200, 200, 1, "7m12s", 432_000, DAY),
        ("RPD", 50, 50, 1, "28m48s", 1_728_000, DAY),
        ("RPD", 2_000, 2_000, 1, "43.2s", 43_200, DAY),
    ];
    for (short, limit, used, requested, stated, wait_ms, per) in cases {
        let (meter, kind) = match short {
            "TPM" => (Meter::Tokens, "tokens"),
            _ => (Meter::Requests, "requests"),
        };
        let numbers = format!(
            "Limit {limit}, Used {used}, Requested {requested}. Please try again in {stated}. \
             Visit https://platform.openai.com/account/rate-limits to learn more."
        );
        let expected = RefusalFacts {
            meter: Some(meter),
            limit: Some(limit),
            used: Some(used),
            requested: Some(requested),
            wait: millis(wait_ms),
            per: Some(per),
        };
        let named = format!(
            "Rate limit reached for gpt-4o-2024-08-06 in organization org-x1 on {kind} per {} ({short}): {numbers}",
            if per == DAY { "day" } else { "min" },
        );
        assert_eq!(read(&named, kind), Some(expected), "{named}");
        // The numbers alone reveal the same.
        let bare = format!("Rate limit reached for gpt-4o: {numbers}");
        assert_eq!(read(&bare, kind), Some(expected), "{bare}");
        // The stated wait is the one that the other numbers make, rounded to the nearest.
        let over = used + requested - limit;
        let back_ms =
            (per.as_millis() * u128::from(over) * 2 + u128::from(limit)) / (u128::from(limit) * 2);
        assert_eq!(back_ms, u128::from(wait_ms), "{named}");
    }
}

#[test]
fn the_published_refusals_of_groq_reveal_their_period() {
    let cases = [
        ("TPM", 12_000, 4_437, 9_854, "11.455s", 11_455, MINUTE),
        ("TPM", 12_000, 2_542, 9_855, "1.985s", 1_985, MINUTE),
        // 5.292 s by the numbers: what was used is shown without its fraction.
        ("TPM", 15_000, 11_972, 4_351, "5.289s", 5_289, MINUTE),
        ("TPD", 100_000, 97_050, 3_619, "9m38.016s", 578_016, DAY),
        ("TPD", 100_000, 94_976, 5_632, "8m45.312s", 525_312, DAY),
    ];
    for (short, limit, used, requested, stated, wait_ms, per) in cases {
        let unit = if per == DAY { "day" } else { "minute" };
        let message = format!(
            "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_01` service tier `on_demand` on \
             tokens per {unit} ({short}): Limit {limit}, Used {used}, Requested {requested}. Please try again in {stated}. \
             Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing"
        );
        let expected = RefusalFacts {
            meter: Some(Meter::Tokens),
            limit: Some(limit),
            used: Some(used),
            requested: Some(requested),
            wait: millis(wait_ms),
            per: Some(per),
        };
        assert_eq!(read(&message, "tokens"), Some(expected), "{message}");
        let bare = message.replace(&format!("per {unit} ({short})"), "");
        assert_eq!(read(&bare, "tokens"), Some(expected), "{bare}");
    }
}

#[test]
fn other_words_are_understood() {
    let facts = |meter, limit, requested, wait: Option<Duration>, per| {
        Some(RefusalFacts {
            meter,
            limit,
            used: None,
            requested,
            wait,
            per,
        })
    };
    let tokens = Some(Meter::Tokens);
    let requests = Some(Meter::Requests);
    let minute = Some(MINUTE);
    let cases = [
        (
            "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 31042.",
            facts(tokens, Some(30_000), Some(31_042), None, minute),
        ),
        (
            "Rate limit reached for default-gpt-3.5-turbo in organization org-x on requests per min. Limit: 3 / min. Please try again in 20s.",
            facts(requests, Some(3), None, millis(20_000), minute),
        ),
        (
            "This request would exceed the rate limit for your organization (0-1) of 30,000 input tokens per minute.",
            facts(Some(Meter::InputTokens), Some(30_000), None, None, minute),
        ),
        (
            "This request would exceed your organization's rate limit of 8,000 output tokens per minute (org: 1, model: m).",
            facts(Some(Meter::OutputTokens), Some(8_000), None, None, minute),
        ),
        (
            "You are using a Trial key, which is limited to 20 API calls / minute.",
            facts(requests, Some(20), None, None, minute),
        ),
        (
            "Requests to the ChatCompletions operation have exceeded token rate limit of your current pricing tier. Please retry after 7 seconds.",
            facts(tokens, None, None, millis(7_000), None),
        ),
        (
            "Your requests to gpt-4o have exceeded call rate limit. Please retry after 24 hours.",
            facts(requests, None, None, millis(24 * HOUR_MS), None),
        ),
        (
            "Quota exceeded for metric: generate_content_free_tier_requests, limit: 20, model: m\nPlease retry in 12.5s.",
            facts(None, Some(20), None, millis(12_500), None),
        ),
        (
            "Please retry in 800ms",
            facts(None, None, None, millis(800), None),
        ),
    ];
    for (message, expected) in cases {
        assert_eq!(read(message, ""), expected, "{message}");
    }
}

#[test]
fn a_quota_in_the_details_is_read() {
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota. Please retry in 37.1s.","details":[
        {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_input_token_count","quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier","quotaValue":"250000"}]}]}}"#;
    let expected = RefusalFacts {
        meter: Some(Meter::InputTokens),
        limit: Some(250_000),
        used: None,
        requested: None,
        wait: millis(37_100),
        per: Some(MINUTE),
    };
    assert_eq!(refusal_facts(body.as_bytes()), Some(expected));
}

#[test]
fn a_refusal_that_was_passed_on_is_read() {
    let body = r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"provider_name":"p","raw":"{\"error\":\"Limit 100, Used 100, Requested 1 on RPM. Please try again in 600ms\"}"}}}"#;
    let facts = refusal_facts(body.as_bytes()).expect("it is in numbers");
    assert_eq!(
        (facts.meter, facts.limit, facts.per),
        (Some(Meter::Requests), Some(100), Some(MINUTE))
    );
    assert_eq!(facts.wait, millis(600));
}

#[test]
fn what_contradicts_itself_tells_no_period() {
    // 1 of 200 in 432 s is a day, not a minute.
    let facts = read(
        "(RPM): Limit 200, Used 200, Requested 1. Please try again in 7m12s.",
        "",
    )
    .expect("it is in numbers");
    assert_eq!((facts.wait, facts.per), (millis(432_000), None));
}

#[test]
fn what_has_no_numbers_tells_nothing() {
    for message in [
        "",
        "Rate limit exceeded",
        "Too Many Requests",
        "the limit of patience, used up",
        "Limit -5, Requested none",
    ] {
        assert_eq!(read(message, "tokens"), None, "{message}");
    }
    for body in ["", "null", "<html>Limit 5</html>", "{\"error\":"] {
        assert_eq!(refusal_facts(body.as_bytes()), None, "{body}");
    }
}

#[test]
fn a_refusal_is_a_signal_too() {
    let facts = read(
        "(TPM): Limit 12000, Used 9000, Requested 4000. Please try again in 5s.",
        "",
    )
    .expect("it is in numbers");
    let expected = Signal {
        limit: Some(12_000),
        remaining: Some(3_000),
        per: Some(MINUTE),
        ..Signal::on(Meter::Tokens)
    };
    assert_eq!(facts.signal(), Some(expected));
    let unnamed = RefusalFacts {
        meter: None,
        ..facts
    };
    assert_eq!(unnamed.signal(), None);
    let zero = RefusalFacts {
        limit: Some(0),
        ..facts
    };
    assert_eq!(zero.signal(), None);
}

proptest! {
    #[test]
    fn nothing_panics(message in "\\PC{0,80}|((limit|used|requested|try again in|retry after|per|/|tpm|min|s) ?[0-9,.]{0,22} ?){0,8}") {
        if let Some(facts) = read(&message, "tokens") {
            let _ = facts.signal();
        }
        let _ = refusal_facts(message.as_bytes());
    }

    #[test]
    fn every_even_refill_reveals_its_period(
        limit in 1_u64..10_000_000,
        left in 0_u64..10_000_000,
        over in 1_u64..10_000_000,
        per in prop::sample::select(vec![MINUTE, DAY]),
    ) {
        let left = left % limit;
        let over = over.min(limit);
        let wait_ms = u128::from(over) * per.as_millis() / u128::from(limit);
        let facts = of_message(&format!(
            "Limit {limit}, Used {}, Requested {}. Please try again in {wait_ms}ms.",
            limit - left,
            left + over,
        ));
        // Below a few milliseconds the rounded wait says too little; it never says a wrong thing.
        prop_assert!(facts.per == Some(per) || facts.per.is_none());
        if wait_ms >= 4 {
            prop_assert_eq!(facts.per, Some(per));
        }
    }
}
