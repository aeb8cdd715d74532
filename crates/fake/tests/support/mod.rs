//! A fake on a free port, and a client that reads raw bytes and notices how a connection ends.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use sluicegate_fake::{Settings, bind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub const CHAT: &str = "/v1/chat/completions";
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Fake {
    pub addr: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Fake {
    pub async fn start(yaml: &str) -> Self {
        let settings = Settings::from_yaml(yaml).unwrap();
        let server = bind(([127, 0, 0, 1], 0).into(), settings).await.unwrap();
        let addr = server.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Self { addr, stop, task }
    }

    /// Shuts down and waits until nothing runs any more.
    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }

    pub async fn chat(&self, body: Value) -> Reply {
        self.send("POST", CHAT, &[], &body).await
    }

    pub async fn get(&self, path: &str) -> Value {
        let reply = self.send("GET", path, &[], &Value::Null).await;
        assert_eq!(reply.status, 200, "{path}");
        reply.json()
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        let mut stream = self.write(method, path, headers, body).await;
        let mut raw = Vec::new();
        let end = timeout(PATIENCE, stream.read_to_end(&mut raw))
            .await
            .unwrap();
        Reply::read(&raw, end.is_err())
    }

    /// Sends a request and leaves the answer in the connection.
    pub async fn write(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> TcpStream {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nhost: fake\r\nconnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("content-length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Asks for the counters until `expected` holds of them.
    pub async fn stats_until(&self, expected: impl Fn(&Value) -> bool) -> Value {
        let asking = async {
            loop {
                let stats = self.get("/_stats").await;
                if expected(&stats) {
                    return stats;
                }
            }
        };
        timeout(PATIENCE, asking)
            .await
            .expect("the counters never became as expected")
    }
}

#[derive(Debug)]
pub struct Reply {
    /// 0: there was no head.
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Without its framing.
    pub body: Vec<u8>,
    /// Whether the framing came to its proper end.
    pub complete: bool,
    pub reset: bool,
}

impl Reply {
    fn read(raw: &[u8], reset: bool) -> Self {
        let Some(end) = raw.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Self {
                status: 0,
                headers: vec![],
                body: raw.to_vec(),
                complete: false,
                reset,
            };
        };
        let head = std::str::from_utf8(&raw[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut reply = Self {
            status,
            headers,
            body: Vec::new(),
            complete: false,
            reset,
        };
        let rest = &raw[end + 4..];
        match reply.header("content-length") {
            Some(length) => {
                reply.complete = rest.len() == length.parse::<usize>().unwrap();
                reply.body = rest.to_vec();
            }
            None => (reply.body, reply.complete) = dechunk(rest),
        }
        reply
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The data of the events, comments left out.
    pub fn events(&self) -> Vec<String> {
        let text = self.text().replace("\r\n", "\n").replace('\r', "\n");
        text.split("\n\n")
            .map(|event| {
                let data: Vec<&str> = event
                    .lines()
                    .filter_map(|line| line.strip_prefix("data:"))
                    .map(|data| data.strip_prefix(' ').unwrap_or(data))
                    .collect();
                data.join("\n")
            })
            .filter(|data| !data.is_empty())
            .collect()
    }

    /// The events that are JSON.
    pub fn chunks(&self) -> Vec<Value> {
        self.events()
            .iter()
            .filter_map(|event| serde_json::from_str(event).ok())
            .collect()
    }

    /// The text of the first choice, streamed or not.
    pub fn content(&self) -> String {
        if self
            .header("content-type")
            .unwrap()
            .starts_with("application/json")
        {
            return self.json()["choices"][0]["message"]["content"]
                .as_str()
                .unwrap()
                .to_owned();
        }
        self.chunks()
            .iter()
            .filter_map(|chunk| {
                chunk["choices"][0]["delta"]["content"]
                    .as_str()
                    .map(str::to_owned)
            })
            .collect()
    }
}

/// The content of chunked framing, and whether its end came.
fn dechunk(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = raw.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&raw[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        let from = end + 2;
        let to = (from + size).min(raw.len());
        body.extend_from_slice(&raw[from..to]);
        raw = raw.get(to + 2..).unwrap_or_default();
    }
    (body, false)
}

/// A streamed or whole request for `fake`'s wishes.
pub fn request(stream: bool, fake: Value) -> Value {
    let mut body = json!({
        "model": "m",
        "messages": [{"role": "user", "content": "안녕하세요 🌊 tell me"}],
        "stream": stream,
        "fake": fake,
    });
    if stream {
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}
