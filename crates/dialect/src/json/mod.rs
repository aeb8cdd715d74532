//! The places of a JSON text's members, without building any of them.
//!
//! Requests, stream events and error bodies pass through as bytes; we look at a few members and
//! replace fewer. A tree would cost more than all the rest of the work, and a typed parse would not
//! say where a value stands. So a cursor walks over the text once: it enters what matters, skips
//! the rest, and every answer is a span of the text.
//!
//! It does not validate. On broken text it stops early and finds less; it never panics, recurses or
//! loops.

mod cursor;
mod mended;
mod scan;

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

pub(crate) use cursor::{Cursor, Key, Piece};
pub(crate) use mended::{mended, without_mark};

/// Bytes of a text, from the first to behind the last.
pub(crate) type Span = Range<usize>;

/// The value of the last member called `name` of the object that begins at `at`.
pub(crate) fn member(text: &[u8], at: usize, name: &str) -> Option<Span> {
    let mut cursor = Cursor::at(text, at);
    let mut found = None;
    if cursor.enter(b'{') {
        while let Some(key) = cursor.next_key() {
            if *key.name(text) == *name.as_bytes() {
                found = cursor.skip();
            }
        }
    }
    found
}

pub(crate) fn is_null(text: &[u8], value: &Span) -> bool {
    text[value.clone()] == *b"null"
}

/// The number that `value` spans, where it is whole, not negative and in range.
pub(crate) fn unsigned(text: &[u8], value: &Span) -> Option<u64> {
    let digits = &text[value.clone()];
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The number of things that `value` of an answer counts: as [`unsigned`], or with a fraction of zero, as
/// servers write that count in floats.
pub(crate) fn count(text: &[u8], value: &Span) -> Option<u64> {
    let point = memchr(b'.', &text[value.clone()]).map_or(value.end, |point| value.start + point);
    let mut fraction = text[point..value.end].iter().skip(1);
    let is_whole = fraction.all(|digit| *digit == b'0');
    unsigned(text, &(value.start..point)).filter(|_| is_whole)
}

/// The string that `value` spans, with escapes undone; `None` where it is none or does not stand
/// for Unicode text.
pub(crate) fn string<'t>(text: &'t [u8], value: &Span) -> Option<Cow<'t, str>> {
    let raw = &text[value.clone()];
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(raw).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_are_numbers() {
        for (text, expected) in [
            ("12", Some(12)),
            ("-1", None),
            ("1.0", None),
            ("1e3", None),
            ("", None),
        ] {
            assert_eq!(
                unsigned(text.as_bytes(), &(0..text.len())),
                expected,
                "{text}"
            );
        }
        for (text, expected) in [
            ("12", Some(12)),
            ("12.0", Some(12)),
            ("12.000", Some(12)),
            ("12.5", None),
            ("-1.0", None),
            (".0", None),
            ("1.0e3", None),
            ("\"1\"", None),
        ] {
            assert_eq!(count(text.as_bytes(), &(0..text.len())), expected, "{text}");
        }
        let beyond = "18446744073709551616";
        assert_eq!(unsigned(beyond.as_bytes(), &(0..beyond.len())), None);
    }
}
