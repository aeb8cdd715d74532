//! Providers that only the configuration file knows: served like those of the catalog.

use http::HeaderValue;
use serde_json::{Value, json};

use crate::harness::{Answer, Fake, Folder, Gateway, Output, chat, sluicegate};

const LAB: &str = "
providers:
  lab:
    like: openai
    name: The lab
    auth: { header: x-api-key }
    paths: { chat: /openai/v1/chat/completions }
    limits:
      rpm: { window: fixed, phase: calendar, per: 300d, start: full }
    errors:
      - { status: [403], class: invalid }
";

fn hello() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]})
}

/// A call that would rather not wait.
async fn at_once(gateway: &Gateway) -> Answer {
    let mut request = chat(&hello());
    let wait = HeaderValue::from_static("100ms");
    request.headers_mut().insert("x-sluicegate-max-wait", wait);
    gateway.client().send(request).await
}

#[tokio::test]
async fn a_provider_of_the_file_is_called_and_counted_as_the_file_says() {
    let fake = Fake::start("keys: [lab-key]").await;
    let gateway = Gateway::start(&format!(
        "{LAB}
accounts:
  up: {{ provider: lab, base_url: \"http://{}\", api_key: lab-key, limits: {{ rpm: 2 }} }}
deployments: {{ m: {{ account: up }} }}
",
        fake.address
    ))
    .await;
    for _ in 0..2 {
        let answer = at_once(&gateway).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    // Like OpenAI's own the window would give one at first, and the next after half a minute.
    let answer = at_once(&gateway).await;
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    let accepted = fake.accepted().await;
    assert_eq!(accepted.len(), 2);
    for call in &accepted {
        assert_eq!(call["headers"]["x-api-key"], "***key", "{call}");
        assert_eq!(call["path"], "/openai/v1/chat/completions", "{call}");
        assert_eq!(call["headers"]["authorization"], Value::Null, "{call}");
    }
    let metrics = gateway.metrics().await;
    let served = metrics.sum("llm_requests_total", &[("provider", "lab")]);
    assert!(served >= 2.0, "{served}");
}

#[tokio::test]
async fn check_names_the_providers_of_the_file_and_the_line_of_what_is_wrong() {
    let folder = Folder::new();
    let rest = "accounts: { up: { provider: lab, base_url: \"http://127.0.0.1:1\" } }\n\
                deployments: { m: { account: up } }\n";
    let good = folder.write("good.yaml", &format!("{LAB}{rest}"));
    let check = async |path: &std::path::Path| {
        let path = path.to_str().unwrap();
        Output::of(&mut sluicegate(&["check", "--config", path])).await
    };
    let output = check(&good).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.out.contains("providers of its own: lab"),
        "{output:?}"
    );

    let broken = LAB
        .replace("x-api-key", "X-Api-Key")
        .replace("like: openai", "like: opena")
        .replace("per: 300d", "per: 300");
    let broken = folder.write("broken.yaml", &format!("{broken}{rest}"));
    let output = check(&broken).await;
    assert_eq!(output.code, Some(1), "{output:?}");
    for told in [
        "broken.yaml:4:11: providers.lab.like: the catalog has no \"opena\"",
        "broken.yaml:9:51: providers.lab.limits.rpm.per: \"300\" has no unit",
    ] {
        assert!(output.err.contains(told), "{told}: {}", output.err);
    }
}

/// What a client is told once its call meets the provider's own refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    /// To wait for as long as the provider said.
    Hint,
    /// To wait for a moment, since the provider said nothing.
    Moment,
    /// That the provider is short of capacity.
    Unavailable,
}

/// By row, in the order of the catalog.
const REFUSALS: [(&str, Told); 22] = [
    ("anthropic", Told::Hint),
    ("azure", Told::Hint),
    ("azure_ptu", Told::Hint),
    ("bedrock", Told::Moment),
    ("bedrock_mantle", Told::Moment),
    ("cerebras", Told::Moment),
    ("cohere", Told::Moment),
    ("deepseek", Told::Moment),
    ("fireworks", Told::Moment),
    ("gemini", Told::Hint),
    ("groq", Told::Hint),
    ("mistral", Told::Hint),
    ("naver", Told::Moment),
    ("openai", Told::Hint),
    ("openrouter", Told::Hint),
    ("raon", Told::Hint),
    ("tgi", Told::Unavailable),
    ("together", Told::Hint),
    ("upstage", Told::Hint),
    ("vertex", Told::Moment),
    ("vllm", Told::Unavailable),
    ("xai", Told::Moment),
];

#[tokio::test]
async fn every_providers_refusal_is_understood_in_openais_shape() {
    let rows = sluicegate_catalog::providers().iter();
    let rows: Vec<&str> = rows.map(|row| row.id.as_str()).collect();
    assert_eq!(rows, REFUSALS.map(|(row, _)| row));
    let never_bind = ["requests", "tokens", "input_tokens", "output_tokens"]
        .map(never_binds)
        .join(", ");
    for (row, told) in REFUSALS {
        let profile = match row {
            "bedrock" => "bedrock_runtime",
            row => row,
        };
        // One call is let in; the next would have to wait for an hour, or for the first to end. The gateway is told of limits
        // that never bind, so that it learns none and the next call meets the provider's own refusal.
        let counts_slots = matches!(row, "deepseek" | "tgi" | "vllm");
        let limits = if counts_slots {
            "concurrent: 1"
        } else {
            "limits: [{ meter: requests, amount: 1, per: 1h, window: bucket }]"
        };
        let fake = Fake::start(&format!("provider: {{ profile: {profile}, {limits} }}")).await;
        let gateway = Gateway::start(&format!(
            "
providers:
  {row}: {{ dialect: openai, auth: {{ header: x-api-key }}, paths: {{ chat: /v1/chat/completions }} }}
accounts: {{ up: {{ provider: {row}, base_url: \"http://{}\", limits: [{never_bind}] }} }}
deployments: {{ m: {{ account: up }} }}
lanes: {{ api: {{ max_attempts: 1 }} }}
",
            fake.address
        ))
        .await;
        let first = if counts_slots {
            let mut body = hello();
            body["stream"] = json!(true);
            body["fake"] = json!({"fault": {"hang_after": 3}});
            Some(gateway.client().open(chat(&body)).await.unwrap())
        } else {
            assert_eq!(at_once(&gateway).await.status, 200, "{row}");
            None
        };
        let answer = at_once(&gateway).await;
        let wait_ms = answer.number("retry-after-ms");
        let got = match (answer.status, wait_ms) {
            (429, 2_000) => Told::Moment,
            (429, 2_001..) => Told::Hint,
            (503, _) => Told::Unavailable,
            other => panic!("{row}: {other:?}: {}", answer.text()),
        };
        assert_eq!(got, told, "{row}: {wait_ms} ms: {}", answer.text());
        assert_eq!(fake.count("accepted").await, 1, "{row}");
        assert_eq!(fake.count("rejected").await, 1, "{row}");
        drop(first);
    }
}

/// A limit of a period that no provider tells of.
fn never_binds(meter: &str) -> String {
    format!("{{ meter: {meter}, amount: 1000000000, per: 100d, window: sliding, start: full }}")
}
