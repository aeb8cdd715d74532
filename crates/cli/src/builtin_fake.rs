//! The built-in fake upstream: what it limits, and the policy that counts the same.
//!
//! Both are texts in their own crate's language, filled from the same numbers, so that the gateway and its upstream cannot come to
//! disagree.

use std::net::SocketAddr;

use anyhow::Context as _;
use sluicegate_config::Policy;
use sluicegate_fake::Settings;

/// Requests in a minute, and in proportion in any second.
pub(crate) const REQUESTS_PER_MINUTE: u64 = 300;
/// Tokens in a minute.
pub(crate) const TOKENS_PER_MINUTE: u64 = 300_000;

/// What the fake limits and how it answers.
pub(crate) fn settings() -> anyhow::Result<Settings> {
    let text = format!(
        "
provider:
  limits:
    - {{ meter: requests, amount: {REQUESTS_PER_MINUTE}, per: 60s, window: fixed, quantum: {{ per: 1s, any: true }} }}
    - {{ meter: tokens, amount: {TOKENS_PER_MINUTE}, per: 60s, window: fixed }}
answer: {{ output_tokens: 48, ms_per_token: 5 }}
"
    );
    Settings::from_yaml(&text).context("the built-in fake's settings")
}

/// Every model from the fake at `address`. Nobody else calls it, so all of its limits is there from the start.
pub(crate) fn policy(address: SocketAddr) -> anyhow::Result<Policy> {
    let text = format!(
        r#"
accounts:
  fake:
    provider: openai
    base_url: http://{address}/v1
    limits:
      - {{ meter: requests, amount: {REQUESTS_PER_MINUTE}, per: 60s, window: fixed, phase: calendar, quantum: 1s, start: full }}
      - {{ meter: tokens, amount: {TOKENS_PER_MINUTE}, per: 60s, window: fixed, phase: calendar, start: full }}
deployments:
  "*": {{ account: fake, model: "*" }}
"#
    );
    sluicegate_config::parse("the built-in fake's policy", &text, &|_| None)
        .context("the built-in fake's policy")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sluicegate_catalog::Endpoint;
    use sluicegate_core::{Start, Window};

    use super::*;

    #[test]
    fn the_policy_counts_what_the_fake_limits() {
        let address = "127.0.0.1:4711".parse().expect("an address");
        let policy = policy(address).expect("a valid policy");
        let account = &policy.accounts[0];
        assert_eq!(
            account
                .provider
                .url(&account.base_url, Endpoint::Chat, "any-model")
                .as_deref(),
            Some("http://127.0.0.1:4711/v1/chat/completions")
        );
        assert_eq!(policy.find("any-model").map(|(index, _)| index), Some(0));
        let ledgers = policy.ledgers();
        assert_eq!(ledgers.targets, [[0, 1]]);
        let counted: Vec<_> = ledgers
            .limits
            .iter()
            .map(|limit| {
                (
                    &*limit.name,
                    limit.amount.get(),
                    &limit.window,
                    limit.quantum,
                    limit.start,
                )
            })
            .collect();
        let minutes = &Window::Fixed {
            per: Duration::from_secs(60),
        };
        let second = Some(Duration::from_secs(1));
        assert_eq!(
            counted,
            [
                (
                    "account fake requests/60s",
                    300,
                    minutes,
                    second,
                    Start::Full
                ),
                (
                    "account fake tokens/60s",
                    300_000,
                    minutes,
                    None,
                    Start::Full
                ),
            ]
        );
        settings().expect("settings that the fake reads");
    }
}
