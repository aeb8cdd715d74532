//! A proxy for TLS, as companies put between their machines and the world.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A proxy that knows `CONNECT` only, and keeps what it was asked.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let keep = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let keep = Arc::clone(&keep);
                // A tunnel that breaks is for its two ends to notice.
                tokio::spawn(async move { drop(tunnel(client, keep).await) });
            }
        });
        Self {
            address,
            asked,
            task,
        }
    }

    /// The first line of each request.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn tunnel(client: TcpStream, asked: Arc<Mutex<Vec<String>>>) -> std::io::Result<()> {
    let mut client = BufReader::new(client);
    let mut first = String::new();
    client.read_line(&mut first).await?;
    let mut line = String::new();
    while client.read_line(&mut line).await? > 2 {
        line.clear();
    }
    asked.lock().unwrap().push(first.trim_end().to_owned());
    let Some(place) = first
        .strip_prefix("CONNECT ")
        .and_then(|rest| rest.split(' ').next())
    else {
        return client
            .write_all(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
            .await;
    };
    let mut upstream = TcpStream::connect(place).await?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    copy_bidirectional(&mut client, &mut upstream).await?;
    Ok(())
}
