//! How much a token of one kind counts against a limit, where kinds are added up in one number.
//!
//! Whole thousandths rather than a float: a sum of weighted tokens is the same on every machine.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The heaviest weight that a row may name.
const MAX: f64 = 1_000.0;

/// What one token counts as. A row writes it as a number, whole or with up to three decimals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Weight {
    thousandths: u64,
}

impl Weight {
    /// A token is a token.
    pub const ONE: Self = Self { thousandths: 1_000 };
    /// It does not count.
    pub const ZERO: Self = Self { thousandths: 0 };

    /// The weight in thousandths of a token.
    pub const fn thousandths(self) -> u64 {
        self.thousandths
    }

    /// What `tokens` count as in thousandths of a token, so that several kinds can be added before they are rounded.
    pub(crate) fn weigh(self, tokens: u64) -> u128 {
        u128::from(self.thousandths) * u128::from(tokens)
    }
}

/// Whole tokens of a sum of [`Weight::weigh`], rounded up; saturates.
pub(crate) fn whole_tokens(thousandths: u128) -> u64 {
    u64::try_from(thousandths.div_ceil(1_000)).unwrap_or(u64::MAX)
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let weight = f64::deserialize(deserializer)?;
        let thousandths = (weight * 1_000.0).round();
        let is_exact = (weight * 1_000.0 - thousandths).abs() < 1e-6;
        if !(0.0..=MAX).contains(&weight) || !is_exact {
            return Err(D::Error::custom(format!(
                "{weight} is no weight: expected 0 to {MAX} with at most three decimals"
            )));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number from 0 to a million"
        )]
        let thousandths = thousandths as u64;
        Ok(Self { thousandths })
    }
}

impl std::fmt::Display for Weight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whole = self.thousandths / 1_000;
        match self.thousandths % 1_000 {
            0 => write!(f, "{whole}"),
            part => {
                let decimals = format!("{part:03}");
                write!(f, "{whole}.{}", decimals.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(text: &str) -> Result<Weight, toml::de::Error> {
        #[derive(Deserialize)]
        struct Row {
            weight: Weight,
        }
        toml::from_str::<Row>(&format!("weight = {text}")).map(|row| row.weight)
    }

    #[test]
    fn rows_write_numbers_and_get_thousandths() {
        for (text, thousandths) in [("15", 15_000), ("0.1", 100), ("1.25", 1_250), ("0", 0)] {
            let weight = weight(text).expect("a weight");
            assert_eq!(weight.thousandths(), thousandths);
            assert_eq!(weight.to_string(), text);
        }
        for wrong in ["-1", "0.0001", "1001", "nan", "inf"] {
            assert!(weight(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_sum_is_rounded_once_and_up() {
        let tenth = weight("0.1").expect("a weight");
        assert_eq!(whole_tokens(tenth.weigh(11)), 2);
        assert_eq!(whole_tokens(tenth.weigh(5) + tenth.weigh(5)), 1);
        assert_eq!(
            whole_tokens(weight("2").expect("a weight").weigh(u64::MAX)),
            u64::MAX
        );
    }
}
