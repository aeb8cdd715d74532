//! What of a client's query goes upstream: all but keys.
//!
//! Some providers take a key as a parameter of the query. The client's key is for us alone, and beside our own it would at best
//! be refused. How a stream is framed is between the client and us. Everything else passes as it was written, byte for byte.

use http::Uri;
use sluicegate_dialect::gemini::Framing;

/// Parameters that hold a key, in the spellings of the providers, and the one that tells how Google frames a stream.
const KEPT: [&str; 5] = ["key", "api-key", "api_key", "subscription-key", "alt"];

/// `address` with what of the client's `query` is not for us alone.
pub(super) fn upstream_address(address: &Uri, query: Option<&str>) -> Uri {
    let query = query.map(without_ours).unwrap_or_default();
    if query.is_empty() {
        return address.clone();
    }
    let own = address.query().map(|own| format!("{own}&"));
    let own = own.unwrap_or_default();
    let mut parts = address.clone().into_parts();
    parts.path_and_query = format!("{}?{own}{query}", address.path()).parse().ok();
    Uri::from_parts(parts).unwrap_or_else(|_| address.clone())
}

/// How the client of a call of Google's wants a stream.
pub(super) fn framing(query: Option<&str>) -> Framing {
    let mut parameters = query.unwrap_or_default().split('&');
    if parameters.any(|parameter| parameter == "alt=sse") {
        Framing::Events
    } else {
        Framing::Array
    }
}

fn without_ours(query: &str) -> String {
    let kept: Vec<&str> = query
        .split('&')
        .filter(|parameter| !is_ours(parameter))
        .collect();
    kept.join("&")
}

fn is_ours(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default();
    KEPT.iter().any(|key| name.eq_ignore_ascii_case(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_passes_without_its_keys() {
        let address = Uri::from_static("https://upstream.example/v1/chat/completions");
        for (query, expected) in [
            (None, ""),
            (Some(""), ""),
            (Some("api-version=2026-01-01"), "?api-version=2026-01-01"),
            (Some("key=theirs"), ""),
            (Some("a=1&key=theirs&b=%26key%3D"), "?a=1&b=%26key%3D"),
            (
                Some("api-key=x&api_key=y&Subscription-Key=z&keys=3"),
                "?keys=3",
            ),
            (Some("API-KEY&monkey=1"), "?monkey=1"),
        ] {
            let sent = upstream_address(&address, query).to_string();
            assert_eq!(sent, format!("{address}{expected}"), "{query:?}");
        }
    }
}
