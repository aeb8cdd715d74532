//! Why an answer ended: by itself, or because it reached the most that it might be.

use crate::json::{self, Cursor};

/// Whether the answer in `body`, which is no stream, was cut at a maximum: the request's, or the
/// model's. False where the body does not say.
///
/// ```
/// use sluicegate_dialect::bedrock::is_cut;
/// assert!(is_cut(br#"{"stopReason":"max_tokens"}"#));
/// assert!(!is_cut(br#"{"stopReason":"end_turn"}"#));
/// ```
pub fn is_cut(body: &[u8]) -> bool {
    let root = Cursor::new(body).position();
    let reason = json::member(body, root, "stopReason");
    let reason = reason.and_then(|reason| json::string(body, &reason));
    matches!(
        reason.as_deref(),
        Some("max_tokens" | "model_context_window_exceeded")
    )
}
