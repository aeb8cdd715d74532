//! Providers of their own models: charges, headers and refusals, by hand.

use serde_json::json;

use super::*;

#[test]
fn raon_reserves_both_and_settles_both() {
    let mut model = provider(json!({
        "profile": "raon", "limits": {"rpm": 10, "itpm": 1_000, "otpm": 500},
    }));
    let answer = accepted(&mut model, T0 + 13 * S, &sized(100, 200));
    assert_eq!(
        (answer.charge.input_tokens, answer.charge.output_tokens),
        (100, 200)
    );
    assert_shown(
        &answer.headers,
        &[
            ("x-ratelimit-limit-requests", "10"),
            ("x-ratelimit-remaining-requests", "9"),
            ("x-ratelimit-reset-requests", "1728000060"),
        ],
    );
    assert_eq!(answer.headers.len(), 3, "nothing about tokens");
    model.finish(
        T0 + 15 * S,
        answer.ticket,
        Outcome::Served(used(120, 50, 80)),
    );
    assert_eq!(levels(&model, T0 + 15 * S), [1, 70, 80]);

    let refused = rejected(&mut model, T0 + 20 * S, &sized(100, 421));
    assert_eq!(
        (refused.status, refused.limit.as_str()),
        (429, "output tokens")
    );
    assert_eq!(refused.body["error"]["code"], "rate_limit_exceeded");
    assert_eq!(header(&refused.headers, "retry-after"), Some("40"));
    assert_eq!(
        header(&refused.headers, "x-ratelimit-remaining-requests"),
        Some("9")
    );

    let refused = rejected(&mut model, T0 + 20 * S, &sized(100, 501));
    assert_eq!((refused.status, refused.wait), (400, None));
    assert_eq!(refused.body["error"]["code"], "token_limit_exceeded");
    assert_eq!(refused.headers, []);

    let cut = accepted(&mut model, T0 + 20 * S, &sized(100, 420));
    model.finish(T0 + 21 * S, cut.ticket, Outcome::Cut(used(120, 50, 33)));
    assert_eq!(
        levels(&model, T0 + 21 * S),
        [2, 170, 80],
        "input stays, output is given back"
    );
}

#[test]
fn raon_is_overloaded_without_limit_headers() {
    let mut model = provider(json!({
        "profile": "raon", "limits": {"rpm": 10}, "concurrent": 1,
    }));
    accepted(&mut model, T0, &sized(1, 1));
    let refused = rejected(&mut model, T0, &sized(1, 1));
    assert_eq!(refused.body["error"]["code"], "overloaded");
    assert_eq!(refused.headers, [("retry-after", "2".to_owned())]);
}

#[test]
fn anthropic_counts_output_as_it_is_produced() {
    let mut model = provider(json!({
        "profile": "anthropic", "limits": {"rpm": 60, "itpm": 30_000, "otpm": 8_000},
    }));
    let call = Call {
        cached_tokens: 1_500,
        ..sized(2_000, 1_024)
    };
    let answer = accepted(&mut model, T0, &call);
    assert_eq!(
        (answer.charge.input_tokens, answer.charge.output_tokens),
        (2_000, 0)
    );
    // 1 of 60: one second. 2,000 of 30,000: four.
    assert_shown(
        &answer.headers,
        &[
            ("anthropic-ratelimit-requests-limit", "60"),
            ("anthropic-ratelimit-requests-remaining", "59"),
            ("anthropic-ratelimit-requests-reset", "2024-10-04T00:00:01Z"),
            ("anthropic-ratelimit-input-tokens-limit", "30000"),
            ("anthropic-ratelimit-input-tokens-remaining", "28000"),
            (
                "anthropic-ratelimit-input-tokens-reset",
                "2024-10-04T00:00:04Z",
            ),
            ("anthropic-ratelimit-output-tokens-remaining", "8000"),
            (
                "anthropic-ratelimit-output-tokens-reset",
                "2024-10-04T00:00:00Z",
            ),
            ("anthropic-ratelimit-tokens-limit", "38000"),
            ("anthropic-ratelimit-tokens-remaining", "36000"),
        ],
    );
    assert_eq!(answer.headers.len(), 12);

    model.produced(T0 + S, &answer.ticket, 600);
    assert_eq!(levels(&model, T0 + S), [0, 1_500, 600]);
    // The cached 1,500 of the 1,500 that are left come back; 3,600 of 8,000 are 27 seconds.
    let settled = model.settle(T0 + S, &answer.ticket, used(2_000, 1_500, 3_600));
    assert_shown(
        &settled,
        &[
            ("anthropic-ratelimit-input-tokens-remaining", "30000"),
            ("anthropic-ratelimit-output-tokens-remaining", "4000"),
            (
                "anthropic-ratelimit-output-tokens-reset",
                "2024-10-04T00:00:28Z",
            ),
        ],
    );
    model.finish(
        T0 + S,
        answer.ticket,
        Outcome::Served(used(2_000, 1_500, 3_600)),
    );

    let second = accepted(&mut model, T0 + S, &call);
    model.finish(
        T0 + S,
        second.ticket,
        Outcome::Served(used(2_000, 2_000, 6_000)),
    );
    assert_eq!(levels(&model, T0 + S)[2], 9_600, "more than there was");
    // 1,600 above the limit and one token more, at 8,000 a minute: 12.0075 s.
    let refused = rejected(&mut model, T0 + S, &call);
    assert_eq!(refused.wait, Some(12_007_500_000));
    assert_eq!(header(&refused.headers, "retry-after"), Some("13"));
    assert_eq!(refused.body["type"], "error");
    assert_eq!(refused.body["error"]["type"], "rate_limit_error");
    assert!(message(&refused).contains("8000 output tokens per minute"));
}

#[test]
fn mistral_shows_what_a_whole_answer_cost() {
    let mut model = provider(json!({
        "profile": "mistral", "limits": {"rps": 6, "tpm": 500, "tokens_month": 1_000},
    }));
    let first = accepted(&mut model, T0 + 3 * S, &sized(90, 400));
    let headers = model.settle(T0 + 4 * S, &first.ticket, used(90, 0, 17));
    assert_shown(
        &headers,
        &[
            ("x-ratelimit-limit-req-10-second", "60"),
            ("x-ratelimit-remaining-req-10-second", "59"),
            ("x-ratelimit-limit-tokens-minute", "500"),
            ("x-ratelimit-remaining-tokens-minute", "393"),
            ("x-ratelimit-limit-tokens-month", "1000"),
            ("x-ratelimit-remaining-tokens-month", "893"),
            ("x-ratelimit-tokens-query-cost", "107"),
        ],
    );
    let refused = rejected(&mut model, T0 + 48 * S, &sized(394, 1));
    assert_eq!(refused.body, json!({"message": "Rate limit exceeded"}));
    assert_eq!(header(&refused.headers, "retry-after"), Some("12"));
    accepted(&mut model, T0 + 60 * S, &sized(394, 1));
    // 107 + 394 of the month's 1,000; October has 27 days left from the fifth on.
    let refused = rejected(&mut model, T0 + 86_400 * S, &sized(500, 1));
    assert_eq!(refused.limit, "tokens per month");
    assert_eq!(refused.wait, Some(27 * 86_400 * S));
    accepted(&mut model, T0 + 28 * 86_400 * S, &sized(500, 1));
}

#[test]
fn mistral_may_charge_a_stream_its_ceiling() {
    let mut model = provider(json!({
        "profile": "mistral", "charge": "streamed", "limits": {"tpm": 100_000},
    }));
    let call = Call {
        output_max: None,
        delivery: Delivery::Streamed,
        ..sized(15, 0)
    };
    let answer = accepted(&mut model, T0, &call);
    assert_shown(
        &answer.headers,
        &[("x-ratelimit-tokens-query-cost", "32015")],
    );
    model.finish(T0, answer.ticket, Outcome::Served(used(15, 0, 9)));
    assert_eq!(levels(&model, T0), [32_015], "and keeps it");
}

#[test]
fn xai_counts_everything_in_the_end_and_says_little() {
    let mut model = provider(json!({"profile": "xai", "limits": {"rps": 2, "tpm": 10_000}}));
    let answer = accepted(&mut model, T0 + 100 * MS, &sized(100, 500));
    assert_eq!(answer.charge.tokens, 600);
    assert_eq!(
        answer.headers,
        [
            ("x-ratelimit-limit-requests", "2".to_owned()),
            ("x-ratelimit-remaining-requests", "1".to_owned()),
            ("x-ratelimit-limit-tokens", "10000".to_owned()),
            ("x-ratelimit-remaining-tokens", "9400".to_owned()),
        ]
    );
    model.finish(
        T0 + 200 * MS,
        answer.ticket,
        Outcome::Served(used(100, 60, 30)),
    );
    assert_eq!(levels(&model, T0 + 200 * MS), [1, 130]);
    accepted(&mut model, T0 + 300 * MS, &sized(1, 1));
    let refused = rejected(&mut model, T0 + 400 * MS, &sized(1, 1));
    assert_eq!(refused.wait, Some(600 * MS));
    assert!(refused.body["code"].is_string() && refused.body["error"].is_string());
    assert_eq!(header(&refused.headers, "retry-after"), None);
}

#[test]
fn deepseek_counts_what_is_in_flight() {
    let mut model = provider(json!({"profile": "deepseek", "concurrent": 2}));
    let first = accepted(&mut model, T0, &sized(1, 1));
    accepted(&mut model, T0, &sized(1, 1));
    let refused = rejected(&mut model, T0, &sized(1, 1));
    assert_eq!(
        (refused.status, refused.limit.as_str()),
        (429, "concurrent")
    );
    assert_eq!((refused.wait, refused.headers), (None, Vec::new()));
    model.finish(T0, first.ticket, Outcome::Failed);
    accepted(&mut model, T0, &sized(1, 1));
}

#[test]
fn cohere_shows_headers_to_trial_keys_only() {
    let mut trial = provider(json!({
        "profile": "cohere", "limits": {"rpm": 1, "requests_month": 1_000},
    }));
    let answer = accepted(&mut trial, T0, &sized(1, 1));
    assert_eq!(
        answer.headers,
        [
            ("x-endpoint-monthly-call-limit", "1000".to_owned()),
            ("x-trial-endpoint-call-limit", "1".to_owned()),
            ("x-trial-endpoint-call-remaining", "0".to_owned()),
        ]
    );
    let refused = rejected(&mut trial, T0, &sized(1, 1));
    let text = "You are using a Trial key, which is limited to 1 API calls / minute.";
    assert_eq!(refused.body["message"], text);
    assert_eq!(
        header(&refused.headers, "x-trial-endpoint-call-remaining"),
        None
    );

    let mut production = provider(json!({"profile": "cohere", "limits": {"rpm": 500}}));
    assert_eq!(accepted(&mut production, T0, &sized(1, 1)).headers, []);
}

#[test]
fn upstage_names_the_second_of_the_reset() {
    let mut model = provider(json!({"profile": "upstage", "limits": {"rpm": 1}}));
    let answer = accepted(&mut model, T0 + 15 * S, &sized(1, 1));
    assert_shown(
        &answer.headers,
        &[
            ("x-upstage-ratelimit-limit-requests", "1"),
            ("x-upstage-ratelimit-remaining-requests", "0"),
            ("x-upstage-ratelimit-reset-requests", "1728000060"),
            ("x-upstage-ratelimit-remaining-tokens", "-1"),
        ],
    );
    let refused = rejected(&mut model, T0 + 20 * S, &sized(1, 1));
    assert_shown(
        &refused.headers,
        &[("x-upstage-ratelimit-retry-after-requests", "40")],
    );
}

#[test]
fn naver_reserves_the_maximum_and_speaks_in_codes() {
    let mut model = provider(json!({"profile": "naver", "limits": {"rpm": 2, "tpm": 1_000}}));
    let answer = accepted(&mut model, T0, &sized(100, 500));
    assert_eq!((answer.charge.tokens, answer.headers.len()), (600, 0));
    model.finish(T0, answer.ticket, Outcome::Served(used(100, 0, 5)));
    let refused = rejected(&mut model, T0, &sized(100, 301));
    assert_eq!(refused.body["status"]["code"], "64429");
    accepted(&mut model, T0, &sized(100, 300));
    let refused = rejected(&mut model, T0, &sized(1, 1));
    assert_eq!(refused.body["status"]["code"], "42901");
}
