//! Why an answer ended: by itself, or because it reached the most that it might be.

use crate::json::{self, Cursor};

/// Whether the answer in `body`, which is no stream, was cut at a maximum. False where the body does
/// not say.
///
/// ```
/// use sluicegate_dialect::cohere::is_cut;
/// assert!(is_cut(br#"{"finish_reason":"MAX_TOKENS"}"#));
/// assert!(!is_cut(br#"{"finish_reason":"COMPLETE"}"#));
/// ```
pub fn is_cut(body: &[u8]) -> bool {
    let root = Cursor::new(body).position();
    let reason = json::member(body, root, "finish_reason");
    let reason = reason.and_then(|reason| json::string(body, &reason));
    reason.as_deref() == Some("MAX_TOKENS")
}
