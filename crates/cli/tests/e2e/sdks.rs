//! Every official SDK and framework that people use over chat completions, unmodified, in every way in which they use it.
//!
//! A script is a user of one SDK and checks what that user sees. Errors are asked of models whose upstream fails in one way:
//! the class that is raised is the one that the SDK's user would catch had the provider failed so itself.

use serde_json::Value;

use crate::harness::{Fake, Gateway, node, python};

const FAULTS: &str = "
faults:
  - { model: wrong, status: 400, kind: invalid, times: 100 }
  - { model: long, status: 400, kind: context, times: 100 }
  - { model: limited, status: 429, kind: rate, times: 100 }
  - { model: failing, status: 500, kind: server, times: 100 }
  - { model: refused, status: 401, kind: auth, times: 100 }
  - { model: overloaded, status: 529, kind: overloaded, times: 100 }
";

/// How models fail, and the class that says so in the SDKs of OpenAI and in what is built on them. `unknown` is no model at all;
/// what an upstream says to our own key is not the caller's to mend.
const ERRORS: [&str; 6] = [
    "wrong=BadRequestError:400",
    "long=BadRequestError:400",
    "unknown=NotFoundError:404",
    "limited=RateLimitError:429",
    "failing=InternalServerError:502",
    "refused=InternalServerError:502",
];

const MODELS: [&str; 8] = [
    "gpt-5.5",
    "gpt-5",
    "wrong",
    "long",
    "limited",
    "failing",
    "refused",
    "overloaded",
];

/// A fake of OpenAI and a gateway before it.
async fn served() -> (Fake, Gateway) {
    served_by("openai").await
}

/// A fake that is spoken to as `provider` is. Models that fail are accounts of their own, so that none is left alone for another's
/// sake.
pub(crate) async fn served_by(provider: &str) -> (Fake, Gateway) {
    let fake = Fake::start(FAULTS).await;
    let mut accounts = String::new();
    let mut deployments = String::new();
    for model in MODELS {
        accounts += &format!(
            "  \"{model}\": {{ provider: {provider}, base_url: \"http://{}\", api_key: ours }}\n",
            fake.address
        );
        deployments += &format!("  \"{model}\": {{ account: \"{model}\" }}\n");
    }
    let gateway = Gateway::start(&format!(
        "accounts:\n{accounts}deployments:\n{deployments}lanes: {{ api: {{ max_attempts: 1 }} }}\n"
    ))
    .await;
    (fake, gateway)
}

/// To ask for one way of failing after another.
pub(crate) fn arguments<'a>(base_url: &'a str, errors: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["--base-url", base_url];
    arguments.extend(errors.iter().flat_map(|error| ["--error", error]));
    arguments
}

fn checked(report: &Value, checks_min: u64) {
    assert!(report["checks"].as_u64().unwrap() >= checks_min, "{report}");
}

#[tokio::test]
async fn the_openai_sdk_for_python() {
    let (_fake, gateway) = served().await;
    let base_url = gateway.base_url();
    let mut arguments = arguments(&base_url, &ERRORS);
    // Newer models take no tools over chat completions while they think.
    arguments.extend([
        "--ask=gpt-5.5=plain,stream,tools,streamed_tools,structured,streamed_structured,images,errors",
        "--ask=gpt-5=thinking_with_tools",
    ]);
    let report = python("openai_chat.py", &arguments).await;
    checked(&report, 60);
    gateway.idle().await;
}

#[tokio::test]
async fn the_openai_sdk_for_node() {
    let (_fake, gateway) = served().await;
    let report = node("openai_chat.mjs", &arguments(&gateway.base_url(), &ERRORS)).await;
    checked(&report, 60);
    gateway.idle().await;
}

#[tokio::test]
async fn langchain() {
    let (_fake, gateway) = served().await;
    let report = python(
        "langchain_chat.py",
        &arguments(&gateway.base_url(), &ERRORS),
    )
    .await;
    checked(&report, 40);
    gateway.idle().await;
}

#[tokio::test]
async fn the_openai_agents_sdk() {
    let (_fake, gateway) = served().await;
    let report = python("agents_sdk.py", &arguments(&gateway.base_url(), &ERRORS)).await;
    checked(&report, 25);
    gateway.idle().await;
}

#[tokio::test]
async fn the_vercel_ai_sdk() {
    let (_fake, gateway) = served().await;
    // One class for all, with the status in it.
    let errors = [
        "wrong=APICallError:400",
        "unknown=APICallError:404",
        "limited=APICallError:429",
        "failing=APICallError:502",
    ];
    let report = node("ai_sdk.mjs", &arguments(&gateway.base_url(), &errors)).await;
    checked(&report, 40);
    gateway.idle().await;
}
