//! Where a response says what it used.

use crate::Usage;
use crate::json::{self, Cursor};

impl Usage {
    /// The usage in the body of a response that is no stream. `None` where it says nothing (absent,
    /// null, or junk); a usage of zero is a usage.
    ///
    /// ```
    /// use sluicegate_dialect::Usage;
    /// let body = br#"{"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":8},"output_tokens":0}}"#;
    /// let usage = Usage::from_response(body).expect("the body tells it");
    /// assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (12, 8, 0));
    /// ```
    pub fn from_response(body: &[u8]) -> Option<Self> {
        Self::of_response(body, Cursor::new(body).position())
    }

    /// The usage of the response that begins at `at`.
    pub(super) fn of_response(text: &[u8], at: usize) -> Option<Self> {
        let at = json::member(text, at, "usage")?.start;
        let number = |at: usize, name: &str| {
            let value = json::member(text, at, name)?;
            json::count(text, &value)
        };
        let detail = |details: &str, name: &str| {
            let details = json::member(text, at, details)?;
            number(details.start, name)
        };
        let input = number(at, "input_tokens");
        let output = number(at, "output_tokens");
        if input.is_none() && output.is_none() {
            return None;
        }
        let input_detail = |name| detail("input_tokens_details", name).unwrap_or(0);
        Some(Self {
            input_tokens: input.unwrap_or(0),
            cached_input_tokens: input_detail("cached_tokens"),
            cache_write_input_tokens: input_detail("cache_write_tokens"),
            output_tokens: output.unwrap_or(0),
            reasoning_tokens: detail("output_tokens_details", "reasoning_tokens").unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_parts_of_the_whole() {
        let body = br#"{"output":[{"usage":{"input_tokens":1}}],"usage":{"input_tokens":2006,
            "input_tokens_details":{"cache_write_tokens":40,"cached_tokens":1920},"output_tokens":300,
            "output_tokens_details":{"reasoning_tokens":192},"total_tokens":2306}}"#;
        let expected = Usage {
            input_tokens: 2_006,
            cached_input_tokens: 1_920,
            cache_write_input_tokens: 40,
            output_tokens: 300,
            reasoning_tokens: 192,
        };
        assert_eq!(Usage::from_response(body), Some(expected));
    }

    #[test]
    fn absent_is_not_zero() {
        for body in [
            "",
            "{}",
            r#"{"usage":null}"#,
            r#"{"usage":{}}"#,
            r#"{"usage":[1]}"#,
            "<html>",
        ] {
            assert_eq!(Usage::from_response(body.as_bytes()), None, "{body}");
        }
        let zero = br#"{"usage":{"input_tokens":0,"output_tokens":0,"input_tokens_details":null}}"#;
        assert_eq!(Usage::from_response(zero), Some(Usage::default()));
    }
}
