//! Where an answer says what it used.
//!
//! The prompt includes what a cache held, but not what tools that the provider runs put into it; the
//! candidates leave out what the model thought. So input and output are the sum of two each.
//! (<https://ai.google.dev/api/generate-content#UsageMetadata>)

use crate::Usage;
use crate::json::{self, Cursor};

impl Usage {
    /// The usage in an answer, or in a chunk of a stream, where each tells all until then. `None`
    /// where it says nothing.
    ///
    /// ```
    /// use sluicegate_dialect::Usage;
    /// let body = br#"{"usageMetadata":{"promptTokenCount":95,"cachedContentTokenCount":90,
    ///     "candidatesTokenCount":7,"thoughtsTokenCount":30,"totalTokenCount":132}}"#;
    /// let usage = Usage::from_generation(body).expect("the body tells it");
    /// assert_eq!((usage.input_tokens, usage.cached_input_tokens), (95, 90));
    /// assert_eq!((usage.output_tokens, usage.reasoning_tokens), (37, 30));
    /// ```
    pub fn from_generation(body: &[u8]) -> Option<Self> {
        let root = Cursor::new(body).position();
        let at = json::member(body, root, "usageMetadata")?.start;
        usage_at(body, at)
    }
}

/// The usage in the object that begins at `at`.
pub(super) fn usage_at(text: &[u8], at: usize) -> Option<Usage> {
    let mut cursor = Cursor::at(text, at);
    if !cursor.enter(b'{') {
        return None;
    }
    let [
        mut prompt,
        mut tool_prompt,
        mut cached,
        mut candidates,
        mut thoughts,
    ] = [None; 5];
    while let Some(key) = cursor.next_key() {
        let place = match &*key.name(text) {
            b"promptTokenCount" => &mut prompt,
            b"toolUsePromptTokenCount" => &mut tool_prompt,
            b"cachedContentTokenCount" => &mut cached,
            b"candidatesTokenCount" => &mut candidates,
            b"thoughtsTokenCount" => &mut thoughts,
            _ => continue,
        };
        let told = cursor.skip().and_then(|value| json::count(text, &value));
        *place = told.or(*place);
    }
    if prompt.is_none() && candidates.is_none() && thoughts.is_none() {
        return None;
    }
    let sum =
        |one: Option<u64>, other: Option<u64>| one.unwrap_or(0).saturating_add(other.unwrap_or(0));
    Some(Usage {
        input_tokens: sum(prompt, tool_prompt),
        cached_input_tokens: cached.unwrap_or(0),
        cache_write_input_tokens: 0,
        output_tokens: sum(candidates, thoughts),
        reasoning_tokens: thoughts.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_and_output_are_the_sum_of_two_each() {
        let body = br#"{"candidates":[],"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":5,
            "candidatesTokenCount":3,"thoughtsTokenCount":4,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10}]}}"#;
        let expected = Usage {
            input_tokens: 15,
            output_tokens: 7,
            reasoning_tokens: 4,
            ..Usage::default()
        };
        assert_eq!(Usage::from_generation(body), Some(expected));
    }

    #[test]
    fn absent_is_not_zero() {
        for body in [
            "",
            "{}",
            "<html>",
            r#"{"usageMetadata":null}"#,
            r#"{"usageMetadata":{}}"#,
            r#"{"usageMetadata":{"totalTokenCount":3}}"#,
        ] {
            assert_eq!(Usage::from_generation(body.as_bytes()), None, "{body}");
        }
        let thoughts = br#"{"usageMetadata":{"promptTokenCount":18446744073709551615,"toolUsePromptTokenCount":9,"thoughtsTokenCount":2}}"#;
        let usage = Usage::from_generation(thoughts).expect("it is told");
        assert_eq!((usage.input_tokens, usage.output_tokens), (u64::MAX, 2));
    }
}
