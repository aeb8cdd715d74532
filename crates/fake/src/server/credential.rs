//! The key that a call carries.

use http::HeaderMap;

/// The longest key that is told from others.
const KEY_CHARS_MAX: usize = 512;

/// The key that a call carries: Azure's header, or a bearer token, or the headers of other providers, or Google's parameter.
/// Of an endless one only the beginning is kept.
pub(super) fn key(headers: &HeaderMap, query: Option<&str>) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let parameter = || {
        let mut pairs = query.unwrap_or_default().split('&');
        pairs.find_map(|pair| pair.strip_prefix("key="))
    };
    text("api-key")
        .or_else(|| text("authorization").and_then(|value| value.strip_prefix("Bearer ")))
        .or_else(|| text("x-api-key"))
        .or_else(|| text("x-goog-api-key"))
        .or_else(parameter)
        .map(|key| key.chars().take(KEY_CHARS_MAX).collect())
        .unwrap_or_default()
}
