//! The words in which most providers say that a request is too long for the model, or its content not
//! allowed.
//!
//! The catalog's rows come first; this knows no provider. Whoever serves the models of others says it in
//! the words of these, so that a list per row would be the same list many times.

use sluicegate_catalog::ErrorClass;

use crate::error_text::ErrorText;

/// What a mistake of the caller is, of which the row knows no more than the status: whoever serves the
/// models of others says it in the words of these.
pub(crate) fn by_words(status: Option<u16>, text: &ErrorText) -> Option<ErrorClass> {
    if !matches!(status, None | Some(400 | 413 | 422)) {
        return None;
    }
    let says = |words: &[&str]| {
        let message = text.message.to_lowercase();
        let mut words = words.iter();
        words.any(|word| text.code == *word || text.kind == *word || message.contains(word))
    };
    if says(&CONTEXT_WORDS) {
        Some(ErrorClass::Context)
    } else if says(&POLICY_WORDS) {
        Some(ErrorClass::Policy)
    } else {
        None
    }
}

/// Names of an error, or parts of its message, that say of a request that it is longer than the
/// model's context.
const CONTEXT_WORDS: [&str; 7] = [
    "context_length_exceeded",
    "maximum context length",
    "context length exceeded",
    "exceed context limit",
    "exceeds the context window",
    "prompt is too long",
    "input is too long",
];

/// Those that say of a content that it is not allowed.
const POLICY_WORDS: [&str; 5] = [
    "content_filter",
    "content_policy_violation",
    "content filter",
    "content policy",
    "content management policy",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn class(status: Option<u16>, code: &str, message: &str) -> Option<ErrorClass> {
        let text = ErrorText {
            code: code.to_owned(),
            message: message.to_owned(),
            ..ErrorText::default()
        };
        by_words(status, &text)
    }

    #[test]
    fn a_name_or_a_part_of_the_message_decides() {
        let context = Some(ErrorClass::Context);
        let policy = Some(ErrorClass::Policy);
        for (code, message, expected) in [
            (
                "",
                "This model's Maximum Context Length is 8192 tokens.",
                context,
            ),
            (
                "",
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
                context,
            ),
            ("context_length_exceeded", "", context),
            ("", "Output blocked by content filtering policy", policy),
            ("content_filter", "", policy),
            ("", "The response was filtered by a content policy.", policy),
            ("", "`content` is missing", None),
            ("400", "max_tokens must be positive", None),
        ] {
            assert_eq!(
                class(Some(400), code, message),
                expected,
                "{code} {message}"
            );
            assert_eq!(class(None, code, message), expected, "{code} {message}");
        }
    }

    #[test]
    fn only_a_mistake_is_judged_so() {
        for status in [401, 404, 429, 500, 503] {
            assert_eq!(
                class(Some(status), "", "prompt is too long"),
                None,
                "{status}"
            );
        }
    }
}
