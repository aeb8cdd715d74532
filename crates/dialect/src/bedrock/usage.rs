//! Where an answer says what it used.
//!
//! `inputTokens` leaves out what was read from or written to a cache; the whole input is the sum of
//! three. (<https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html>)

use crate::Usage;
use crate::json::{self, Cursor};

impl Usage {
    /// The usage in the body of a Converse answer, or in the `metadata` event of a stream. `None`
    /// where it says nothing.
    ///
    /// ```
    /// use sluicegate_dialect::Usage;
    /// let body = br#"{"usage":{"inputTokens":5,"cacheReadInputTokens":90,"outputTokens":7,"totalTokens":102}}"#;
    /// let usage = Usage::from_converse(body).expect("the body tells it");
    /// assert_eq!((usage.input_tokens, usage.cached_input_tokens, usage.output_tokens), (95, 90, 7));
    /// ```
    pub fn from_converse(body: &[u8]) -> Option<Self> {
        let root = Cursor::new(body).position();
        let usage = json::member(body, root, "usage")?.start;
        let told = |name| {
            let value = json::member(body, usage, name)?;
            json::count(body, &value)
        };
        let (input, output) = (told("inputTokens"), told("outputTokens"));
        if input.is_none() && output.is_none() {
            return None;
        }
        let cached = told("cacheReadInputTokens").unwrap_or(0);
        let written = told("cacheWriteInputTokens").unwrap_or(0);
        let fresh = input.unwrap_or(0);
        Some(Self {
            input_tokens: fresh.saturating_add(cached).saturating_add(written),
            cached_input_tokens: cached,
            cache_write_input_tokens: written,
            output_tokens: output.unwrap_or(0),
            reasoning_tokens: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_input_is_the_sum_of_three() {
        let body =
            br#"{"output":{"usage":{"inputTokens":9}},"usage":{"inputTokens":10,"outputTokens":40,
            "totalTokens":3250,"cacheReadInputTokens":3000,"cacheWriteInputTokens":200,
            "cacheDetails":[{"ttl":"5m","inputTokens":200}]}}"#;
        let expected = Usage {
            input_tokens: 3_210,
            cached_input_tokens: 3_000,
            cache_write_input_tokens: 200,
            output_tokens: 40,
            reasoning_tokens: 0,
        };
        assert_eq!(Usage::from_converse(body), Some(expected));
    }

    #[test]
    fn absent_is_not_zero() {
        for body in ["", "{}", r#"{"usage":null}"#, r#"{"usage":{}}"#, "<html>"] {
            assert_eq!(Usage::from_converse(body.as_bytes()), None, "{body}");
        }
        let zero = br#"{"usage":{"inputTokens":0,"outputTokens":0,"totalTokens":0}}"#;
        assert_eq!(Usage::from_converse(zero), Some(Usage::default()));
    }
}
