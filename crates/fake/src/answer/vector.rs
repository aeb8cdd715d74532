//! Embeddings: vectors of length one that depend on their text only.

use crate::ask::text_id;
use crate::random::Random;

/// Numbers of a vector at most.
const DIMENSIONS_MAX: u64 = 4_096;

/// The vector of `text`, with so many numbers, of which each is an exact 32-bit float.
pub(super) fn vector(text: &str, dimensions: u64) -> Vec<f32> {
    let mut random = Random::new(text_id(text));
    let drawn: Vec<f64> = (0..dimensions.clamp(1, DIMENSIONS_MAX))
        .map(|_| random.fraction() - 0.5)
        .collect();
    let length = drawn.iter().map(|n| n * n).sum::<f64>().sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "embeddings have the precision of 32 bits"
    )]
    drawn.iter().map(|n| (n / length) as f32).collect()
}

/// The same as the Base64 of little-endian floats.
pub(super) fn base64(vector: &[f32]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = vector.iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            let shown = digit <= three.len();
            text.push(if shown {
                char::from(DIGITS[index as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_vector_of_length_one() {
        let one = vector("gate", 256);
        assert_eq!(one, vector("gate", 256));
        assert_ne!(one, vector("Gate", 256));
        let length: f32 = one.iter().map(|n| n * n).sum();
        assert!((length - 1.0).abs() < 1e-3, "{length}");
    }

    #[test]
    fn base64_is_padded() {
        assert_eq!(base64(&[1.0]), "AACAPw==");
        assert_eq!(base64(&[1.0, -2.0]), "AACAPwAAAMA=");
        assert_eq!(base64(&[1.0, 0.0, 1.0]), "AACAPwAAAAAAAIA/");
    }
}
