//! Where an answer says what it used.
//!
//! Twice: `tokens` are what the model read and wrote, with the provider's own instructions and
//! markup; `billed_units` are those of them that cost money. The money is charged here: limits count
//! requests. (<https://docs.cohere.com/docs/rate-limits>)

use crate::Usage;
use crate::json::{self, Cursor};

impl Usage {
    /// The usage in the body of a Cohere answer that is no stream: what is billed, or the tokens where
    /// it does not say. `None` where it says neither.
    ///
    /// ```
    /// use sluicegate_dialect::Usage;
    /// let body = br#"{"usage":{"billed_units":{"input_tokens":5,"output_tokens":7},"tokens":{"input_tokens":71,"output_tokens":7}}}"#;
    /// let usage = Usage::from_cohere(body).expect("the body tells it");
    /// assert_eq!((usage.input_tokens, usage.output_tokens), (5, 7));
    /// ```
    pub fn from_cohere(body: &[u8]) -> Option<Self> {
        let root = Cursor::new(body).position();
        Self::told_in(body, root)
    }

    /// The usage of the object that begins at `at`.
    pub(super) fn told_in(body: &[u8], at: usize) -> Option<Self> {
        let usage = json::member(body, at, "usage")?.start;
        let count = |at: usize, name: &str| {
            let value = json::member(body, at, name)?;
            json::count(body, &value)
        };
        let told = |group: &str, name: &str| {
            let group = json::member(body, usage, group)?.start;
            count(group, name)
        };
        let either = |name| told("billed_units", name).or_else(|| told("tokens", name));
        let (input, output) = (either("input_tokens"), either("output_tokens"));
        if input.is_none() && output.is_none() {
            return None;
        }
        let input_tokens = input.unwrap_or(0);
        // Of all that was read. What is not billed, the provider's own instructions, stands before the
        // rest and so is cached first.
        let read = told("tokens", "input_tokens").unwrap_or(input_tokens);
        let unbilled = read.saturating_sub(input_tokens);
        let cached = count(usage, "cached_tokens").unwrap_or(0);
        Some(Self {
            input_tokens,
            cached_input_tokens: cached.saturating_sub(unbilled).min(input_tokens),
            cache_write_input_tokens: 0,
            output_tokens: output.unwrap_or(0),
            reasoning_tokens: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_billed_goes_before_what_was_read() {
        let cases = [
            (
                r#"{"usage":{"billed_units":{"input_tokens":5,"output_tokens":7},"tokens":{"input_tokens":71,"output_tokens":9},"cached_tokens":64}}"#,
                Some((5, 0, 7)),
            ),
            (
                r#"{"usage":{"billed_units":{"input_tokens":50,"output_tokens":7},"tokens":{"input_tokens":71,"output_tokens":9},"cached_tokens":64}}"#,
                Some((50, 43, 7)),
            ),
            (
                r#"{"usage":{"tokens":{"input_tokens":71.0,"output_tokens":9},"cached_tokens":64}}"#,
                Some((71, 64, 9)),
            ),
            (
                r#"{"usage":{"billed_units":{"output_tokens":7,"search_units":1},"tokens":{"input_tokens":71.5}}}"#,
                Some((0, 0, 7)),
            ),
            (r#"{"usage":{"billed_units":{"search_units":1}}}"#, None),
            (r#"{"usage":null}"#, None),
            ("{}", None),
            ("", None),
        ];
        for (body, expected) in cases {
            let usage = Usage::from_cohere(body.as_bytes());
            let told = usage.map(|it| (it.input_tokens, it.cached_input_tokens, it.output_tokens));
            assert_eq!(told, expected, "{body}");
        }
    }
}
