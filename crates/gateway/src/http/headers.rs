//! Which headers pass, in which direction.
//!
//! Nearly all pass: unknown ones may mean something to either side. What stays here is the connection's own, the client's secrets,
//! what is said anew, and what would choose whose budget our key spends.

use std::collections::BTreeMap;

use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, COOKIE, EXPECT,
    FORWARDED, HOST, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, ORIGIN, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, RANGE, REFERER, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use sluicegate_dialect::Crossing;

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
const NEVER_UPSTREAM: [HeaderName; 19] = [
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
    // The body that goes out is the one that was read, and the answer is wanted whole.
    CONTENT_ENCODING,
    RANGE,
    IF_MATCH,
    IF_NONE_MATCH,
    IF_MODIFIED_SINCE,
    // Where the client sits is no business of the provider.
    ORIGIN,
    REFERER,
    FORWARDED,
    HeaderName::from_static("x-forwarded-for"),
];

/// These choose the organisation or project that a key spends for. With our key that is not the client's to choose: the request
/// would be counted on one account's limits and charged to another's. Where the account has no key of its own, there is
/// nothing of ours to misdirect, and what listens on loopback may be a gateway that wants them.
const SPENDING_FOR: [HeaderName; 2] = [
    HeaderName::from_static("openai-organization"),
    HeaderName::from_static("openai-project"),
];

const OURS: &str = "x-sluicegate-";

/// What headers begin with that speak of a dialect. Where a request is translated they mean nothing to who gets it.
const OF_A_DIALECT: [&str; 5] = ["anthropic-", "openai-", "x-goog-", "x-stainless-", "x-amz"];

/// The client's headers as they go upstream, with `credentials` of ours, and those of the provider's `row` that it does not say
/// itself.
///
/// The answer is asked for uncompressed, since its usage is read on the way.
pub(super) fn upstream_headers(
    client: &HeaderMap,
    crossing: Crossing,
    row: &BTreeMap<String, String>,
    credentials: Option<(HeaderName, HeaderValue)>,
) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(client.len() + 2);
    for (name, value) in client {
        let misdirects = credentials.is_some() && SPENDING_FOR.contains(name);
        let kept = !misdirects
            && !HOP_BY_HOP.contains(name)
            && !NEVER_UPSTREAM.contains(name)
            && !name.as_str().starts_with(OURS)
            && !is_named_by_connection(client, name)
            && (crossing.keeps_dialect() || !is_of_a_dialect(name));
        if kept {
            headers.append(name, value.clone());
        }
    }
    for (name, value) in row {
        let name = HeaderName::try_from(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            headers.entry(name).or_insert(value);
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

fn is_of_a_dialect(name: &HeaderName) -> bool {
    let name = name.as_str();
    OF_A_DIALECT.iter().any(|stem| name.starts_with(stem))
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

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_dialect::Operation;

    fn sent_by(client: &HeaderMap, credentials: Option<(HeaderName, HeaderValue)>) -> HeaderMap {
        let same = Crossing::Same(Operation::ChatCompletions);
        upstream_headers(client, same, &BTreeMap::new(), credentials)
    }

    #[test]
    fn what_speaks_of_a_dialect_stays_in_it_and_a_row_fills_in_what_is_missing() {
        let mut client = HeaderMap::new();
        for name in [
            "anthropic-version",
            "anthropic-beta",
            "x-stainless-lang",
            "traceparent",
        ] {
            client.insert(name, HeaderValue::from_static("1"));
        }
        let version = ("anthropic-version".to_owned(), "2".to_owned());
        let row = BTreeMap::from([version]);
        let names = |crossing| {
            let sent = upstream_headers(&client, crossing, &row, None);
            let names = sent
                .iter()
                .map(|(name, value)| format!("{name}={}", value.to_str().expect("text")));
            let mut names: Vec<String> = names.filter(|name| !name.starts_with("accept")).collect();
            names.sort();
            names
        };
        let same = names(Crossing::Same(Operation::Messages));
        assert_eq!(
            same,
            [
                "anthropic-beta=1",
                "anthropic-version=1",
                "traceparent=1",
                "x-stainless-lang=1"
            ]
        );
        let translated = Crossing::Translated {
            client: Operation::ChatCompletions,
            provider: Operation::Messages.dialect().into(),
        };
        assert_eq!(names(translated), ["anthropic-version=2", "traceparent=1"]);
    }

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
        let sent = sent_by(&client, Some(ours));
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
        assert!(sent_by(&client, None).get(AUTHORIZATION).is_none());
    }

    #[test]
    fn whose_budget_our_key_spends_is_not_the_clients_to_choose() {
        let client: HeaderMap = SPENDING_FOR
            .into_iter()
            .map(|name| (name, HeaderValue::from_static("theirs")))
            .collect();
        let ours = (AUTHORIZATION, HeaderValue::from_static("Bearer ours"));
        let sent = sent_by(&client, Some(ours));
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["accept-encoding", "authorization"]);
        let sent = sent_by(&client, None);
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
        let sent = sent_by(&headers, None);
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-third", "accept-encoding"]);
        let answered = client_headers(&headers);
        let names: Vec<&str> = answered.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-third"]);
    }
}
