//! Refuses what a web page in somebody's browser may have sent.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, Method};

use super::Failure;
use crate::gateway::Gateway;

/// Without keys, whoever reaches the address may spend money, and a web page reaches loopback from its visitor's browser. A
/// page cannot send JSON to another origin without asking first, and cannot choose the `Host` that a rebound name shows.
pub(super) async fn refuse(
    State(gateway): State<Arc<Gateway>>,
    request: Request,
    next: Next,
) -> Response {
    let problem = gateway
        .loopback_only()
        .then(|| web_page(&request))
        .flatten();
    match problem {
        Some(failure) => failure.response(),
        None => next.run(request).await,
    }
}

fn web_page(request: &Request) -> Option<Failure> {
    let host = request.uri().host().map(str::to_owned).or_else(|| {
        let host = request.headers().get(HOST)?.to_str().ok()?;
        Some(host.parse::<http::uri::Authority>().ok()?.host().to_owned())
    });
    if !host.as_deref().is_some_and(is_loopback_name) {
        return Some(Failure::Header {
            name: "host",
            expected: "without keys only localhost, 127.0.0.1 and [::1] are answered".to_owned(),
        });
    }
    if request.method() == Method::POST && !is_json(request.headers()) {
        return Some(Failure::Header {
            name: "content-type",
            expected: "expected application/json".to_owned(),
        });
    }
    None
}

fn is_loopback_name(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
    else {
        return false;
    };
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_names() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]"] {
            assert!(is_loopback_name(host), "{host}");
        }
        for host in [
            "localhost.example.com",
            "10.0.0.1",
            "rebound.example",
            "[::2]",
            "",
        ] {
            assert!(!is_loopback_name(host), "{host}");
        }
    }
}
