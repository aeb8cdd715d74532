//! The routes as a whole, without sockets.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{Method, StatusCode};
use tower_service::Service;

use super::{Reach, admin_routes, all_routes, client_routes};
use crate::clock::Clock;
use crate::gateway::Gateway;
use crate::snapshot::Snapshot;

const POLICY: &str = r#"
accounts: { a: { provider: openai, base_url: http://127.0.0.1:9 } }
deployments: { "vendor/*": { account: a } }
"#;

fn gateway() -> Arc<Gateway> {
    let policy = sluicegate_config::parse("a.yaml", POLICY, &|_| None).expect("a valid policy");
    let snapshot = Snapshot::new(policy, None).expect("a policy that can be served");
    Gateway::new(snapshot, Clock::start())
}

async fn ask(routes: &Router, method: &Method, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).expect("a request");
    let Ok(response) = routes.clone().call(request).await;
    response
}

const NAMED: &[(&str, &str)] = &[("host", "localhost:8080")];
const REBOUND: &[(&str, &str)] = &[("host", "rebound.example")];

#[tokio::test]
async fn a_rebound_name_reaches_the_probes_only() {
    let gateway = gateway();
    let routes = all_routes(&gateway, Reach::Loopback);
    for (path, named) in [
        ("/metrics", StatusCode::OK),
        ("/v1/models", StatusCode::OK),
        ("/v1/models/vendor/m", StatusCode::OK),
        ("/nothing", StatusCode::NOT_FOUND),
        ("/v1/chat/completions", StatusCode::METHOD_NOT_ALLOWED),
    ] {
        let response = ask(&routes, &Method::GET, path, NAMED).await;
        assert_eq!(response.status(), named, "{path}");
        for headers in [REBOUND, &[]] {
            let response = ask(&routes, &Method::GET, path, headers).await;
            assert_eq!(
                response.status(),
                StatusCode::BAD_REQUEST,
                "{path} {headers:?}"
            );
        }
    }
    for path in ["/healthz", "/readyz"] {
        let response = ask(&routes, &Method::GET, path, REBOUND).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn the_admin_address_is_guarded_like_the_clients() {
    let gateway = gateway();
    let loopback = admin_routes(&gateway, Reach::Loopback);
    let response = ask(&loopback, &Method::GET, "/metrics", REBOUND).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let network = admin_routes(&gateway, Reach::Network);
    let response = ask(&network, &Method::GET, "/metrics", REBOUND).await;
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn json_is_required_wherever_the_gateway_listens() {
    let gateway = gateway();
    for reach in [Reach::Loopback, Reach::Network] {
        let routes = client_routes(&gateway, reach);
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
        ] {
            let kind = kind.map(|kind| (CONTENT_TYPE.as_str(), kind));
            let headers: Vec<_> = NAMED.iter().copied().chain(kind).collect();
            let response = ask(&routes, &Method::POST, "/v1/chat/completions", &headers).await;
            assert_eq!(response.status(), StatusCode::BAD_REQUEST);
            let said = text(response).await;
            assert!(said.contains("content-type"), "{reach:?} {kind:?}: {said}");
        }
        let headers = [
            ("host", "[::1]:1"),
            ("content-type", "application/json; charset=utf-8"),
        ];
        let response = ask(&routes, &Method::POST, "/v1/chat/completions", &headers).await;
        let said = text(response).await;
        assert!(!said.contains("content-type"), "{reach:?}: {said}");
    }
}

#[tokio::test]
async fn every_answer_of_ours_has_an_id_of_its_own() {
    let gateway = gateway();
    let routes = all_routes(&gateway, Reach::Loopback);
    let mut ids = BTreeSet::new();
    for (method, path, headers, status) in [
        (Method::GET, "/nothing", NAMED, StatusCode::NOT_FOUND),
        (
            Method::GET,
            "/v1/chat/completions",
            NAMED,
            StatusCode::METHOD_NOT_ALLOWED,
        ),
        (
            Method::POST,
            "/healthz",
            NAMED,
            StatusCode::METHOD_NOT_ALLOWED,
        ),
        (Method::GET, "/v1/models", REBOUND, StatusCode::BAD_REQUEST),
        (Method::GET, "/v1/models", NAMED, StatusCode::OK),
        (Method::GET, "/v1/models/none", NAMED, StatusCode::NOT_FOUND),
        (
            Method::POST,
            "/v1/chat/completions",
            NAMED,
            StatusCode::BAD_REQUEST,
        ),
    ] {
        let response = ask(&routes, &method, path, headers).await;
        assert_eq!(response.status(), status, "{method} {path}");
        let id = response.headers().get("x-request-id");
        let id = id.unwrap_or_else(|| panic!("{method} {path}: no id"));
        assert!(
            ids.insert(id.clone()),
            "{method} {path}: {id:?} a second time"
        );
    }
}

#[tokio::test]
async fn what_is_posted_only_says_so_to_who_gets_it() {
    let gateway = gateway();
    let routes = client_routes(&gateway, Reach::Loopback);
    for path in [
        "/v1beta/models/vendor/m:generateContent",
        "/v1beta/models/m%3AstreamGenerateContent",
        "/v1/models/m:countTokens",
        "/v1/chat/completions",
    ] {
        let response = ask(&routes, &Method::GET, path, NAMED).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
        let allowed = response.headers().get(ALLOW).map(|it| it.as_bytes());
        assert_eq!(allowed, Some(&b"POST"[..]), "{path}");
        assert!(text(response).await.contains("does not take GET"), "{path}");
    }
    // A model's name may hold a colon.
    let path = "/v1beta/models/vendor/m:free";
    let response = ask(&routes, &Method::GET, path, NAMED).await;
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_model_may_have_a_slash_in_its_name() {
    let gateway = gateway();
    let routes = client_routes(&gateway, Reach::Loopback);
    for path in [
        "/v1/models/vendor/line/m-1",
        "/v1/models/vendor%2Fline%2Fm-1",
    ] {
        let response = ask(&routes, &Method::GET, path, NAMED).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let said = text(response).await;
        assert!(said.contains(r#""id":"vendor/line/m-1""#), "{path}: {said}");
    }
}

async fn text(response: Response) -> String {
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
    String::from_utf8(body.expect("a whole body").to_vec()).expect("UTF-8")
}
