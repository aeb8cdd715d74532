//! Refuses what a web page in somebody's browser may have sent.
//!
//! Without keys, whoever reaches an address may spend money and read what is counted, and a web page reaches loopback from its
//! visitor's browser. A page cannot send JSON to another origin without asking first, so JSON is required everywhere. It cannot
//! choose the `Host` that a rebound name shows, so on loopback the name of loopback is required; elsewhere nobody can tell
//! which names the operator gave the address.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, Method};

use super::Failure;

/// From where an address can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// From this machine only.
    Loopback,
    /// From others too: the operator said that everyone is to be answered.
    Network,
}

impl Reach {
    pub(crate) fn of(address: SocketAddr) -> Self {
        if address.ip().to_canonical().is_loopback() {
            Self::Loopback
        } else {
            Self::Network
        }
    }
}

/// Lets through what no web page can have sent to an address within `reach`.
pub(super) async fn refuse(State(reach): State<Reach>, request: Request, next: Next) -> Response {
    match problem(&request, reach) {
        Some(failure) => failure.response(super::dialect_of(request.uri().path())),
        None => next.run(request).await,
    }
}

fn problem(request: &Request, reach: Reach) -> Option<Failure> {
    if reach == Reach::Loopback && !names_loopback(request) {
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

fn names_loopback(request: &Request) -> bool {
    let host = request.uri().host().map(str::to_owned).or_else(|| {
        let host = request.headers().get(HOST)?.to_str().ok()?;
        Some(host.parse::<http::uri::Authority>().ok()?.host().to_owned())
    });
    host.as_deref().is_some_and(is_loopback_name)
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
    fn what_can_be_reached_from_where() {
        for (address, reach) in [
            ("127.0.0.1:8080", Reach::Loopback),
            ("127.3.2.1:8080", Reach::Loopback),
            ("[::1]:8080", Reach::Loopback),
            ("[::ffff:127.0.0.1]:8080", Reach::Loopback),
            ("0.0.0.0:8080", Reach::Network),
            ("[::]:8080", Reach::Network),
            ("192.0.2.7:8080", Reach::Network),
        ] {
            let parsed = address.parse().expect("an address");
            assert_eq!(Reach::of(parsed), reach, "{address}");
        }
    }

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
