//! The seals by which a provider knows its own thoughts again. No memory is needed: half of a seal
//! follows from the other half and from who made it.

use crate::random::Random;

/// Who seals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sealer {
    Anthropic,
    Google,
}

impl Sealer {
    /// A seal, one for each `number`: 32 hexadecimal digits.
    pub(crate) fn seal(self, number: u64) -> String {
        format!("{number:016x}{:016x}", self.half(number))
    }

    /// Whether it made this one.
    pub(crate) fn made(self, seal: &str) -> bool {
        let number = seal
            .get(..16)
            .and_then(|half| u64::from_str_radix(half, 16).ok());
        number.is_some_and(|number| self.seal(number) == seal)
    }

    fn half(self, number: u64) -> u64 {
        let mark = match self {
            Self::Anthropic => 0x616e_7468_726f_7069,
            Self::Google => 0x676f_6f67_6c65_2121,
        };
        Random::new(number ^ mark).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_knows_its_own() {
        let seal = Sealer::Google.seal(0x1234_5678_9abc_def0);
        assert_eq!(seal.len(), 32);
        assert!(Sealer::Google.made(&seal));
        assert!(!Sealer::Anthropic.made(&seal));
        for other in ["", "1234", "ü", &seal[1..], &format!("{seal}0")] {
            assert!(!Sealer::Google.made(other), "{other}");
        }
    }
}
