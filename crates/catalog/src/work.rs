//! Which headers tell how long the provider worked at an answer. Reading them is the dialect's.

use serde::Deserialize;

use crate::Evidence;

/// Where an answer tells how long the provider worked until its head, in whole milliseconds.
///
/// What the head took beyond that was spent on the way, there and back. It need not be exact: only the differences between
/// requests are used, and what a provider leaves out of its number makes these wider, never narrower.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkMs {
    /// Their names in lower case; the first that an answer has counts.
    pub headers: Vec<String>,
    /// How the above is known.
    pub evidence: Evidence,
}
