//! Why the candidates of an answer ended: by themselves, or because they reached the most that they
//! might be.

use crate::json::{self, Cursor};

/// Whether a candidate of the answer in `body`, which is no stream, was cut at its maximum. False
/// where the body does not say.
///
/// ```
/// use sluicegate_dialect::gemini::is_cut;
/// assert!(is_cut(br#"{"candidates":[{"finishReason":"STOP"},{"finishReason":"MAX_TOKENS"}]}"#));
/// assert!(!is_cut(br#"{"candidates":[{"finishReason":"STOP"}]}"#));
/// ```
pub fn is_cut(body: &[u8]) -> bool {
    let root = Cursor::new(body).position();
    let Some(candidates) = json::member(body, root, "candidates") else {
        return false;
    };
    let mut cursor = Cursor::at(body, candidates.start);
    let mut cut = false;
    if cursor.enter(b'[') {
        while cursor.next_element() {
            let reason = json::member(body, cursor.position(), "finishReason");
            let reason = reason.and_then(|reason| json::string(body, &reason));
            cut |= reason.is_some_and(|reason| says_cut(&reason));
        }
    }
    cut
}

/// Whether a `finishReason` tells of an end at all.
pub(super) fn says_ended(reason: &str) -> bool {
    !matches!(reason, "" | "FINISH_REASON_UNSPECIFIED")
}

/// Whether a candidate that ended so was cut at its maximum.
pub(super) fn says_cut(reason: &str) -> bool {
    reason == "MAX_TOKENS"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_candidate_that_was_cut_is_enough() {
        for (candidates, cut) in [
            (r#"[{"content":{"finishReason":"MAX_TOKENS"}}]"#, false),
            (r#"[{},{"finishReason":"MAX_T\u004fKENS"}]"#, true),
            (r#"[{"finishReason":null}]"#, false),
            (r#"["MAX_TOKENS"]"#, false),
            ("null", false),
        ] {
            let body = format!(r#"{{"finishReason":"MAX_TOKENS","candidates":{candidates}}}"#);
            assert_eq!(is_cut(body.as_bytes()), cut, "{candidates}");
        }
        assert!(!is_cut(b""));
    }
}
