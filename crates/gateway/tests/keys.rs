//! Several keys of one account against an upstream that refuses some of them, over real sockets.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use sluicegate_fake::Settings;
use sluicegate_gateway::{Exposure, Running};

struct World {
    fake: SocketAddr,
    gateway: Running,
}

struct Reply {
    status: StatusCode,
    attempts: Option<String>,
    body: Value,
}

impl World {
    /// A gateway with two keys before a fake with these settings. One slot: a second attempt that began before the first had given its
    /// own back would wait for ever.
    async fn start(settings: &str) -> Self {
        let settings = Settings::from_yaml(settings).expect("settings");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = sluicegate_fake::bind(any, settings).await;
        let server = server.expect("a free port");
        let fake = server.local_addr().expect("an address");
        tokio::spawn(server.run(std::future::pending()));
        let text = format!(
            "server: {{ listen: 127.0.0.1:0 }}\n\
             accounts: {{ main: {{ provider: openai, base_url: \"http://{fake}\", api_keys: [key-one, key-two], limits: {{ concurrent: 1 }} }} }}\n\
             deployments: {{ m: {{ account: main }} }}\n"
        );
        let policy = sluicegate_config::parse("keys.yaml", &text, &|_| None).expect("a policy");
        let gateway = Running::start(policy, Exposure::LoopbackOnly).await;
        let gateway = gateway.expect("a free port");
        Self { fake, gateway }
    }

    async fn chat(&self) -> Reply {
        let hello = json!({ "model": "m", "messages": [{ "role": "user", "content": "Hello!" }] });
        let address = self.gateway.address();
        let (parts, body) = send(Method::POST, address, "/v1/chat/completions", &hello).await;
        let attempts = parts.headers.get("x-sluicegate-attempts");
        Reply {
            status: parts.status,
            attempts: attempts.map(|value| value.to_str().expect("a number").to_owned()),
            body: serde_json::from_slice(&body).expect("JSON"),
        }
    }

    /// The value of a metric, with its labels as they are written.
    async fn metric(&self, name: &str) -> Option<u64> {
        let address = self.gateway.admin_address();
        let (_, page) = send(Method::GET, address, "/metrics", &Value::Null).await;
        let page = String::from_utf8(page.to_vec()).expect("UTF-8");
        let mut values = page.lines().filter_map(|line| line.strip_prefix(name));
        values
            .next()
            .map(|value| value.trim().parse().expect("a number"))
    }

    async fn benched(&self) -> Option<u64> {
        self.metric(r#"sluicegate_keys_benched{account="main"}"#)
            .await
    }

    async fn refused(&self) -> Option<u64> {
        let labels = r#"{provider="openai",model="m",outcome="auth"}"#;
        self.metric(&format!("sluicegate_upstream_attempts_total{labels}"))
            .await
    }
}

async fn send(
    method: Method,
    address: SocketAddr,
    path: &str,
    body: &Value,
) -> (http::response::Parts, Bytes) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let request = Request::builder()
        .method(method)
        .uri(format!("http://{address}{path}"))
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body.to_string())))
        .expect("a request");
    let (parts, body) = client
        .request(request)
        .await
        .expect("an answer")
        .into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    (parts, body)
}

#[tokio::test]
async fn a_refused_key_is_seen_by_nobody_while_another_works() {
    let world = World::start("keys: [key-two]").await;
    for attempts in ["2", "1", "1", "1"] {
        let reply = world.chat().await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        assert_eq!(reply.attempts.as_deref(), Some(attempts));
    }
    assert_eq!(world.refused().await, Some(1), "it rests");
    assert_eq!(world.benched().await, Some(1));
    assert_eq!(world.metric("sluicegate_reservations_open").await, Some(0));
}

#[tokio::test]
async fn keys_that_are_all_refused_are_tried_until_one_is_mended() {
    let world = World::start("keys: [another]").await;
    for refused in [2, 4] {
        let reply = world.chat().await;
        assert_eq!(reply.status, StatusCode::BAD_GATEWAY);
        assert_eq!(reply.body["error"]["code"], "upstream_auth");
        assert_eq!(world.refused().await, Some(refused), "each key once");
        assert_eq!(world.benched().await, Some(2));
    }
    let mended = json!({ "keys": ["key-one"] });
    send(Method::PUT, world.fake, "/_settings", &mended).await;
    let reply = world.chat().await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
    assert_eq!(
        world.benched().await,
        Some(1),
        "the mended one rests no longer"
    );
    assert_eq!(world.chat().await.attempts.as_deref(), Some("1"));
    assert_eq!(world.metric("sluicegate_reservations_open").await, Some(0));
}

#[tokio::test]
async fn what_one_request_may_not_do_is_tried_with_the_other_key_and_benches_none() {
    let world = World::start("faults: [{ status: 403 }]").await;
    let reply = world.chat().await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
    assert_eq!(reply.attempts.as_deref(), Some("2"));
    assert_eq!(world.benched().await, Some(0));
}
