//! Why the candidates of an answer ended: by themselves, or because they reached the most that they
//! might be.

use crate::UpstreamError;
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

/// The failure of the model in the answer in `body`, which is no stream, where its first candidate tells of one that makes all that it
/// says useless.
pub(crate) fn spoilt(body: &[u8]) -> Option<UpstreamError> {
    let root = Cursor::new(body).position();
    let candidates = json::member(body, root, "candidates")?;
    let mut cursor = Cursor::at(body, candidates.start);
    if !cursor.enter(b'[') || !cursor.next_element() {
        return None;
    }
    let said = |name| {
        let value = json::member(body, cursor.position(), name);
        value.and_then(|value| json::string(body, &value))
    };
    let reason = said("finishReason").filter(|reason| says_spoilt(reason))?;
    let message = said("finishMessage");
    Some(UpstreamError::no_answer(&reason, message.as_deref()))
}

/// Whether an end of that reason is the model's failure, whatever it said before: a program would take a call that is spoilt for
/// none, and the text before it for the answer. An end for another reason (`OTHER`) is one only where nothing was said.
pub(super) fn says_spoilt(reason: &str) -> bool {
    matches!(
        reason,
        "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MISSING_THOUGHT_SIGNATURE"
            | "MALFORMED_RESPONSE"
    )
}

/// Whether a candidate that ended so was cut at its maximum.
pub(super) fn says_cut(reason: &str) -> bool {
    reason == "MAX_TOKENS"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spoilt_answer_says_by_what() {
        let text = r#""content":{"parts":[{"text":"a"}]},"#;
        for content in ["", text] {
            let body = format!(
                r#"{{"candidates":[{{{content}"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: f(\n"}}]}}"#
            );
            let error = spoilt(body.as_bytes()).expect("it failed");
            assert_eq!(
                error.message,
                "the model gave no usable answer: MALFORMED_FUNCTION_CALL: Malformed function call: f(\\n"
            );
        }
        for body in [
            r#"{"candidates":[{"finishReason":"STOP"}]}"#,
            r#"{"candidates":[{"finishReason":"OTHER"}]}"#,
            r#"{"candidates":[{}]}"#,
            r#"{"candidates":[]}"#,
            r#"{"finishReason":"MALFORMED_RESPONSE"}"#,
        ] {
            assert_eq!(spoilt(body.as_bytes()), None, "{body}");
        }
    }

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
