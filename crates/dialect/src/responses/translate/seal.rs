//! `encrypted_content`, in which thoughts bear their seal here.
//!
//! A client gets the seals of other providers in it too, marked as such, so that a conversation can
//! go on where it began. OpenAI's are as they are.

use crate::canonical::Part;

/// Before one of OpenAI's, outside of this dialect.
const OPENAI: &str = "openai#";
/// Before the seal of a thought that another provider showed.
const THOUGHT: &str = "thought#";
/// Before a thought that another provider did not show.
const SEALED: &str = "sealed#";

/// A thought of which `text` is shown; `None` where there is nothing in it.
pub(super) fn read(text: String, encrypted: Option<String>) -> Option<Part> {
    let encrypted = encrypted.filter(|encrypted| !encrypted.is_empty());
    let Some(encrypted) = encrypted else {
        let signature = None;
        return (!text.is_empty()).then_some(Part::Thinking { text, signature });
    };
    if let Some(data) = encrypted.strip_prefix(SEALED) {
        return Some(Part::SealedThinking(data.to_owned()));
    }
    let (seal, is_shown) = match encrypted.strip_prefix(THOUGHT) {
        Some(seal) => (seal.to_owned(), true),
        None => (format!("{OPENAI}{encrypted}"), !text.is_empty()),
    };
    Some(if is_shown {
        let signature = Some(seal);
        Part::Thinking { text, signature }
    } else {
        Part::SealedThinking(seal)
    })
}

/// How a client gets the seal of a thought that is shown.
pub(super) fn of_thought(seal: &str) -> String {
    let own = seal.strip_prefix(OPENAI);
    own.map_or_else(|| format!("{THOUGHT}{seal}"), str::to_owned)
}

/// How a client gets a thought that is not shown.
pub(super) fn of_sealed(data: &str) -> String {
    let own = data.strip_prefix(OPENAI);
    own.map_or_else(|| format!("{SEALED}{data}"), str::to_owned)
}

/// The seal as OpenAI gave it; `None` for another's, which it would refuse.
pub(super) fn own(seal: &str) -> Option<&str> {
    seal.strip_prefix(OPENAI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_comes_back_to_whose_it_is() {
        let shown = |text: &str, seal: &str| Part::Thinking {
            text: text.to_owned(),
            signature: Some(seal.to_owned()),
        };
        let cases = [
            shown("hm", "Eq=="),
            shown("", "Eq=="),
            shown("hm", "openai#gA=="),
            Part::SealedThinking("Eq==".to_owned()),
            Part::SealedThinking("openai#gA==".to_owned()),
        ];
        for part in cases {
            let (text, encrypted) = match &part {
                Part::Thinking { text, signature } => (
                    text.as_str(),
                    of_thought(signature.as_deref().unwrap_or_default()),
                ),
                Part::SealedThinking(data) => ("", of_sealed(data)),
                _ => ("", String::new()),
            };
            assert_eq!(read(text.to_owned(), Some(encrypted)), Some(part));
        }
        assert_eq!(read(String::new(), None), None);
        assert_eq!(own("openai#gA=="), Some("gA=="));
        assert_eq!(own("Eq=="), None);
    }
}
