//! Addresses, connections, and how they end.
//!
//! An accept loop of our own and not a framework's, for what a framework does not do: bound the time of a request's head and the
//! number of connections, set `TCP_NODELAY`, and drain in two steps.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::gateway::{Gateway, Phase};
use crate::patience::Patient;

/// Connections of clients at one time; more wait to be accepted.
const CONNECTIONS_MAX: usize = 16_384;
/// Requests at one time on one HTTP/2 connection.
const H2_STREAMS_MAX: u32 = 1_024;
/// How often an HTTP/2 client is asked whether it is still there.
const H2_PING: Duration = Duration::from_secs(20);
/// A client that takes nothing of its answer for so long is given up.
const TAKING_MAX: Duration = Duration::from_secs(60);
/// After an error of the socket itself (out of file handles, say) accepting rests that long.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// One address and what is served there.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: TcpListener,
    routes: Router,
    header_timeout: Duration,
}

impl Listener {
    pub(crate) async fn bind(
        address: SocketAddr,
        routes: Router,
        header_timeout: Duration,
    ) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        Ok(Self {
            socket,
            routes,
            header_timeout,
        })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until the gateway drains, then until the last answer is out or the gateway halts.
    pub(crate) fn serve(self, gateway: &Arc<Gateway>) -> JoinHandle<()> {
        let draining = gateway.reached(Phase::Draining);
        let halting = gateway.reached(Phase::Halting);
        tokio::spawn(self.run(draining, halting))
    }

    async fn run(
        self,
        draining: impl Future<Output = ()> + Send,
        halting: impl Future<Output = ()> + Send,
    ) {
        let Self {
            socket,
            routes,
            header_timeout,
        } = self;
        let connections = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let builder = builder(header_timeout);
        tokio::pin!(draining, halting);
        loop {
            let place = Arc::clone(&places).acquire_owned();
            let next = async { (place.await, socket.accept().await) };
            let (place, accepted) = tokio::select! {
                next = next => next,
                () = &mut draining => break,
            };
            match accepted {
                Ok((stream, _)) => {
                    prepare(&stream);
                    let stream = Patient::new(stream, header_timeout, TAKING_MAX);
                    let service = TowerToHyperService::new(routes.clone());
                    let connection = builder
                        .serve_connection(TokioIo::new(stream), service)
                        .into_owned();
                    let connection = connections.watch(connection);
                    tokio::spawn(async move {
                        if let Err(error) = connection.await {
                            tracing::debug!(error, "connection ended early");
                        }
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "accepting connections rests for {ACCEPT_PAUSE:?}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(socket);
        tokio::select! {
            () = connections.shutdown() => {}
            () = async {
                halting.await;
                // Streams end with an error event; that much is still sent.
                tokio::time::sleep(ACCEPT_PAUSE).await;
            } => {}
        }
    }
}

fn builder(header_timeout: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(H2_PING)
        .keep_alive_timeout(H2_PING)
        .max_concurrent_streams(H2_STREAMS_MAX);
    builder
}

fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        // The client may be gone already; answers to it would only come late.
        tracing::debug!(%error, "TCP_NODELAY cannot be set");
    }
}
