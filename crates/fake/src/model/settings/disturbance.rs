//! What keeps a client from knowing its provider exactly: another client, lowered limits, an estimate of its own.

use serde::{Deserialize, Serialize};

use crate::Period;

/// A number from 0 to 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default, Deserialize, Serialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

/// A number above 0 and up to 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Deserialize, Serialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Factor(f64);

/// Somebody else who uses the same account, unannounced: of every limit a share, in about two hundred uneven takes a
/// window, and of the slots in flight a share all the time. What finds no room is not taken later. Limits that count models or
/// keys apart are left alone.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OtherTraffic {
    /// How much of each limit.
    pub share: Share,
    /// Determines when and in which pieces.
    pub seed: u64,
}

/// A time in which every limit is lower. Where the provider's headers show limits, they show this one.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// How long after the first call it begins; at once where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Period>,
    /// How long it lasts.
    pub r#for: Period,
    /// What is left of each limit. Where cuts overlap, the least holds.
    pub factor: Factor,
}

/// The error of the provider's estimate of a prompt: of the charge on arrival, not of the usage.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct EstimateError {
    /// What is added always, as a share: 0.1 is ten percent too much, -0.1 too little.
    pub bias: f64,
    /// And up to so much more or less, evenly, the same for the same call.
    pub spread: Share,
    /// Changes what is drawn.
    pub seed: u64,
}

impl Share {
    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Factor {
    /// In hundredths of a percent, at least one.
    pub fn basis_points(self) -> u64 {
        // From 0 to 10,000, so that nothing is cut off.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let points = (self.0 * 10_000.0).round() as u64;
        points.max(1)
    }
}

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(share: f64) -> Result<Self, String> {
        if (0.0..=1.0).contains(&share) {
            Ok(Self(share))
        } else {
            Err(format!("a share of {share}: write a number from 0 to 1"))
        }
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> Self {
        share.0
    }
}

impl TryFrom<f64> for Factor {
    type Error = String;

    fn try_from(factor: f64) -> Result<Self, String> {
        if factor > 0.0 && factor <= 1.0 {
            Ok(Self(factor))
        } else {
            Err(format!(
                "a factor of {factor}: write a number above 0 and up to 1"
            ))
        }
    }
}

impl From<Factor> for f64 {
    fn from(factor: Factor) -> Self {
        factor.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_numbers_are_refused() {
        for text in [r#"{"share": 1.5}"#, r#"{"share": -0.1}"#] {
            assert!(
                serde_json::from_str::<OtherTraffic>(text).is_err(),
                "{text}"
            );
        }
        let cut = |factor: &str| {
            serde_json::from_str::<Cut>(&format!(
                r#"{{"at": "1s", "for": "1s", "factor": {factor}}}"#
            ))
        };
        assert!(cut("0").is_err() && cut("2").is_err());
        assert_eq!(cut("0.5").unwrap().factor.basis_points(), 5_000);
    }
}
