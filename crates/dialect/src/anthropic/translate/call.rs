//! Calls of tools in a form that this dialect takes: their ids and their arguments.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::canonical::JsonText;
use crate::canonical::arguments::{NO_ARGUMENTS, are_none};

/// `id`, or where it holds what this dialect refuses (anything but letters, digits, `_` and `-`) one
/// made from it: always the same, and never the same of two.
pub(super) fn legal_id(id: &str) -> Cow<'_, str> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !id.is_empty() && id.bytes().all(is_legal) && !id.starts_with(MADE) {
        return Cow::Borrowed(id);
    }
    let mut made = String::from(MADE);
    for byte in id.bytes() {
        if is_legal(byte) && byte != b'-' {
            made.push(char::from(byte));
        } else {
            let _ = write!(made, "-{byte:02x}");
        }
    }
    Cow::Owned(made)
}

/// Arguments as an object. What a model wrote that is none goes on as the text that it is, in a
/// member of its own, so that whoever checks it can tell what was written.
pub(crate) fn input(arguments: &str) -> JsonText {
    let object = JsonText::parse(arguments).filter(JsonText::is_object);
    object.unwrap_or_else(|| {
        let text = serde_json::Value::from(arguments);
        let wrapped = if are_none(arguments) {
            NO_ARGUMENTS.to_owned()
        } else {
            format!(r#"{{"arguments":{text}}}"#)
        };
        JsonText::parse(&wrapped).expect("an object of one string is valid JSON")
    })
}

/// What all ids begin with that were made here.
const MADE: &str = "made-";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_what_is_refused_is_changed() {
        for (id, expected) in [
            ("call_9aB-x", "call_9aB-x"),
            ("functions.look:0", "made-functions-2elook-3a0"),
            ("made-a", "made-made-2da"),
            ("", "made-"),
        ] {
            assert_eq!(legal_id(id), expected);
        }
    }

    #[test]
    fn arguments_are_always_an_object() {
        for (arguments, expected) in [
            (r#"{"b":1, "a":1.50}"#, r#"{"b":1, "a":1.50}"#),
            ("", "{}"),
            ("null", "{}"),
            ("[1]", r#"{"arguments":"[1]"}"#),
            ("{\"a\":", r#"{"arguments":"{\"a\":"}"#),
        ] {
            assert_eq!(input(arguments).as_str(), expected);
        }
    }

    proptest! {
        #[test]
        fn two_never_become_one(one in "(made-)?[a-c.:é-]{0,6}", other in "(made-)?[a-c.:é-]{0,6}") {
            prop_assert_eq!(legal_id(&one) == legal_id(&other), one == other);
        }
    }
}
