//! The key that a call carries.

use http::HeaderMap;

/// The longest key that is told from others.
const KEY_CHARS_MAX: usize = 512;

/// The key that a call carries: Azure's header, or a bearer token, or the header of other providers. Of an endless one only
/// the beginning is kept.
pub(super) fn key(headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    text("api-key")
        .or_else(|| text("authorization").and_then(|value| value.strip_prefix("Bearer ")))
        .or_else(|| text("x-api-key"))
        .map(|key| key.chars().take(KEY_CHARS_MAX).collect())
        .unwrap_or_default()
}
