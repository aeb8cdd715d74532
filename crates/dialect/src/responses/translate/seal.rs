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

/// Whether the JSON string `raw` is a seal that another provider made.
pub(in crate::responses) fn is_foreign(raw: &[u8]) -> bool {
    let inner = raw.strip_prefix(b"\"").unwrap_or(raw);
    inner.starts_with(THOUGHT.as_bytes()) || inner.starts_with(SEALED.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thought_that_is_only_named_is_nobodys() {
        let body = br#"{"model":"m","input":[{"role":"user","content":"q"},
            {"type":"item_reference","id":"rs_1"},
            {"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
            {"type":"function_call_output","call_id":"c","output":"4.2"},
            {"type":"item_reference","id":"msg_1"}]}"#;
        let read = crate::responses::read_request(body).expect("a request");
        let thought = Part::SealedThinking("stored#rs_1".to_owned());
        assert_eq!(read.request.turns[1].parts[0], thought);
        assert_eq!(own("stored#rs_1"), None);
        let named: Vec<_> = read.inexpressible.iter().map(|lost| &*lost.field).collect();
        assert_eq!(named, ["input[4]"]);
    }

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
