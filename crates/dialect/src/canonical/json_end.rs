//! Telling when a JSON object that comes in pieces is whole.

/// How far an object has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JsonEnd {
    depth: u64,
    in_string: bool,
    escaped: bool,
    begun: bool,
}

impl JsonEnd {
    /// Takes in the next piece.
    pub(crate) fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    self.begun = true;
                    self.depth += 1;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether all that was opened is closed.
    pub(crate) const fn is_whole(&self) -> bool {
        self.begun && !self.is_open()
    }

    /// Whether something is opened and not closed.
    pub(crate) const fn is_open(&self) -> bool {
        self.depth > 0 || self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_whole_at_its_last_brace_only() {
        let text = r#" {"a":"}\"","b":[{},"\\"],"c":{"d":1}} "#;
        let last = text.rfind('}').expect("it is there");
        let mut end = JsonEnd::default();
        for (at, character) in text.char_indices() {
            assert_eq!(end.is_whole(), at > last, "before {at}");
            end.push(character.encode_utf8(&mut [0; 4]));
        }
        assert!(end.is_whole());
    }
}
