//! Walking over a text once, from value to value.

use std::borrow::Cow;

use memchr::memchr2;

use super::scan::{hex4, scan_string, skip_space, skip_value};
use super::{Span, string};

/// A place in a text: at a value, or behind one.
///
/// What is entered is walked to its end with [`next_key`](Self::next_key) or
/// [`next_element`](Self::next_element); a value that nobody touched is skipped by the next step.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
    /// Where the value begins that has not been touched yet; `usize::MAX` where there is none.
    untouched_at: usize,
    /// Where the bracket or comma stands that was passed last.
    opened_at: usize,
}

/// The key of a member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    /// With its quotes.
    span: Span,
    escaped: bool,
    /// Where the `{` or `,` before it stands.
    opened_at: usize,
}

impl<'t> Cursor<'t> {
    /// At the value that `text` is.
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self::at(text, skip_space(text, 0))
    }

    /// At the value that begins at `at`.
    pub(crate) const fn at(text: &'t [u8], at: usize) -> Self {
        Self {
            text,
            at,
            untouched_at: at,
            opened_at: at,
        }
    }

    pub(crate) const fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Where the value at hand begins.
    pub(crate) const fn position(&self) -> usize {
        self.at
    }

    /// The first byte of the value at hand, 0 at the end of the text.
    pub(crate) fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Enters the value at hand where it begins with `bracket`; else leaves it.
    pub(crate) fn enter(&mut self, bracket: u8) -> bool {
        let enters = self.peek() == bracket;
        if enters {
            self.opened_at = self.at;
            self.at += 1;
            self.untouched_at = NOWHERE;
        }
        enters
    }

    /// The next member of the object that was entered: its key, the cursor being at its value.
    /// `None` behind the object.
    pub(crate) fn next_key(&mut self) -> Option<Key> {
        if !self.next(b'}')? {
            return None;
        }
        let opened_at = self.opened_at;
        let Some((end, escaped)) = scan_string(self.text, self.at) else {
            return self.broken();
        };
        let span = self.at..end;
        let colon = skip_space(self.text, end);
        if self.text.get(colon) != Some(&b':') {
            return self.broken();
        }
        self.at = skip_space(self.text, colon + 1);
        self.untouched_at = self.at;
        Some(Key {
            span,
            escaped,
            opened_at,
        })
    }

    /// Whether there is another element of the array that was entered, the cursor then being at it,
    /// else behind the array.
    pub(crate) fn next_element(&mut self) -> bool {
        let more = self.next(b']') == Some(true);
        if more {
            self.untouched_at = self.at;
        }
        more
    }

    /// Skips the value at hand.
    pub(crate) fn skip(&mut self) -> Option<Span> {
        let start = self.at;
        let Some(end) = skip_value(self.text, start) else {
            return self.broken();
        };
        self.at = end;
        self.untouched_at = NOWHERE;
        Some(start..end)
    }

    /// Hands the stretches of the string at hand to `each`, and skips it. Where it is no string,
    /// nothing happens.
    pub(crate) fn pieces(&mut self, mut each: impl FnMut(Piece<'t>)) {
        if self.peek() != b'"' {
            return;
        }
        self.untouched_at = NOWHERE;
        self.at += 1;
        while let Some(found) = memchr2(b'"', b'\\', &self.text[self.at..]) {
            if found > 0 {
                each(Piece::Plain(&self.text[self.at..self.at + found]));
            }
            self.at += found + 1;
            if self.text[self.at - 1] == b'"' {
                return;
            }
            if let Some(character) = self.escape() {
                each(Piece::Escaped(character));
            }
        }
        self.at = self.text.len();
    }

    /// Goes to the next key or element. `Some(false)` behind the closing bracket, `None` where the
    /// text is broken.
    fn next(&mut self, closing: u8) -> Option<bool> {
        if self.at == self.untouched_at {
            self.skip()?;
        }
        self.at = skip_space(self.text, self.at);
        if self.peek() == b',' {
            self.opened_at = self.at;
            self.at = skip_space(self.text, self.at + 1);
        } else if self.peek() == closing {
            self.at += 1;
            self.untouched_at = NOWHERE;
            return Some(false);
        }
        if self.at < self.text.len() {
            Some(true)
        } else {
            self.broken()
        }
    }

    /// Goes where nothing is found any more.
    const fn broken<T>(&mut self) -> Option<T> {
        self.at = self.text.len();
        self.untouched_at = NOWHERE;
        None
    }

    /// Reads what follows a backslash.
    fn escape(&mut self) -> Option<char> {
        let kind = *self.text.get(self.at)?;
        self.at += 1;
        Some(match kind {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => self.unicode(),
            other => char::from(other),
        })
    }

    /// Reads what follows `\u`, both halves where it is a pair.
    fn unicode(&mut self) -> char {
        let Some(unit) = hex4(self.text, self.at) else {
            return char::REPLACEMENT_CHARACTER;
        };
        self.at += 4;
        let is_high = (0xd800..0xdc00).contains(&unit);
        if is_high
            && self.text[self.at..].starts_with(b"\\u")
            && let Some(low @ 0xdc00..0xe000) = hex4(self.text, self.at + 2)
        {
            self.at += 6;
            let scalar = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            return char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
        char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

impl Key {
    /// Where it stands, with its quotes.
    pub(crate) const fn span(&self) -> &Span {
        &self.span
    }

    /// The key, with escapes undone.
    pub(crate) fn name<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let raw = &text[self.span.start + 1..self.span.end - 1];
        if !self.escaped {
            return Cow::Borrowed(raw);
        }
        match string(text, &self.span) {
            Some(name) => Cow::Owned(name.into_owned().into_bytes()),
            None => Cow::Borrowed(raw),
        }
    }

    /// What has to go, if the member's value is `value`, so that the object is as if the member had
    /// never been there.
    pub(crate) fn removal(&self, text: &[u8], value: &Span) -> Span {
        if text[self.opened_at] == b',' {
            return self.opened_at..value.end;
        }
        let closed_at = skip_space(text, value.end);
        match text.get(closed_at) {
            Some(b',') => self.span.start..skip_space(text, closed_at + 1),
            _ => self.span.start..value.end,
        }
    }
}

/// A stretch of a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece<'t> {
    /// As it stands in the text.
    Plain(&'t [u8]),
    /// What an escape stands for; half of a surrogate pair alone becomes the replacement character.
    Escaped(char),
}

/// No place in a text.
const NOWHERE: usize = usize::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Vec<(String, &str)> {
        let bytes = text.as_bytes();
        let mut cursor = Cursor::new(bytes);
        let mut found = Vec::new();
        if cursor.enter(b'{') {
            while let Some(key) = cursor.next_key() {
                let Some(value) = cursor.skip() else { break };
                let name = String::from_utf8_lossy(&key.name(bytes)).into_owned();
                found.push((name, &text[value]));
            }
        }
        found
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
    fn what_is_not_touched_is_skipped() {
        let text = br#"{"a":{"x":[1,"]"]},"b":[[7],{"y":"}"},8],"c":3}"#;
        let mut cursor = Cursor::new(text);
        assert!(cursor.enter(b'{'));
        assert_eq!(
            cursor.next_key().map(|key| key.name(text).into_owned()),
            Some(b"a".to_vec())
        );
        assert!(!cursor.enter(b'['));
        assert_eq!(
            cursor.next_key().map(|key| key.name(text).into_owned()),
            Some(b"b".to_vec())
        );
        assert!(cursor.enter(b'['));
        let mut elements = Vec::new();
        while cursor.next_element() {
            elements.push(cursor.peek());
        }
        assert_eq!(elements, b"[{8");
        assert_eq!(
            cursor.next_key().map(|key| key.name(text).into_owned()),
            Some(b"c".to_vec())
        );
        assert_eq!(cursor.next_key(), None);
        assert_eq!(cursor.position(), text.len());
    }

    /// Enters everything, to any depth, and takes every string apart.
    fn walk_all(cursor: &mut Cursor<'_>, text: &[u8]) {
        let mut opened = Vec::new();
        loop {
            let bracket = cursor.peek();
            if matches!(bracket, b'{' | b'[') && cursor.enter(bracket) {
                opened.push(bracket);
            } else if bracket == b'"' {
                cursor.pieces(|_| ());
            } else {
                cursor.skip();
            }
            loop {
                let Some(bracket) = opened.last() else { return };
                let more = if *bracket == b'[' {
                    cursor.next_element()
                } else {
                    cursor
                        .next_key()
                        .is_some_and(|key| key.removal(text, &(0..0)).start <= text.len())
                };
                if more {
                    break;
                }
                opened.pop();
            }
        }
    }

    #[test]
    fn broken_text_yields_less_and_never_panics() {
        let text = br#"{"a":{"b":[1,"\u00e9\ud83d\ude00"]},"c":"d\"","e":-1.5e3,"f":[],"g":{}}"#;
        for end in 0..text.len() {
            let cut = &text[..end];
            walk_all(&mut Cursor::new(cut), cut);
            for at in 0..end {
                let mut spoilt = text.to_vec();
                spoilt[at] = b"{}[],:\"\\x"[(at + end) % 9];
                walk_all(&mut Cursor::new(&spoilt), &spoilt);
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
        assert_eq!(Cursor::new(text.as_bytes()).skip(), Some(0..2_000_000));
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
            let mut cursor = Cursor::new(bytes);
            assert!(cursor.enter(b'{'));
            let key = loop {
                let key = cursor.next_key().expect("it is there");
                if *key.name(bytes) == *b"u" {
                    break key;
                }
            };
            let value = cursor.skip().expect("a value");
            let mut left = text.to_owned();
            left.replace_range(key.removal(bytes, &value), "");
            assert_eq!(left, expected);
        }
    }

    #[test]
    fn escapes_are_undone_piece_by_piece() {
        let text = br#""a\n\u00e9\ud83d\ude00\ud83dz\"\/""#;
        let mut found = Vec::new();
        let mut cursor = Cursor::new(text);
        cursor.pieces(|piece| found.push(piece));
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
        assert_eq!(cursor.position(), text.len());
    }
}
