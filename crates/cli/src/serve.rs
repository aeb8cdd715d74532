//! `sluicegate serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use sluicegate_config::{KeyLeftOut, Policy};
use sluicegate_gateway::{Exposure, Running, StartError};
use tokio::task::JoinHandle;

use crate::{WrongUsage, builtin_fake, example_file, file, print, reload, signals};

/// Run the gateway.
///
/// Without a configuration the keys in the environment (`OPENAI_API_KEY`, …) become accounts; without a key the built-in fake upstream
/// answers.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The configuration; reloaded when it changes.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where clients reach the gateway, instead of `server.listen`; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Answer everyone who reaches an address that is not loopback, though there are no keys.
    #[arg(long)]
    insecure: bool,
}

/// Where answers come from.
#[derive(Debug)]
enum Source {
    File(PathBuf, reload::Changes),
    /// With a file that does the same and lets the gate count.
    Environment {
        example: String,
    },
    Fake(JoinHandle<()>),
}

impl Serve {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("the runtime does not start")?
            .block_on(self.serve())
    }

    async fn serve(self) -> anyhow::Result<()> {
        let termination = signals::termination()?;
        let mut hangups = signals::hangups()?;
        let (policy, mut source) = self.policy().await?;
        let policy = self.overridden(policy);
        let exposure = if self.insecure {
            Exposure::Insecure
        } else {
            Exposure::LoopbackOnly
        };
        let running = Running::start(policy.clone(), exposure)
            .await
            .map_err(start_error)?;
        greet(&running, &source);
        match &mut source {
            Source::File(path, changes) => {
                tokio::select! {
                    () = termination => {}
                    () = reload::follow(&running, path, changes, &mut hangups, policy, |policy| self.overridden(policy)) => {}
                }
            }
            Source::Environment { .. } | Source::Fake(_) => termination.await,
        }
        tracing::info!("draining; a second signal breaks off what is left");
        let hurry = signals::termination()?;
        running.stop(hurry).await;
        tracing::info!("stopped");
        if let Source::Fake(fake) = source {
            fake.abort();
        }
        Ok(())
    }

    async fn policy(&self) -> anyhow::Result<(Policy, Source)> {
        if let Some(path) = &self.config {
            // Watched before it is read, so that no edit falls between the two.
            let changes = reload::watch(path);
            let policy = file::read(path)?;
            return Ok((policy, Source::File(path.clone(), changes?)));
        }
        if let Some(policy) = Policy::from_env(&file::variable) {
            let example = example_file::of(&policy, &file::variable);
            return Ok((policy, Source::Environment { example }));
        }
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        let fake = sluicegate_fake::bind(free, builtin_fake::settings()?).await?;
        let policy = builtin_fake::policy(fake.local_addr()?)?;
        let fake = tokio::spawn(fake.run(std::future::pending()));
        Ok((policy, Source::Fake(fake)))
    }

    /// The policy with what the command line says instead.
    fn overridden(&self, mut policy: Policy) -> Policy {
        if let Some(listen) = self.listen {
            policy.server = policy.server.listening_on(listen);
        }
        policy
    }
}

fn start_error(error: StartError) -> anyhow::Error {
    match error {
        StartError::Listen { address, error } => anyhow::anyhow!(
            "cannot listen on {address}: {error}; --listen chooses another address, and port 0 a free one"
        ),
        wrong @ (StartError::Policy(_) | StartError::Exposed(_)) => {
            WrongUsage(wrong.to_string()).into()
        }
    }
}

fn greet(running: &Running, source: &Source) {
    let address = running.address();
    print::line(format_args!(
        "sluicegate {} listens on http://{address}",
        env!("CARGO_PKG_VERSION")
    ));
    if running.admin_address() != address {
        print::line(format_args!(
            "metrics are on http://{}/metrics",
            running.admin_address()
        ));
    }
    let model = match source {
        Source::File(path, _) => {
            print::line(format_args!(
                "configuration: {} (reloaded when it changes)",
                path.display()
            ));
            running.example_model()
        }
        Source::Environment { example } => {
            print::line(format_args!(
                "accounts from the keys in the environment. Their limits are learned from what answers tell of them; until the first\n\
                 answer, and where the provider tells nothing, nothing is held back: for a gate that always works, put your account's\n\
                 own limits into a file like this one and start with --config FILE\n\n{example}"
            ));
            running.example_model()
        }
        Source::Fake(_) => {
            print::line(format_args!(
                "no key in the environment (OPENAI_API_KEY, ...) and no --config: answers come from the built-in fake upstream,\n\
                 which allows {} requests ({} in any second) and {} tokens a minute and costs nothing",
                builtin_fake::REQUESTS_PER_MINUTE,
                builtin_fake::REQUESTS_PER_MINUTE / 60,
                builtin_fake::TOKENS_PER_MINUTE,
            ));
            running.example_model()
        }
    };
    if !matches!(source, Source::File(..)) {
        for key in Policy::keys_left_out(&file::variable) {
            print::line(format_args!("{}", left_out(&key)));
        }
    }
    let host = reachable(address);
    print::line(format_args!(
        "\n  OpenAI(base_url=\"http://{host}/v1\", api_key=\"any\")\n  \
         Anthropic(base_url=\"http://{host}\", api_key=\"any\")\n  \
         genai.Client(http_options={{\"base_url\": \"http://{host}\"}}, api_key=\"any\")\n\n  \
         curl http://{host}/v1/chat/completions -H 'content-type: application/json' \\\n    \
         -d '{{\"model\":\"{model}\",\"messages\":[{{\"role\":\"user\",\"content\":\"Hello!\"}}]}}'\n"
    ));
}

/// What is missing for a key that is not used.
fn left_out(key: &KeyLeftOut) -> String {
    let KeyLeftOut { variable, provider } = key;
    let name = &provider.name;
    let mend = if provider.region_url.is_some() {
        "set AWS_REGION, or name the region in a file with --config"
    } else {
        "name it as base_url of an account in a file with --config"
    };
    format!("\n{variable} is set too and not used, as nothing says where {name} is: {mend}")
}

/// An address that a client on this machine can use.
fn reachable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        return SocketAddr::from(([127, 0, 0, 1], address.port()));
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_not_used_says_what_is_missing() {
        let env = |name: &str| {
            let set = ["AWS_BEARER_TOKEN_BEDROCK", "AZURE_OPENAI_API_KEY"].contains(&name);
            set.then(|| "k-1".to_owned())
        };
        let said: Vec<String> = Policy::keys_left_out(&env).iter().map(left_out).collect();
        let [azure, bedrock] = said.as_slice() else {
            panic!("two keys: {said:?}");
        };
        assert!(azure.contains("AZURE_OPENAI_API_KEY is set") && azure.contains("base_url"));
        assert!(
            bedrock.contains("AWS_BEARER_TOKEN_BEDROCK is set") && bedrock.contains("AWS_REGION")
        );
        assert!(!said.concat().contains("k-1"), "no key is printed");
    }
}
