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
