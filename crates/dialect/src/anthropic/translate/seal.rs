//! Seals of thoughts, as they stand in a request.

use crate::canonical::seal::is_claudes;

/// Whether the JSON string `raw` is a seal that Claude made. Thoughts of others come back with an empty
/// one, which SDKs insist on, or with one that bears a name.
pub(in crate::anthropic) fn is_own(raw: &[u8]) -> bool {
    let inner = raw
        .strip_prefix(b"\"")
        .and_then(|raw| raw.strip_suffix(b"\""));
    inner.is_some_and(|seal| std::str::from_utf8(seal).is_ok_and(is_claudes))
}
