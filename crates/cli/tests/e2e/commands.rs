//! The command line: what it prints, where, and with which exit code it ends.

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::harness::{Client, Folder, Gateway, Output, Process, chat, sluicegate};

const GOOD: &str = "accounts: { up: { provider: openai, base_url: \"http://127.0.0.1:1/v1\", limits: { rpm: 60, tpm: 1000 } } }\n\
                    deployments: { m: { account: up }, n: { account: up } }\n";
/// Three errors in three lines.
const BROKEN: &str = "server: { listen: nowhere }\n\
                      accounts: { up: { provider: openai, base_url: \"http://127.0.0.1:1/v1\", limits: { rmp: 60 } } }\n\
                      deployments: { m: { account: down } }\n";

async fn run(arguments: &[&str]) -> Output {
    Output::of(&mut sluicegate(arguments)).await
}

#[tokio::test]
async fn check_accepts_a_good_file() {
    let folder = Folder::new();
    let path = folder.write("good.yaml", GOOD);
    let path = path.to_str().unwrap();
    let output = run(&["check", "--config", path]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output
            .out
            .contains("valid; accounts: 1, deployments: 2, limits: 2"),
        "{output:?}"
    );
    assert_eq!(output.err, "");
    let output = run(&["check", "--json", "--config", path]).await;
    let verdict: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(
        verdict,
        json!({
            "ok": true, "providers": [], "accounts": 1, "deployments": 2, "limits": 2, "accounts_without_limits": [],
        })
    );
}

#[tokio::test]
async fn check_tells_all_errors_of_a_broken_file_with_their_lines() {
    let folder = Folder::new();
    let path = folder.write("broken.yaml", BROKEN);
    let path = path.to_str().unwrap();
    let output = run(&["check", "--config", path]).await;
    assert_eq!(output.code, Some(1), "{output:?}");
    assert_eq!(output.out, "");
    for (line, word) in [(1, "nowhere"), (2, "rpm"), (3, "down")] {
        let place = format!("broken.yaml:{line}");
        assert!(
            output
                .err
                .lines()
                .any(|told| told.contains(&place) && told.contains(word)),
            "{place} {word}: {}",
            output.err
        );
    }
    let output = run(&["check", "--json", "--config", path]).await;
    assert_eq!(output.code, Some(1), "{output:?}");
    let verdict: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(verdict["ok"], false);
    assert!(
        verdict["errors"].as_array().unwrap().len() >= 3,
        "{verdict}"
    );
}

#[tokio::test]
async fn check_prints_its_schema() {
    let output = run(&["check", "--schema"]).await;
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""));
    let schema: Value = serde_json::from_str(&output.out).unwrap();
    assert!(schema["$schema"].is_string(), "{schema}");
    assert!(schema["properties"]["deployments"].is_object(), "{schema}");
    assert_eq!(
        schema["additionalProperties"], false,
        "unknown keys are refused"
    );
}

#[tokio::test]
async fn wrong_usage_ends_with_2_and_says_what_is_right() {
    let folder = Folder::new();
    let broken = folder.write("broken.yaml", BROKEN);
    let broken = broken.to_str().unwrap();
    let fakes = folder.write("fake.yaml", "answer: { head_msec: 1 }\n");
    let fakes = fakes.to_str().unwrap();
    for (arguments, words) in [
        (&["serv"][..], &["serve"][..]),
        (&[], &["serve", "fake", "check"]),
        (&["serve", "--listne", "127.0.0.1:0"], &["--listen"]),
        (&["serve", "--listen", "nowhere"], &["nowhere"]),
        (&["check"], &["--config"]),
        (
            &["serve", "--config", "/nowhere/gateway.yaml"],
            &["/nowhere/gateway.yaml"],
        ),
        (
            &["serve", "--config", broken],
            &["broken.yaml:1", "broken.yaml:2", "broken.yaml:3"],
        ),
        (
            &["fake", "--config", fakes, "--listen", "127.0.0.1:0"],
            &["head_msec"],
        ),
        (&["--log", "a=b=c", "check", "--schema"], &["--log"]),
    ] {
        let output = run(arguments).await;
        assert_eq!(output.code, Some(2), "{arguments:?}: {output:?}");
        for word in words {
            assert!(
                output.err.contains(word),
                "{arguments:?}, {word}: {}",
                output.err
            );
        }
    }
}

#[tokio::test]
async fn version_and_help_are_told_on_stdout() {
    let output = run(&["--version"]).await;
    assert_eq!(output.code, Some(0));
    assert_eq!(
        output.out,
        concat!("sluicegate ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let output = run(&["serve", "--help"]).await;
    assert_eq!(output.code, Some(0));
    assert!(output.out.contains("--insecure"), "{output:?}");
}

#[tokio::test]
async fn an_address_that_others_reach_needs_keys_or_the_word_of_the_operator() {
    let output = run(&["serve", "--listen", "0.0.0.0:0"]).await;
    assert_eq!(output.code, Some(2), "{output:?}");
    assert_eq!(output.out, "");
    for word in ["0.0.0.0:0", "--insecure", "127.0.0.1", "no keys"] {
        assert!(output.err.contains(word), "{word}: {}", output.err);
    }
}

#[tokio::test]
async fn a_taken_address_says_how_to_choose_another() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(&["serve", "--listen", &address]).await;
    assert_eq!(output.code, Some(1), "{output:?}");
    for word in [address.as_str(), "--listen", "port 0"] {
        assert!(output.err.contains(word), "{word}: {}", output.err);
    }
    let output = run(&["fake", "--listen", &address]).await;
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.err.contains(&address), "{}", output.err);
}

#[tokio::test]
async fn without_a_configuration_it_serves_and_shows_how_to_ask() {
    let gateway = Gateway::unconfigured().await;
    gateway.process.says("-d '").await;
    let said = gateway.process.said();
    assert!(said.contains("built-in fake upstream"), "{said}");
    assert!(
        said.contains(&format!(
            "OpenAI(base_url=\"http://{}/v1\", api_key=\"any\")",
            gateway.address
        )),
        "{said}"
    );
    // The very lines that are printed, as one pastes them.
    let start = said.find("curl ").unwrap();
    let curl = &said[start..];
    let output = Output::of(Command::new("sh").args([
        "-c",
        &format!("{}\n", curl.trim_end()).replacen(
            "curl ",
            "curl --silent --show-error --fail --noproxy '*' ",
            1,
        ),
    ]))
    .await;
    assert_eq!(output.code, Some(0), "{curl}: {output:?}");
    let answer: Value = serde_json::from_str(&output.out).unwrap();
    assert!(
        answer["choices"][0]["message"]["content"].is_string(),
        "{answer}"
    );
    gateway.idle().await;
}

#[tokio::test]
async fn the_built_in_fake_and_what_is_counted_for_it_agree() {
    let gateway = Gateway::unconfigured().await;
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let client = gateway.client();
            let body = json!({"model": "gpt-5.5", "messages": [{"role": "user", "content": number.to_string()}], "max_tokens": 9});
            tokio::spawn(async move { client.send(chat(&body)).await })
        })
        .collect();
    let mut waits_ms = Vec::new();
    for call in calls {
        let answer = call.await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        waits_ms.push(answer.number("x-sluicegate-queue-ms"));
    }
    // Five in any second: the last five start in the fourth.
    waits_ms.sort_unstable();
    assert!(waits_ms[4] < 1_000, "{waits_ms:?}");
    assert!(waits_ms[15] >= 2_500, "{waits_ms:?}");
    let metrics = gateway.metrics().await;
    assert!(
        !metrics.has("llm_rate_limit_hits_total"),
        "the fake refused nothing"
    );
    assert_eq!(
        metrics.sum("llm_requests_total", &[("status", "200")]),
        20.0
    );
    gateway.idle().await;
}

#[tokio::test]
async fn a_key_in_the_environment_becomes_an_account() {
    let mut command = sluicegate(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("OPENAI_API_KEY", "sk-secret");
    let process = Process::start("gateway", &mut command);
    process.says("keys in the environment").await;
    let line = process.says("listens on http://").await;
    let address = line.split("http://").nth(1).unwrap().parse().unwrap();
    let models = Client::new(address).get_json("/v1/models").await;
    assert_eq!(models["data"][0]["owned_by"], "openai", "{models}");
    assert!(!process.said().contains("secret"));
}

#[tokio::test]
async fn log_lines_can_be_json() {
    let mut command = sluicegate(&["--log-format", "json", "serve", "--listen", "127.0.0.1:0"]);
    let mut process = Process::start("gateway", &mut command);
    process.says("listens on").await;
    process.terminate();
    let line = process.complains("draining").await;
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["level"], "INFO", "{line}");
    assert_eq!(process.ended().await.code(), Some(0));
}
