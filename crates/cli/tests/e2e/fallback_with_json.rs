//! A conversation with tools that is to end in JSON, which OpenAI cannot go on with: another provider does, and OpenAI's SDK sees no difference.
//!
//! The first upstream fails in one of its ways; the second is a Claude that follows schemas, or an older one at Amazon, which has to
//! be asked in words. What the SDK's user sees is checked by the script, and held here against what the upstreams know.

use serde_json::{Value, json};

use crate::harness::{Fake, Gateway, python};

/// The models of the first upstream fail as they are called.
const FAULTS: &str = "
faults:
  - { model: busy, status: 503, kind: overloaded, times: 1000 }
  - { model: broken, status: 500, kind: server, times: 1000 }
";

/// The usage that the second upstream reports.
const PROMPT_TOKENS: u64 = 1_000;
const CACHED_TOKENS: u64 = 600;

struct World {
    fake: Fake,
    gateway: Gateway,
}

impl World {
    /// Routes are named after the first upstream's failure and the second one.
    async fn start() -> Self {
        let fake = Fake::start(FAULTS).await;
        let gateway = Gateway::start(&format!(
            "retry: {{ first: 10ms, max: 20ms }}
lanes: {{ api: {{ max_attempts: 2 }} }}
breaker: {{ consecutive: 1000, min_calls: 1000 }}
accounts:
  openai: {{ provider: openai, base_url: \"http://{0}\", api_key: ours }}
  anthropic: {{ provider: anthropic, base_url: \"http://{0}\", api_key: theirs }}
  amazon: {{ provider: bedrock, base_url: \"http://{0}\", region: us-east-1, api_key: its }}
deployments:
  busy: {{ account: openai }}
  broken: {{ account: openai }}
  claude: {{ account: anthropic, model: claude-sonnet-4-6 }}
  claude-at-amazon: {{ account: amazon, model: us.anthropic.claude-sonnet-4-6 }}
  older: {{ account: amazon, model: \"us.anthropic.claude-sonnet-4-20250514-v1:0\" }}
routes:
  busy-then-claude: {{ primary: busy, fallbacks: [{{ to: claude }}] }}
  broken-then-claude: {{ primary: broken, fallbacks: [{{ to: claude }}] }}
  busy-then-claude-at-amazon: {{ primary: busy, fallbacks: [{{ to: claude-at-amazon }}] }}
  busy-then-older: {{ primary: busy, fallbacks: [{{ to: older }}], lossy: allow }}
",
            fake.address
        ))
        .await;
        Self { fake, gateway }
    }

    /// What a user of the SDK sees on `route`.
    async fn seen(&self, route: &str, play: &Play) {
        let base_url = self.gateway.base_url();
        let mut wish = json!({
            "json": play.json, "prompt_tokens": PROMPT_TOKENS, "cached_tokens": CACHED_TOKENS
        });
        if !play.calls_tools {
            wish["tools"] = json!(0);
        }
        let (wish, jobs) = (wish.to_string(), play.jobs.join(","));
        let numbers =
            [PROMPT_TOKENS, CACHED_TOKENS, play.attempts].map(|number| number.to_string());
        let [prompt, cached, attempts] = &numbers;
        let arguments = [
            ("--base-url", base_url.as_str()),
            ("--model", route),
            ("--jobs", &jobs),
            ("--wish", &wish),
            ("--answers", play.answers),
            ("--attempts", attempts),
            ("--prompt-tokens", prompt),
            ("--cached-tokens", cached),
        ];
        let arguments: Vec<&str> = arguments
            .iter()
            .flat_map(|(name, value)| [*name, value])
            .collect();
        let report = python("openai_with_tools_and_json.py", &arguments).await;
        self.has_the_usage_of_the_last_call(&report).await;
        self.gateway.idle().await;
    }

    /// The output that the SDK counted is that of the answer that it got.
    async fn has_the_usage_of_the_last_call(&self, report: &Value) {
        let accepted = self.fake.accepted().await;
        for job in ["parsed", "streamed"] {
            let Some(seen) = report.get(format!("{job}: output_tokens")) else {
                continue;
            };
            let mark = format!("({job})");
            let of_job = |call: &&Value| call["body"].to_string().contains(&mark);
            let last = accepted.iter().rev().find(of_job).unwrap();
            assert_eq!(*seen, last["output_tokens"], "{job}: {report}, {last}");
        }
    }
}

/// What the script does, what the model makes of JSON, and who answers after how many calls.
struct Play {
    jobs: &'static [&'static str],
    json: &'static str,
    /// Whether the model calls tools where the last turn is none of theirs.
    calls_tools: bool,
    answers: &'static str,
    attempts: u64,
}

const ALL: &[&str] = &["parsed", "streamed", "tool_called", "streamed_tool_call"];

#[tokio::test]
async fn the_openai_sdk_parses_what_claude_answers_in_its_stead() {
    let world = World::start().await;
    for (failure, answers) in [
        ("busy", "claude"),
        ("broken", "claude"),
        ("busy", "claude-at-amazon"),
    ] {
        let play = Play {
            jobs: ALL,
            json: "bare",
            calls_tools: true,
            answers,
            attempts: 2,
        };
        world
            .seen(&format!("{failure}-then-{answers}"), &play)
            .await;
    }
    let accepted = world.fake.accepted().await;
    let at_anthropic = accepted
        .iter()
        .filter(|call| call["path"] == "/v1/messages");
    let mut calls = 0;
    for call in at_anthropic {
        // The schema went along as Anthropic has it, and so did the calls and their results.
        let format = &call["body"]["output_config"]["format"];
        assert_eq!(format["type"], "json_schema", "{call}");
        let turns = call["body"]["messages"].as_array().unwrap();
        assert_eq!(turns[1]["content"][1]["type"], "tool_use", "{call}");
        assert_eq!(turns[2]["content"][1]["type"], "tool_result", "{call}");
        calls += 1;
    }
    assert_eq!(calls, 2 * ALL.len());
}

#[tokio::test]
async fn where_no_schema_is_followed_the_json_is_taken_out_of_the_words_or_asked_for_once_more() {
    let world = World::start().await;
    let bare = Play {
        jobs: ALL,
        json: "bare",
        calls_tools: true,
        answers: "older",
        attempts: 2,
    };
    let fenced = Play {
        json: "fence",
        ..bare
    };
    // Of a stream the most part was passed on when its JSON turns out to be broken.
    let broken_once = Play {
        jobs: &["parsed", "streamed_wrong"],
        json: "broken_once",
        calls_tools: false,
        attempts: 3,
        ..bare
    };
    for play in [bare, fenced, broken_once] {
        world.seen("busy-then-older", &play).await;
    }
    let metrics = world.gateway.metrics().await;
    let repaired = metrics.sum(
        "sluicegate_answers_repaired_total",
        &[("outcome", "repaired")],
    );
    assert_eq!(repaired, 1.0);
}
