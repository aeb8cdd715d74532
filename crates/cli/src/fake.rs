//! `sluicegate fake`.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use sluicegate_catalog::Models;
use sluicegate_fake::{Sampling, Settings};

use crate::{WrongUsage, print, signals};

/// Run the provider-faithful fake upstream as a server.
#[derive(Debug, Args)]
pub(crate) struct Fake {
    /// Its settings; without them nothing is limited.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where it listens.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9090")]
    listen: SocketAddr,
}

impl Fake {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut settings = match &self.config {
            Some(path) => read(path)?,
            None => Settings::default(),
        };
        if settings.sampling == Sampling::default() {
            settings.sampling = sampling();
        }
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("the runtime does not start")?
            .block_on(serve(self.listen, settings))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "read by the main thread before the runtime starts"
)]
fn read(path: &std::path::Path) -> anyhow::Result<Settings> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| WrongUsage(format!("{name}: cannot be read: {error}")))?;
    Ok(Settings::from_yaml(&text).map_err(|error| WrongUsage(format!("{name}: {error}")))?)
}

/// The models that refuse words on how their tokens are chosen, of all providers that the catalog knows: the fake itself knows none.
fn sampling() -> Sampling {
    let rows = || {
        sluicegate_catalog::providers()
            .iter()
            .map(|row| &row.translation)
    };
    let names = |models: &Models| match models {
        Models::Named(names) => names.clone(),
        Models::All(_) => Vec::new(),
    };
    Sampling {
        fixed: rows().flat_map(|row| names(&row.fixed_sampling)).collect(),
        one: rows().flat_map(|row| names(&row.one_sampler)).collect(),
    }
}

async fn serve(listen: SocketAddr, settings: Settings) -> anyhow::Result<()> {
    let server = sluicegate_fake::bind(listen, settings)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    let address = server
        .local_addr()
        .context("the address is not to be had")?;
    print::line(format_args!(
        "the fake upstream listens on http://{address}/v1 (log: /_log, counts: /_stats)"
    ));
    server.run(signals::termination()?).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_says_which_models_refuse_a_temperature() {
        let models = sampling();
        let has = |names: &[String], name: &str| names.iter().any(|other| other == name);
        assert!(has(&models.fixed, "gpt-5") && has(&models.fixed, "*claude-opus-5*"));
        assert!(has(&models.one, "claude-sonnet-4-6*") && !has(&models.one, "gpt-5"));
    }
}
