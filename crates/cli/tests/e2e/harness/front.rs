//! The upstream that the fake is not: it keeps the very bytes that it was sent, and speaks TLS where wanted.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

const COMPLETION: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;
const STREAM: &str = concat!(
    r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":null}"#,
    "\n\n",
    r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#,
    "\n\ndata: [DONE]\n\n"
);

/// An upstream that answers everything alike and keeps what it was sent.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    seen: Seen,
    task: JoinHandle<()>,
}

type Seen = Arc<Mutex<Vec<Arrived>>>;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Arrived {
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Front {
    pub(crate) async fn plain() -> Self {
        Self::start(None).await
    }

    /// Speaks TLS as `localhost`, and prefers HTTP/2.
    pub(crate) async fn tls(certificate: &Certificate) -> Self {
        Self::start(Some(certificate.acceptor())).await
    }

    async fn start(tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Seen::default();
        let keep = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (tls, keep) = (tls.clone(), Arc::clone(&keep));
                tokio::spawn(async move {
                    match tls {
                        None => serve(tcp, keep).await,
                        Some(tls) => {
                            // Who trusts nobody hangs up in the handshake.
                            if let Ok(stream) = tls.accept(tcp).await {
                                serve(stream, keep).await;
                            }
                        }
                    }
                });
            }
        });
        Self {
            address,
            seen,
            task,
        }
    }

    /// What has come so far.
    pub(crate) fn seen(&self) -> Vec<Arrived> {
        self.seen.lock().unwrap().clone()
    }

    /// The only request that has come since this was last asked.
    pub(crate) fn take(&self) -> Arrived {
        let mut seen = self.seen.lock().unwrap();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, seen: Seen) {
    let service = service_fn(move |request: Request<Incoming>| {
        let seen = Arc::clone(&seen);
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
            let streamed = asked["stream"] == true;
            seen.lock().unwrap().push(Arrived {
                version: head.version,
                headers: head.headers,
                body,
            });
            let (kind, answer) = if streamed {
                ("text/event-stream", STREAM)
            } else {
                ("application/json", COMPLETION)
            };
            let mut response = Response::new(Full::new(Bytes::from_static(answer.as_bytes())));
            let kind = kind.parse().expect("a media type");
            response
                .headers_mut()
                .insert(http::header::CONTENT_TYPE, kind);
            Ok::<_, hyper::Error>(response)
        }
    });
    // A connection that breaks is the other side's to notice.
    let _ = Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// A certificate for `localhost` that nobody signed.
pub(crate) struct Certificate(rcgen::CertifiedKey<rcgen::KeyPair>);

impl Certificate {
    pub(crate) fn new() -> Self {
        Self(rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.cert.pem()
    }

    fn acceptor(&self) -> TlsAcceptor {
        let key = PrivatePkcs8KeyDer::from(self.0.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.0.cert.der().clone()], PrivateKeyDer::from(key))
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config).into()
    }
}
