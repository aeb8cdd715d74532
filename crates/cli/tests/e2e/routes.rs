//! Where a request goes when the first upstream does not serve it, and what is never done twice.

use serde_json::{Value, json};

use crate::harness::{Answer, Fake, Gateway, chat, python};

/// Two upstreams, a route from the first to the second, and short waits between attempts.
pub(crate) struct Pair {
    pub(crate) first: Fake,
    pub(crate) second: Fake,
    pub(crate) gateway: Gateway,
}

impl Pair {
    /// With `first` and `second` for the settings of the fakes, `limits` for the first account and `more` at the top of the file.
    pub(crate) async fn start(first: &str, second: &str, limits: &str, more: &str) -> Self {
        let first = Fake::start(first).await;
        let second = Fake::start(second).await;
        let limits = if limits.is_empty() {
            String::new()
        } else {
            format!(", limits: [{limits}]")
        };
        let gateway = Gateway::start(&format!(
            "{more}
retry: {{ first: 20ms, max: 40ms }}
accounts:
  a: {{ provider: openai, base_url: {}{limits} }}
  b: {{ provider: openai, base_url: {} }}
deployments: {{ a: {{ account: a, model: m-a, context: 1000 }}, b: {{ account: b, model: m-b }} }}
routes: {{ r: {{ primary: a, fallbacks: [{{ to: b }}] }}, only: {{ primary: a }},
          quick: {{ primary: a, fallbacks: [{{ to: b }}], timeouts: {{ head: 300ms }} }},
          once: {{ primary: a, fallbacks: [{{ to: b, when: [provider_5xx] }}], timeouts: {{ head: 300ms }} }}, back: {{ primary: b, fallbacks: [{{ to: a }}] }} }}
",
            first.base_url(),
            second.base_url()
        ))
        .await;
        Self {
            first,
            second,
            gateway,
        }
    }

    pub(crate) async fn calls(&self) -> (u64, u64) {
        (calls(&self.first).await, calls(&self.second).await)
    }
}

/// How often a fake was called, refusals by its limits left out.
async fn calls(fake: &Fake) -> u64 {
    fake.count("accepted").await
}

pub(crate) fn hello(model: &str, stream: bool) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "hi"}], "stream": stream, "max_tokens": 4})
}

/// `hello` from a client that names `header`.
pub(crate) async fn with(
    gateway: &Gateway,
    body: &Value,
    name: &'static str,
    value: &str,
) -> Answer {
    let mut request = chat(body);
    request.headers_mut().insert(name, value.parse().unwrap());
    gateway.client().send(request).await
}

#[tokio::test]
async fn a_task_goes_before_the_model_and_only_routes_of_the_file_are_tasks() {
    let pair = Pair::start("", "", "", "").await;
    let answer = with(
        &pair.gateway,
        &hello("b", false),
        "x-sluicegate-task",
        "only",
    )
    .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("x-sluicegate-model"), Some("a"));
    let sent = &pair.first.accepted().await[0]["body"]["model"];
    assert_eq!(*sent, "m-a", "the body is written anew for whom it goes to");
    let answer = with(&pair.gateway, &hello("b", false), "x-sluicegate-task", "a").await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (400, "invalid_request")
    );
    let models = pair.gateway.client().get_json("/v1/models").await;
    let names = models["data"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "back", "once", "only", "quick", "r"]);
    assert_eq!(pair.calls().await, (1, 0));
}

/// Each kind of failure of the first upstream leaves the client with an answer of the second.
#[tokio::test]
async fn whatever_keeps_the_first_from_answering_the_second_answers() {
    let no_attempt_there_again = "lanes: { api: { max_attempts: 2 } }";
    let pair = Pair::start("", "", "", no_attempt_there_again).await;
    for (fault, reason) in [
        (json!({"status": 500}), "provider_5xx"),
        (json!({"status": 503, "kind": "html"}), "provider_5xx"),
        (json!({"status": 429}), "rate_limit_after_retry_budget"),
        (
            json!({"status": 429, "kind": "quota"}),
            "primary_unavailable",
        ),
        (json!({"status": 401}), "primary_unavailable"),
        (json!({"before_head": "reset"}), "provider_5xx"),
        (json!({"before_head": "close"}), "provider_5xx"),
        (
            json!({"status": 400, "kind": "context"}),
            "context_length_needed",
        ),
    ] {
        for stream in [false, true] {
            // A new breaker each time: an account without money is left alone.
            let pair = Pair::start("", "", "", no_attempt_there_again).await;
            pair.first.next_fails(&fault).await;
            let answer = pair.gateway.chat(&hello("r", stream)).await;
            assert_eq!(answer.status, 200, "{fault}: {}", answer.text());
            assert_eq!(answer.header("x-sluicegate-model"), Some("b"), "{fault}");
            assert_eq!(answer.number("x-sluicegate-attempts"), 2, "{fault}");
            assert_eq!(
                answer.header("x-sluicegate-fallback"),
                Some(reason),
                "{fault}"
            );
            assert_eq!(pair.calls().await.1, 1, "{fault}");
            let metrics = pair.gateway.metrics().await;
            let labels = [
                ("from_provider", "openai"),
                ("to_provider", "openai"),
                ("reason", reason),
            ];
            assert_eq!(metrics.sum("llm_fallbacks_total", &labels), 1.0, "{fault}");
            pair.gateway.idle().await;
        }
    }
    assert_eq!(pair.calls().await, (0, 0));
}

#[tokio::test]
async fn what_the_caller_caused_is_tried_once_and_nowhere_else() {
    let pair = Pair::start("", "", "", "").await;
    for (calls, fault) in [
        json!({"status": 400}),
        json!({"status": 404}),
        json!({"status": 413}),
        json!({"status": 422}),
        // A filter's word is about the request: where no fallback names it, it stands.
        json!({"status": 400, "kind": "filter"}),
    ]
    .iter()
    .enumerate()
    {
        pair.first.next_fails(fault).await;
        let answer = pair.gateway.chat(&hello("r", false)).await;
        assert_eq!(
            u64::from(answer.status),
            fault["status"].as_u64().unwrap(),
            "{fault}"
        );
        assert_eq!(pair.calls().await, (calls as u64 + 1, 0), "{fault}");
    }
    pair.gateway.idle().await;
}

#[tokio::test]
async fn a_limit_of_ours_that_is_used_up_is_a_fallback_at_once() {
    let one = "{ meter: requests, amount: 1, per: 24h, window: sliding, start: full }";
    let pair = Pair::start("", "", one, "").await;
    for (model, reason) in [("a", None), ("b", Some("capacity"))] {
        let answer = pair.gateway.chat(&hello("r", false)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("x-sluicegate-model"), Some(model));
        assert_eq!(answer.header("x-sluicegate-fallback"), reason);
    }
    assert_eq!(pair.calls().await, (1, 1));
    let answer = pair.gateway.chat(&hello("only", false)).await;
    assert_eq!((answer.status, answer.code().as_str()), (429, "overloaded"));
    assert!(answer.text().contains("requests"), "{}", answer.text());
}

#[tokio::test]
async fn a_request_longer_than_the_context_goes_where_it_fits() {
    let pair = Pair::start("", "", "", "").await;
    let mut body = hello("r", false);
    body["messages"][0]["content"] = json!("word ".repeat(2_000));
    let answer = pair.gateway.chat(&body).await;
    assert_eq!(
        answer.header("x-sluicegate-model"),
        Some("b"),
        "{}",
        answer.text()
    );
    assert_eq!(
        answer.header("x-sluicegate-fallback"),
        Some("context_length_needed")
    );
    assert_eq!(pair.calls().await, (0, 1));
    body["model"] = json!("only");
    assert_eq!(
        pair.gateway.chat(&body).await.status,
        200,
        "where there is no other, an estimate is no reason to refuse"
    );
}

#[tokio::test]
async fn a_reservation_moves_and_does_not_double() {
    let budget = "{ meter: tokens, amount: 1000000, per: 24h, window: sliding, start: full }, { meter: concurrent, amount: 1 }";
    let faults = format!("faults: [{}]", ["{ status: 500 }"; 10].join(", "));
    let pair = Pair::start(
        &faults,
        "",
        budget,
        "lanes: { api: { max_attempts: 2 } }\nbreaker: { consecutive: 0, min_calls: 1000 }",
    )
    .await;
    for _ in 0..10 {
        let answer = pair.gateway.chat(&hello("r", false)).await;
        assert_eq!(
            answer.header("x-sluicegate-model"),
            Some("b"),
            "{}",
            answer.text()
        );
    }
    assert_eq!(pair.calls().await, (10, 10));
    pair.gateway.idle().await;
    let metrics = pair.gateway.metrics().await;
    assert_eq!(
        metrics.sum("llm_tokens_used_total", &[("model", "a")]),
        0.0,
        "nothing was used where it failed"
    );
    assert!(metrics.sum("llm_tokens_used_total", &[("model", "b")]) > 0.0);
    let used = metrics.sum("llm_requests_total", &[("model", "b"), ("status", "200")]);
    assert_eq!(used, 10.0);
}

#[tokio::test]
async fn a_stream_falls_back_before_its_first_content_and_never_after_it() {
    let six = "answer: { output_tokens: 6 }";
    let pair = Pair::start(
        six,
        six,
        "",
        "lanes: { api: { max_attempts: 2 } }\nbreaker: { consecutive: 0 }",
    )
    .await;
    let starts = |answer: &Answer| {
        let events = answer.events();
        let starts = events
            .iter()
            .filter(|event| event.contains(r#""role":"assistant""#));
        starts.count()
    };
    for (served, fault) in [
        json!({"cut_after": 0}),
        json!({"cut_after": 1, "cut": "reset"}),
        json!({"error_after": 1, "kind": "overloaded"}),
    ]
    .iter()
    .enumerate()
    {
        pair.first.next_fails(fault).await;
        let answer = pair.gateway.chat(&hello("r", true)).await;
        assert_eq!(answer.status, 200, "{fault}: {}", answer.text());
        assert_eq!(answer.header("x-sluicegate-model"), Some("b"), "{fault}");
        assert_eq!(starts(&answer), 1, "{fault}: {}", answer.text());
        assert_eq!(answer.events().last().unwrap(), "[DONE]", "{fault}");
        assert_eq!(pair.calls().await.1, served as u64 + 1, "{fault}");
    }
    let (before, served) = pair.calls().await;
    for (calls, fault) in [
        json!({"cut_after": 3}),
        json!({"cut_after": 3, "cut": "reset"}),
        json!({"error_after": 3}),
    ]
    .iter()
    .enumerate()
    {
        pair.first.next_fails(fault).await;
        let answer = pair.gateway.chat(&hello("r", true)).await;
        assert_eq!(answer.header("x-sluicegate-model"), Some("a"), "{fault}");
        assert_eq!(starts(&answer), 1, "{fault}");
        let events = answer.events();
        let errors = events.iter().filter(|event| event.contains(r#""error""#));
        assert_eq!(errors.count(), 1, "{fault}: {events:?}");
        let now = pair.calls().await;
        assert_eq!(
            now,
            (before + calls as u64 + 1, served),
            "{fault}: no further call anywhere"
        );
    }
    pair.gateway.idle().await;
}

#[tokio::test]
async fn a_pool_is_balanced_and_no_key_crosses() {
    let fakes = [
        Fake::start("keys: [one]").await,
        Fake::start("keys: [two]").await,
    ];
    let [first, second] = &fakes;
    let config = |balance: &str, limits: &str| {
        format!(
            "accounts:
  a: {{ provider: openai, base_url: {}, api_key: one{limits} }}
  b: {{ provider: openai, base_url: {}, api_key: two }}
deployments:
  a: {{ account: a, price: {{ input: 1, output: 1 }} }}
  b: {{ account: b, price: {{ input: 2, output: 2 }} }}
routes: {{ r: {{ primary: [b, a], balance: {balance} }} }}
",
            first.base_url(),
            second.base_url()
        )
    };
    let two = ", limits: [{ meter: requests, amount: 2, per: 24h, window: sliding, start: full }]";
    for (balance, limits, expected) in [
        // While the cheaper one has room it serves; then the other one, which is no fallback.
        ("price", two, ["a", "a", "b"]),
        // Both could start at once, and then the cheaper one starts.
        ("earliest", "", ["a", "a", "a"]),
    ] {
        let gateway = Gateway::start(&config(balance, limits)).await;
        for model in expected {
            let mut request = chat(&hello("r", false));
            let no_wait = "0s".parse().unwrap();
            request
                .headers_mut()
                .insert("x-sluicegate-max-wait", no_wait);
            let answer = gateway.client().send(request).await;
            assert_eq!(answer.status, 200, "{balance}: {}", answer.text());
            assert_eq!(
                answer.header("x-sluicegate-model"),
                Some(model),
                "{balance}"
            );
            assert_eq!(answer.header("x-sluicegate-fallback"), None, "{balance}");
        }
        gateway.idle().await;
    }
    // Each upstream is given its own key, also where it comes second.
    let gateway = Gateway::start(&config("price", "")).await;
    first.next_fails(&json!({"status": 503})).await;
    let answer = gateway.chat(&hello("r", false)).await;
    assert_eq!(
        answer.header("x-sluicegate-model"),
        Some("b"),
        "{}",
        answer.text()
    );
    let refused = gateway.metrics().await;
    let refused = refused.sum("sluicegate_upstream_attempts_total", &[("outcome", "auth")]);
    assert_eq!(refused, 0.0, "no key was refused");
}

#[tokio::test]
async fn a_wildcards_models_are_places_of_their_own() {
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "lanes: {{ api: {{ max_attempts: 2 }} }}
accounts: {{ up: {{ provider: openai, base_url: {} }} }}
deployments: {{ \"gpt-*\": {{ account: up, model: \"*\" }} }}
routes: {{ r: {{ primary: gpt-5.5, fallbacks: [{{ to: gpt-5-mini }}] }} }}
",
        fake.base_url()
    ))
    .await;
    fake.next_fails(&json!({"status": 503})).await;
    let answer = gateway.chat(&hello("r", false)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("x-sluicegate-model"), Some("gpt-5-mini"));
    let asked = fake.accepted().await;
    let asked: Vec<&str> = asked
        .iter()
        .map(|call| call["body"]["model"].as_str().unwrap())
        .collect();
    assert_eq!(asked, ["gpt-5.5", "gpt-5-mini"]);
    gateway.idle().await;
}

#[tokio::test]
async fn an_sdk_sees_one_whole_stream_or_an_error() {
    let six = "answer: { output_tokens: 6 }";
    let pair = Pair::start(six, six, "", "lanes: { api: { max_attempts: 2 } }").await;
    let base_url = pair.gateway.base_url();
    for (fault, starts, raised) in [
        (json!({"cut_after": 1, "cut": "reset"}), 1, Value::Null),
        (
            json!({"cut_after": 3, "cut": "reset"}),
            1,
            json!("APIError"),
        ),
    ] {
        pair.first.next_fails(&fault).await;
        let report = python("stream.py", &["--base-url", &base_url, "--model", "r"]).await;
        assert_eq!(report["starts"], starts, "{fault}: {report}");
        assert_eq!(report["raised"], raised, "{fault}: {report}");
    }
    assert_eq!(pair.calls().await, (2, 1), "nobody asked again");
}

#[tokio::test]
async fn after_silence_only_a_fallback_that_may_be_billed_twice_is_tried() {
    let pair = Pair::start("", "", "", "lanes: { api: { max_attempts: 2 } }").await;
    for stream in [false, true] {
        pair.first.next_fails(&json!({"before_head": "hang"})).await;
        let answer = pair.gateway.chat(&hello("quick", stream)).await;
        assert_eq!(
            answer.header("x-sluicegate-model"),
            Some("b"),
            "{}",
            answer.text()
        );
        assert_eq!(answer.header("x-sluicegate-fallback"), Some("timeout"));
    }
    // The time is the route's, the second call the same one's: it is worth one more there.
    for _ in 0..2 {
        pair.first.next_fails(&json!({"before_head": "hang"})).await;
    }
    let answer = pair.gateway.chat(&hello("once", false)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (504, "upstream_timeout")
    );
    assert_eq!(pair.calls().await, (4, 2));
    pair.gateway.idle().await;
    pair.first.in_flight(0).await;
}
