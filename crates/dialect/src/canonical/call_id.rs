//! Ids of calls in a form that a dialect takes: a provider's own are refused by others, for their
//! length or for what they hold.

use std::borrow::Cow;

/// `id`, or where it is empty, longer than `bytes_max` (37 at least) or holds a byte that is not legal, one
/// made from it: always the same, and as good as never the same of two.
pub(crate) fn legal(id: &str, bytes_max: usize, is_legal: fn(u8) -> bool) -> Cow<'_, str> {
    if (1..=bytes_max).contains(&id.len()) && id.bytes().all(is_legal) {
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

    const BYTES_MAX: usize = 40;

    fn made(id: &str) -> Cow<'_, str> {
        legal(id, BYTES_MAX, |byte| {
            byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte)
        })
    }

    #[test]
    fn only_what_is_refused_is_changed() {
        let longest = "a".repeat(BYTES_MAX);
        for id in ["functions.look:0", "tooluse_9aB-x", &longest] {
            assert_eq!(made(id), id);
        }
        let too_long = format!("{longest}a");
        for id in ["", "a b", "é", "a/b", &too_long] {
            let other = made(id);
            assert_ne!(other, id);
            assert_eq!(made(&other), other, "a made one is legal");
        }
        assert_ne!(made("a b"), made("a/b"));
        assert_eq!(made(""), "made-6c62272e07bb014262b821756295c58d");
    }
}
