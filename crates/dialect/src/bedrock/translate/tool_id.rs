//! Ids of calls in a form that this dialect takes.

use std::borrow::Cow;

/// The longest id, in bytes.
const ID_BYTES_MAX: usize = 64;

/// `id`, or where it is empty, too long or holds anything but letters, digits and `_.:-`, one made
/// from it: always the same, and as good as never the same of two.
pub(super) fn legal_id(id: &str) -> Cow<'_, str> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    if (1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(is_legal) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(format!("made-{:032x}", digest(id)))
}

/// FNV-1a of 128 bits.
fn digest(text: &str) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
    text.bytes().fold(BASIS, |digest, byte| {
        (digest ^ u128::from(byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_refused_is_changed() {
        let longest = "a".repeat(ID_BYTES_MAX);
        for id in ["functions.look:0", "tooluse_9aB-x", &longest] {
            assert_eq!(legal_id(id), id);
        }
        let too_long = format!("{longest}a");
        for id in ["", "a b", "é", "a/b", &too_long] {
            let made = legal_id(id);
            assert_ne!(made, id);
            assert_eq!(legal_id(&made), made, "a made one is legal");
        }
        assert_ne!(legal_id("a b"), legal_id("a/b"));
        assert_eq!(legal_id(""), "made-6c62272e07bb014262b821756295c58d");
    }
}
