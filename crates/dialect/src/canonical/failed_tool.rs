//! That a tool failed, in the words of its result: for dialects that have no member for it.
//!
//! Models are trained on results that begin so, and agents' frameworks write them. Left out it would be lost untold, and refused it
//! would end a conversation for a word.

/// What stands before a result that does not say so itself.
const MARK: &str = "Error: ";

/// The whole of a result that says nothing.
pub(crate) const NOTHING_SAID: &str = "error";

/// Has `text`, with which the result of a tool that failed begins, say so.
pub(crate) fn mark(text: &mut String) {
    let says = text.trim_start().get(..NOTHING_SAID.len());
    if !says.is_some_and(|begin| begin.eq_ignore_ascii_case(NOTHING_SAID)) {
        text.insert_str(0, MARK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_says_once_that_its_tool_failed() {
        for (text, marked) in [
            ("no gauge", "Error: no gauge"),
            ("{\"code\":1}", "Error: {\"code\":1}"),
            ("오류", "Error: 오류"),
            ("", "Error: "),
            ("Error: no gauge", "Error: no gauge"),
            (" ERROR 7", " ERROR 7"),
        ] {
            let mut text = text.to_owned();
            mark(&mut text);
            assert_eq!(text, marked);
        }
    }
}
