//! Why the choices of an answer ended: by themselves, or because they reached the most that they might be.

use crate::json::{self, Cursor, Span};

/// Whether a choice of the answer in `body`, which is no stream, was cut at its maximum. False where the body does not say.
///
/// ```
/// use sluicegate_dialect::openai::is_cut;
/// assert!(is_cut(br#"{"choices":[{"finish_reason":"stop"},{"finish_reason":"length"}]}"#));
/// assert!(!is_cut(br#"{"choices":[{"finish_reason":"stop"}]}"#));
/// ```
pub fn is_cut(body: &[u8]) -> bool {
    let root = Cursor::new(body).position();
    let Some(choices) = json::member(body, root, "choices") else {
        return false;
    };
    let mut cursor = Cursor::at(body, choices.start);
    let mut cut = false;
    if cursor.enter(b'[') {
        while cursor.next_element() {
            let reason = json::member(body, cursor.position(), "finish_reason");
            cut |= reason.is_some_and(|reason| says_cut(body, &reason));
        }
    }
    cut
}

/// Whether the `finish_reason` that `reason` spans is that of a choice that was cut: at the request's maximum, or, as Mistral
/// names it, at the model's.
pub(super) fn says_cut(text: &[u8], reason: &Span) -> bool {
    let reason = json::string(text, reason);
    matches!(reason.as_deref(), Some("length" | "model_length"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_choice_that_was_cut_is_enough() {
        for (choices, cut) in [
            (
                r#"[{"finish_reason":"length"},{"finish_reason":"stop"}]"#,
                true,
            ),
            (r#"[{"finish_reason":"model_length"}]"#, true),
            (r#"[{"finish_reason":"l\u0065ngth"}]"#, true),
            (
                r#"[{"finish_reason":"stop"},{"finish_reason":null},{}]"#,
                false,
            ),
            (r#"[{"message":{"finish_reason":"length"}}]"#, false),
            (r#"["length"]"#, false),
            ("null", false),
        ] {
            let body = format!(r#"{{"finish_reason":"length","choices":{choices}}}"#);
            assert_eq!(is_cut(body.as_bytes()), cut, "{choices}");
        }
        assert!(!is_cut(b""));
    }
}
