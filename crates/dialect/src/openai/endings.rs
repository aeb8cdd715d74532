//! Why the choices of an answer ended: by themselves, or because they reached the most that they might be.

use memchr::memmem;
use sluicegate_catalog::Provider;

use crate::UpstreamError;
use crate::json::{self, Cursor, Span};
use crate::upstream_error::in_stream;

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

/// Whether the `finish_reason` that `reason` spans is that of a choice that failed, as OpenRouter and Mistral write it.
pub(super) fn says_failed(text: &[u8], reason: &Span) -> bool {
    text[reason.clone()] == *FAILED
}

const FAILED: &[u8] = b"\"error\"";

/// The `error` of the first choice that ended with one, of the answer in `body`, which is no stream; empty where the choice says no more.
pub(crate) fn failed_choice(body: &[u8]) -> Option<&[u8]> {
    // Hardly any answer has that string, and whether it does is known at memory speed.
    memmem::find(body, FAILED)?;
    let root = Cursor::new(body).position();
    let choices = json::member(body, root, "choices")?;
    let mut cursor = Cursor::at(body, choices.start);
    if !cursor.enter(b'[') {
        return None;
    }
    while cursor.next_element() {
        let member = |name| json::member(body, cursor.position(), name);
        if member("finish_reason").is_some_and(|reason| says_failed(body, &reason)) {
            return Some(member("error").map_or(&[][..], |error| &body[error]));
        }
    }
    None
}

/// What failed where a choice ended with an error, which begins at `at`: at the text's end, if the choice says no more.
pub(crate) fn choice_failure(provider: &Provider, text: &[u8], at: usize) -> UpstreamError {
    let mut error = in_stream(provider, text, at);
    if error.message.is_empty() {
        CHOICE_FAILED.clone_into(&mut error.message);
    }
    error
}

/// What is said of a choice that says no more of its failure.
pub(crate) const CHOICE_FAILED: &str = "the answer ended with error";

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
