//! The shell: HTTP in and out, the driver of the core, telemetry. The only crate with sockets and the real clock.
//!
//! A request passes, in this order, `http/chat.rs` (read, decode and route), `http/sending.rs` (from candidate to candidate),
//! `http/calling.rs` (one attempt, with another key where one is refused), `driver.rs` (wait for admission), `attempt.rs` (send and
//! classify) and `body.rs` (the answer, which carries the reservation); `http/failure.rs` turns whatever goes wrong into a response. Nothing here decides who may start: that
//! is the core's.

mod answer_kind;
mod answer_lengths;
mod attempt;
mod body;
mod books;
mod calibrations;
mod charge_drift;
mod clock;
mod driver;
mod exchange;
mod gateway;
mod health;
mod http;
mod keys;
mod learned_limits;
mod learning;
mod load;
mod metrics;
mod notices;
mod outgoing;
mod patience;
mod random;
mod sampled_counts;
mod server;
mod settlement;
mod sigv4;
mod snapshot;
mod upstream;
mod webhook;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use sluicegate_config::{Policy, Server};
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::gateway::{Gateway, Phase};
use crate::http::Reach;
use crate::metrics::Reload;
use crate::server::Listener;
use crate::snapshot::Snapshot;

pub use crate::snapshot::SnapshotError;
pub use crate::upstream::UpstreamError;

/// Whether strangers may spend the operator's money.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exposure {
    /// Only programs on this machine are answered while no keys are configured.
    LoopbackOnly,
    /// Whoever reaches the address is answered: the operator said so.
    Insecure,
}

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The policy cannot be served.
    #[error(transparent)]
    Policy(#[from] SnapshotError),
    /// Anyone who reaches the address could spend money.
    #[error(
        "server.listen is {0}, which others can reach, and there are no keys to tell callers apart yet: listen on 127.0.0.1 and let a proxy that authenticates stand in front, or start with --insecure to answer everyone"
    )]
    Exposed(SocketAddr),
    /// An address is not to be had.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
}

/// Whether `policy` could be served: its files are read, its addresses and keys tried for their form. Nothing is connected.
///
/// # Errors
///
/// What [`Running::start`] would say.
pub fn check(policy: Policy) -> Result<(), SnapshotError> {
    Snapshot::new(policy, None).map(drop)
}

/// A gateway that serves.
#[derive(Debug)]
pub struct Running {
    gateway: Arc<Gateway>,
    /// What it was started with; some of it stays.
    begun: Server,
    address: SocketAddr,
    admin_address: SocketAddr,
    listeners: Vec<JoinHandle<()>>,
    driver: JoinHandle<()>,
    webhook: JoinHandle<()>,
}

impl Running {
    /// Serves `policy` from now on, inside a runtime of tokio.
    ///
    /// # Errors
    ///
    /// When the policy cannot be served, an address is taken, or the address is not loopback and `exposure` does not allow that.
    pub async fn start(policy: Policy, exposure: Exposure) -> Result<Self, StartError> {
        let server = policy.server.clone();
        if exposure == Exposure::LoopbackOnly && !server.is_loopback() {
            return Err(StartError::Exposed(server.listen));
        }
        let snapshot = Snapshot::new(policy, None)?;
        let gateway = Gateway::new(snapshot, Clock::start());
        let bind = async |address, routes: fn(&Arc<Gateway>, Reach) -> Router| {
            let routes = routes(&gateway, Reach::of(address));
            let listener = Listener::bind(address, routes, server.header_timeout).await;
            let listener = listener.and_then(|listener| Ok((listener.address()?, listener)));
            listener.map_err(|error| StartError::Listen { address, error })
        };
        let mut listeners = Vec::new();
        let (address, admin_address) = if server.admin_is_shared() {
            let (address, listener) = bind(server.listen, http::all_routes).await?;
            listeners.push(listener);
            (address, address)
        } else {
            let (address, clients) = bind(server.listen, http::client_routes).await?;
            let (admin_address, admin) = bind(server.admin_listen, http::admin_routes).await?;
            listeners.extend([clients, admin]);
            (address, admin_address)
        };
        Ok(Self {
            driver: tokio::spawn(Arc::clone(gateway.driver()).run()),
            webhook: tokio::spawn(webhook::run(Arc::clone(gateway.notices()))),
            listeners: listeners
                .into_iter()
                .map(|listener| listener.serve(&gateway))
                .collect(),
            gateway,
            begun: server,
            address,
            admin_address,
        })
    }

    /// Where clients reach it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where operators reach it.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin_address
    }

    /// Holds to another policy without dropping a request or a count. What the listeners were made of stays as it was at the start:
    /// the answer names the settings that wait for a restart.
    ///
    /// # Errors
    ///
    /// When the policy cannot be served. The one before stays in force.
    pub fn reload(&self, policy: Policy) -> Result<Reloaded, SnapshotError> {
        let restart_for = restart_for(&self.begun, &policy.server);
        let reloads = &self.gateway.metrics().reloads;
        let reshaped = self
            .gateway
            .reshape(|before| Snapshot::new(policy, Some(before)).map(Some));
        match reshaped {
            Ok(_) => {
                reloads.get_or_create(&Reload { outcome: "ok" }).inc();
                Ok(if restart_for.is_empty() {
                    Reloaded::Whole
                } else {
                    Reloaded::RestartFor(restart_for)
                })
            }
            Err(error) => {
                self.reload_failed();
                Err(error)
            }
        }
    }

    /// Counts a configuration that could not even be read.
    pub fn reload_failed(&self) {
        self.gateway
            .metrics()
            .reloads
            .get_or_create(&Reload { outcome: "refused" })
            .inc();
    }

    /// Takes nothing new, finishes what is under way for as long as `server.drain` or until `hurry` ends, then breaks off the rest
    /// with an error event each.
    pub async fn stop(self, hurry: impl Future<Output = ()>) {
        let drain = self.gateway.driver().snapshot().policy.server.drain;
        self.gateway.enter(Phase::Draining);
        let mut served = Box::pin(async {
            for listener in self.listeners {
                // A listener that panicked has nothing left to drain.
                let _ = listener.await;
            }
        });
        let drained = tokio::select! {
            () = &mut served => true,
            () = tokio::time::sleep(drain) => false,
            () = hurry => false,
        };
        self.gateway.enter(Phase::Halting);
        if !drained {
            served.await;
        }
        self.driver.abort();
        self.webhook.abort();
    }

    /// A model that answers, to show how to ask.
    pub fn example_model(&self) -> String {
        let snapshot = self.gateway.driver().snapshot();
        http::example_model(&snapshot.policy)
    }
}

/// How much of a reload took effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reloaded {
    /// All of it.
    Whole,
    /// All but these settings, which differ from those at the start and need a restart.
    RestartFor(Vec<&'static str>),
}

/// The settings by which `wanted` differs from what the listeners were made of.
fn restart_for(begun: &Server, wanted: &Server) -> Vec<&'static str> {
    // Named one by one, so that a new setting has to be thought of here.
    let Server {
        listen,
        admin_listen,
        header_timeout,
        body_max: _,
        drain: _,
    } = begun;
    [
        ("server.listen", *listen != wanted.listen),
        ("server.admin_listen", *admin_listen != wanted.admin_listen),
        (
            "server.header_timeout",
            *header_timeout != wanted.header_timeout,
        ),
    ]
    .into_iter()
    .filter_map(|(setting, differs)| differs.then_some(setting))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(server: &str) -> Policy {
        let text = format!(
            "server: {{ listen: 127.0.0.1:0, {server} }}\n\
             accounts: {{ a: {{ provider: openai, base_url: http://127.0.0.1:9 }} }}\n\
             deployments: {{ m: {{ account: a }} }}\n"
        );
        sluicegate_config::parse("a.yaml", &text, &|_| None).expect("a valid policy")
    }

    #[tokio::test]
    async fn a_reload_names_what_waits_for_a_restart() {
        let running = Running::start(policy("header_timeout: 7s"), Exposure::LoopbackOnly).await;
        let running = running.expect("a free port");
        let header_timeout = Reloaded::RestartFor(vec!["server.header_timeout"]);
        for (server, expected) in [
            (
                "header_timeout: 7s, body_max: 2000, drain: 1s",
                Reloaded::Whole,
            ),
            ("header_timeout: 8s", header_timeout.clone()),
            // It still waits, though nothing changed since the last reload.
            ("header_timeout: 8s, drain: 2s", header_timeout),
            (
                "header_timeout: 7s, admin_listen: 127.0.0.1:1",
                Reloaded::RestartFor(vec!["server.admin_listen"]),
            ),
            ("header_timeout: 7s", Reloaded::Whole),
        ] {
            let reloaded = running
                .reload(policy(server))
                .expect("a policy that can be served");
            assert_eq!(reloaded, expected, "{server}");
        }
        running.stop(std::future::ready(())).await;
    }
}
