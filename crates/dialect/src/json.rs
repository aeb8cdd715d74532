//! The places of a JSON text's members, without building any of them.
//!
//! Requests, stream events and error bodies pass through as bytes; we look at a few members and replace fewer. A tree would
//! cost more than all the rest of the work, and a typed parse would not say where a value stands. So this walks: strings
//! and nested values are skipped, and every answer is a span of the text.
//!
//! It does not validate. On broken text it stops early and finds less; it never panics, recurses or loops.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

/// Bytes of a string that are looked at one by one.
const SHORT_STRING: usize = 16;

/// Bytes of a text, from the first to behind the last.
pub(crate) type Span = Range<usize>;

/// A member of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    /// The key with its quotes.
    pub(crate) key: Span,
    /// The value, without white space around it.
    pub(crate) value: Span,
    key_escaped: bool,
    /// Where the `{` or `,` before it stands.
    opened_at: usize,
    /// Where the `,` or `}` after it stands.
    closed_at: usize,
}

impl Member {
    /// The key, with escapes undone.
    pub(crate) fn name<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let raw = &text[self.key.start + 1..self.key.end - 1];
        if !self.key_escaped {
            return Cow::Borrowed(raw);
        }
        match string(text, &self.key) {
            Some(name) => Cow::Owned(name.into_owned().into_bytes()),
            None => Cow::Borrowed(raw),
        }
    }

    /// What has to go so that the object is as if the member had never been there.
    pub(crate) fn removal(&self, text: &[u8]) -> Span {
        if text[self.opened_at] == b',' {
            return self.opened_at..self.value.end;
        }
        match text.get(self.closed_at) {
            Some(b',') => self.key.start..skip_space(text, self.closed_at + 1),
            _ => self.key.start..self.value.end,
        }
    }
}

/// The members of the object that `value` spans, in order; none where it is no object.
pub(crate) fn members<'t>(text: &'t [u8], value: &Span) -> Members<'t> {
    Members {
        text,
        next: enter(text, value, b'{'),
    }
}

/// The elements of the array that `value` spans, in order; none where it is no array.
pub(crate) fn elements<'t>(text: &'t [u8], value: &Span) -> Elements<'t> {
    Elements {
        text,
        next: enter(text, value, b'['),
    }
}

/// The span of the one value that `text` is, taken on trust to its end; `None` where nothing begins.
pub(crate) fn root(text: &[u8]) -> Option<Span> {
    let start = skip_space(text, 0);
    (start < text.len()).then_some(start..text.len())
}

/// The value of the last member called `name` of the object that `value` spans.
pub(crate) fn member(text: &[u8], value: &Span, name: &str) -> Option<Span> {
    let found = members(text, value)
        .filter(|member| *member.name(text) == *name.as_bytes())
        .last();
    found.map(|member| member.value)
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

/// The string that `value` spans, with escapes undone; `None` where it is none or does not stand for Unicode text.
pub(crate) fn string<'t>(text: &'t [u8], value: &Span) -> Option<Cow<'t, str>> {
    let raw = &text[value.clone()];
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(raw).ok().map(Cow::Owned)
}

/// A stretch of a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece<'t> {
    /// As it stands in the text.
    Plain(&'t [u8]),
    /// What an escape stands for; half of a surrogate pair alone becomes the replacement character.
    Escaped(char),
}

/// The stretches of the string that `value` spans; none where it is no string.
pub(crate) fn pieces<'t>(text: &'t [u8], value: &Span) -> Pieces<'t> {
    let raw = &text[value.clone()];
    let inner = raw
        .strip_prefix(b"\"")
        .and_then(|raw| raw.strip_suffix(b"\""));
    Pieces {
        rest: inner.unwrap_or_default(),
    }
}

pub(crate) struct Members<'t> {
    text: &'t [u8],
    next: Option<usize>,
}

impl Iterator for Members<'_> {
    type Item = Member;

    fn next(&mut self) -> Option<Member> {
        let opened_at = self.next.take()?;
        let text = self.text;
        let key_start = skip_space(text, opened_at + 1);
        let (key_end, key_escaped) = scan_string(text, key_start)?;
        let colon = skip_space(text, key_end);
        if text.get(colon) != Some(&b':') {
            return None;
        }
        let start = skip_space(text, colon + 1);
        let end = skip_value(text, start)?;
        let closed_at = skip_space(text, end);
        if text.get(closed_at) == Some(&b',') {
            self.next = Some(closed_at);
        }
        Some(Member {
            key: key_start..key_end,
            key_escaped,
            value: start..end,
            opened_at,
            closed_at,
        })
    }
}

pub(crate) struct Elements<'t> {
    text: &'t [u8],
    next: Option<usize>,
}

impl Iterator for Elements<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let start = skip_space(self.text, self.next.take()? + 1);
        let end = skip_value(self.text, start)?;
        let closed_at = skip_space(self.text, end);
        if self.text.get(closed_at) == Some(&b',') {
            self.next = Some(closed_at);
        }
        Some(start..end)
    }
}

pub(crate) struct Pieces<'t> {
    rest: &'t [u8],
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let (first, after) = self.rest.split_first()?;
        if *first != b'\\' {
            let end = memchr(b'\\', self.rest).unwrap_or(self.rest.len());
            let (plain, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Some(Piece::Plain(plain));
        }
        let (kind, rest) = after.split_first()?;
        self.rest = rest;
        Some(Piece::Escaped(match kind {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => self.unicode(),
            other => char::from(*other),
        }))
    }
}

impl Pieces<'_> {
    /// Reads what follows `\u`, both halves where it is a pair.
    fn unicode(&mut self) -> char {
        let Some((unit, rest)) = hex4(self.rest) else {
            self.rest = &[];
            return char::REPLACEMENT_CHARACTER;
        };
        self.rest = rest;
        if !(0xd800..0xdc00).contains(&unit) {
            return char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
        match rest.strip_prefix(b"\\u").and_then(hex4) {
            Some((low @ 0xdc00..0xe000, rest)) => {
                self.rest = rest;
                let scalar = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => char::REPLACEMENT_CHARACTER,
        }
    }
}

fn hex4(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(4)?;
    let mut unit = 0;
    for digit in digits {
        unit = unit * 16 + char::from(*digit).to_digit(16)?;
    }
    Some((unit, rest))
}

/// The place of the opening bracket, where there is one with something in it.
fn enter(text: &[u8], value: &Span, bracket: u8) -> Option<usize> {
    let opens = text.get(value.start) == Some(&bracket);
    let inside = text.get(skip_space(text, value.start + 1));
    (opens && !matches!(inside, Some(b'}' | b']') | None)).then_some(value.start)
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// Behind the value that begins at `at`.
fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => skip_string(text, at),
        b'{' | b'[' => skip_nested(text, at),
        b',' | b':' | b'}' | b']' => None,
        _ => {
            let ends =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            let length = text[at..].iter().position(ends);
            Some(length.map_or(text.len(), |length| at + length))
        }
    }
}

/// Behind the string that begins at `at`.
fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    scan_string(text, at).map(|(end, _)| end)
}

/// Behind the string that begins at `at`, and whether there is an escape in it.
fn scan_string(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let inner = text.get(at..)?.strip_prefix(b"\"")?;
    // Most strings are keys and short values, over before a vector search has begun.
    let short = inner
        .iter()
        .take(SHORT_STRING)
        .position(|byte| matches!(byte, b'"' | b'\\'));
    let mut from = at + 1 + short.unwrap_or(inner.len().min(SHORT_STRING));
    if short.is_some() && text[from] == b'"' {
        return Some((from + 1, false));
    }
    let mut escaped = false;
    loop {
        let found = from + memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[found] == b'"' {
            return Some((found + 1, escaped));
        }
        escaped = true;
        from = found + 2;
    }
}

/// Behind the object or array that begins at `at`. Counts brackets of both kinds alike, which is right for valid text.
fn skip_nested(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => {
                at = skip_string(text, at)?;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Vec<(String, &str)> {
        let bytes = text.as_bytes();
        let Some(root) = root(bytes) else {
            return Vec::new();
        };
        members(bytes, &root)
            .map(|m| {
                (
                    String::from_utf8_lossy(&m.name(bytes)).into_owned(),
                    &text[m.value],
                )
            })
            .collect()
    }

    fn entry<'t>(name: &str, value: &'t str) -> (String, &'t str) {
        (name.to_owned(), value)
    }

    #[test]
    fn members_are_found_with_their_places() {
        let text = r#" { "a" : 1 , "b\"}": "x}\\", "c":{"a":[2,{}]},"\u0064":null } "#;
        let expected = [
            entry("a", "1"),
            entry("b\"}", r#""x}\\""#),
            entry("c", r#"{"a":[2,{}]}"#),
            entry("d", "null"),
        ];
        assert_eq!(listed(text), expected);
        assert_eq!(listed("{}"), []);
        assert_eq!(listed(" { } "), []);
    }

    #[test]
    fn broken_text_yields_less_and_never_panics() {
        let text = r#"{"a":{"b":[1,"é\u00e9"]},"c":"d","e":-1.5e3}"#;
        for end in 0..text.len() {
            let cut = &text.as_bytes()[..end];
            let span = 0..end;
            for member in members(cut, &span) {
                assert!(member.value.end <= end);
                elements(cut, &member.value).for_each(drop);
                pieces(cut, &member.value).for_each(drop);
                assert!(member.removal(cut).end <= end);
            }
        }
        for text in [
            "",
            "{",
            "{\"",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":}",
            "]",
            "{\"a\" 1}",
            "\"\\",
        ] {
            assert_eq!(listed(text), [], "{text}");
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let text = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(skip_value(text.as_bytes(), 0), Some(2_000_000));
    }

    #[test]
    fn a_removed_member_leaves_no_trace() {
        let cases = [
            (r#"{"a":1,"u":null}"#, r#"{"a":1}"#),
            (r#"{"u":null,"a":1}"#, r#"{"a":1}"#),
            (r#"{"u": null, "a": 1}"#, r#"{"a": 1}"#),
            (r#"{"a": 1, "u": null, "b": 2}"#, r#"{"a": 1, "b": 2}"#),
            (r#"{"u":null}"#, r"{}"),
            (r#"{ "u" : null }"#, r"{  }"),
        ];
        for (text, expected) in cases {
            let bytes = text.as_bytes();
            let mut found = members(bytes, &(0..bytes.len()));
            let found = found
                .find(|m| *m.name(bytes) == *b"u")
                .expect("it is there");
            let mut left = text.to_owned();
            left.replace_range(found.removal(bytes), "");
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn escapes_are_undone_piece_by_piece() {
        let text = br#""a\n\u00e9\ud83d\ude00\ud83dz\"\/""#;
        let found: Vec<_> = pieces(text, &(0..text.len())).collect();
        let expected = [
            Piece::Plain(b"a"),
            Piece::Escaped('\n'),
            Piece::Escaped('é'),
            Piece::Escaped('😀'),
            Piece::Escaped(char::REPLACEMENT_CHARACTER),
            Piece::Plain(b"z"),
            Piece::Escaped('"'),
            Piece::Escaped('/'),
        ];
        assert_eq!(found, expected);
    }

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
        let beyond = "18446744073709551616";
        assert_eq!(unsigned(beyond.as_bytes(), &(0..beyond.len())), None);
    }
}
