//! Why an answer ended: by itself, or because it reached the most that it might be.

use std::borrow::Cow;

use crate::UpstreamError;
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
    matches!(
        stop_reason(body).as_deref(),
        Some("max_tokens" | "model_context_window_exceeded")
    )
}

/// The failure of the model in the answer in `body`, which is no stream, where it tells of one.
pub(crate) fn spoilt(body: &[u8]) -> Option<UpstreamError> {
    let reason = stop_reason(body).filter(|reason| says_spoilt(reason))?;
    Some(UpstreamError::no_answer(&reason, None))
}

/// Whether an end of that reason is the model's failure, whatever it said before: a program would take a call that is spoilt for
/// none, and the text before it for the answer.
pub(super) fn says_spoilt(reason: &str) -> bool {
    matches!(reason, "malformed_model_output" | "malformed_tool_use")
}

fn stop_reason(body: &[u8]) -> Option<Cow<'_, str>> {
    let root = Cursor::new(body).position();
    let reason = json::member(body, root, "stopReason")?;
    json::string(body, &reason)
}
