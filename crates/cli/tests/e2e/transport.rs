//! What HTTP is spoken, on both sides, and through what.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{Request, Version};
use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::harness::{Certificate, Fake, Folder, Front, Gateway, Proxy, chat, within};

fn hello(stream: bool) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": stream})
}

/// A gateway in front of the TLS upstream `front`, which only `certificate` vouches for.
async fn secured(
    front: &Front,
    folder: &Folder,
    certificate: &Certificate,
    environment: &[(&str, &str)],
) -> Gateway {
    let ca_file = folder.write("ca.pem", &certificate.pem());
    let config = format!(
        "accounts:
  up: {{ provider: openai, api_key: k, base_url: \"https://localhost:{}/v1\", ca_file: {} }}
deployments: {{ m: {{ account: up }} }}
",
        front.address.port(),
        ca_file.display()
    );
    Gateway::start_with(&config, |command| {
        command.envs(environment.iter().copied());
    })
    .await
}

#[tokio::test]
async fn clients_may_speak_http2_from_the_first_byte() {
    let fake = Fake::start("answer: { output_tokens: 5 }").await;
    let gateway = Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{}\" }} }}\ndeployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    ))
    .await;
    for stream in [false, true] {
        let one = gateway.client().send(chat(&hello(stream))).await;
        let two = gateway.client().http2().send(chat(&hello(stream))).await;
        assert_eq!(
            (one.version, two.version),
            (Version::HTTP_11, Version::HTTP_2)
        );
        assert_eq!((one.status, two.status), (200, 200), "{}", two.text());
        assert_eq!(one.text(), two.text());
    }
    let refused = gateway
        .client()
        .http2()
        .send(chat(&json!({"model": "m"})))
        .await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (400, "invalid_request")
    );
    gateway.idle().await;
}

/// A body that does not end before its sender is dropped.
fn endless() -> (Sender<Bytes, Infallible>, BoxBody<Bytes, Infallible>) {
    let (sender, body) = Channel::new(16);
    (sender, body.boxed())
}

#[tokio::test]
async fn a_body_over_the_bound_is_refused_over_http2_and_the_connection_goes_on() {
    const BODY_MAX: usize = 4_096;
    // More than any window of flow control: it cannot have left before the answer comes.
    const LARGE: usize = 16 << 20;
    let fake = Fake::start("").await;
    let gateway = Gateway::start(&format!(
        "server: {{ body_max: {BODY_MAX} }}
accounts: {{ up: {{ provider: openai, base_url: \"{}\" }} }}
deployments: {{ m: {{ account: up }} }}
",
        fake.base_url()
    ))
    .await;
    let tcp = TokioIo::new(TcpStream::connect(gateway.address).await.unwrap());
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), tcp).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut send = async |name: &str, request: Request<BoxBody<Bytes, Infallible>>| {
        let (mut head, body) = request.into_parts();
        let uri = format!("http://{}{}", gateway.address, head.uri);
        head.uri = uri.parse().unwrap();
        let answer = async {
            let answer = sender.send_request(Request::from_parts(head, body)).await;
            let (head, body) = answer
                .unwrap_or_else(|it| panic!("{name}: {it}"))
                .into_parts();
            let body = body
                .collect()
                .await
                .unwrap_or_else(|it| panic!("{name}: {it}"));
            (head.status.as_u16(), body.to_bytes())
        };
        within(name, answer).await
    };
    let full = |body: Vec<u8>| Full::from(body).boxed();

    let (announced, body) = endless();
    let mut only_head = chat(&json!({})).map(|_| body);
    let length = (BODY_MAX + 1).into();
    only_head.headers_mut().insert(CONTENT_LENGTH, length);
    let whole = chat(&json!({})).map(|_| full(vec![b' '; LARGE]));
    let (mut pieces, body) = endless();
    for _ in 0..2 {
        let piece = Bytes::from(vec![b' '; BODY_MAX]);
        pieces.send_data(piece).await.unwrap();
    }
    let in_pieces = chat(&json!({})).map(|_| body);
    for (name, request) in [
        ("announced", only_head),
        ("whole", whole),
        ("in pieces", in_pieces),
    ] {
        let (status, body) = send(name, request).await;
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (status, &body["error"]["code"]),
            (413, &json!("request_too_large")),
            "{name}"
        );
    }
    drop((announced, pieces));
    let (status, _) = send("one that fits", chat(&hello(false)).map(BodyExt::boxed)).await;
    assert_eq!(status, 200);
    assert!(!connection.is_finished());
    assert_eq!(fake.count("accepted").await, 1);
    gateway.idle().await;
}

#[tokio::test]
async fn an_upstream_that_prefers_http2_is_spoken_to_so_over_tls() {
    let (certificate, folder) = (Certificate::new(), Folder::new());
    let front = Front::tls(&certificate).await;
    let gateway = secured(&front, &folder, &certificate, &[]).await;
    for stream in [false, true] {
        let answer = gateway.chat(&hello(stream)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.text().contains("\"ok\""), "{}", answer.text());
        let arrived = front.take();
        assert_eq!(arrived.version, Version::HTTP_2);
        assert_eq!(arrived.headers["authorization"], "Bearer k");
    }
    gateway.idle().await;
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused() {
    let folder = Folder::new();
    let front = Front::tls(&Certificate::new()).await;
    let gateway = secured(&front, &folder, &Certificate::new(), &[]).await;
    let answer = gateway.chat(&hello(false)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "upstream_unavailable")
    );
    assert!(answer.text().contains("certificate"), "{}", answer.text());
    assert!(front.seen().is_empty());
    gateway.idle().await;
}

#[tokio::test]
async fn a_tls_upstream_is_reached_through_the_proxy_of_the_environment() {
    let (certificate, folder) = (Certificate::new(), Folder::new());
    let front = Front::tls(&certificate).await;
    let proxy = Proxy::start().await;
    let address = format!("http://{}", proxy.address);
    let gateway = secured(&front, &folder, &certificate, &[("HTTPS_PROXY", &address)]).await;
    gateway.answers("m").await;
    assert_eq!(front.take().version, Version::HTTP_2);
    let port = front.address.port();
    assert_eq!(
        proxy.asked(),
        [format!("CONNECT localhost:{port} HTTP/1.1")]
    );
}

#[tokio::test]
async fn no_proxy_goes_around_it() {
    let (certificate, folder) = (Certificate::new(), Folder::new());
    let front = Front::tls(&certificate).await;
    let proxy = Proxy::start().await;
    let address = format!("http://{}", proxy.address);
    let environment = [("HTTPS_PROXY", address.as_str()), ("NO_PROXY", "localhost")];
    let gateway = secured(&front, &folder, &certificate, &environment).await;
    gateway.answers("m").await;
    assert_eq!(front.take().version, Version::HTTP_2);
    assert!(proxy.asked().is_empty(), "{:?}", proxy.asked());
}

#[tokio::test]
async fn a_proxy_that_is_down_is_an_upstream_that_cannot_be_reached() {
    let (certificate, folder) = (Certificate::new(), Folder::new());
    let front = Front::tls(&certificate).await;
    // Bound and dropped: nobody listens there.
    let down = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let address = format!("http://{down}");
    let gateway = secured(&front, &folder, &certificate, &[("HTTPS_PROXY", &address)]).await;
    let answer = gateway.chat(&hello(false)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (503, "upstream_unavailable"),
        "{answer:?}"
    );
    assert!(front.seen().is_empty());
    gateway.idle().await;
}
