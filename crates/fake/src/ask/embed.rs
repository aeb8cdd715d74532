//! Texts that are to become vectors.

use super::talk::Talk;

/// What is to be embedded, and how.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Embed {
    pub(crate) texts: Vec<String>,
    pub(crate) dimensions: Option<u64>,
    /// Numbers as the Base64 of their little-endian bytes.
    pub(crate) base64: bool,
    /// Forms that the answer gives the numbers in, where a dialect has several.
    pub(crate) forms: Vec<String>,
}

impl Embed {
    /// One more text.
    pub(super) fn hear(&mut self, text: String, talk: &mut Talk) {
        talk.prompt.text(&text);
        self.texts.push(text);
    }
}
