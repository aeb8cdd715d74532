//! What an answer says that it used.

use crate::json::{self, Span};

/// Tokens as the provider counted them. Input includes what was read from a cache, output includes reasoning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Of these, read from a cache; zero where the answer does not say.
    pub cached_input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Of these, reasoning; zero where the answer does not say.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// The usage in the body of an answer that is no stream. `None` where it says nothing (absent, null, or junk); a usage
    /// of zero is a usage.
    ///
    /// ```
    /// use sluicegate_dialect::openai::Usage;
    /// let body = br#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":0}}"#;
    /// let usage = Usage::from_completion(body).expect("the body tells it");
    /// assert_eq!((usage.input_tokens, usage.output_tokens), (12, 0));
    /// ```
    pub fn from_completion(body: &[u8]) -> Option<Self> {
        let root = json::root(body)?;
        Self::read(body, &json::member(body, &root, "usage")?)
    }

    /// The usage object that `value` spans.
    pub(crate) fn read(text: &[u8], value: &Span) -> Option<Self> {
        let mut usage = Self::default();
        let mut told = false;
        for member in json::members(text, value) {
            match &*member.name(text) {
                b"prompt_tokens" => {
                    usage.input_tokens = json::unsigned(text, &member.value)?;
                    told = true;
                }
                b"completion_tokens" => {
                    usage.output_tokens = json::unsigned(text, &member.value)?;
                    told = true;
                }
                b"prompt_tokens_details" => {
                    usage.cached_input_tokens = detail(text, &member.value, "cached_tokens");
                }
                b"completion_tokens_details" => {
                    usage.reasoning_tokens = detail(text, &member.value, "reasoning_tokens");
                }
                _ => {}
            }
        }
        told.then_some(usage)
    }
}

/// A detail that may be absent or null, as servers that do not know it write.
fn detail(text: &[u8], details: &Span, name: &str) -> u64 {
    json::member(text, details, name)
        .and_then(|value| json::unsigned(text, &value))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_parts_of_the_whole() {
        let body = br#"{"id":"x","choices":[{"message":{"content":"\"usage\": {}"}}],"usage":{"prompt_tokens":2006,
            "completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920,"audio_tokens":0},
            "completion_tokens_details":{"reasoning_tokens":192}}}"#;
        let expected = Usage {
            input_tokens: 2_006,
            cached_input_tokens: 1_920,
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
