//! Which headers pass, in which direction.
//!
//! Nearly all pass: unknown ones may mean something to either side. What stays here is the connection's own, the client's secrets,
//! what is said anew, and what would choose whose budget our key spends.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, EXPECT, HOST,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::Failure;
use crate::gateway::Gateway;

const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Secrets of the client, and what is said anew upstream.
const NEVER_UPSTREAM: [HeaderName; 10] = [
    AUTHORIZATION,
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("idempotency-key"),
    COOKIE,
    HOST,
    EXPECT,
    CONTENT_LENGTH,
    ACCEPT_ENCODING,
];

/// These choose the organisation or project that a key spends for. With our key that is not the client's to choose: the request
/// would be counted on one account's limits and charged to another's. Where the account has no key of its own, there is
/// nothing of ours to misdirect, and what listens on loopback may be a gateway that wants them.
const SPENDING_FOR: [HeaderName; 2] = [
    HeaderName::from_static("openai-organization"),
    HeaderName::from_static("openai-project"),
];

const OURS: &str = "x-sluicegate-";

/// The client's headers as they go upstream, with `credentials` of ours.
///
/// The answer is asked for uncompressed, since its usage is read on the way.
pub(super) fn upstream_headers(
    client: &HeaderMap,
    credentials: Option<(HeaderName, HeaderValue)>,
) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(client.len() + 2);
    for (name, value) in client {
        let misdirects = credentials.is_some() && SPENDING_FOR.contains(name);
        let kept = !misdirects
            && !HOP_BY_HOP.contains(name)
            && !NEVER_UPSTREAM.contains(name)
            && !name.as_str().starts_with(OURS)
            && !is_named_by_connection(client, name);
        if kept {
            headers.append(name, value.clone());
        }
    }
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if let Some((name, value)) = credentials {
        headers.insert(name, value);
    }
    headers
}

/// The upstream's headers as they go to the client. The length is the body's to tell.
pub(super) fn client_headers(upstream: &HeaderMap) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(upstream.len() + 4);
    for (name, value) in upstream {
        let kept = !HOP_BY_HOP.contains(name)
            && *name != CONTENT_LENGTH
            && *name != SET_COOKIE
            && !name.as_str().starts_with(OURS)
            && !is_named_by_connection(upstream, name);
        if kept {
            headers.append(name, value.clone());
        }
    }
    headers
}

/// Whether a `Connection` header, of which there may be several, keeps `name` to this connection.
fn is_named_by_connection(headers: &HeaderMap, name: &HeaderName) -> bool {
    let named = |option: &str| option.trim().eq_ignore_ascii_case(name.as_str());
    headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|options| options.to_str().ok())
        .any(|options| options.split(',').any(named))
}

/// Without keys, whoever reaches the address may spend money, and a web page reaches loopback from its visitor's browser. A
/// page cannot send JSON to another origin without asking first, and cannot choose the `Host` that a rebound name shows.
pub(super) async fn refuse_web_pages(
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
    fn keys_cookies_and_our_own_headers_stay_here() {
        let client: HeaderMap = [
            ("authorization", "Bearer client"),
            ("x-api-key", "client"),
            ("api-key", "client"),
            ("cookie", "a=b"),
            ("proxy-authorization", "Basic x"),
            ("x-sluicegate-lane", "batch"),
            ("connection", "keep-alive, x-hop"),
            ("x-hop", "1"),
            ("openai-beta", "assistants=v2"),
            ("traceparent", "00-1-2-03"),
        ]
        .into_iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect();
        let ours = (AUTHORIZATION, HeaderValue::from_static("Bearer ours"));
        let sent = upstream_headers(&client, Some(ours));
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        assert_eq!(
            names,
            [
                "openai-beta",
                "traceparent",
                "accept-encoding",
                "authorization"
            ]
        );
        assert_eq!(sent[AUTHORIZATION], "Bearer ours");
        assert!(upstream_headers(&client, None).get(AUTHORIZATION).is_none());
    }

    #[test]
    fn whose_budget_our_key_spends_is_not_the_clients_to_choose() {
        let client: HeaderMap = SPENDING_FOR
            .into_iter()
            .map(|name| (name, HeaderValue::from_static("theirs")))
            .collect();
        let ours = (AUTHORIZATION, HeaderValue::from_static("Bearer ours"));
        let sent = upstream_headers(&client, Some(ours));
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["accept-encoding", "authorization"]);
        let sent = upstream_headers(&client, None);
        assert_eq!(sent["openai-organization"], "theirs");
        assert_eq!(sent["openai-project"], "theirs");
    }

    #[test]
    fn every_connection_header_names_what_stays_on_the_connection() {
        let mut headers = HeaderMap::new();
        headers.append(CONNECTION, HeaderValue::from_static("keep-alive"));
        headers.append(CONNECTION, HeaderValue::from_static("X-First, x-second"));
        for name in ["x-first", "x-second", "x-third"] {
            headers.insert(name, HeaderValue::from_static("1"));
        }
        let sent = upstream_headers(&headers, None);
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-third", "accept-encoding"]);
        let answered = client_headers(&headers);
        let names: Vec<&str> = answered.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-third"]);
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
