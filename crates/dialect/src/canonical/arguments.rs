//! What a model wrote as the arguments of a call: some servers write nothing, `null` or an empty string for none.

use super::FinishReason;
use super::json_end::JsonEnd;

/// What clients parse as no arguments.
pub(crate) const NO_ARGUMENTS: &str = "{}";
/// What stands for none, white space apart.
const NONE: [&str; 3] = ["", "null", "\"\""];
/// So long is what may still become none; white space does not end.
const NONE_BYTES_MAX: usize = 64;

/// Whether `text` says that there are no arguments.
pub(crate) fn are_none(text: &str) -> bool {
    NONE.contains(&text.trim())
}

/// Whether more behind `text` could make that none.
pub(super) fn could_be_none(text: &str) -> bool {
    let begun = text.trim();
    text.len() <= NONE_BYTES_MAX && NONE.iter().any(|none| none.starts_with(begun))
}

/// Whether an end for that reason may have come in the middle of the last thing said.
pub(super) const fn cuts(finish: &FinishReason) -> bool {
    matches!(
        finish,
        FinishReason::Length | FinishReason::ContextFull | FinishReason::Refusal
    )
}

/// Whether the arguments `text` break off before their end.
pub(super) fn break_off(text: &str) -> bool {
    let mut end = JsonEnd::default();
    end.push(text);
    end.is_open()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_none_is_told_from_what_begins_alike() {
        for (text, none, may_become_none) in [
            ("", true, true),
            (" \n", true, true),
            ("null", true, true),
            (" \"\" ", true, true),
            ("nu", false, true),
            ("nul1", false, false),
            ("{", false, false),
            ("\"a", false, false),
        ] {
            assert_eq!(are_none(text), none, "{text:?}");
            assert_eq!(could_be_none(text), may_become_none, "{text:?}");
        }
        assert!(!could_be_none(&" ".repeat(NONE_BYTES_MAX + 1)));
    }
}
