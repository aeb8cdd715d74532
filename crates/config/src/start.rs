//! The policy without a file: from the keys in the environment.

use std::sync::Arc;

use sluicegate_catalog::{Provider, providers};
use sluicegate_core::{BreakerRule, Headroom};

use crate::resolve::is_region;
use crate::{
    Account, Deployment, Pattern, Policy, Route, Secret, Slots, Timeouts, UpstreamModel, parse,
};

impl Policy {
    /// One account for each provider whose key `env` knows. No limits are known of them until answers tell some. A provider
    /// without an address is left out; one that has an address by region is in that of `AWS_REGION` or `AWS_DEFAULT_REGION`. A
    /// key of several providers is the first one's.
    ///
    /// One account answers for every model. Of several, each answers for the models of its provider, the first in the order of
    /// the catalog for those that two of them have, and OpenAI's, or else the first, for all others. `None` where there is no key.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let mut policy = Self::without_accounts();
        for Found {
            row, key, address, ..
        } in found(env)
        {
            if let Some(base_url) = address {
                policy.accounts.push(Account {
                    api_keys: vec![Secret::new(key)],
                    ..account(&row.id, row, base_url)
                });
            }
        }
        if policy.accounts.len() > 1 {
            for (index, account) in policy.accounts.iter().enumerate() {
                let patterns = account.provider.model_patterns.iter();
                let names = patterns.filter(|pattern| *pattern != "*");
                for name in names {
                    if !policy.deployments.iter().any(|other| other.name == *name) {
                        policy.deployments.push(deployment(name, index));
                    }
                }
            }
        }
        let mut accounts = policy.accounts.iter();
        let others = accounts.position(|account| account.provider.id == "openai");
        policy
            .deployments
            .push(deployment("*", others.unwrap_or(0)));
        let deployments = policy.deployments.iter().enumerate();
        policy.routes = deployments
            .map(|(index, deployment)| Route::of(index, deployment))
            .collect();
        (!policy.accounts.is_empty()).then_some(policy)
    }

    /// The keys that `env` knows and [`Policy::from_env`] leaves out.
    pub fn keys_left_out(env: &dyn Fn(&str) -> Option<String>) -> Vec<KeyLeftOut> {
        let left_out = found(env).into_iter().filter(|it| it.address.is_none());
        let keys = left_out.map(|it| KeyLeftOut {
            variable: it.variable.to_owned(),
            provider: Arc::clone(it.row),
        });
        keys.collect()
    }

    /// All defaults of the table: what a file says that names nothing.
    fn without_accounts() -> Self {
        let text = "accounts: { a: { provider: openai, base_url: http://127.0.0.1 } }\n\
                    deployments: { a: { account: a } }\n";
        let mut policy = parse("defaults", text, &|_| None)
            .expect("a test reads this file, which the environment cannot change");
        policy.accounts.clear();
        policy.deployments.clear();
        policy.routes.clear();
        policy
    }
}

/// A key that the environment holds and that is not used, as nothing tells the address that it is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyLeftOut {
    /// The variable.
    pub variable: String,
    /// Whose key it is.
    pub provider: Arc<Provider>,
}

/// A key in the environment.
struct Found {
    row: &'static Arc<Provider>,
    variable: &'static str,
    key: String,
    /// Where it is for, if that is known.
    address: Option<String>,
}

/// The first key of each provider, none of them twice.
fn found(env: &dyn Fn(&str) -> Option<String>) -> Vec<Found> {
    let set = |name: &str| {
        let text = env(name)?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    };
    let region = set("AWS_REGION").or_else(|| set("AWS_DEFAULT_REGION"));
    let mut all: Vec<Found> = Vec::new();
    for row in providers() {
        let mut keys = row.env_keys.iter();
        let Some((variable, key)) = keys.find_map(|name| Some((name.as_str(), set(name)?))) else {
            continue;
        };
        if all.iter().any(|other| other.variable == variable) {
            continue;
        }
        let in_region = || row.url_in(region.as_deref().filter(|name| is_region(name))?);
        all.push(Found {
            row,
            variable,
            key,
            address: row.base_url.clone().or_else(in_region),
        });
    }
    all
}

/// An account without key and limits.
fn account(name: &str, provider: &Arc<Provider>, base_url: String) -> Account {
    Account {
        name: Arc::from(name),
        provider: Arc::clone(provider),
        api_keys: Vec::new(),
        aws: None,
        base_url,
        headroom: Headroom::Auto,
        limits: Vec::new(),
        families: Vec::new(),
        timeouts: Timeouts::default(),
        breaker: BreakerRule::default(),
        slots: Slots::default(),
        ca_file: None,
        charge: Arc::new(provider.charge.default_rule().clone()),
    }
}

/// The deployment through which every model whose name fits `name` passes under its own name.
fn deployment(name: &str, account: usize) -> Deployment {
    let (pattern, model) = match name.strip_suffix('*') {
        Some(stem) => (Pattern::Prefix(stem.to_owned()), UpstreamModel::Requested),
        None => (
            Pattern::Exact(name.to_owned()),
            UpstreamModel::Named(name.to_owned()),
        ),
    };
    Deployment {
        name: name.to_owned(),
        pattern,
        account,
        model,
        limits: Vec::new(),
        context: None,
        price: None,
        timeouts: Timeouts::default(),
        breaker: BreakerRule::default(),
        slots: Slots::default(),
        output_default: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_two_providers_have_goes_to_the_first() {
        let env = |name: &str| {
            let given = ["GROQ_API_KEY", "TOGETHER_API_KEY"].contains(&name);
            given.then(|| "k".to_owned())
        };
        let policy = Policy::from_env(&env).expect("keys are there");
        let account = |model: &str| {
            let (_, deployment) = policy.find(model).expect("every model");
            &*policy.accounts[deployment.account].name
        };
        assert_eq!(account("meta-llama/Llama-4-Scout"), "groq");
        assert_eq!(account("zai-org/GLM-5"), "together");
        let named = policy
            .deployments
            .iter()
            .filter(|d| d.name == "meta-llama/*");
        assert_eq!(named.count(), 1);
    }

    #[test]
    fn a_key_without_an_address_is_left_out_and_told() {
        let env = |name: &str, region: Option<&str>| match name {
            "AWS_BEARER_TOKEN_BEDROCK" => Some("k-1".to_owned()),
            "AWS_REGION" => region.map(str::to_owned),
            _ => None,
        };
        for no_region in [None, Some(" "), Some("x.example/a")] {
            let env = |name: &str| env(name, no_region);
            assert_eq!(Policy::from_env(&env), None, "{no_region:?}");
            let left_out = Policy::keys_left_out(&env);
            let [key] = left_out.as_slice() else {
                panic!("one key: {left_out:?}");
            };
            assert_eq!(
                (&*key.variable, &*key.provider.id),
                ("AWS_BEARER_TOKEN_BEDROCK", "bedrock")
            );
        }
        let env = |name: &str| env(name, Some("eu-north-1"));
        assert_eq!(Policy::keys_left_out(&env), []);
        let policy = Policy::from_env(&env).expect("a key is there");
        let accounts: Vec<_> = policy.accounts.iter().map(|it| &*it.base_url).collect();
        assert_eq!(
            accounts,
            ["https://bedrock-runtime.eu-north-1.amazonaws.com"]
        );
    }

    #[test]
    fn a_key_in_the_environment_is_an_account() {
        let env = |name: &str| (name == "OPENAI_API_KEY").then(|| " k-1\n".to_owned());
        let policy = Policy::from_env(&env).expect("a key is there");
        let [account] = policy.accounts.as_slice() else {
            panic!("one account, not {:?}", policy.accounts);
        };
        assert_eq!(&*account.name, "openai");
        assert_eq!(account.api_keys, [Secret::new("k-1".to_owned())]);
        assert_eq!(account.base_url, "https://api.openai.com");
        let (index, deployment) = policy.find("anything").expect("every model");
        assert_eq!((index, &deployment.model), (0, &UpstreamModel::Requested));
        let (_, route) = policy.route("anything").expect("every model");
        assert_eq!(route.primary[0].model("anything"), "anything");
        assert_eq!(policy.task("anything"), None);
        assert_eq!(policy.ledgers().targets, [Vec::<usize>::new()]);
        assert_eq!(policy.server.listen.to_string(), "127.0.0.1:8080");

        let two = |name: &str| name.starts_with(['A', 'O']).then(|| "k-1".to_owned());
        let policy = Policy::from_env(&two).expect("keys are there");
        let provider_of = |model| {
            let (_, deployment) = policy.find(model).expect("every model");
            policy.accounts[deployment.account].provider.id.as_str()
        };
        assert_eq!(provider_of("claude-sonnet-5"), "anthropic");
        assert_eq!(provider_of("gpt-5.5"), "openai");
        assert_eq!(provider_of("a-name-that-nobody-knows"), "openai");
        assert_eq!(Policy::from_env(&|_| None), None);
        assert_eq!(Policy::from_env(&|_| Some(" ".to_owned())), None);
    }
}
