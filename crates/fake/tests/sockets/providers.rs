//! Profiles over the wire: which state a whole answer and a stream show, what is settled and when, and how errors look.

use serde_json::{Value, json};

use crate::support::Fake;

fn question(fake: &Value) -> Value {
    json!({
        "model": "claude-4.8", "max_tokens": 400,
        "messages": [{"role": "user", "content": "x".repeat(400)}],
        "fake": fake,
    })
}

#[tokio::test]
async fn a_whole_answer_shows_what_is_settled_and_a_stream_what_is_not() {
    let fake = Fake::start(
        "provider: { profile: anthropic, limits: [
            { meter: input_tokens, amount: 100000, per: 30d, window: bucket },
            { meter: output_tokens, amount: 50000, per: 30d, window: bucket } ] }",
    )
    .await;
    let wish = json!({"prompt_tokens": 10_000, "cached_tokens": 6_000, "output_tokens": 100});
    let left = |reply: &crate::support::Reply, meter: &str| {
        let name = format!("anthropic-ratelimit-{meter}-tokens-remaining");
        reply.header(&name).unwrap().to_owned()
    };
    let whole = fake.chat(question(&wish)).await;
    assert_eq!(left(&whole, "input"), "96000");
    let mut streamed = question(&wish);
    streamed["stream"] = json!(true);
    let streamed = fake.chat(streamed).await;
    assert_eq!(
        left(&streamed, "input"),
        "86000",
        "nothing is known of the cache yet"
    );
    let stats = fake.stats_until(|stats| stats["in_flight"] == 0).await;
    assert_eq!(stats["limits"][0]["taken"], 8_000);
    assert_eq!(stats["limits"][1]["taken"], 200);
    fake.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_raon_is_given_its_output_back() {
    let fake = Fake::start(
        "provider: { profile: raon, limits: [
            { meter: input_tokens, amount: 1000, per: 30d },
            { meter: output_tokens, amount: 1000, per: 30d } ] }",
    )
    .await;
    let mut call = question(&json!({"output_tokens": 3, "fault": {"hang_after": 2}}));
    call["stream"] = json!(true);
    let connection = fake.write("POST", crate::support::CHAT, &[], &call).await;
    let stats = fake.stats_until(|stats| stats["in_flight"] == 1).await;
    assert_eq!(stats["limits"][1]["taken"], 400);
    drop(connection);
    let stats = fake.stats_until(|stats| stats["aborted"] == 1).await;
    // 404 bytes of content and role.
    assert_eq!(stats["limits"][0]["taken"], 101);
    assert_eq!(stats["limits"][1]["taken"], 0);
    fake.stop().await;
}

#[tokio::test]
async fn what_could_have_been_given_is_told_for_any_time() {
    let fake = Fake::start("provider: { profile: groq, limits: { rpm: 60, tpm: 6000 } }").await;
    let path = "/_stats?from=1000000000&to=31000000000";
    let stats = fake.get(path).await;
    assert_eq!(stats["limits"][0]["theoretical"], 30);
    assert_eq!(stats["limits"][1]["theoretical"], 3_000);
    fake.stop().await;
}

#[tokio::test]
async fn errors_look_as_the_provider_packs_them() {
    for (profile, pointer, expected) in [
        ("openai", "/error/type", json!("server_error")),
        ("azure_ptu", "/error/code", json!("500")),
        ("anthropic", "/error/type", json!("api_error")),
        ("gemini", "/error/status", json!("INTERNAL")),
        (
            "bedrock_runtime",
            "/message",
            json!("The server had an error while processing your request."),
        ),
        ("mistral", "/object", json!("error")),
        ("cerebras", "/type", json!("server_error")),
        ("xai", "/code", json!("server_error")),
        ("openrouter", "/error/code", json!(500)),
        ("naver", "/status/code", json!("50000")),
        ("vllm", "/error/code", json!(500)),
        ("tgi", "/error_type", json!("incomplete_generation")),
    ] {
        let fake = Fake::start(&format!("provider: {{ profile: {profile} }}")).await;
        let reply = fake
            .chat(question(&json!({"fault": {"status": 500}})))
            .await;
        assert_eq!(reply.status, 500, "{profile}");
        assert_eq!(reply.json().pointer(pointer), Some(&expected), "{profile}");
        if profile == "bedrock_runtime" {
            assert_eq!(
                reply.header("x-amzn-errortype"),
                Some("InternalServerException")
            );
        }
        fake.stop().await;
    }
}

#[tokio::test]
async fn what_never_fits_has_the_providers_status() {
    for (profile, status) in [("openai", 429), ("groq", 413), ("raon", 400)] {
        let settings =
            format!("provider: {{ profile: {profile}, limits: {{ tpm: 300, otpm: 300 }} }}");
        let fake = Fake::start(&settings).await;
        assert_eq!(
            fake.chat(question(&json!({}))).await.status,
            status,
            "{profile}"
        );
        fake.stop().await;
    }
}
