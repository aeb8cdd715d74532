//! The gateway as a process.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::process::Command;

use super::client::{Answer, Client, chat};
use super::folder::Folder;
use super::metrics::Metrics;
use super::process::{Process, sluicegate};
use super::wait::eventually;

const CONFIG: &str = "gateway.yaml";

#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) address: SocketAddr,
    pub(crate) process: Process,
    pub(crate) folder: Folder,
}

impl Gateway {
    /// One that holds to `config`, on a port of its own.
    pub(crate) async fn start(config: &str) -> Self {
        Self::start_with(config, |_| {}).await
    }

    /// The same, after `prepare` had its way with the command.
    pub(crate) async fn start_with(config: &str, prepare: impl FnOnce(&mut Command)) -> Self {
        let folder = Folder::new();
        let path = folder.write(CONFIG, config);
        let path = path.to_str().unwrap();
        let mut command = sluicegate(&["serve", "--config", path, "--listen", "127.0.0.1:0"]);
        prepare(&mut command);
        Self::of(&mut command, folder).await
    }

    /// One without a configuration.
    pub(crate) async fn unconfigured() -> Self {
        let mut command = sluicegate(&["serve", "--listen", "127.0.0.1:0"]);
        Self::of(&mut command, Folder::new()).await
    }

    async fn of(command: &mut Command, folder: Folder) -> Self {
        let process = Process::start("gateway", command);
        let line = process.says("listens on http://").await;
        let address = line.split("http://").nth(1).unwrap().parse().unwrap();
        Self {
            address,
            process,
            folder,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Where an SDK is pointed.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) async fn chat(&self, body: &Value) -> Answer {
        self.client().send(chat(body)).await
    }

    pub(crate) async fn metrics(&self) -> Metrics {
        let page = self.client().get("/metrics").await;
        assert_eq!(page.status, 200);
        Metrics::parse(&page.text())
    }

    /// Waits until exactly so many requests wait in line.
    pub(crate) async fn waiting(&self, requests: u32) {
        eventually("requests in line", async || {
            let depth = self.metrics().await.sum("llm_queue_depth", &[]);
            if depth == f64::from(requests) {
                Ok(())
            } else {
                Err(depth)
            }
        })
        .await;
    }

    /// Waits until nothing is held: no request, no reservation, no place in line.
    pub(crate) async fn idle(&self) {
        eventually("nothing held", async || {
            let held = self.metrics().await.held();
            if held.is_empty() { Ok(()) } else { Err(held) }
        })
        .await;
    }

    /// A normal call to `model` is answered.
    pub(crate) async fn answers(&self, model: &str) {
        let answer = self
            .chat(&json!({"model": model, "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4}))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// Changes the configuration in place.
    pub(crate) fn rewrite(&self, config: &str) {
        self.folder.write(CONFIG, config);
    }

    /// Puts another configuration in its place.
    pub(crate) fn replace(&self, config: &str) {
        self.folder.replace(CONFIG, config);
    }
}
