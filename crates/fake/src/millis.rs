//! A delay in milliseconds, possibly with a fraction, as settings and requests write it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// From zero to one day.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default, Deserialize, Serialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Millis(f64);

impl Millis {
    /// The longest delay: one day.
    pub const MAX: f64 = 86_400_000.0;

    /// As a duration.
    pub fn as_duration(self) -> Duration {
        Duration::from_secs_f64(self.0 / 1_000.0)
    }

    /// Whether it is no delay at all.
    pub fn is_zero(self) -> bool {
        self.0 == 0.0
    }
}

impl TryFrom<f64> for Millis {
    type Error = String;

    fn try_from(millis: f64) -> Result<Self, String> {
        if (0.0..=Self::MAX).contains(&millis) {
            Ok(Self(millis))
        } else {
            Err(format!(
                "a delay of {millis} ms: write a number from 0 to {}",
                Self::MAX
            ))
        }
    }
}

impl From<Millis> for f64 {
    fn from(millis: Millis) -> Self {
        millis.0
    }
}
