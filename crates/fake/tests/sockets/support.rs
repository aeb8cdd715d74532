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

pub(crate) const CHAT: &str = "/v1/chat/completions";
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Fake {
    pub(crate) addr: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Fake {
    pub(crate) async fn start(yaml: &str) -> Self {
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
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }

    pub(crate) async fn chat(&self, body: Value) -> Reply {
        self.send("POST", CHAT, &[], &body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let reply = self.send("GET", path, &[], &Value::Null).await;
        assert_eq!(reply.status, 200, "{path}");
        reply.json()
    }

    pub(crate) async fn send(
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
    pub(crate) async fn write(
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
    pub(crate) async fn stats_until(&self, expected: impl Fn(&Value) -> bool) -> Value {
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

#[derive(Debug, Default)]
pub(crate) struct Reply {
    /// 0: there was no head.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// Without its framing.
    pub(crate) body: Vec<u8>,
    /// Whether the framing came to its proper end.
    pub(crate) complete: bool,
    pub(crate) reset: bool,
    /// Sizes of the chunks, where the framing has them.
    pub(crate) pieces: Vec<usize>,
}

impl Reply {
    fn read(raw: &[u8], reset: bool) -> Self {
        let Some(end) = raw.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Self {
                body: raw.to_vec(),
                reset,
                ..Self::default()
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
            reset,
            ..Self::default()
        };
        let rest = &raw[end + 4..];
        match reply.header("content-length") {
            Some(length) => {
                reply.complete = rest.len() == length.parse::<usize>().unwrap();
                reply.body = rest.to_vec();
            }
            None => reply.dechunk(rest),
        }
        reply
    }

    /// Takes the content out of chunked framing, which is complete if its end came.
    fn dechunk(&mut self, mut raw: &[u8]) {
        while let Some(end) = raw.windows(2).position(|window| window == b"\r\n") {
            let size = std::str::from_utf8(&raw[..end]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            if size == 0 {
                self.complete = true;
                return;
            }
            let from = end + 2;
            let to = (from + size).min(raw.len());
            self.body.extend_from_slice(&raw[from..to]);
            self.pieces.push(to - from);
            raw = raw.get(to + 2..).unwrap_or_default();
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The data of the events, comments left out.
    pub(crate) fn events(&self) -> Vec<String> {
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

    /// The types of the events and their data.
    pub(crate) fn named(&self) -> Vec<(String, Value)> {
        let field = |event: &str, name: &str| {
            let mut lines = event.lines();
            let line = lines.find_map(|line| line.strip_prefix(name).map(str::to_owned));
            line.unwrap_or_default()
        };
        let events = self.text().split("\n\n").filter(|event| !event.is_empty());
        let parse = |text: &str| serde_json::from_str(text).unwrap_or(Value::Null);
        events
            .map(|event| (field(event, "event: "), parse(&field(event, "data: "))))
            .collect()
    }

    /// The events that are JSON.
    pub(crate) fn chunks(&self) -> Vec<Value> {
        self.events()
            .iter()
            .filter_map(|event| serde_json::from_str(event).ok())
            .collect()
    }

    /// The text of the first choice, streamed or not.
    pub(crate) fn content(&self) -> String {
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

/// A streamed or whole request for `fake`'s wishes.
pub(crate) fn request(stream: bool, fake: Value) -> Value {
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

/// A tool `look_up` that wants a city, as JSON Schema.
pub(crate) fn look_up() -> Value {
    json!({"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}})
}

/// A schema that `fits` checks.
pub(crate) fn report() -> Value {
    json!({"type": "object", "required": ["kind", "gates"], "additionalProperties": false, "properties": {
        "kind": {"type": "string", "enum": ["lock", "weir"]},
        "gates": {"type": "array", "items": {
            "type": "object", "required": ["level"], "properties": {"level": {"type": "integer"}}}},
    }})
}

/// Whether a text is JSON after [`report`].
pub(crate) fn fits(text: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return false;
    };
    let gates = value["gates"]
        .as_array()
        .is_some_and(|gates| !gates.is_empty() && gates.iter().all(|gate| gate["level"].is_i64()));
    gates && (value["kind"] == "lock" || value["kind"] == "weir")
}
