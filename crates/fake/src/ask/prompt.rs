//! The prompt, by the numbers that charges, usage and the language of the answer depend on.

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
    /// One more message, of this role.
    pub(super) fn turn(&mut self, role: &str) {
        self.bytes += role.len() as u64;
        self.messages += 1;
        self.tokens += 4;
    }

    /// An image, or a document, which counts like one.
    pub(super) fn image(&mut self) {
        self.image_tokens += IMAGE_TOKENS;
        self.tokens += IMAGE_TOKENS;
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.tokens += estimate::tokens(text);
        for character in text.chars() {
            self.hangul |= matches!(character, '\u{ac00}'..='\u{d7a3}');
            self.emoji |= matches!(character, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}');
        }
    }
}
