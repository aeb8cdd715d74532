//! Seals of thoughts, as they stand in a request.

use crate::canonical::seal::bears_no_name;

/// Whether the JSON string `raw` is a seal that Claude made. Thoughts of others come back with an empty
/// one, which SDKs insist on, or with one that bears a name.
pub(in crate::anthropic) fn is_own(raw: &[u8]) -> bool {
    std::str::from_utf8(raw).is_ok_and(|raw| raw.len() > 2 && bears_no_name(raw))
}
