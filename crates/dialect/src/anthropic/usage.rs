//! Where an answer says what it used.
//!
//! `input_tokens` leaves out what was read from or written to a cache; the whole input is the sum of
//! three. (<https://platform.claude.com/docs/en/build-with-claude/prompt-caching>)

use crate::Usage;
use crate::json::{self, Cursor};

impl Usage {
    /// The usage in the body of a message that is no stream. `None` where it says nothing.
    ///
    /// ```
    /// use sluicegate_dialect::Usage;
    /// let body = br#"{"usage":{"input_tokens":5,"cache_read_input_tokens":90,"output_tokens":7}}"#;
    /// let usage = Usage::from_message(body).expect("the body tells it");
    /// assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (95, 90, 7));
    /// ```
    pub fn from_message(body: &[u8]) -> Option<Self> {
        let root = Cursor::new(body).position();
        Told::default().updated(body, json::member(body, root, "usage")?.start)
    }
}

/// The four numbers that are told, as far as they were told yet. In a stream each is cumulative, and
/// later events leave out what has not changed: the last value of each counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Told {
    input: Option<u64>,
    cache_write: Option<u64>,
    cache_read: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Told {
    /// Takes in the usage object that begins at `at`, and gives what is known then.
    pub(super) fn update(&mut self, text: &[u8], at: usize) -> Option<Usage> {
        *self = self.with(text, at);
        self.usage()
    }

    fn updated(self, text: &[u8], at: usize) -> Option<Usage> {
        self.with(text, at).usage()
    }

    fn with(mut self, text: &[u8], at: usize) -> Self {
        let mut cursor = Cursor::at(text, at);
        if !cursor.enter(b'{') {
            return self;
        }
        while let Some(key) = cursor.next_key() {
            let place = match &*key.name(text) {
                b"input_tokens" => &mut self.input,
                b"cache_creation_input_tokens" => &mut self.cache_write,
                b"cache_read_input_tokens" => &mut self.cache_read,
                b"output_tokens" => &mut self.output,
                b"output_tokens_details" => {
                    let told = json::member(text, cursor.position(), "thinking_tokens");
                    let told = told.and_then(|value| json::count(text, &value));
                    self.thinking = told.or(self.thinking);
                    continue;
                }
                _ => continue,
            };
            let told = cursor.skip().and_then(|value| json::count(text, &value));
            *place = told.or(*place);
        }
        self
    }

    /// What is known by now; `None` where nothing is.
    pub(super) fn usage(&self) -> Option<Usage> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        let cached = self.cache_read.unwrap_or(0);
        let written = self.cache_write.unwrap_or(0);
        let fresh = self.input.unwrap_or(0);
        Some(Usage {
            input_tokens: fresh.saturating_add(cached).saturating_add(written),
            cached_input_tokens: cached,
            cache_write_input_tokens: written,
            output_tokens: self.output.unwrap_or(0),
            reasoning_tokens: self.thinking.unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_input_is_the_sum_of_three() {
        let body = br#"{"content":[{"type":"text","text":"\"usage\""}],"usage":{"input_tokens":10,
            "cache_creation_input_tokens":200,"cache_read_input_tokens":3000,"output_tokens":40,
            "cache_creation":{"ephemeral_5m_input_tokens":200,"ephemeral_1h_input_tokens":0}}}"#;
        let usage = Usage::from_message(body).expect("it is told");
        let expected = Usage {
            input_tokens: 3_210,
            cached_input_tokens: 3_000,
            cache_write_input_tokens: 200,
            output_tokens: 40,
            reasoning_tokens: 0,
        };
        assert_eq!(usage, expected);
    }

    #[test]
    fn the_last_value_of_each_counts() {
        let mut told = Told::default();
        let first = br#"{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}"#;
        told.update(first, 0);
        let usage = told.update(br#"{"output_tokens":9,"cache_read_input_tokens":null}"#, 0);
        let usage = usage.expect("it is told");
        assert_eq!((usage.input_tokens, usage.output_tokens), (15, 9));
        assert_eq!(told.update(b"[]", 0), Some(usage));
    }

    #[test]
    fn absent_is_not_zero() {
        for body in ["", "{}", r#"{"usage":null}"#, r#"{"usage":{}}"#, "<html>"] {
            assert_eq!(Usage::from_message(body.as_bytes()), None, "{body}");
        }
        let zero = br#"{"usage":{"input_tokens":0,"output_tokens":0}}"#;
        assert_eq!(Usage::from_message(zero), Some(Usage::default()));
        let huge =
            br#"{"usage":{"input_tokens":18446744073709551615,"cache_read_input_tokens":9}}"#;
        let usage = Usage::from_message(huge).expect("it is told");
        assert_eq!(usage.input_tokens, u64::MAX);
    }
}
