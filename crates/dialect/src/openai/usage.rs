//! Where an answer says what it used.

use crate::Usage;
use crate::json::{self, Cursor};

impl Usage {
    /// The usage in the body of an answer that is no stream. `None` where it says nothing (absent,
    /// null, or junk); a usage of zero is a usage.
    ///
    /// ```
    /// use sluicegate_dialect::Usage;
    /// let body = br#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":0}}"#;
    /// let usage = Usage::from_completion(body).expect("the body tells it");
    /// assert_eq!((usage.input_tokens, usage.output_tokens), (12, 0));
    /// ```
    pub fn from_completion(body: &[u8]) -> Option<Self> {
        let root = Cursor::new(body).position();
        Self::read(body, json::member(body, root, "usage")?.start)
    }

    /// The usage object that begins at `at`.
    pub(crate) fn read(text: &[u8], at: usize) -> Option<Self> {
        let mut usage = Self::default();
        let mut told = false;
        let mut cursor = Cursor::at(text, at);
        if !cursor.enter(b'{') {
            return None;
        }
        while let Some(key) = cursor.next_key() {
            match &*key.name(text) {
                b"prompt_tokens" => {
                    usage.input_tokens = json::count(text, &cursor.skip()?)?;
                    told = true;
                }
                b"completion_tokens" => {
                    usage.output_tokens = json::count(text, &cursor.skip()?)?;
                    told = true;
                }
                b"prompt_tokens_details" => {
                    usage.cached_input_tokens = detail(&cursor, "cached_tokens");
                    usage.cache_write_input_tokens = detail(&cursor, "cache_write_tokens");
                }
                b"completion_tokens_details" => {
                    usage.reasoning_tokens = detail(&cursor, "reasoning_tokens");
                }
                _ => {}
            }
        }
        told.then_some(usage)
    }
}

/// A detail that may be absent or null, as servers that do not know it write.
fn detail(details: &Cursor<'_>, name: &str) -> u64 {
    let text = details.text();
    let value = json::member(text, details.position(), name);
    value
        .and_then(|value| json::count(text, &value))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_parts_of_the_whole() {
        let body = br#"{"id":"x","choices":[{"message":{"content":"\"usage\": {}"}}],"usage":{"prompt_tokens":2006,
            "completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920,"cache_write_tokens":80,"audio_tokens":0},
            "completion_tokens_details":{"reasoning_tokens":192}}}"#;
        let expected = Usage {
            input_tokens: 2_006,
            cached_input_tokens: 1_920,
            cache_write_input_tokens: 80,
            output_tokens: 300,
            reasoning_tokens: 192,
        };
        assert_eq!(Usage::from_completion(body), Some(expected));
    }

    #[test]
    fn absent_is_not_zero() {
        let zero =
            br#"{"usage":{"prompt_tokens":0,"completion_tokens":0,"prompt_tokens_details":null}}"#;
        assert_eq!(Usage::from_completion(zero), Some(Usage::default()));
        let cases: [&[u8]; 8] = [
            b"",
            b"{}",
            br#"{"usage":null}"#,
            br#"{"usage":{}}"#,
            br#"{"usage":[1]}"#,
            br#"{"usage":{"prompt_tokens":-3}}"#,
            br#"{"choices":[{"usage":{"prompt_tokens":3}}]}"#,
            b"<html>busy</html>",
        ];
        for body in cases {
            assert_eq!(
                Usage::from_completion(body),
                None,
                "{}",
                String::from_utf8_lossy(body)
            );
        }
    }

    #[test]
    fn embeddings_have_input_only() {
        let usage = Usage::from_completion(br#"{"usage":{"prompt_tokens":8,"total_tokens":8}}"#);
        assert_eq!(
            usage,
            Some(Usage {
                input_tokens: 8,
                ..Usage::default()
            })
        );
    }
}
