//! JSON that stands for no Unicode text, made such that does.
//!
//! Servers that count in UTF-16 cut between the halves of a pair, and write what is left of it as the escape that it is; a parser refuses
//! all of the text for it. Others put a byte order mark before it.

use std::borrow::Cow;

use memchr::memchr;

use super::scan::hex4;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A JSON text without the byte order mark that some servers put before it.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// `text` without a byte order mark, and with the replacement character for each half of a surrogate pair that stands alone.
pub(crate) fn mended(text: &[u8]) -> Cow<'_, [u8]> {
    let text = without_mark(text);
    let mut mended = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        at += match unit(text, at) {
            Some(0xd800..0xdc00) if matches!(unit(text, at + 6), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => {
                mended.to_mut()[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            Some(_) => 6,
            None => 2,
        };
    }
    mended
}

/// What the escape at `at` stands for, where it is one of four digits.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let escape = text.get(at..)?;
    escape.starts_with(b"\\u").then(|| hex4(text, at + 2))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_that_stand_alone_are_replaced() {
        for (text, expected) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\uDE00b""#, r#""\ufffdb""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#),
            (r#""\ud83d\ude00 \u00e9""#, r#""\ud83d\ude00 \u00e9""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            ("\u{feff}{}", "{}"),
            ("{}", "{}"),
            ("", ""),
        ] {
            assert_eq!(mended(text.as_bytes()), expected.as_bytes(), "{text}");
        }
    }

    #[test]
    fn broken_text_is_looked_through_to_its_end() {
        for text in [
            "\\",
            "\\u",
            "\\ud8",
            "\\ud83",
            "\"\\ud83d\\",
            "\\ud83d\\ude",
        ] {
            assert_eq!(mended(text.as_bytes()).len(), text.len(), "{text}");
        }
    }
}
