//! One server as its client sees it: requests over kept connections, as many as are needed at a time.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// The way to a server.
pub(super) struct Wire {
    address: SocketAddr,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: u16,
    /// How long the gateway says that it held the call.
    pub(super) queue_ms: Option<u64>,
    body: Bytes,
}

impl Wire {
    pub(super) fn to(address: SocketAddr) -> Arc<Self> {
        Arc::new(Self {
            address,
            idle: Mutex::default(),
        })
    }

    /// # Errors
    ///
    /// When the server does not answer with JSON and success.
    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let request = Request::get(path)
            .header(header::HOST, self.address.to_string())
            .body(Full::default())?;
        let answer = self.send(request).await?;
        ensure!(answer.status == 200, "{path} answers {}", answer.status);
        serde_json::from_slice(&answer.body).with_context(|| format!("{path} is no JSON"))
    }

    /// # Errors
    ///
    /// When the connection breaks before the answer is whole.
    pub(super) async fn post(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> anyhow::Result<Answer> {
        let mut request = Request::post(path)
            .header(header::HOST, self.address.to_string())
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Full::new(body))?).await
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Answer> {
        let mut sender = self.connection().await?;
        let answer = sender.send_request(request).await?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await?.to_bytes();
        self.lock().push(sender);
        let queue_ms = head.headers.get("x-sluicegate-queue-ms");
        let queue_ms = queue_ms.and_then(|value| value.to_str().ok()?.parse().ok());
        Ok(Answer {
            status: head.status.as_u16(),
            queue_ms,
            body,
        })
    }

    /// One that rests and still lives, or a new one.
    async fn connection(&self) -> anyhow::Result<SendRequest<Full<Bytes>>> {
        loop {
            let rested = self.lock().pop();
            let Some(mut sender) = rested else {
                break;
            };
            if sender.ready().await.is_ok() {
                return Ok(sender);
            }
        }
        let stream = TcpStream::connect(self.address)
            .await
            .context("cannot connect")?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<SendRequest<Full<Bytes>>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
