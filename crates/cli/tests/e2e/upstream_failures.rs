//! What is left of an upstream's failure: a cause that the caller can act on, and nothing held.

use http::HeaderValue;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::harness::{Expected, Fake, Gateway, chat, check_error, python};

const REQUESTS: &str = "{ meter: requests, amount: 10000, per: 24h, window: sliding, start: full }";
const SLOTS: &str = "{ meter: concurrent, amount: 4 }";

async fn gateway(fake: &Fake) -> Gateway {
    limited(fake, &[REQUESTS, SLOTS]).await
}

async fn limited(fake: &Fake, limits: &[&str]) -> Gateway {
    Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: {}, limits: [{}] }} }}
deployments: {{ m: {{ account: up }} }}
lanes: {{ api: {{ max_attempts: 1 }} }}
",
        fake.base_url(),
        limits.join(", ")
    ))
    .await
}

/// What an upstream may answer, and what is left of it.
#[tokio::test]
async fn an_upstreams_failure_is_told_by_its_cause() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let upstream = |status, code, says| Expected {
        status,
        code,
        kind: "api_error",
        param: None,
        says,
    };
    let overloaded = |says| Expected {
        kind: "rate_limit_error",
        ..upstream(429, "overloaded", says)
    };
    let rows = [
        (
            "401",
            json!({"status": 401}),
            upstream(502, "upstream_auth", "m failed with status 401"),
        ),
        (
            "403",
            json!({"status": 403}),
            upstream(502, "upstream_auth", "403"),
        ),
        (
            "no money",
            json!({"status": 429, "kind": "quota"}),
            upstream(502, "upstream_billing", "quota"),
        ),
        (
            "429",
            json!({"status": 429, "retry_after_ms": 300}),
            overloaded("429"),
        ),
        (
            "slow down",
            json!({"status": 429, "kind": "slow_down", "retry_after_ms": 300}),
            overloaded("slow_down"),
        ),
        (
            "500",
            json!({"status": 500}),
            upstream(502, "upstream_error", "500"),
        ),
        (
            "502 of a proxy",
            json!({"status": 502, "kind": "html"}),
            upstream(502, "upstream_error", "502"),
        ),
        (
            "503",
            json!({"status": 503}),
            upstream(503, "upstream_unavailable", "overloaded"),
        ),
        (
            "500, no body",
            json!({"status": 500, "kind": "empty"}),
            upstream(502, "upstream_error", "500"),
        ),
        (
            "500, junk",
            json!({"status": 500, "kind": "junk"}),
            upstream(502, "upstream_error", "500"),
        ),
        (
            "cut JSON",
            json!({"truncate": 5}),
            upstream(502, "upstream_error", "no whole JSON"),
        ),
        (
            "no body",
            json!({"truncate": 1_000_000, "content_type": "text/plain"}),
            upstream(502, "upstream_error", "an empty body"),
        ),
        (
            "a page",
            json!({"truncate": 5, "content_type": "text/html"}),
            upstream(502, "upstream_error", "no whole JSON"),
        ),
        (
            "no object",
            json!({"body": "null"}),
            upstream(502, "upstream_error", "no JSON object"),
        ),
        (
            "429 told with 200",
            json!({"body": r#"{"error":{"message":"too fast","code":429}}"#}),
            overloaded("m failed with status 429"),
        ),
        (
            "a failure told with 200",
            json!({"body": r#"{"error":{"message":"it broke","code":null}}"#}),
            upstream(502, "upstream_error", "m failed: it broke"),
        ),
        (
            "closed",
            json!({"before_head": "close"}),
            upstream(502, "upstream_error", "m broke off"),
        ),
        (
            "reset",
            json!({"before_head": "reset"}),
            upstream(502, "upstream_error", "m broke off"),
        ),
        (
            "closed in its body",
            json!({"cut_after": 9}),
            upstream(502, "upstream_error", "m broke off"),
        ),
    ];
    let calls = rows.len();
    for (name, fault, expected) in rows {
        for stream in [false, true] {
            if stream && fault.get("status").is_none() {
                // These are about whole bodies; streams have tests of their own.
                continue;
            }
            fake.next_fails(&fault).await;
            let answer = gateway.chat(&hello(stream)).await;
            check_error(name, &answer, &expected);
            assert_eq!(
                fake.client().get_json("/_faults").await["queued"],
                0,
                "{name}: sent once"
            );
        }
    }
    assert!(fake.count("accepted").await >= calls as u64);
    gateway.idle().await;
    let metrics = gateway.metrics().await;
    let used = metrics.sum("sluicegate_limit_used", &[("meter", "requests")]);
    let accepted = fake.count("accepted").await;
    assert_eq!(
        used, accepted as f64,
        "what was sent stays counted, as the provider does"
    );
    gateway.answers("m").await;
}

fn hello(stream: bool) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": stream})
}

#[tokio::test]
async fn the_wait_that_an_upstream_asks_for_is_passed_on() {
    let fake = Fake::start("").await;
    for (hint, waits_ms) in [
        (json!({}), 2_000..=2_000),
        (json!({"retry_after": 3}), 3_000..=3_000),
        (json!({"retry_after_ms": 1_500}), 1_500..=1_500),
        // Where both are there, the finer one is meant.
        (
            json!({"retry_after": 2, "retry_after_ms": 1_200}),
            1_200..=1_200,
        ),
        // A date has whole seconds, the present one has begun.
        (json!({"retry_after": "date:+3"}), 1_000..=3_000),
        (json!({"retry_after": "soon"}), 2_000..=2_000),
        (json!({"retry_after": "-5"}), 2_000..=2_000),
        (json!({"retry_after": 120}), 120_000..=120_000),
        (json!({"retry_after": "9".repeat(30)}), 2_000..=86_400_000),
    ] {
        for status in [429, 503] {
            // No window that a refusal could close; so it is the deployment that is left alone, and each of these meets another.
            let gateway = limited(&fake, &[SLOTS]).await;
            let mut fault = hint.clone();
            fault["status"] = json!(status);
            fake.next_fails(&fault).await;
            let answer = gateway.chat(&hello(false)).await;
            assert_eq!(answer.status, status, "{fault}: {}", answer.text());
            let millis = answer.number("retry-after-ms");
            assert!(waits_ms.contains(&millis), "{fault}: {millis} ms");
            assert_eq!(
                answer.number("retry-after"),
                millis.div_ceil(1_000),
                "{fault}"
            );
            let should_retry = (millis > 60_000).then_some("false");
            assert_eq!(answer.header("x-should-retry"), should_retry, "{fault}");
            gateway.idle().await;
        }
    }
}

#[tokio::test]
async fn a_limit_that_an_upstream_says_is_full_is_left_alone_for_as_long_as_it_says() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    // Long enough for a busy machine to ask again before it is over.
    fake.next_fails(&json!({"status": 429, "retry_after_ms": 3_000}))
        .await;
    assert_eq!(gateway.chat(&hello(false)).await.status, 429);
    let mut impatient = chat(&hello(false));
    let no_wait = HeaderValue::from_static("0s");
    impatient
        .headers_mut()
        .insert("x-sluicegate-max-wait", no_wait);
    let answer = gateway.client().send(impatient).await;
    let code = &answer.json()["error"]["code"];
    assert_eq!(code, "overloaded", "{}", answer.text());
    assert!((1..=3_000).contains(&answer.number("retry-after-ms")));
    assert_eq!(gateway.chat(&hello(false)).await.status, 200);
    // What was refused here never left, and what waited left when the provider had said.
    let arrived: Vec<u64> = fake
        .accepted()
        .await
        .iter()
        .map(|call| call["arrived_unix_ns"].as_u64().unwrap())
        .collect();
    assert_eq!(arrived.len(), 2, "{arrived:?}");
    assert!(arrived[1] - arrived[0] >= 3_000_000_000, "{arrived:?}");
    gateway.idle().await;
}

#[tokio::test]
async fn what_only_the_caller_can_mend_passes_unchanged() {
    let fake = Fake::start("models: [m]").await;
    let gateway = gateway(&fake).await;
    for fault in [
        json!({"status": 400, "kind": "context"}),
        json!({"status": 400, "kind": "filter"}),
        json!({"status": 400}),
        json!({"status": 422}),
    ] {
        fake.next_fails(&fault).await;
        let direct = fake.client().send(chat(&hello(false))).await;
        fake.next_fails(&fault).await;
        let through = gateway.chat(&hello(false)).await;
        assert_eq!(through.status, direct.status, "{fault}");
        assert_eq!(through.text(), direct.text(), "{fault}");
        assert_eq!(
            through.header("content-type"),
            direct.header("content-type"),
            "{fault}"
        );
    }
    gateway.idle().await;
}

/// A caller's fault that is told with a success gets the status that it should have had; a response that says of itself that it
/// failed stays what its SDK reads.
#[tokio::test]
async fn what_only_the_caller_can_mend_passes_also_where_it_is_told_with_a_success() {
    let fake = Fake::start("").await;
    let gateway = gateway(&fake).await;
    let body = r#"{"error":{"message":"no such field","code":400}}"#;
    for stream in [false, true] {
        fake.next_fails(&json!({"body": body, "plain": true})).await;
        let answer = gateway.chat(&hello(stream)).await;
        assert_eq!((answer.status, &*answer.text()), (400, body));
    }
    let failed = |code: &str| {
        json!({"id": "resp_1", "object": "response", "status": "failed", "output": [],
            "error": {"code": code, "message": "no"}})
        .to_string()
    };
    let asked = || {
        let mut request = chat(&json!({"model": "m", "input": "hi"}));
        *request.uri_mut() = http::Uri::from_static("/v1/responses");
        request
    };
    let body = failed("invalid_prompt");
    fake.next_fails(&json!({"body": body})).await;
    let answer = gateway.client().send(asked()).await;
    assert_eq!((answer.status, &*answer.text()), (200, &*body));
    let body = failed("server_error");
    fake.next_fails(&json!({"body": body})).await;
    let answer = gateway.client().send(asked()).await;
    assert_eq!(answer.status, 502, "{}", answer.text());
    assert!(
        answer.text().contains("(server_error): no"),
        "{}",
        answer.text()
    );
    gateway.idle().await;
    let metrics = gateway.metrics().await;
    for (outcome, times) in [
        ("invalid", 2.0),
        ("policy", 1.0),
        ("server", 1.0),
        ("ok", 0.0),
    ] {
        let told = metrics.sum(
            "sluicegate_upstream_attempts_total",
            &[("outcome", outcome)],
        );
        assert_eq!(told, times, "{outcome}");
    }
}

#[tokio::test]
async fn a_stream_that_fails_before_its_first_content_is_a_status_and_later_an_event() {
    let fake = Fake::start("answer: { output_tokens: 6 }").await;
    let gateway = gateway(&fake).await;
    for (fault, code) in [
        (json!({"cut_after": 0}), "upstream_error"),
        (json!({"cut_after": 1, "cut": "reset"}), "upstream_error"),
        (
            json!({"error_after": 1, "kind": "overloaded"}),
            "upstream_unavailable",
        ),
    ] {
        fake.next_fails(&fault).await;
        let answer = gateway.chat(&hello(true)).await;
        assert!(matches!(answer.status, 502 | 503), "{fault}: {answer:?}");
        assert_eq!(answer.code(), code, "{fault}");
    }
    for fault in [
        json!({"cut_after": 3}),
        json!({"cut_after": 3, "cut": "reset"}),
        json!({"error_after": 3}),
        // The end is there, the answer's is not.
        json!({"cut_after": 5, "cut": "close"}),
    ] {
        fake.next_fails(&fault).await;
        let answer = gateway.chat(&hello(true)).await;
        assert_eq!(answer.status, 200, "{fault}: {}", answer.text());
        let events = answer.events();
        assert!(
            !events.contains(&"[DONE]".to_owned()),
            "{fault}: {events:?}"
        );
        let last: Value = serde_json::from_str(events.last().unwrap()).unwrap();
        assert!(last["error"]["message"].is_string(), "{fault}: {events:?}");
        assert!(
            events.len() >= 3,
            "{fault}: what came before is there: {events:?}"
        );
    }
    gateway.idle().await;
    gateway.answers("m").await;
}

#[tokio::test]
async fn an_answer_that_came_whole_is_the_stream_that_was_asked_for() {
    let fake = Fake::start("answer: { output_tokens: 6 }").await;
    let gateway = gateway(&fake).await;
    fake.next_fails(&json!({"plain": true})).await;
    let answer = gateway.chat(&hello(true)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        answer.header("content-type"),
        Some("text/event-stream; charset=utf-8")
    );
    let events = answer.events();
    assert_eq!(events.last().unwrap(), "[DONE]", "{events:?}");
    let chunk = |event: &String| serde_json::from_str::<Value>(event).ok();
    let chunks: Vec<Value> = events.iter().filter_map(chunk).collect();
    let content = |chunk: &Value| {
        chunk["choices"][0]["delta"]["content"]
            .as_str()
            .map(str::to_owned)
    };
    let text: String = chunks.iter().filter_map(content).collect();
    assert!(!text.is_empty(), "{events:?}");
    let reasons = chunks
        .iter()
        .map(|chunk| &chunk["choices"][0]["finish_reason"]);
    assert_eq!(
        reasons.filter(|reason| reason.is_string()).count(),
        1,
        "{events:?}"
    );
    gateway.idle().await;
}

/// A success that holds no answer is none, whatever it calls itself: it is sent again.
#[tokio::test]
async fn a_success_without_an_answer_is_retried() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "retry: {{ first: 20ms, max: 40ms }}
accounts: {{ up: {{ provider: openai, base_url: {} }} }}
deployments: {{ m: {{ account: up }} }}
",
        fake.base_url()
    ))
    .await;
    for fault in [
        json!({"status": 204, "kind": "empty"}),
        json!({"truncate": 1_000_000, "headers": {"content-encoding": "gzip"}}),
        json!({"body": "[]"}),
        json!({"body": r#"{"error":{"message":"upstream is busy","code":503}}"#}),
    ] {
        fake.next_fails(&fault).await;
        let answer = gateway.chat(&hello(false)).await;
        assert_eq!(answer.status, 200, "{fault}: {}", answer.text());
        assert_eq!(answer.number("x-sluicegate-attempts"), 2, "{fault}");
        assert!(answer.text().contains("choices"), "{fault}");
    }
    gateway.idle().await;
}

#[tokio::test]
async fn an_upstream_that_is_down_is_told_as_such_also_to_sdks() {
    let fake = Fake::start("").await;
    // Bound and dropped: nobody listens there, and nobody else is given it soon.
    let down = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let gateway = Gateway::start(&format!(
        "accounts:
  up: {{ provider: openai, base_url: {} }}
  down: {{ provider: openai, base_url: \"http://{down}/v1\", limits: [{{ meter: requests, amount: 100, per: 24h, window: sliding, start: full }}] }}
deployments:
  gpt-5.5: {{ account: up }}
  gone: {{ account: down }}
lanes: {{ api: {{ max_attempts: 1 }} }}
",
        fake.base_url()
    ))
    .await;
    let mut body = hello(false);
    body["model"] = json!("gone");
    let expected = Expected {
        status: 503,
        code: "upstream_unavailable",
        kind: "api_error",
        param: None,
        says: "gone cannot be reached",
    };
    check_error("down", &gateway.chat(&body).await, &expected);
    python(
        "errors.py",
        &["--base-url", &gateway.base_url(), "--down-model", "gone"],
    )
    .await;
    gateway.idle().await;
    assert_eq!(
        gateway.metrics().await.sum("sluicegate_limit_used", &[]),
        0.0,
        "what was never sent costs nothing"
    );
}
