//! A file that does what the keys in the environment do, and lets the gate count.
//!
//! It is made from the policy that is served and not from a text of its own, so that whoever saves it and adds their limits gets
//! the same accounts and models. The limits in it are examples, of the kinds that each provider has.

use std::fmt::Write as _;

use sluicegate_catalog::Provider;
use sluicegate_config::{Account, Policy, UpstreamModel};

/// The file for a `policy` that was made from `env`. It names variables and holds no key.
pub(crate) fn of(policy: &Policy, env: &dyn Fn(&str) -> Option<String>) -> String {
    let mut file = "accounts:\n".to_owned();
    for account in &policy.accounts {
        let _ = writeln!(file, "  {}", account_line(account, env));
    }
    file.push_str("deployments:");
    for deployment in &policy.deployments {
        let account = &policy.accounts[deployment.account].name;
        let model = match &deployment.model {
            UpstreamModel::Requested => "*",
            UpstreamModel::Named(name) => name,
        };
        let name = &deployment.name;
        let _ = write!(
            file,
            "\n  \"{name}\": {{ account: {account}, model: \"{model}\" }}"
        );
    }
    file
}

fn account_line(account: &Account, env: &dyn Fn(&str) -> Option<String>) -> String {
    let row = &account.provider;
    let is_set = |name: &&String| env(name).is_some_and(|key| !key.trim().is_empty());
    let key = row.env_keys.iter().find(is_set);
    let key = key.map_or("API_KEY", String::as_str);
    let address = match &row.base_url {
        Some(_) => String::new(),
        None => format!(", base_url: \"{}\"", account.base_url),
    };
    format!(
        "{}: {{ provider: {}, api_key: \"${{{key}}}\"{address}{} }}",
        account.name,
        row.id,
        limits(row)
    )
}

/// Amounts for the limits of a minute that the provider has; of a second where it has none of requests a minute. Nothing for one that
/// publishes no such limit (DeepSeek).
fn limits(row: &Provider) -> String {
    let has = |short: &str| row.limits.iter().any(|limit| limit.short == short);
    let mut limits = Vec::new();
    // The second name is of no use beside the first: it may be another word for the same limit, as Google has it.
    for (short, first, amount) in [
        ("rpm", "", 500),
        ("rps", "rpm", 10),
        ("tpm", "", 300_000),
        ("itpm", "tpm", 300_000),
        ("otpm", "", 60_000),
    ] {
        if has(short) && !has(first) {
            limits.push(format!("{short}: {amount}"));
        }
    }
    if limits.is_empty() {
        return String::new();
    }
    format!(", limits: {{ {} }}", limits.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_catalog::providers;

    fn check(env: &dyn Fn(&str) -> Option<String>) -> String {
        let from_env = Policy::from_env(env).expect("a key is there");
        let text = of(&from_env, env);
        assert!(!text.contains("k-1"), "no key is printed: {text}");
        let mut policy = sluicegate_config::parse("a.yaml", &text, env)
            .unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        for account in &mut policy.accounts {
            account.limits.clear();
        }
        assert_eq!(policy, from_env, "nothing but the limits differs: {text}");
        text
    }

    #[test]
    fn one_key_is_a_file_of_four_lines() {
        let env = |name: &str| (name == "OPENAI_API_KEY").then(|| "k-1".to_owned());
        let text = check(&env);
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("limits: { rpm: 500, tpm: 300000 }"), "{text}");
    }

    #[test]
    fn every_provider_that_a_key_finds_has_its_file_and_so_have_all_together() {
        let is_given = |name: &str| name.ends_with("_KEY") || name == "AWS_BEARER_TOKEN_BEDROCK";
        let value = |name: &str| match name {
            "AWS_REGION" => Some("eu-central-1".to_owned()),
            name => is_given(name).then(|| "k-1".to_owned()),
        };
        let rows = providers().iter().filter(|row| row.base_url.is_some());
        let mut checked = 0;
        for row in rows {
            let text =
                check(&|name| value(name).filter(|_| row.env_keys.iter().any(|key| key == name)));
            assert!(text.contains(&format!("provider: {}", row.id)), "{text}");
            checked += 1;
        }
        assert!(checked > 10, "{checked}");
        let all = check(&value);
        for account in ["openai", "anthropic", "gemini", "bedrock"] {
            assert!(
                all.contains(&format!("\n  {account}: {{ provider")),
                "{all}"
            );
        }
        assert!(all.contains("base_url: \"https://bedrock-runtime.eu-central-1.amazonaws.com\""));
    }
}
