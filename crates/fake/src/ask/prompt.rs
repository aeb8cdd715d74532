//! The prompt, by the numbers that charges, usage and the language of the answer depend on.

use serde_json::Value;

use super::{Complaint, missing, wrong_type};
use crate::estimate;

/// Tokens that one image is charged, as measured on real responses.
const IMAGE_TOKENS: u64 = 765;

/// What the prompt is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prompt {
    /// UTF-8 bytes of content and role names.
    pub(crate) bytes: u64,
    pub(crate) image_tokens: u64,
    pub(crate) messages: u64,
    /// Its tokens as usage reports them.
    pub(crate) tokens: u64,
    pub(crate) hangul: bool,
    pub(crate) emoji: bool,
}

impl Prompt {
    /// Counts `messages`.
    ///
    /// Fails if one has no role, or content of an impossible type.
    pub(super) fn of(messages: &[Value]) -> Result<Self, Complaint> {
        let mut prompt = Self {
            tokens: 3,
            ..Self::default()
        };
        for message in messages {
            let Some(role) = message.get("role").and_then(Value::as_str) else {
                return Err(missing("messages[].role"));
            };
            prompt.bytes += role.len() as u64;
            prompt.messages += 1;
            prompt.tokens += 4;
            match message.get("content") {
                Some(Value::String(text)) => prompt.add(text),
                Some(Value::Array(parts)) => parts.iter().for_each(|part| prompt.add_part(part)),
                None | Some(Value::Null) => {}
                Some(_) => {
                    return Err(wrong_type(
                        "messages[].content",
                        "a string or an array of parts",
                    ));
                }
            }
        }
        Ok(prompt)
    }

    fn add_part(&mut self, part: &Value) {
        match part.get("text").and_then(Value::as_str) {
            Some(text) => self.add(text),
            None if part["type"] == "image_url" => {
                self.image_tokens += IMAGE_TOKENS;
                self.tokens += IMAGE_TOKENS;
            }
            None => {}
        }
    }

    fn add(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.tokens += estimate::tokens(text);
        for character in text.chars() {
            self.hangul |= matches!(character, '\u{ac00}'..='\u{d7a3}');
            self.emoji |= matches!(character, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}');
        }
    }
}
