//! A line to an upstream on which nothing moves until it is opened.

use std::net::SocketAddr;

use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What the system takes off the line while nobody reads, so that not much of a large body leaves the sender.
const RECEIVED_MAX: u32 = 16 * 1024;

#[derive(Debug)]
pub(crate) struct SlowLine {
    pub(crate) address: SocketAddr,
    is_open: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl SlowLine {
    /// One to `upstream`. It takes connections and reads nothing from them.
    pub(crate) fn start(upstream: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(RECEIVED_MAX).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(16).unwrap();
        let address = listener.local_addr().unwrap();
        let (is_open, opened) = watch::channel(false);
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(carry(near, upstream, opened.clone()));
            }
        });
        Self {
            address,
            is_open,
            task,
        }
    }

    /// From now on everything moves.
    pub(crate) fn open(&self) {
        self.is_open.send_replace(true);
    }
}

impl Drop for SlowLine {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(mut near: TcpStream, upstream: SocketAddr, mut opened: watch::Receiver<bool>) {
    // Whoever closes either end ends it.
    if opened.wait_for(|is_open| *is_open).await.is_ok()
        && let Ok(mut far) = TcpStream::connect(upstream).await
    {
        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
    }
}
