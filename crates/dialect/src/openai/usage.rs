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
        let mut total = None;
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
                b"total_tokens" => {
                    let value = cursor.skip();
                    total = value.and_then(|value| json::count(text, &value));
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
        told.then(|| usage.with_all_output(total))
    }

    /// The same with what was thought in its output. `completion_tokens` is all output at OpenAI and
    /// whoever follows it; xAI leaves out what its models think and adds it to the `total`
    /// (<https://docs.x.ai/docs/guides/reasoning>). A part that exceeds its whole is none of it, either.
    fn with_all_output(mut self, total: Option<u64>) -> Self {
        let all = self.output_tokens.saturating_add(self.reasoning_tokens);
        let is_told = total == Some(self.input_tokens.saturating_add(all));
        if is_told || self.reasoning_tokens > self.output_tokens {
            self.output_tokens = all;
        }
        self
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
    fn thoughts_that_are_not_among_the_output_are_added_to_it() {
        for (told, output) in [
            (r#""completion_tokens":7,"total_tokens":47,"#, 37),
            (r#""completion_tokens":7.0,"total_tokens":47.0,"#, 37),
            (r#""completion_tokens":50,"total_tokens":90,"#, 80),
            (r#""completion_tokens":50,"total_tokens":60,"#, 50),
            (r#""completion_tokens":50,"#, 50),
            (r#""completion_tokens":7,"#, 37),
        ] {
            let body = format!(
                r#"{{"usage":{{"prompt_tokens":10,{told}"completion_tokens_details":{{"reasoning_tokens":30}}}}}}"#
            );
            let usage = Usage::from_completion(body.as_bytes()).expect("it is told");
            let told = (
                usage.input_tokens,
                usage.output_tokens,
                usage.reasoning_tokens,
            );
            assert_eq!(told, (10, output, 30), "{body}");
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
