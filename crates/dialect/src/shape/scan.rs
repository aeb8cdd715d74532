//! Where in a text that comes in pieces one JSON object or array begins and ends.
//!
//! Brackets are counted and strings are skipped, no more: whether it is JSON, a parser says of the whole. What is certain is that
//! JSON which begins there ends there.
//!
//! Models of which nobody parts the thoughts from the answer begin it with `<think>`, and try out JSON until `</think>`: what stands
//! there is not looked at.

use memchr::memmem;

/// What the text may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Roots {
    pub(super) object: bool,
    pub(super) array: bool,
    /// Anything else: has no beginning that prose could not have.
    pub(super) scalar: bool,
}

impl Roots {
    pub(super) const OBJECT: Self = Self {
        object: true,
        array: false,
        scalar: false,
    };
    pub(super) const ANY: Self = Self {
        object: true,
        array: true,
        scalar: false,
    };
}

/// What thoughts begin with that stand in the text.
const THOUGHTS_BEGIN: &str = "<think>";
/// And what ends them.
const THOUGHTS_END: &str = "</think>";

/// `text` without the thoughts that it begins with, where they end.
pub(super) fn behind_thoughts(text: &str) -> &str {
    let thoughts = text.trim_start().strip_prefix(THOUGHTS_BEGIN);
    let behind = thoughts.and_then(|thoughts| thoughts.split_once(THOUGHTS_END));
    behind.map_or(text, |(_, behind)| behind)
}

/// A text so far, and what was found in it.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    roots: Roots,
    text: String,
    /// Bytes that were looked at.
    read: usize,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// What has come may be the beginning of thoughts.
    Before,
    /// In thoughts, of which the end is looked for from `read` on.
    Thinking,
    Outside,
    /// A bracket at that place; what follows tells whether it is JSON.
    Opened(usize),
    Inside {
        begin: usize,
        depth: usize,
        string: InString,
    },
    Ended {
        begin: usize,
        end: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum InString {
    No,
    Yes,
    Escaped,
}

impl Scan {
    pub(super) fn new(roots: Roots) -> Self {
        Self {
            roots,
            text: String::new(),
            read: 0,
            state: State::Before,
        }
    }

    /// Takes more of the text. What follows the end is looked at no more.
    pub(super) fn push(&mut self, more: &str) {
        self.text.push_str(more);
        self.resume();
    }

    /// All of the text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where JSON begins.
    pub(super) const fn begin(&self) -> Option<usize> {
        match self.state {
            State::Before | State::Thinking | State::Outside | State::Opened(_) => None,
            State::Inside { begin, .. } | State::Ended { begin, .. } => Some(begin),
        }
    }

    /// Where it ends.
    pub(super) const fn end(&self) -> Option<usize> {
        match self.state {
            State::Ended { end, .. } => Some(end),
            _ => None,
        }
    }

    /// Looks for another one from the byte at `place` on, which begins a character.
    pub(super) fn again_from(&mut self, place: usize) {
        self.read = place;
        self.state = State::Outside;
        self.resume();
    }

    fn resume(&mut self) {
        if let State::Before = self.state {
            let said = self.text[self.read..].trim_start();
            self.read = self.text.len() - said.len();
            if said.starts_with(THOUGHTS_BEGIN) {
                self.state = State::Thinking;
            } else if !THOUGHTS_BEGIN.starts_with(said) {
                self.state = State::Outside;
            }
        }
        if let State::Thinking = self.state {
            let rest = &self.text.as_bytes()[self.read..];
            if let Some(found) = memmem::find(rest, THOUGHTS_END.as_bytes()) {
                self.read += found + THOUGHTS_END.len();
                self.state = State::Outside;
            } else {
                let partial = rest.len().min(THOUGHTS_END.len() - 1);
                self.read = self.text.len() - partial;
            }
        }
        if let State::Before | State::Thinking = self.state {
            return;
        }
        while self.read < self.text.len() {
            if let State::Ended { .. } = self.state {
                return;
            }
            let byte = self.text.as_bytes()[self.read];
            self.state = self.after(byte);
            self.read += 1;
        }
    }

    /// `byte` stands at `read`.
    fn after(&self, byte: u8) -> State {
        match self.state {
            State::Outside => self.outside(byte),
            State::Opened(begin) if byte.is_ascii_whitespace() => State::Opened(begin),
            State::Opened(begin) if follows(self.text.as_bytes()[begin], byte) => {
                self.inside(begin, 1, InString::No, byte)
            }
            State::Opened(_) => self.outside(byte),
            State::Inside {
                begin,
                depth,
                string,
            } => self.inside(begin, depth, string, byte),
            state @ (State::Before | State::Thinking | State::Ended { .. }) => state,
        }
    }

    const fn outside(&self, byte: u8) -> State {
        match byte {
            b'{' if self.roots.object => State::Opened(self.read),
            b'[' if self.roots.array => State::Opened(self.read),
            _ => State::Outside,
        }
    }

    const fn inside(&self, begin: usize, depth: usize, string: InString, byte: u8) -> State {
        let (depth, string) = match (string, byte) {
            (InString::Escaped, _) => (depth, InString::Yes),
            (InString::Yes, b'\\') => (depth, InString::Escaped),
            (InString::Yes, b'"') => (depth, InString::No),
            (InString::Yes, _) => (depth, InString::Yes),
            (InString::No, b'"') => (depth, InString::Yes),
            (InString::No, b'{' | b'[') => (depth + 1, InString::No),
            (InString::No, b'}' | b']') => (depth - 1, InString::No),
            (InString::No, _) => (depth, InString::No),
        };
        if depth == 0 {
            let end = self.read + 1;
            return State::Ended { begin, end };
        }
        State::Inside {
            begin,
            depth,
            string,
        }
    }
}

/// Whether JSON that opens with `bracket` can go on with `byte`.
const fn follows(bracket: u8, byte: u8) -> bool {
    if bracket == b'{' {
        return matches!(byte, b'"' | b'}');
    }
    matches!(
        byte,
        b'"' | b'{' | b'[' | b']' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, pieces: usize) -> Option<&str> {
        let mut scan = Scan::new(Roots::OBJECT);
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        let mut from = 0;
        for place in places.into_iter().skip(1).step_by(pieces) {
            scan.push(&text[from..place]);
            from = place;
        }
        scan.push(&text[from..]);
        Some(&text[scan.begin()?..scan.end()?])
    }

    #[test]
    fn what_is_around_json_is_no_part_of_it_wherever_the_text_breaks() {
        for (text, expected) in [
            ("{}", Some("{}")),
            (" \n{ \"a\": [1, {}] }\n", Some("{ \"a\": [1, {}] }")),
            (
                "```json\n{\"a\":1}\n```\nThat is it {x}.",
                Some("{\"a\":1}"),
            ),
            (
                "In the {form} of {\n  \"a\": \"}\\\"}\"} there",
                Some("{\n  \"a\": \"}\\\"}\"}"),
            ),
            ("{{\"a\":1}}", Some("{\"a\":1}")),
            ("수문 {\"이름\":\"한강\"} 끝", Some("{\"이름\":\"한강\"}")),
            ("[1,2]", None),
            ("{\"a\":1", None),
            (
                "<think>maybe {\"a\":0}</think>\n{\"a\":1}",
                Some("{\"a\":1}"),
            ),
            (" \n<think></think></think>{\"a\":1}", Some("{\"a\":1}")),
            ("<think>{\"a\":0}</thin", None),
            ("<thin>{\"a\":1}", Some("{\"a\":1}")),
            ("<th{\"a\":1}", Some("{\"a\":1}")),
            ("So <think>{\"a\":1}</think>", Some("{\"a\":1}")),
            ("no", None),
            ("", None),
        ] {
            for pieces in 1..5 {
                assert_eq!(found(text, pieces), expected, "{text:?} in {pieces}");
            }
        }
    }
}
