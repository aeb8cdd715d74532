//! Hosts of others' models, and servers one runs oneself.

use serde_json::json;

use super::*;

/// A call that Groq charges `tokens` under the `prompt` rule.
fn groq_call(tokens: u64) -> Call<'static> {
    Call {
        messages: 0,
        ..call(tokens)
    }
}

/// Four captured rejections, exact to the millisecond.
#[test]
fn groq_states_the_published_waits() {
    for (per, limit, used, requested, stated) in [
        (Period::MINUTE, 12_000, 4_437, 9_854, "11.455s"),
        (Period::MINUTE, 12_000, 2_542, 9_855, "1.985s"),
        (Period::DAY, 100_000, 97_050, 3_619, "9m38.016s"),
        (Period::DAY, 100_000, 94_976, 5_632, "8m45.312s"),
    ] {
        let mut model = provider(json!({
            "profile": "groq", "charge": "prompt",
            "limits": [{"meter": "tokens", "amount": limit, "per": per}],
        }));
        accepted(&mut model, T0, &groq_call(used));
        let refused = rejected(&mut model, T0, &groq_call(requested));
        let text = format!(
            "Limit {limit}, Used {used}, Requested {requested}. Please try again in {stated}."
        );
        assert!(message(&refused).ends_with(&text), "{}", message(&refused));
        assert_eq!(refused.body["error"]["type"], "tokens");
        assert_eq!(refused.status, 429);
    }
}

/// Captured: 34 bytes in one message are 13 tokens, and how long until they are back.
#[test]
fn groq_headers_are_of_the_day_and_of_the_minute() {
    let prompt = Call {
        model: "m",
        prompt_bytes: 34,
        ..Call::default()
    };
    for (tpm, reset) in [(30_000, "26ms"), (6_000, "130ms")] {
        let mut model = provider(json!({
            "profile": "groq",
            "limits": {"rpm": 30, "rpd": 14_400, "tpm": tpm, "tpd": 500_000},
        }));
        let answer = accepted(&mut model, T0, &prompt);
        assert_eq!(answer.charge.tokens, 13);
        assert_shown(
            &answer.headers,
            &[
                ("x-ratelimit-limit-requests", "14400"),
                ("x-ratelimit-remaining-requests", "14399"),
                ("x-ratelimit-reset-requests", "6s"),
            ],
        );
        assert_eq!(
            header(&answer.headers, "x-ratelimit-reset-tokens"),
            Some(reset)
        );
    }
}

#[test]
fn groq_adds_a_maximum_and_settles_without_what_was_cached() {
    let mut model = provider(json!({"profile": "groq", "limits": {"tpm": 8_000}}));
    let refused = rejected(&mut model, T0, &sized(5_096, 4_000));
    assert_eq!(refused.status, 413);
    assert!(message(&refused).contains("Limit 8000, Requested 9100"));
    assert_eq!(header(&refused.headers, "retry-after"), None);
    let answer = accepted(&mut model, T0, &sized(1_000, 500));
    assert_eq!(answer.charge.tokens, 1_504);
    model.finish(T0, answer.ticket, Outcome::Served(used(990, 700, 60)));
    assert_eq!(levels(&model, T0), [350]);
}

#[test]
fn cerebras_shows_seconds_with_a_fraction() {
    let mut model = provider(json!({
        "profile": "cerebras", "limits": {"rpm": 30, "rpd": 100, "tpm": 32_000},
    }));
    let answer = accepted(&mut model, T0, &sized(500, 1_000));
    assert_shown(
        &answer.headers,
        &[
            ("x-ratelimit-limit-requests-day", "100"),
            ("x-ratelimit-remaining-requests-day", "99"),
            ("x-ratelimit-reset-requests-day", "864.0"),
            ("x-ratelimit-limit-tokens-minute", "32000"),
            ("x-ratelimit-remaining-tokens-minute", "30500"),
            ("x-ratelimit-reset-tokens-minute", "2.8125"),
        ],
    );
    let unset = Call {
        output_max: None,
        ..sized(500, 0)
    };
    assert_eq!(accepted(&mut model, T0, &unset).charge.tokens, 8_692);
    let refused = rejected(&mut model, T0, &sized(500, 30_000));
    assert_eq!(refused.body["code"], "token_quota_exceeded");
    assert_eq!(refused.body["type"], "too_many_requests_error");
}

/// Uncached and total tokens, the second with three times the room.
#[test]
fn cerebras_may_have_two_buckets() {
    let mut model = provider(json!({"profile": "cerebras", "limits": [
        {"meter": "tokens", "amount": 30_000, "per": "60s"},
        {"meter": "tokens", "amount": 90_000, "per": "60s", "settle": "total"},
    ]}));
    let answer = accepted(&mut model, T0, &sized(1_000, 100));
    model.finish(T0, answer.ticket, Outcome::Served(used(1_000, 900, 50)));
    assert_eq!(levels(&model, T0), [150, 1_050]);
}

#[test]
fn together_evens_out_and_is_short_itself() {
    let mut model = provider(json!({
        "profile": "together", "limits": {"rpm": 60},
        "cuts": [{"at": "30s", "for": "30s", "factor": 0.5}],
    }));
    let answer = accepted(&mut model, T0, &sized(1, 1));
    assert_eq!(
        answer.headers,
        [
            ("x-ratelimit-limit", "60".to_owned()),
            ("x-ratelimit-remaining", "59".to_owned()),
            ("x-ratelimit-reset", "1".to_owned()),
        ]
    );
    let refused = rejected(&mut model, T0, &sized(1, 1));
    assert_eq!((refused.status, refused.wait), (429, Some(1)));
    assert_eq!(refused.body["error_type"], "dynamic_request_limited");
    accepted(&mut model, T0 + S, &sized(1, 1));

    accepted(&mut model, T0 + 40 * S, &sized(1, 1));
    // One a second is one in two seconds now, and one is in it.
    let refused = rejected(&mut model, T0 + 40 * S, &sized(1, 1));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.wait, Some(S + 1));
}

#[test]
fn fireworks_counts_tokens_as_they_turn_out() {
    let mut model = provider(json!({"profile": "fireworks", "limits": [
        {"meter": "requests", "amount": 10, "per": "60s"},
        {"meter": "input_tokens", "amount": 4_000, "per": "60s", "settle": "input"},
        {"meter": "input_tokens", "amount": 1_000, "per": "60s"},
        {"meter": "output_tokens", "amount": 300, "per": "60s"},
    ]}));
    let answer = accepted(&mut model, T0, &sized(500, 9_000));
    let headers = model.settle(T0, &answer.ticket, used(520, 400, 100));
    assert_shown(
        &headers,
        &[
            ("x-ratelimit-limit-requests", "10"),
            ("x-ratelimit-remaining-requests", "9"),
            ("x-ratelimit-remaining-tokens-prompt", "3480"),
            ("x-ratelimit-remaining-tokens-cache-adjusted-prompt", "880"),
            ("x-ratelimit-limit-tokens-generated", "300"),
            ("x-ratelimit-remaining-tokens-generated", "200"),
            ("fireworks-prompt-tokens", "520"),
            ("fireworks-cached-prompt-tokens", "400"),
        ],
    );
}

#[test]
fn openrouter_shows_headers_on_a_refusal_only() {
    let mut model = provider(json!({"profile": "openrouter", "limits": {"rpm": 1, "rpd": 2}}));
    assert_eq!(accepted(&mut model, T0 + 15 * S, &sized(1, 1)).headers, []);
    let refused = rejected(&mut model, T0 + 15 * S, &sized(1, 1));
    assert_eq!(
        refused.headers,
        [
            ("x-ratelimit-limit", "1".to_owned()),
            ("x-ratelimit-remaining", "0".to_owned()),
            ("x-ratelimit-reset", "1728000060000".to_owned()),
        ]
    );
    assert_eq!(refused.body["error"]["code"], 429);
    accepted(&mut model, T0 + 60 * S, &sized(1, 1));
    let refused = rejected(&mut model, T0 + 120 * S, &sized(1, 1));
    assert_shown(&refused.headers, &[("x-ratelimit-reset", "1728086400000")]);
    assert!(message(&refused).contains("per-day"));
}

#[test]
fn vllm_counts_sequences_and_answers_503() {
    let mut model = provider(json!({"profile": "vllm", "concurrent": 4}));
    let three = Call {
        choices: 3,
        ..sized(1, 1)
    };
    let first = accepted(&mut model, T0, &three);
    let refused = rejected(
        &mut model,
        T0,
        &Call {
            choices: 2,
            ..sized(1, 1)
        },
    );
    assert_eq!((refused.status, refused.headers.len()), (503, 0));
    assert!(message(&refused).contains("QueueOverflowError"));
    accepted(&mut model, T0, &sized(1, 1));
    model.finish(T0, first.ticket, Outcome::Served(used(1, 0, 1)));
    accepted(&mut model, T0, &three);
}

#[test]
fn tgi_says_overloaded_with_429() {
    let mut model = provider(json!({"profile": "tgi", "concurrent": 1}));
    accepted(&mut model, T0, &sized(1, 1));
    let refused = rejected(&mut model, T0, &sized(1, 1));
    assert_eq!(refused.status, 429);
    assert_eq!(
        refused.body,
        json!({"error": "Model is overloaded", "error_type": "overloaded"})
    );
}
