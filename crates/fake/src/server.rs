//! The fake over HTTP/1.1 and HTTP/2 without TLS.
//!
//! It owns the sockets, the clock and the log; what counts and what is said it leaves to the model and the answer. It accepts
//! connections itself rather than through a web framework, because faults must reach under the HTTP library: see the
//! socket.

mod admin;
mod body;
mod call;
mod clock;
mod count;
mod credential;
mod door;
mod error;
mod eventstream;
mod framing;
mod head;
mod log;
mod name;
mod play;
mod route;
mod signature;
mod socket;
mod sse;
mod state;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::fault::QUEUED_MAX;
use crate::settings::Settings;
use socket::{Line, Socket};
use state::Shared;

/// Connections at a time; more wait in the system's queue.
const CONNECTIONS_MAX: usize = 16_384;
/// How long answers may go on after the shutdown was asked for.
const DRAIN: Duration = Duration::from_secs(2);
/// The pause after a failed accept (out of file handles, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// A fake that listens, and answers once it runs.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Shared,
}

/// Listens on `addr`; port 0 takes a free one, which [`Server::local_addr`] tells.
///
/// ```
/// # async fn example() -> std::io::Result<()> {
/// let server = sluicegate_fake::bind(([127, 0, 0, 1], 0).into(), Default::default()).await?;
/// let base_url = format!("http://{}/v1", server.local_addr()?);
/// tokio::spawn(server.run(std::future::pending()));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the address cannot be listened on, or the settings hold more faults than may wait.
pub async fn bind(addr: SocketAddr, settings: Settings) -> io::Result<Server> {
    let shared = Shared::new(settings).map_err(|state::QueueFull| {
        let message = format!("more than {QUEUED_MAX} faults in the settings");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })?;
    let listener = TcpListener::bind(addr).await?;
    Ok(Server { listener, shared })
}

impl Server {
    /// The address that clients connect to.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `shutdown` completes; then takes no new connections, lets answers go on for two seconds, and drops what
    /// is left. Dropping the future ends everything at once.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(serve(stream, self.shared.clone(), &graceful));
                    }
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                }
            }
        }
        drop(self.listener);
        // Whether they finished or not: what is left ends with the set.
        let _ = timeout(DRAIN, graceful.shutdown()).await;
    }
}

/// One connection until it ends.
fn serve(
    stream: TcpStream,
    shared: Shared,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + Send + use<> {
    // Without it a stream's events would wait for the client's acknowledgements. A socket that refuses is already dead.
    let _ = stream.set_nodelay(true);
    let line = Line::default();
    let socket = TokioIo::new(Socket::new(stream, line.clone()));
    let service = service_fn(move |request| route::answer(shared.clone(), line.clone(), request));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new());
    builder.http2().timer(TokioTimer::new());
    let connection = graceful.watch(builder.serve_connection(socket, service).into_owned());
    async move {
        // A connection that broke, on purpose or not, is the business of who was at its other end.
        let _ = connection.await;
    }
}
