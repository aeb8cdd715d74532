//! How well a fact about a provider is known, and from where.

use serde::Deserialize;

/// Where a fact comes from.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// How well it is known.
    pub confidence: Confidence,
    /// The page or the observation that says so.
    pub source: String,
}

/// How well a fact is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The provider's own documents say so.
    Documented,
    /// Derived from recorded requests and answers.
    Measured,
    /// Users or third parties say so.
    Reported,
    /// The provider's own client library behaves so.
    Sdk,
    /// The server's source code says so.
    Source,
    /// Nobody says; the row holds the safe reading.
    Unknown,
    /// Whoever runs this gateway says so.
    Operator,
}

impl Confidence {
    /// The name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Measured => "measured",
            Self::Reported => "reported",
            Self::Sdk => "sdk",
            Self::Source => "source",
            Self::Unknown => "unknown",
            Self::Operator => "operator",
        }
    }
}
