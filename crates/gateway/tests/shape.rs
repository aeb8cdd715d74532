//! JSON from whoever answers: a primary that fails before a fallback that has no feature for schemas, over real sockets.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use sluicegate_gateway::{Exposure, Running};

/// A fallback that says what it is told to, in turn, and keeps what it was asked.
#[derive(Clone, Default)]
struct Fallback {
    says: Arc<Mutex<VecDeque<String>>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

struct World {
    fallback: Fallback,
    gateway: Running,
}

impl World {
    /// One slot at the fallback: a repair that began before the attempt had given its own back would wait for ever.
    async fn start(says: &[&str]) -> Self {
        let fallback = Fallback::default();
        let says = says.iter().map(|text| (*text).to_owned());
        *fallback.says.lock().expect("no test thread panics") = says.collect();
        let broken = Router::new().fallback(|| async { StatusCode::SERVICE_UNAVAILABLE });
        let answering = Router::new().fallback(answer).with_state(fallback.clone());
        let (broken, answering) = (serve(broken).await, serve(answering).await);
        let text = format!(
            "server: {{ listen: 127.0.0.1:0 }}\n\
             accounts:\n\
             \x20 a: {{ provider: openai, api_key: k, base_url: \"http://{broken}\" }}\n\
             \x20 b: {{ provider: deepseek, api_key: k, base_url: \"http://{answering}\", limits: {{ concurrent: 1 }} }}\n\
             deployments: {{ first: {{ account: a }}, second: {{ account: b }} }}\n\
             routes: {{ m: {{ primary: first, fallbacks: [{{ to: second }}] }} }}\n"
        );
        let policy = sluicegate_config::parse("shape.yaml", &text, &|_| None).expect("a policy");
        let gateway = Running::start(policy, Exposure::LoopbackOnly).await;
        let gateway = gateway.expect("a free port");
        Self { fallback, gateway }
    }

    async fn ask(&self, stream: bool) -> (http::response::Parts, String) {
        let schema = json!({
            "type": "object", "properties": { "city": { "type": "string" } },
            "required": ["city"], "additionalProperties": false
        });
        let format = json!({ "name": "city", "strict": true, "schema": schema });
        let request = json!({
            "model": "m", "stream": stream,
            "messages": [{ "role": "user", "content": "Which city?" }],
            "response_format": { "type": "json_schema", "json_schema": format }
        });
        send(
            Method::POST,
            self.gateway.address(),
            "/v1/chat/completions",
            &request,
        )
        .await
    }

    /// The value of a metric, with its labels as they are written.
    async fn metric(&self, name: &str) -> Option<u64> {
        let address = self.gateway.admin_address();
        let (_, page) = send(Method::GET, address, "/metrics", &Value::Null).await;
        let mut values = page.lines().filter_map(|line| line.strip_prefix(name));
        values
            .next()
            .map(|value| value.trim().parse().expect("a number"))
    }

    async fn repaired(&self, outcome: &str) -> Option<u64> {
        let name = format!("sluicegate_answers_repaired_total{{outcome=\"{outcome}\"}}");
        self.metric(&name).await
    }

    fn asked(&self) -> Vec<Value> {
        self.fallback
            .asked
            .lock()
            .expect("no test thread panics")
            .clone()
    }
}

async fn serve(routes: Router) -> SocketAddr {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = tokio::net::TcpListener::bind(any).await;
    let listener = listener.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(routes.clone());
            let connection = auto::Builder::new(TokioExecutor::new());
            let connection = connection.http1_only();
            tokio::spawn(async move {
                // A client that leaves ends its connection: nothing to tell.
                let _ = connection
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    address
}

async fn answer(State(fallback): State<Fallback>, body: Bytes) -> Response {
    let asked: Value = serde_json::from_slice(&body).expect("JSON");
    let streams = asked["stream"] == true;
    fallback
        .asked
        .lock()
        .expect("no test thread panics")
        .push(asked);
    let said = fallback
        .says
        .lock()
        .expect("no test thread panics")
        .pop_front();
    let said = said.expect("no more calls than answers");
    let usage = json!({ "prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25 });
    if !streams {
        let message = json!({ "role": "assistant", "content": said });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
        let answer = json!({ "id": "a", "object": "chat.completion", "model": "second", "choices": [choice], "usage": usage });
        return ([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response();
    }
    let mut stream = String::new();
    let mut event = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({ "id": "a", "object": "chat.completion.chunk", "model": "second", "choices": [choice] });
        stream.push_str(&format!("data: {chunk}\n\n"));
    };
    for character in said.chars() {
        event(json!({ "content": character.to_string() }), Value::Null);
    }
    event(json!({}), json!("stop"));
    let chunk = json!({ "id": "a", "object": "chat.completion.chunk", "model": "second", "choices": [], "usage": usage });
    stream.push_str(&format!("data: {chunk}\n\ndata: [DONE]\n\n"));
    ([(CONTENT_TYPE, "text/event-stream")], stream).into_response()
}

async fn send(
    method: Method,
    address: SocketAddr,
    path: &str,
    body: &Value,
) -> (http::response::Parts, String) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let request = Request::builder()
        .method(method)
        .uri(format!("http://{address}{path}"))
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body.to_string())))
        .expect("a request");
    let answer = client.request(request).await.expect("an answer");
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    (parts, String::from_utf8(body.to_vec()).expect("UTF-8"))
}

/// What an answer says, streamed or not.
fn text(body: &str) -> String {
    if let Ok(answer) = serde_json::from_str::<Value>(body) {
        let content = answer["choices"][0]["message"]["content"].as_str();
        return content.unwrap_or_default().to_owned();
    }
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let chunks = events.filter_map(|event| serde_json::from_str::<Value>(event).ok());
    let deltas = chunks.map(|chunk| {
        let content = chunk["choices"][0]["delta"]["content"].as_str();
        content.unwrap_or_default().to_owned()
    });
    deltas.collect()
}

fn attempts(parts: &http::response::Parts) -> &str {
    let attempts = parts.headers.get("x-sluicegate-attempts");
    attempts.map_or("", |value| value.to_str().expect("a number"))
}

#[tokio::test]
async fn a_fallback_is_told_of_the_schema_and_what_it_puts_around_its_json_is_taken_off() {
    for stream in [false, true] {
        let world = World::start(&["Sure:\n```json\n{ \"city\": \"서울\" }\n```\n"]).await;
        let (parts, body) = world.ask(stream).await;
        assert_eq!(parts.status, StatusCode::OK, "{body}");
        assert_eq!(text(&body), "{ \"city\": \"서울\" }", "{body}");
        assert_eq!(attempts(&parts), "2");
        let asked = &world.asked()[0];
        let told = asked["messages"][0]["content"].as_str().expect("a text");
        assert!(told.contains("\"required\":[\"city\"]"), "{told}");
        assert_eq!(asked["response_format"], json!({ "type": "json_object" }));
    }
}

#[tokio::test]
async fn an_answer_that_is_not_what_was_asked_for_is_asked_for_once_more() {
    // A stream is not asked for again once JSON has begun.
    for (stream, first, wrong) in [
        (false, "{\"town\":\"Seoul\"}", "city"),
        (true, "It is {Seoul}.", "valid JSON"),
    ] {
        let world = World::start(&[first, "{\"city\":\"Seoul\"}"]).await;
        let (parts, body) = world.ask(stream).await;
        assert_eq!(parts.status, StatusCode::OK, "{body}");
        assert_eq!(text(&body), "{\"city\":\"Seoul\"}", "{body}");
        assert_eq!(
            attempts(&parts),
            "3",
            "the primary, the fallback, the repair"
        );
        if !stream {
            let answer: Value = serde_json::from_str(&body).expect("JSON");
            assert_eq!(answer["usage"]["total_tokens"], 25, "of the answer given");
            assert_eq!(answer["choices"][0]["finish_reason"], "stop");
        }
        let asked = world.asked();
        let messages = asked[1]["messages"].as_array().expect("messages");
        let [.., said, told] = messages.as_slice() else {
            unreachable!("there are the question, the answer and what is wrong");
        };
        assert_eq!(said, &json!({ "role": "assistant", "content": first }));
        let told = told["content"].as_str().expect("a text");
        assert!(told.contains(wrong), "{told}");
        assert_eq!(world.repaired("repaired").await, Some(1));
        let used = r#"llm_tokens_used_total{provider="deepseek",model="second"}"#;
        assert_eq!(world.metric(used).await, Some(50), "both were paid");
        assert_eq!(world.metric("sluicegate_reservations_open").await, Some(0));
    }
}

#[tokio::test]
async fn what_cannot_be_mended_is_a_failure_of_the_upstream() {
    for stream in [false, true] {
        // After a failed repair the failed attempt may be followed by another one, as after any failure.
        let world = World::start(&["I will not."; 4]).await;
        let (parts, body) = world.ask(stream).await;
        assert_eq!(parts.status, StatusCode::BAD_GATEWAY, "{body}");
        let error: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(error["error"]["code"], "upstream_error");
        assert_eq!(
            world.repaired("failed").await,
            Some(1),
            "of a place it is asked once"
        );
        assert_eq!(world.metric("sluicegate_reservations_open").await, Some(0));
    }
}

#[tokio::test]
async fn a_stream_whose_json_breaks_after_it_began_ends_with_one_error() {
    let world = World::start(&["{\"city\":\"Seoul\"", "{}"]).await;
    let (parts, body) = world.ask(true).await;
    assert_eq!(parts.status, StatusCode::OK);
    assert_eq!(body.matches("\"error\"").count(), 1, "{body}");
    assert!(!body.contains("[DONE]"), "{body}");
    assert_eq!(world.asked().len(), 1, "nothing is sent again");
    assert_eq!(world.metric("sluicegate_reservations_open").await, Some(0));
}

/// The caller's mistake, in the caller's dialect, before the model that would be asked in words was asked at all.
#[tokio::test]
async fn a_schema_that_is_none_costs_nothing() {
    let world = World::start(&[]).await;
    for schema in [
        json!(5),
        json!({ "type": "banana" }),
        json!({ "$ref": "#/$defs/none" }),
    ] {
        let format = json!({ "type": "json_schema", "schema": schema });
        let request = json!({
            "model": "second", "max_tokens": 9, "messages": [{ "role": "user", "content": "Which city?" }],
            "output_config": { "format": format }
        });
        let address = world.gateway.address();
        let (parts, body) = send(Method::POST, address, "/v1/messages", &request).await;
        assert_eq!(parts.status, StatusCode::BAD_REQUEST, "{body}");
        let error: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(error["error"]["type"], "invalid_request_error");
        let said = error["error"]["message"].as_str().expect("a text");
        assert!(
            said.starts_with("`output_config.format.schema` is no JSON Schema"),
            "{said}"
        );
    }
    assert_eq!(world.asked(), [Value::Null; 0]);
    assert_eq!(world.metric("sluicegate_reservations_open").await, Some(0));
}
