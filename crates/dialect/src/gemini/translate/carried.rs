//! Seals of other providers, as clients of this dialect carry them.
//!
//! A part has one place for a seal, and SDKs take it for base64: what they send back is the same bytes,
//! but maybe in the other alphabet (<https://github.com/googleapis/python-genai/issues/2105>). So a seal
//! travels inside base64, behind a mark by which it is known again and kept from Google.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::wire;
use crate::canonical::Part;
use crate::canonical::seal::googles;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const USUAL: GeneralPurpose = GeneralPurpose::new(&STANDARD, CONFIG);
const IN_ADDRESSES: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, CONFIG);

/// Before the seal of a thought that is shown. Its length is a multiple of three, so that it is the
/// beginning of the base64 too.
const SHOWN: &str = "sluicegate-t";
/// Before a thought that is not shown.
const HIDDEN: &str = "sluicegate-s";
/// How base64 of either begins.
const MARK: &str = "c2x1aWNlZ2F0ZS1";

/// A thought with its seal, of which `text` is shown. Without a text there is none in the part, as
/// SDKs drop parts whose text is empty.
pub(super) fn thought(text: &str, seal: &str) -> wire::Part {
    match googles(seal) {
        Some(own) => wire::Part {
            thought: Some(true),
            ..native(text, own)
        },
        None => part(text, &format!("{SHOWN}{seal}")),
    }
}

/// A thought that is not shown.
pub(super) fn sealed(data: &str) -> wire::Part {
    match googles(data) {
        Some(own) => native("", own),
        None => part("", &format!("{HIDDEN}{data}")),
    }
}

/// One of Google's own, as it gives them.
fn native(text: &str, seal: &str) -> wire::Part {
    wire::Part {
        text: Some(text.to_owned()),
        thought_signature: Some(seal.to_owned()),
        ..wire::Part::default()
    }
}

fn part(text: &str, carried: &str) -> wire::Part {
    wire::Part {
        text: (!text.is_empty()).then(|| text.to_owned()),
        thought: Some(true),
        thought_signature: Some(USUAL.encode(carried)),
        ..wire::Part::default()
    }
}

/// The thought that a part with this `seal` carries; `None` where the seal is none of ours.
pub(super) fn read(text: Option<&str>, seal: &str) -> Option<Part> {
    if !seal.starts_with(MARK) {
        return None;
    }
    let bytes = USUAL.decode(seal).or_else(|_| IN_ADDRESSES.decode(seal));
    let carried = String::from_utf8(bytes.ok()?).ok()?;
    if let Some(data) = carried.strip_prefix(HIDDEN) {
        return Some(Part::SealedThinking(data.to_owned()));
    }
    let seal = carried.strip_prefix(SHOWN)?;
    Some(Part::Thinking {
        text: text.unwrap_or_default().to_owned(),
        signature: Some(seal.to_owned()),
    })
}

/// Whether the JSON string `raw` is a seal that is kept from Google.
pub(in crate::gemini) fn is_carried(raw: &[u8]) -> bool {
    let inner = raw.strip_prefix(b"\"").unwrap_or(raw);
    inner.starts_with(MARK.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_comes_back_through_either_alphabet() {
        for seal in ["EqQB?>~~ÿ+/==", "openai#gAAAAA-_", "", "a"] {
            let shown = Part::Thinking {
                text: "hm".to_owned(),
                signature: Some(seal.to_owned()),
            };
            let hidden = Part::SealedThinking(seal.to_owned());
            for (part, wire) in [(shown, thought("hm", seal)), (hidden, sealed(seal))] {
                let usual = wire.thought_signature.unwrap_or_default();
                let other = usual.replace('+', "-").replace('/', "_");
                let bare = other.trim_end_matches('=');
                for told in [&usual, &other, bare] {
                    assert_eq!(read(Some("hm"), told).as_ref(), Some(&part), "{told}");
                    assert!(is_carried(format!("\"{told}\"").as_bytes()));
                }
            }
        }
        assert_eq!(read(Some("hm"), "c2VhbA=="), None);
        assert!(!is_carried(b"\"c2VhbA==\""));
    }
}
