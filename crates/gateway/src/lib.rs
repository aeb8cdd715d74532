//! The shell: HTTP in and out, the driver of the core, telemetry. The only crate with sockets and the real clock.
//!
//! A request passes, in this order, `http/chat.rs` (read and decode), `driver.rs` (wait for admission), `attempt.rs` (send and
//! classify) and `body.rs` (the answer, which carries the reservation); `http/failure.rs` turns whatever goes wrong into a
//! response. Nothing here decides who may start: that is the core's.

mod answer_kind;
mod attempt;
mod body;
mod clock;
mod driver;
mod exchange;
mod gateway;
mod http;
mod metrics;
mod patience;
mod server;
mod settlement;
mod snapshot;
mod upstream;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use sluicegate_config::Policy;
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

/// A gateway that serves.
#[derive(Debug)]
pub struct Running {
    gateway: Arc<Gateway>,
    address: SocketAddr,
    admin_address: SocketAddr,
    listeners: Vec<JoinHandle<()>>,
    driver: JoinHandle<()>,
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
            listeners: listeners
                .into_iter()
                .map(|listener| listener.serve(&gateway))
                .collect(),
            gateway,
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

    /// Holds to another policy without dropping a request or a count. Its addresses stay as they are: they need a restart, and the
    /// answer says whether one is due.
    ///
    /// # Errors
    ///
    /// When the policy cannot be served. The one before stays in force.
    pub fn reload(&self, policy: Policy) -> Result<Reloaded, SnapshotError> {
        let before = self.gateway.driver().snapshot();
        let server = &before.policy.server;
        let moved = policy.server.listen != server.listen
            || policy.server.admin_listen != server.admin_listen;
        let reloads = &self.gateway.metrics().reloads;
        match Snapshot::new(policy, Some(&before)) {
            Ok(snapshot) => {
                self.gateway.driver().reconfigure(Arc::new(snapshot));
                reloads.get_or_create(&Reload { outcome: "ok" }).inc();
                Ok(if moved {
                    Reloaded::RestartForAddresses
                } else {
                    Reloaded::Whole
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
    }

    /// A model that answers, to show how to ask.
    pub fn example_model(&self) -> String {
        let snapshot = self.gateway.driver().snapshot();
        http::example_model(&snapshot.policy)
    }
}

/// How much of a reload took effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reloaded {
    /// All of it.
    Whole,
    /// All but the addresses, which need a restart.
    RestartForAddresses,
}
