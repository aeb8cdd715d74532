//! How a gateway ends: what runs is finished, what waits is sent away, nothing new begins.

use serde_json::{Value, json};

use crate::harness::{Client, Fake, Gateway, chat, eventually, within};

/// One slot, so that the second request waits.
async fn single(fake: &Fake) -> Gateway {
    Gateway::start(&format!(
        "accounts: {{ up: {{ provider: openai, base_url: \"{}\", limits: [{{ meter: concurrent, amount: 1 }}] }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    ))
    .await
}

fn stream(fault: &Value) -> Value {
    json!({
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": true,
        "fake": {"output_tokens": 40, "ms_per_token": 25, "fault": fault},
    })
}

/// The gateway says that it is not ready, or nobody listens any more.
async fn not_ready(client: Client) {
    eventually("not ready", async || {
        let request = http::Request::get("/readyz")
            .body(http_body_util::Full::default())
            .unwrap();
        match client.open(request).await {
            Err(_) => Ok(()),
            Ok(answer) if answer.status() == 503 => Ok(()),
            Ok(answer) => Err(answer.status()),
        }
    })
    .await;
}

#[tokio::test]
async fn a_termination_finishes_streams_and_sends_the_line_away() {
    let fake = Fake::start("").await;
    let mut gateway = single(&fake).await;
    assert_eq!(gateway.client().get("/readyz").await.status, 200);
    let mut running = within("a head", gateway.client().open(chat(&stream(&json!({})))))
        .await
        .unwrap();
    assert_eq!(running.status(), 200);
    let first = running.next().await.unwrap().unwrap();
    let client = gateway.client();
    let in_line = tokio::spawn(async move { client.send(chat(&stream(&json!({})))).await });
    gateway.waiting(1).await;

    gateway.process.terminate();
    let sent_away = in_line.await.unwrap();
    assert_eq!(
        (sent_away.status, sent_away.code().as_str()),
        (503, "shutting_down"),
        "{sent_away:?}"
    );
    assert!(sent_away.number("retry-after") >= 1);
    assert_eq!(
        sent_away.header("x-should-retry"),
        None,
        "another instance may take it"
    );
    not_ready(gateway.client()).await;

    let rest = within("the rest of the stream", running.read())
        .await
        .unwrap();
    let whole = [&first[..], &rest.body[..]].concat();
    let whole = String::from_utf8(whole).unwrap();
    assert_eq!(
        whole.matches("\"delta\":{\"content\"").count(),
        40,
        "{whole}"
    );
    assert!(whole.ends_with("data: [DONE]\n\n"), "{whole}");
    assert_eq!(gateway.process.ended().await.code(), Some(0));
    assert_eq!(
        fake.count("accepted").await,
        1,
        "who was sent away was not sent on"
    );
    assert_eq!(fake.count("aborted").await, 0);
}

#[tokio::test]
async fn an_idle_gateway_ends_at_once_also_with_open_connections() {
    let fake = Fake::start("").await;
    let mut gateway = single(&fake).await;
    gateway.answers("m").await;
    let _idle = tokio::net::TcpStream::connect(gateway.address)
        .await
        .unwrap();
    gateway.process.terminate();
    assert_eq!(gateway.process.ended().await.code(), Some(0));
}

#[tokio::test]
async fn a_second_termination_ends_streams_with_an_error_event() {
    let fake = Fake::start("").await;
    let mut gateway = single(&fake).await;
    let endless = stream(&json!({"hang_after": 4}));
    let mut running = within("a head", gateway.client().open(chat(&endless)))
        .await
        .unwrap();
    let first = running.next().await.unwrap().unwrap();
    gateway.process.terminate();
    gateway.process.complains("draining").await;
    gateway.process.terminate();
    let rest = within("the end of the stream", running.read())
        .await
        .unwrap();
    let whole = String::from_utf8([&first[..], &rest.body[..]].concat()).unwrap();
    assert!(!whole.contains("[DONE]"), "{whole}");
    let last = whole.trim_end().rsplit("data: ").next().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["error"]["code"], "shutting_down", "{whole}");
    assert_eq!(gateway.process.ended().await.code(), Some(0));
    fake.in_flight(0).await;
    assert_eq!(fake.count("aborted").await, 1);
}

#[tokio::test]
async fn draining_has_an_end() {
    let fake = Fake::start("").await;
    let mut gateway = Gateway::start(&format!(
        "server: {{ drain: 100ms }}\naccounts: {{ up: {{ provider: openai, base_url: \"{}\" }} }}\n\
         deployments: {{ m: {{ account: up }} }}\n",
        fake.base_url()
    ))
    .await;
    let endless = stream(&json!({"hang_after": 4}));
    let running = within("a head", gateway.client().open(chat(&endless)))
        .await
        .unwrap();
    let client = gateway.client();
    let hangs = stream(&json!({"before_head": "hang"}));
    let headless = tokio::spawn(async move { client.send(chat(&hangs)).await });
    fake.in_flight(2).await;
    gateway.process.terminate();
    let rest = within("the end of the stream", running.read())
        .await
        .unwrap();
    assert!(rest.text().contains("shutting_down"), "{}", rest.text());
    let headless = headless.await.unwrap();
    assert_eq!(
        (headless.status, headless.code().as_str()),
        (503, "shutting_down")
    );
    for said in [rest.text(), headless.text()] {
        assert!(said.contains("broke this call off"), "{said}");
    }
    assert_eq!(gateway.process.ended().await.code(), Some(0));
}
