//! Connections to one account: pooled, HTTP/1.1 or HTTP/2 as the server prefers, through `HTTPS_PROXY` where it says so.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderName, HeaderValue, Request, Response, Uri};
use http_body::Body;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use sluicegate_catalog::{Endpoint, Provider};
use sluicegate_config::{Account, AwsCredentials};
use sluicegate_core::{Timestamp, WallTime};
use tokio::net::TcpStream;
use tower_service::Service;

use crate::charge_drift::ChargeDrift;
use crate::keys::{Chosen, Keys};
use crate::outgoing::Outgoing;
use crate::sigv4::{self, SigningFailed};

/// An idle connection is given up after that long; load balancers commonly drop theirs after 60 s.
const IDLE_MAX: Duration = Duration::from_secs(50);
/// Idle connections kept for one account.
const IDLE_CONNECTIONS_MAX: usize = 1_024;
/// How often an HTTP/2 connection is asked whether it still lives, and how long the answer may take.
const H2_PING: Duration = Duration::from_secs(20);

/// Sends requests whose bodies are `B`.
pub(crate) type HttpClient<B> = Client<HttpsConnector<ThroughProxy>, B>;

/// How an account is reached.
#[derive(Debug)]
pub(crate) struct Upstream {
    client: HttpClient<Outgoing>,
    provider: Arc<Provider>,
    base_url: String,
    /// The address of chat, where it is the same for all models.
    chat: Option<Uri>,
    auth: Option<HeaderName>,
    /// By what its requests are signed, and for which service, where they are.
    aws: Option<(AwsCredentials, String)>,
    keys: Keys,
    drift: ChargeDrift,
}

/// What names us to the provider for one request.
#[derive(Debug)]
pub(crate) struct Credentials {
    pub(crate) key: Chosen,
    pub(crate) header: (HeaderName, HeaderValue),
}

/// Why an account cannot be reached as configured.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// The base URL makes no address.
    #[error("base_url: {0} is no address that a request can be sent to")]
    Address(String),
    /// A key holds characters that no header may hold.
    #[error(
        "api_key: key number {0} holds characters that no HTTP header may hold (a line end from a file?)"
    )]
    Key(usize),
    /// The file of root certificates cannot be used.
    #[error("ca_file: {path}: {problem}")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// TLS cannot be set up.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl Upstream {
    pub(crate) fn new(account: &Account) -> Result<Self, UpstreamError> {
        let chat = address(&account.provider, &account.base_url, Endpoint::Chat, "m");
        let chat = chat.ok_or_else(|| UpstreamError::Address(account.base_url.clone()))?;
        let auth = &account.provider.auth;
        let keys =
            Keys::new(&account.api_keys, |key| auth.value(key)).map_err(UpstreamError::Key)?;
        Ok(Self {
            client: client(account.timeouts.connect, account.ca_file.as_deref())?,
            chat: (!account.provider.paths.chat.contains("{model}")).then_some(chat),
            provider: Arc::clone(&account.provider),
            base_url: account.base_url.clone(),
            aws: account
                .aws
                .clone()
                .zip(account.provider.aws_service.clone()),
            auth: HeaderName::try_from(auth.header.as_str()).ok(),
            keys,
            drift: ChargeDrift::default(),
        })
    }

    /// What names us to the provider: the next key in turn of those that were not `tried` yet. `None` where there is none left, or none
    /// at all.
    pub(crate) fn credentials(&self, tried: &[Chosen], now: Timestamp) -> Option<Credentials> {
        let name = self.auth.clone()?;
        let key = self.keys.choose(tried, now)?;
        let header = (name, self.keys.value(key).clone());
        Some(Credentials { key, header })
    }

    /// Where `endpoint` is for `model`; `None` where the provider has no such operation, or the model's name makes no address.
    pub(crate) fn address(&self, endpoint: Endpoint, model: &str) -> Option<Uri> {
        let streams_elsewhere = self.provider.paths.stream.is_some();
        match (endpoint, &self.chat) {
            (Endpoint::Chat, Some(chat)) => Some(chat.clone()),
            (Endpoint::Stream, Some(chat)) if !streams_elsewhere => Some(chat.clone()),
            _ => address(&self.provider, &self.base_url, endpoint, model),
        }
    }

    /// Signs `request`, whose body will be `body`, where that stands in for a key. Nothing of it must change any more.
    ///
    /// # Errors
    /// [`SigningFailed`], after which it is not worth sending.
    pub(crate) fn sign<B>(
        &self,
        request: &mut Request<B>,
        body: &[u8],
        now: WallTime,
    ) -> Result<(), SigningFailed> {
        match &self.aws {
            Some((credentials, service)) => sigv4::sign(request, body, credentials, service, now),
            None => Ok(()),
        }
    }

    /// Its keys.
    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// How its provider's charges differ from ours.
    pub(crate) fn drift(&self) -> &ChargeDrift {
        &self.drift
    }

    /// Sends a request and waits for the head of its answer.
    pub(crate) async fn send(
        &self,
        request: Request<Outgoing>,
    ) -> Result<Response<Incoming>, Error> {
        self.client.request(request).await
    }
}

fn address(provider: &Provider, base_url: &str, endpoint: Endpoint, model: &str) -> Option<Uri> {
    provider.url(base_url, endpoint, model)?.parse().ok()
}

/// A client that trusts whom the machine trusts, and `ca_file`.
pub(crate) fn client<B>(
    connect: Duration,
    ca_file: Option<&Path>,
) -> Result<HttpClient<B>, UpstreamError>
where
    B: Body + Send,
    B::Data: Send,
{
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(Duration::from_secs(30)));
    tcp.set_connect_timeout(Some(connect));
    let tcp = ThroughProxy {
        tcp,
        proxies: Arc::new(Matcher::from_env()),
    };
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(tls(ca_file)?)
        .https_or_http()
        .enable_http1()
        .enable_http2()
        .wrap_connector(tcp);
    Ok(Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_MAX)
        .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
        .http2_keep_alive_interval(H2_PING)
        .http2_keep_alive_timeout(H2_PING)
        .http2_adaptive_window(true)
        .build(connector))
}

fn tls(ca_file: Option<&Path>) -> Result<ClientConfig, UpstreamError> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(native.certs);
    if added == 0 {
        // A container without certificates of its own.
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    if let Some(path) = ca_file {
        let problem = |problem: String| UpstreamError::CaFile {
            path: path.to_owned(),
            problem,
        };
        let certificates = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| problem(error.to_string()))?;
        if certificates.is_empty() {
            return Err(problem("holds no certificate in PEM form".to_owned()));
        }
        for certificate in certificates {
            roots
                .add(certificate)
                .map_err(|error| problem(error.to_string()))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

/// Connects directly, or by `CONNECT` through the proxy that the environment names for a TLS address.
#[derive(Clone, Debug)]
pub(crate) struct ThroughProxy {
    tcp: HttpConnector,
    proxies: Arc<Matcher>,
}

impl Service<Uri> for ThroughProxy {
    type Response = TokioIo<TcpStream>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let tls = address.scheme_str() == Some("https");
        let proxy = if tls {
            self.proxies.intercept(&address)
        } else {
            None
        };
        let Some(proxy) = proxy else {
            let connecting = self.tcp.call(address);
            return Box::pin(async move { Ok(connecting.await?) });
        };
        if proxy.uri().scheme_str() != Some("http") {
            let proxy = proxy.uri().clone();
            return Box::pin(async move {
                Err(format!("the proxy {proxy} is none that is spoken to by plain HTTP").into())
            });
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.tcp.clone());
        if let Some(credentials) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credentials.clone());
        }
        Box::pin(async move { Ok(tunnel.call(address).await?) })
    }
}
