//! Texts that are no conversation: one or many, as text or as the tokens that it makes.

use crate::TextTally;
use crate::json::Cursor;
use crate::request_error::{RequestError, wrong, wrong_at};
use crate::text::Gatherer;

/// What a `prompt` or an `input` holds.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// How many there are: at least one.
    pub(super) count: u64,
    pub(super) text: TextTally,
    /// Tokens of those that are given so.
    pub(super) tokens: u64,
}

impl Inputs {
    /// Reads the value at hand, that of `param`: a text, an array of texts, of tokens or of arrays of
    /// tokens. An object in an array is something that another server takes, and is not sized.
    pub(super) fn read(param: &'static str, cursor: &mut Cursor<'_>) -> Result<Self, RequestError> {
        let expected = "a string, an array of strings or an array of tokens";
        let mut inputs = Self::default();
        let mut text = Gatherer::new();
        match cursor.peek() {
            b'"' => {
                text.json_string(cursor);
                inputs.count = 1;
            }
            b'[' => {
                let mut elements: u64 = 0;
                cursor.enter(b'[');
                while cursor.next_element() {
                    match cursor.peek() {
                        b'"' => text.json_string(cursor),
                        b'[' => inputs.tokens += elements_of(cursor),
                        b'0'..=b'9' => {
                            // One more token of the input that the array is.
                            inputs.tokens += 1;
                            inputs.count = 1;
                            continue;
                        }
                        b'{' => {}
                        _ => {
                            let place = format!("{param}[{elements}]");
                            return Err(wrong_at(param, &place, "a string or tokens", cursor));
                        }
                    }
                    elements += 1;
                }
                inputs.count += elements;
            }
            _ => return Err(wrong(param, expected, cursor)),
        }
        if inputs.count == 0 {
            return Err(RequestError {
                param: Some(param),
                message: format!("`{param}` is empty: give {expected}"),
            });
        }
        inputs.text = text.finish();
        Ok(inputs)
    }
}

fn elements_of(cursor: &mut Cursor<'_>) -> u64 {
    let mut elements = 0;
    cursor.enter(b'[');
    while cursor.next_element() {
        elements += 1;
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Result<Inputs, RequestError> {
        Inputs::read("input", &mut Cursor::new(value.as_bytes()))
    }

    #[test]
    fn texts_and_tokens_are_told_apart() {
        let cases = [
            (r#""한국""#, (1, 6, 0)),
            (r#"["a","bc"]"#, (2, 3, 0)),
            ("[17, 5, 9]", (1, 0, 3)),
            ("[[17, 5], [9], []]", (3, 0, 3)),
            (r#"["a",{"image":"AAAA"}]"#, (2, 1, 0)),
        ];
        for (value, expected) in cases {
            let inputs = read(value).expect(value);
            let sizes = (inputs.count, inputs.text.bytes, inputs.tokens);
            assert_eq!(sizes, expected, "{value}");
        }
    }

    #[test]
    fn errors_say_what_and_where() {
        let cases = [
            (
                "7",
                "`input` must be a string, an array of strings or an array of tokens, not 7",
            ),
            (
                "[]",
                "`input` is empty: give a string, an array of strings or an array of tokens",
            ),
            (
                r#"["a",true]"#,
                "`input[1]` must be a string or tokens, not a boolean",
            ),
        ];
        for (value, message) in cases {
            assert_eq!(read(value).expect_err(value).message, message);
        }
    }
}
