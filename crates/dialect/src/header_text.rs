//! A header's value as text and as a number.

use http::HeaderMap;

/// The first value of that name without the space around it; `None` where it is no visible ASCII.
pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// A whole number in plain digits. A sign, a fraction, an exponent and an empty text are refused.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_digits_are_a_number() {
        assert_eq!(whole("007"), Some(7));
        assert_eq!(whole("18446744073709551615"), Some(u64::MAX));
        for text in [
            "",
            "-1",
            "+1",
            "1.0",
            "1e3",
            "18446744073709551616",
            " 1",
            "١",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
