//! `sluicegate fake`.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use sluicegate_fake::Settings;

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
        let settings = match &self.config {
            Some(path) => read(path)?,
            None => Settings::default(),
        };
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
