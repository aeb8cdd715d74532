//! Whether a provider orders its own queue by a number in the request, so that our lanes hold there too.

use serde::Deserialize;
use sluicegate_core::Lane;

use crate::Evidence;

/// Where a request says how soon it is to be served, by a whole number of which the lower goes first.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanePriority {
    /// The name of the member of the request's body.
    pub field: String,
    /// How the above is known.
    pub evidence: Evidence,
}

impl LanePriority {
    /// The number of a request in `lane`: 0 goes first, and is what such a server takes where nothing is said.
    ///
    /// ```
    /// use sluicegate_catalog::{LanePriority, provider};
    /// use sluicegate_core::Lane;
    /// let vllm = provider("vllm").and_then(|row| row.lane_priority.as_ref());
    /// assert_eq!(vllm.map(|priority| priority.field.as_str()), Some("priority"));
    /// assert_eq!(Lane::ALL.map(LanePriority::of), [0, 1, 2]);
    /// ```
    pub const fn of(lane: Lane) -> u8 {
        match lane {
            Lane::Interactive => 0,
            Lane::Api => 1,
            Lane::Batch => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::providers;

    #[test]
    fn only_those_that_order_their_queue_are_told_the_lane() {
        let told = providers().iter().filter_map(|row| {
            let priority = row.lane_priority.as_ref()?;
            Some((row.id.as_str(), priority.field.as_str()))
        });
        assert_eq!(told.collect::<Vec<_>>(), [("vllm", "priority")]);
    }
}
