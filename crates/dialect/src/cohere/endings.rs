//! Why an answer ended: by itself, or because it reached the most that it might be.

use sluicegate_catalog::ErrorClass;

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

/// What failed where an answer ended for `reason`; `None` where it is an end like others. What was found toxic, and what filled the
/// model, did end, though both are called errors.
pub(crate) fn failure_class(reason: &str) -> Option<ErrorClass> {
    match reason {
        "ERROR" | "USER_CANCEL" => Some(ErrorClass::Server),
        "TIMEOUT" => Some(ErrorClass::Timeout),
        _ => None,
    }
}
