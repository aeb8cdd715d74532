//! What stands for the seal of a call that another model made.
//!
//! Newer models refuse a call without a seal, and take this one for it
//! (<https://ai.google.dev/gemini-api/docs/thought-signatures>). A client gets it with the calls of whoever
//! stood in for Google, so that it sends them back in a form that Google takes, also where its bytes
//! pass.

use super::wire;

/// As it is documented for requests.
pub(in crate::gemini) const ASKED: &str = "skip_thought_signature_validator";
/// The same in base64, as SDKs take the seals in answers for bytes.
pub(super) const ANSWERED: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

/// Seals what a model said at once: of its calls the first bears the seal.
pub(super) fn seal(parts: &mut [wire::Part], seal: &str) {
    let first = parts.iter_mut().find(|part| part.function_call.is_some());
    if let Some(first) = first {
        first
            .thought_signature
            .get_or_insert_with(|| seal.to_owned());
    }
}

/// Whether the JSON string `raw` is that stand-in as it is answered. Sent back so, it is what nobody
/// documents to be taken (<https://github.com/langchain-ai/langchain-google/pull/1972>).
pub(in crate::gemini) fn is_stand_in(raw: &[u8]) -> bool {
    let inner = raw
        .strip_prefix(b"\"")
        .and_then(|raw| raw.strip_suffix(b"\""));
    inner == Some(ANSWERED.as_bytes())
}

/// A seal that its model may know again.
pub(super) fn own(seal: Option<String>) -> Option<String> {
    seal.filter(|seal| seal != ASKED && seal != ANSWERED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::Part;
    use crate::gemini::read_request;

    #[test]
    fn a_foreign_seal_comes_back_as_none() {
        for (seal, expected) in [
            (ASKED, None),
            (ANSWERED, None),
            ("c2VhbA==", Some("c2VhbA==")),
        ] {
            let body = format!(
                r#"{{"contents":[{{"role":"model","parts":[{{"functionCall":{{"name":"look"}},"thoughtSignature":"{seal}"}}]}}]}}"#
            );
            let read = read_request(body.as_bytes()).expect("a request");
            let Part::ToolCall { signature, .. } = &read.request.turns[0].parts[0] else {
                unreachable!("the part is a call");
            };
            assert_eq!(signature.as_deref(), expected);
        }
    }
}
