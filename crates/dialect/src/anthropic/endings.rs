//! Why a message ended: by itself, or because it reached the most that it might be.

use crate::json::{self, Cursor};

/// Whether the message in `body`, which is no stream, was cut at a maximum. False where the body
/// does not say.
///
/// ```
/// use sluicegate_dialect::anthropic::is_cut;
/// assert!(is_cut(br#"{"stop_reason":"max_tokens"}"#));
/// assert!(!is_cut(br#"{"stop_reason":"end_turn"}"#));
/// ```
pub fn is_cut(body: &[u8]) -> bool {
    let root = Cursor::new(body).position();
    let reason = json::member(body, root, "stop_reason");
    let reason = reason.and_then(|reason| json::string(body, &reason));
    reason.is_some_and(|reason| says_cut(&reason))
}

/// Why the model will not answer, where the object that begins at `at`, a message or the end of one that is streamed, has
/// `stop_details` that explain it (`RefusalStopDetails` of Anthropic's SDK). They may be null, and their words too.
pub(super) fn refusal_explained(text: &[u8], at: usize) -> Option<String> {
    let details = json::member(text, at, "stop_details")?;
    let said = json::member(text, details.start, "explanation")?;
    let said = json::string(text, &said).filter(|said| !said.is_empty())?;
    Some(said.into_owned())
}

/// Whether a message that ended so was cut: at the request's maximum, or at the model's.
pub(super) fn says_cut(reason: &str) -> bool {
    matches!(reason, "max_tokens" | "model_context_window_exceeded")
}
