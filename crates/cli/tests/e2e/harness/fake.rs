//! The fake upstream as a process.

use std::net::SocketAddr;

use http::Method;
use serde_json::Value;

use super::client::Client;
use super::folder::Folder;
use super::process::{Process, sluicegate};
use super::wait::eventually;

#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    _process: Process,
    _folder: Folder,
}

impl Fake {
    /// One that behaves as `settings` say.
    pub(crate) async fn start(settings: &str) -> Self {
        let folder = Folder::new();
        let path = folder.write("fake.yaml", settings);
        let path = path.to_str().unwrap();
        let mut command = sluicegate(&["fake", "--config", path, "--listen", "127.0.0.1:0"]);
        let process = Process::start("fake", &mut command);
        let line = process.says("listens on http://").await;
        let address = line.split("http://").nth(1).unwrap();
        let address = address.split("/v1").next().unwrap().parse().unwrap();
        Self {
            address,
            _process: process,
            _folder: folder,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Where an SDK is pointed.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) async fn stats(&self) -> Value {
        self.client().get_json("/_stats").await
    }

    /// A counter of [`Self::stats`].
    pub(crate) async fn count(&self, name: &str) -> u64 {
        self.stats().await[name].as_u64().unwrap()
    }

    /// The calls that the limits let in, in the order in which they came.
    pub(crate) async fn accepted(&self) -> Vec<Value> {
        let Value::Array(mut log) = self.client().get_json("/_log?bodies=1").await else {
            panic!("the log is a list");
        };
        log.retain(|call| call["verdict"] == "accepted");
        log
    }

    /// Lets `fault` happen to the next call.
    pub(crate) async fn next_fails(&self, fault: &Value) {
        self.client().put(Method::POST, "/_faults", fault).await;
    }

    /// Waits until so many calls are in flight.
    pub(crate) async fn in_flight(&self, calls: u64) {
        eventually("calls in flight at the fake", async || {
            match self.count("in_flight").await {
                there if there == calls => Ok(()),
                other => Err(other),
            }
        })
        .await;
    }
}
