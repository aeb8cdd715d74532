//! How a provider turns an image's size into tokens, where it publishes that.

use serde::Deserialize;

use crate::Evidence;

/// A provider's formula.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Images {
    /// Which one.
    pub formula: ImageFormula,
    /// How the above is known.
    pub evidence: Evidence,
}

/// The formulas that are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageFormula {
    /// Tiles of 512 pixels, 170 tokens each and 85 once, after scaling to 2,048 and 768.
    Tiles,
    /// A token for 750 pixels.
    Area,
    /// Crops of 256 to 768 pixels, 258 tokens each.
    Crops,
}
