//! Clouds: Gemini and Vertex, Bedrock, Azure's provisioned throughput.

use serde_json::json;

use super::*;

#[test]
fn gemini_hides_a_day_behind_a_short_delay() {
    let mut model = provider(json!({
        "profile": "gemini", "limits": {"rpm": 1, "itpm": 500, "rpd": 2},
    }));
    let answer = accepted(&mut model, T0 + 23 * S, &sized(100, 100_000));
    assert_eq!((answer.charge.input_tokens, answer.headers.len()), (100, 0));
    let refused = rejected(&mut model, T0 + 23 * S, &sized(1, 1));
    let details = &refused.body["error"]["details"];
    assert_eq!(refused.body["error"]["status"], "RESOURCE_EXHAUSTED");
    assert_eq!(
        details[0]["violations"][0],
        json!({
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
            "quotaDimensions": {"model": "m"},
            "quotaValue": "1",
        })
    );
    assert_eq!(details[1]["retryDelay"], "37s");
    assert!(message(&refused).ends_with("Please retry in 37s."));
    assert_eq!(refused.headers, []);

    accepted(&mut model, T0 + 60 * S, &sized(1, 1));
    // 00:02 UTC is 16:02 in Los Angeles; the day ends in 7 h 58 min.
    let refused = rejected(&mut model, T0 + 120 * S, &sized(1, 1));
    assert_eq!(refused.limit, "requests per day");
    assert_eq!(refused.wait, Some((8 * 3_600 - 120) * S));
    let details = &refused.body["error"]["details"];
    let id = details[0]["violations"][0]["quotaId"].as_str().unwrap();
    assert!(id.contains("PerDay"));
    assert_eq!(details[1]["retryDelay"], "60s");
    accepted(&mut model, T0 + 8 * 3_600 * S, &sized(1, 1));
}

#[test]
fn gemini_counts_input_alone() {
    let mut model = provider(json!({"profile": "gemini", "limits": {"tpm": 500}}));
    let answer = accepted(&mut model, T0, &sized(400, 9_000));
    model.finish(T0, answer.ticket, Outcome::Served(used(400, 100, 8_000)));
    assert_eq!(levels(&model, T0), [400]);
    let refused = rejected(&mut model, T0, &sized(101, 1));
    let id = &refused.body["error"]["details"][0]["violations"][0]["quotaId"];
    assert_eq!(id, "GenerateContentInputTokensPerModelPerMinute-FreeTier");
}

#[test]
fn vertex_evens_out_a_second() {
    // 100 tokens a second.
    let mut model = provider(json!({"profile": "vertex", "limits": {"tpm": 6_000}}));
    let first = accepted(&mut model, T0, &sized(300, 50));
    model.finish(T0, first.ticket, Outcome::Served(used(300, 0, 40)));
    // 340 drain to below the 100 of one second in 2.4 s.
    let refused = rejected(&mut model, T0, &sized(1, 1));
    assert_eq!(refused.wait, Some(2_400 * MS + 1));
    assert_eq!((refused.status, refused.headers.len()), (429, 0));
    assert!(message(&refused).starts_with("Quota exceeded"));
    accepted(&mut model, T0 + 2_400 * MS + 1, &sized(1, 1));
}

#[test]
fn bedrock_multiplies_output_at_the_end() {
    let mut model = provider(json!({"profile": "bedrock_runtime", "limits": {"tpm": 10_000}}));
    let call = Call {
        model: "anthropic.claude-sonnet-5-v1:0",
        cached_tokens: 200,
        ..sized(1_000, 4_000)
    };
    let answer = accepted(&mut model, T0, &call);
    assert_eq!((answer.charge.tokens, answer.headers.len()), (5_000, 0));
    let headers = model.settle(T0 + S, &answer.ticket, used(1_000, 200, 700));
    assert_shown(
        &headers,
        &[
            ("x-amzn-bedrock-input-token-count", "800"),
            ("x-amzn-bedrock-output-token-count", "700"),
            ("x-amzn-bedrock-cache-read-input-token-count", "200"),
        ],
    );
    // 800 + 10 × 700, which is more than the 5,000 that were reserved.
    assert_eq!(levels(&model, T0 + S), [7_800]);
    let refused = rejected(&mut model, T0 + S, &call);
    assert_eq!(
        refused.body["message"],
        "Too many tokens, please wait before trying again."
    );
    assert_shown(
        &refused.headers,
        &[("x-amzn-errortype", "ThrottlingException")],
    );
    assert_eq!(header(&refused.headers, "retry-after"), None);

    let unbounded = Call {
        output_max: None,
        ..call
    };
    let refused = rejected(&mut model, T0 + S, &unbounded);
    assert_eq!((refused.charge.tokens, refused.wait), (65_000, None));
}

#[test]
fn bedrock_takes_an_overrun_from_the_minute_that_is_open() {
    let mut model = provider(json!({"profile": "bedrock_runtime", "limits": {"tpm": 10_000}}));
    let call = Call {
        model: "claude-4.8",
        ..sized(1_000, 1_000)
    };
    let over = accepted(&mut model, T0, &call);
    let under = accepted(&mut model, T0, &call);
    model.finish(
        T0 + 61 * S,
        over.ticket,
        Outcome::Served(used(1_000, 0, 200)),
    );
    assert_eq!(
        levels(&model, T0 + 61 * S),
        [2_000],
        "1,000 + 15 × 200 above 2,000"
    );
    model.finish(
        T0 + 61 * S,
        under.ticket,
        Outcome::Served(used(1_000, 0, 1)),
    );
    assert_eq!(
        levels(&model, T0 + 61 * S),
        [2_000],
        "what is less is forfeited"
    );
}

#[test]
fn bedrock_weighs_output_by_model() {
    let settings = |json| serde_json::from_value::<Settings>(json).unwrap();
    let runtime = settings(json!({"profile": "bedrock_runtime"}));
    for (model, weight) in [
        ("anthropic.claude-4.8-v1", 15),
        ("us.anthropic.claude-opus-5", 10),
        ("claude-fable-5.1", 10),
        ("openai.gpt-5.6-mini", 10),
        ("anthropic.claude-3.7-sonnet", 5),
        ("amazon.nova-pro", 1),
    ] {
        assert_eq!(runtime.output_weight(model), weight, "{model}");
    }
    let own = settings(json!({"output_weights": {"": 2, "claude": 3, "claude-x": 4}}));
    for (model, weight) in [("gpt", 2), ("claude-3", 3), ("claude-x1", 4)] {
        assert_eq!(own.output_weight(model), weight, "{model}");
    }
}

#[test]
fn mantle_wants_room_for_the_maximum_but_takes_input() {
    let mut model = provider(json!({
        "profile": "bedrock_mantle", "limits": {"itpm": 1_000, "otpm": 500},
    }));
    assert_eq!(rejected(&mut model, T0, &sized(300, 701)).wait, None);
    let answer = accepted(&mut model, T0, &sized(300, 700));
    assert_eq!(levels(&model, T0), [300, 0]);
    assert_eq!(
        rejected(&mut model, T0, &sized(100, 601)).limit,
        "input tokens"
    );
    model.finish(T0 + S, answer.ticket, Outcome::Served(used(300, 250, 500)));
    assert_eq!(levels(&model, T0 + S), [50, 500]);
    assert_eq!(
        rejected(&mut model, T0 + S, &sized(100, 601)).limit,
        "output tokens"
    );
}

#[test]
fn provisioned_throughput_refuses_at_full_use() {
    // 100 tokens a second.
    let mut model = provider(json!({"profile": "azure_ptu", "limits": {"tpm": 6_000}}));
    let call = Call {
        cached_tokens: 400,
        ..sized(1_000, 100)
    };
    let first = accepted(&mut model, T0, &call);
    assert_eq!(first.charge.tokens, 600 + 8 * 100);
    for level in [2_800, 4_200, 5_600, 7_000] {
        accepted(&mut model, T0, &call);
        assert_eq!(levels(&model, T0), [level]);
    }
    let refused = rejected(&mut model, T0, &call);
    assert_eq!(refused.wait, Some(10 * S + 1));
    assert_shown(
        &refused.headers,
        &[("retry-after-ms", "10001"), ("retry-after", "11")],
    );
    // 600 + 8 × 20 instead of 1,400.
    model.finish(T0, first.ticket, Outcome::Served(used(1_000, 400, 20)));
    assert_eq!(levels(&model, T0), [6_360]);
}
