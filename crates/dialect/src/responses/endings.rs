//! Why a response ended: by itself, or because it reached the most that it might be.

use crate::json::{self, Cursor};

/// Whether the response in `body`, which is no stream, was cut at its maximum. False where the body
/// does not say.
///
/// ```
/// use sluicegate_dialect::responses::is_cut;
/// assert!(is_cut(br#"{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}"#));
/// assert!(!is_cut(br#"{"status":"completed","incomplete_details":null}"#));
/// ```
pub fn is_cut(body: &[u8]) -> bool {
    says_cut(body, Cursor::new(body).position())
}

/// Whether the response that begins at `at` was cut.
pub(super) fn says_cut(text: &[u8], at: usize) -> bool {
    let details = json::member(text, at, "incomplete_details");
    let reason = details.and_then(|details| json::member(text, details.start, "reason"));
    let reason = reason.and_then(|reason| json::string(text, &reason));
    reason.as_deref() == Some("max_output_tokens")
}
