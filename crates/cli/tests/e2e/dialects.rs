//! Every official SDK against every provider's dialect: what a program asks in its own, another provider answers in another.
//!
//! A client is a script; a target is an account whose upstream is the fake, spoken to in that provider's dialect. What a
//! dialect cannot say is not asked of it: each pair names the jobs of its script that it leaves out.

use crate::harness::{Fake, Gateway, node, python};
use crate::sdks::{arguments, served_by};

/// The upstreams: a provider, a model of its own, and what is added to its account.
const TARGETS: [(&str, &str, &str); 5] = [
    ("openai", "gpt-5.5", ""),
    ("anthropic", "claude-sonnet-4-6", ""),
    ("gemini", "gemini-2.5-flash", ""),
    (
        "bedrock",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ", region: us-east-1",
    ),
    ("cohere", "command-a-reasoning-08-2025", ""),
];

/// A user of one SDK.
struct User {
    script: &'static str,
    more: &'static [&'static str],
    jobs: &'static [&'static str],
    /// Targets, and a job of which they cannot be told something: it is refused by that name, and done where the route lets it be
    /// dropped.
    dropped: &'static [(&'static [&'static str], &'static str, Refused)],
    /// Targets, and a job that cannot be asked of them.
    without: &'static [(&'static [&'static str], &'static str)],
}

/// Whether a strict route refuses a job, and the name by which it does.
type Refused = Option<&'static str>;

const OPENAI_CHAT: User = User {
    script: "openai_chat.py",
    more: &[],
    jobs: &[
        "plain",
        "stream",
        "tools",
        "streamed_tools",
        "structured",
        "streamed_structured",
        "images",
    ],
    dropped: &[],
    without: &[],
};
const OPENAI_RESPONSES: User = User {
    script: "openai_responses.py",
    jobs: &[
        "plain",
        "stream",
        "tools",
        "streamed_tools",
        "structured",
        "images",
    ],
    ..OPENAI_CHAT
};
const ANTHROPIC: User = User {
    script: "anthropic_sdk.py",
    more: &[],
    jobs: &[
        "plain",
        "stream",
        "tools",
        "streamed_tools",
        "structured",
        "thinking",
        "images",
        "count_tokens",
    ],
    dropped: &[],
    // Thoughts that OpenAI keeps to itself cannot be shown.
    without: &[(&["openai"], "thinking")],
};
const GOOGLE: User = User {
    script: "google_sdk.py",
    more: &[],
    jobs: &[
        "plain",
        "stream",
        "tools",
        "streamed_tools",
        "automatic_tools",
        "structured",
        "images",
        "count_tokens",
    ],
    dropped: &[],
    without: &[],
};
const LANGCHAIN: User = User {
    script: "langchain_chat.py",
    jobs: &[
        "plain",
        "stream",
        "tools",
        "streamed_tools",
        "structured",
        "images",
    ],
    // Where a function stands for the schema, it is to be called once.
    dropped: &[(
        &["gemini", "bedrock", "cohere"],
        "structured",
        Some("parallel_tool_calls"),
    )],
    ..OPENAI_CHAT
};
const LANGCHAIN_RESPONSES: User = User {
    more: &["--responses"],
    ..LANGCHAIN
};
const AGENTS: User = User {
    script: "agents_sdk.py",
    more: &["--api", "chat"],
    jobs: &["plain", "tools", "streamed_tools", "output_type"],
    ..OPENAI_CHAT
};
const AGENTS_RESPONSES: User = User {
    more: &["--api", "responses"],
    ..AGENTS
};
const OPENAI_NODE: User = User {
    script: "openai_chat.mjs",
    jobs: &[
        "plain",
        "stream",
        "tools",
        "streamedTools",
        "loop",
        "structured",
        "streamedStructured",
        "images",
    ],
    ..OPENAI_CHAT
};
const AI_CHAT: User = User {
    script: "ai_sdk.mjs",
    more: &["--provider", "openai-chat"],
    jobs: &[
        "plain",
        "stream",
        "tools",
        "streamedTools",
        "structured",
        "streamedStructured",
        "images",
    ],
    ..OPENAI_CHAT
};
const AI_RESPONSES: User = User {
    more: &["--provider", "openai-responses"],
    ..AI_CHAT
};
/// The same, told that nothing is stored: it sends what was said itself.
const AI_RESPONSES_UNSTORED: User = User {
    more: &["--provider", "openai-responses", "--nothing-stored"],
    jobs: &["tools", "streamedTools"],
    ..AI_CHAT
};
const AI_ANTHROPIC: User = User {
    more: &["--provider", "anthropic"],
    // It has a tool called once for what is to be JSON.
    dropped: &[
        (
            &["gemini", "bedrock", "cohere"],
            "structured",
            Some("disable_parallel_tool_use"),
        ),
        (&["gemini", "bedrock", "cohere"], "streamedStructured", None),
    ],
    ..AI_CHAT
};
const AI_GOOGLE: User = User {
    more: &["--provider", "google"],
    ..AI_CHAT
};

impl User {
    /// What the script is told to do at `provider`: the jobs that are done, those that are done where something may be dropped, and
    /// those that are refused.
    fn arguments(&self, provider: &str) -> Vec<String> {
        let dropped: Vec<_> = self
            .dropped
            .iter()
            .filter(|(targets, ..)| targets.contains(&provider))
            .map(|(_, job, name)| (*job, *name))
            .collect();
        let is_left_out = |job: &str| {
            dropped.iter().any(|(other, _)| *other == job)
                || self
                    .without
                    .iter()
                    .any(|(targets, other)| targets.contains(&provider) && *other == job)
        };
        let done = self.jobs.iter().copied();
        let done: Vec<&str> = done.filter(|job| !is_left_out(job)).collect();
        let mut arguments = vec![format!("--ask=at-{provider}={}", done.join(","))];
        for (job, name) in dropped {
            arguments.push(format!("--ask=lossy-{provider}={job}"));
            arguments.extend(name.map(|name| format!("--refused=at-{provider}:{job}={name}")));
        }
        arguments
    }
}

/// One fake, one gateway with a deployment and a lossy route a target, and the user's jobs on each.
async fn everywhere(user: &User) {
    let fake = Fake::start("").await;
    let (mut accounts, mut deployments, mut routes) = (String::new(), String::new(), String::new());
    for (provider, model, more) in TARGETS {
        accounts += &format!(
            "  {provider}: {{ provider: {provider}, base_url: \"http://{}\", api_key: ours{more} }}\n",
            fake.address
        );
        deployments += &format!("  at-{provider}: {{ account: {provider}, model: \"{model}\" }}\n");
        routes += &format!("  lossy-{provider}: {{ primary: at-{provider}, lossy: allow }}\n");
    }
    let config = format!("accounts:\n{accounts}deployments:\n{deployments}routes:\n{routes}");
    let gateway = Gateway::start(&config).await;
    let base_url = gateway.base_url();
    let asked: Vec<String> = TARGETS
        .iter()
        .flat_map(|(provider, ..)| user.arguments(provider))
        .collect();
    let mut arguments = vec!["--base-url", &base_url];
    arguments.extend(user.more);
    arguments.extend(asked.iter().map(String::as_str));
    let report = if user.script.ends_with(".mjs") {
        node(user.script, &arguments).await
    } else {
        python(user.script, &arguments).await
    };
    let checks = report["checks"].as_u64().unwrap();
    assert!(
        checks >= (TARGETS.len() * user.jobs.len()) as u64,
        "{report}"
    );
    gateway.idle().await;
}

macro_rules! users {
    ($($test:ident: $user:ident,)*) => {$(
        #[tokio::test]
        async fn $test() {
            everywhere(&$user).await;
        }
    )*};
}

users! {
    the_openai_sdk_for_python: OPENAI_CHAT,
    the_openai_sdk_for_python_over_responses: OPENAI_RESPONSES,
    the_openai_sdk_for_node: OPENAI_NODE,
    the_anthropic_sdk: ANTHROPIC,
    the_google_sdk: GOOGLE,
    langchain: LANGCHAIN,
    langchain_over_responses: LANGCHAIN_RESPONSES,
    the_openai_agents_sdk: AGENTS,
    the_openai_agents_sdk_over_responses: AGENTS_RESPONSES,
    the_vercel_ai_sdk_as_openai_chat: AI_CHAT,
    the_vercel_ai_sdk_as_openai_responses: AI_RESPONSES,
    the_vercel_ai_sdk_as_openai_responses_with_nothing_stored: AI_RESPONSES_UNSTORED,
    the_vercel_ai_sdk_as_anthropic: AI_ANTHROPIC,
    the_vercel_ai_sdk_as_google: AI_GOOGLE,
}

/// Models that want to have back what they thought before a call, and refuse or go on without: neither happens, through whatever SDK.
#[tokio::test]
async fn thoughts_before_a_call_come_back() {
    let fake = Fake::start("").await;
    let (mut accounts, mut deployments, mut asked) = (String::new(), String::new(), Vec::new());
    for (provider, model, more) in [
        ("gemini", "gemini-3-pro-preview", ""),
        ("anthropic", "claude-haiku-4-5", ""),
        (
            "bedrock",
            "us.anthropic.claude-haiku-4-5-20251001-v1:0",
            ", region: us-east-1",
        ),
    ] {
        accounts += &format!(
            "  {provider}: {{ provider: {provider}, base_url: \"http://{}\", api_key: ours{more} }}\n",
            fake.address
        );
        deployments += &format!("  at-{provider}: {{ account: {provider}, model: \"{model}\" }}\n");
        asked.push(format!("--ask=at-{provider}=thinking_with_tools"));
    }
    let gateway =
        Gateway::start(&format!("accounts:\n{accounts}deployments:\n{deployments}")).await;
    let base_url = gateway.base_url();
    let mut arguments = vec!["--base-url", &base_url];
    arguments.extend(asked.iter().map(String::as_str));
    for script in [
        "anthropic_sdk.py",
        "openai_chat.py",
        "openai_responses.py",
        "google_sdk.py",
    ] {
        let report = python(script, &arguments).await;
        let checks = report["checks"].as_u64().unwrap();
        assert!(checks >= 3 * 6, "{script}: {report}");
    }
    gateway.idle().await;
}

/// Failures of a provider of the client's own dialect, by the class that its SDK raises.
async fn fails(script: &str, provider: &str, errors: &[&str]) {
    let (_fake, gateway) = served_by(provider).await;
    let base_url = gateway.base_url();
    let mut arguments = arguments(&base_url, errors);
    arguments.extend(["--jobs", "errors"]);
    let report = python(script, &arguments).await;
    let checks = report["checks"].as_u64().unwrap();
    assert!(checks >= 6 * errors.len() as u64, "{report}");
    gateway.idle().await;
}

#[tokio::test]
async fn the_anthropic_sdk_raises_what_its_user_expects() {
    let errors = [
        "wrong=BadRequestError:400",
        "unknown=NotFoundError:404",
        "limited=RateLimitError:429",
        "overloaded=OverloadedError:529",
        "failing=InternalServerError:502",
    ];
    fails("anthropic_sdk.py", "anthropic", &errors).await;
}

#[tokio::test]
async fn the_google_sdk_raises_what_its_user_expects() {
    let errors = [
        "wrong=ClientError:400",
        "unknown=ClientError:404",
        "limited=ClientError:429",
        "failing=ServerError:502",
    ];
    fails("google_sdk.py", "gemini", &errors).await;
}

#[tokio::test]
async fn the_openai_sdk_over_responses_raises_what_its_user_expects() {
    let errors = [
        "wrong=BadRequestError:400",
        "unknown=NotFoundError:404",
        "limited=RateLimitError:429",
        "failing=InternalServerError:502",
    ];
    fails("openai_responses.py", "openai", &errors).await;
}

#[tokio::test]
async fn embeddings_completions_and_the_list_of_models_are_there() {
    let (_fake, gateway) = served_by("openai").await;
    let base_url = gateway.base_url();
    let mut arguments = arguments(&base_url, &[]);
    arguments.extend(["--embedding-model", "gpt-5.5"]);
    python("openai_others.py", &arguments).await;
    gateway.idle().await;
}
