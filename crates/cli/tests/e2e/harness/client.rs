//! A client that sees everything and can be rude: a connection for each request, closed the moment it is dropped.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, Method, Request, StatusCode, Version, response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::wait::within;

pub(crate) const CHAT: &str = "/v1/chat/completions";

/// Any failure of a connection.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// A request for `body`, as a program would send it.
pub(crate) fn chat(body: &Value) -> Request<Full<Bytes>> {
    chat_bytes(body.to_string())
}

/// A request for exactly these bytes.
pub(crate) fn chat_bytes(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post(CHAT)
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(body.into()))
        .unwrap()
}

/// Sends requests to one address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    version: Version,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// An answer whose body is still coming. Dropped, it hangs up.
#[derive(Debug)]
pub(crate) struct Stream {
    head: response::Parts,
    body: Incoming,
    _line: Line,
}

/// A connection, broken when dropped.
#[derive(Debug)]
struct Line(JoinHandle<()>);

impl Drop for Line {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            version: Version::HTTP_11,
        }
    }

    /// Speaks HTTP/2 from the first byte.
    pub(crate) fn http2(self) -> Self {
        Self {
            version: Version::HTTP_2,
            ..self
        }
    }

    /// A whole answer to a request that must get one.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        let answer = async { self.open(request).await?.read().await };
        within("an answer", answer).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = Request::get(path).body(Full::default()).unwrap();
        self.send(request).await
    }

    /// A JSON document that must be there.
    pub(crate) async fn get_json(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// Sends a JSON document that must be taken.
    pub(crate) async fn put(&self, method: Method, path: &str, body: &Value) -> Value {
        let mut request = chat(body);
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap();
        let answer = self.send(request).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// The head of an answer, with the body to come. Dropping the future hangs up.
    ///
    /// # Errors
    ///
    /// When the connection fails before the head has come.
    pub(crate) async fn open(&self, request: Request<Full<Bytes>>) -> Result<Stream, Error> {
        self.open_body(request.map(|body| body.map_err(|never| match never {}).boxed()))
            .await
    }

    /// The same for a body that may come in pieces, without its length in the head.
    ///
    /// # Errors
    ///
    /// When the connection fails before the head has come.
    pub(crate) async fn open_body(
        &self,
        mut request: Request<BoxBody<Bytes, Error>>,
    ) -> Result<Stream, Error> {
        let tcp = TcpStream::connect(self.address).await?;
        tcp.set_nodelay(true)?;
        let tcp = TokioIo::new(tcp);
        if self.version == Version::HTTP_2 {
            let path = request
                .uri()
                .path_and_query()
                .map_or("/", |path| path.as_str());
            *request.uri_mut() = format!("http://{}{path}", self.address).parse()?;
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), tcp).await?;
            let line = Line(tokio::spawn(async { drop(connection.await) }));
            return Ok(Stream::new(sender.send_request(request).await?, line));
        }
        if !request.headers().contains_key(HOST) {
            let host = self.address.to_string().parse()?;
            request.headers_mut().insert(HOST, host);
        }
        let (mut sender, connection) = http1::handshake(tcp).await?;
        let line = Line(tokio::spawn(async { drop(connection.await) }));
        Ok(Stream::new(sender.send_request(request).await?, line))
    }
}

impl Stream {
    fn new(response: http::Response<Incoming>, line: Line) -> Self {
        let (head, body) = response.into_parts();
        Self {
            head,
            body,
            _line: line,
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.head.status
    }

    /// The next piece of the body; `None` at its proper end.
    ///
    /// # Errors
    ///
    /// When the connection breaks.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The rest, to its proper end.
    ///
    /// # Errors
    ///
    /// When the connection breaks before that.
    pub(crate) async fn read(mut self) -> Result<Answer, Error> {
        let mut body = Vec::new();
        while let Some(piece) = self.next().await? {
            body.extend_from_slice(&piece);
        }
        Ok(Answer {
            status: self.head.status.as_u16(),
            version: self.head.version,
            headers: self.head.headers,
            body: body.into(),
        })
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// A header that must be there and be a whole number.
    pub(crate) fn number(&self, name: &str) -> u64 {
        let value = self.header(name);
        let number = value.and_then(|value| value.parse().ok());
        number.unwrap_or_else(|| panic!("{name} is {value:?}: {self:?}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The data of a stream's events, whatever ends its lines. Comments are left out.
    pub(crate) fn events(&self) -> Vec<String> {
        let text = self.text().replace("\r\n", "\n");
        let data = |event: &str| {
            let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
            lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
        };
        let events = text.split("\n\n").map(data);
        events.filter(|data| !data.is_empty()).collect()
    }

    /// The `code` of an error.
    pub(crate) fn code(&self) -> String {
        let error = &self.json()["error"];
        error["code"].as_str().unwrap_or_default().to_owned()
    }
}
