//! By what metrics are told apart.

use prometheus_client::encoding::EncodeLabelSet;
use sluicegate_core::{Lane, Limit};

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) status: u16,
}

/// A deployment: `model` is its configured name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Deployment {
    pub(crate) provider: String,
    pub(crate) model: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct LimitHit {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) limit_type: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Retry {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) error_type: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Fallback {
    pub(crate) from_provider: String,
    pub(crate) to_provider: String,
    pub(crate) reason: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Repair {
    pub(crate) outcome: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct BreakerLabels {
    pub(crate) deployment: String,
    pub(crate) state: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Waits {
    pub(crate) priority: &'static str,
    pub(crate) task_type: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Shed {
    pub(crate) lane: &'static str,
    pub(crate) reason: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(super) struct RouteName {
    pub(super) route: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(super) struct Effect {
    pub(super) effect: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Attempt {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) outcome: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct LimitName {
    pub(crate) limit: String,
    pub(crate) meter: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct AccountName {
    pub(crate) account: String,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct AccountMeter {
    pub(crate) account: String,
    pub(crate) meter: &'static str,
}

/// `model` is a deployment's configured name.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Estimate {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) estimate: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub(crate) struct Reload {
    pub(crate) outcome: &'static str,
}

impl LimitName {
    pub(super) fn of(limit: &Limit) -> Self {
        Self {
            limit: limit.name.to_string(),
            meter: limit.meter.name(),
        }
    }
}

/// The task of requests that name none which is configured.
pub(crate) const OTHER_TASK: &str = "other";

impl Waits {
    pub(crate) fn new(lane: Lane, task: &str) -> Self {
        Self {
            priority: lane.name(),
            task_type: task.to_owned(),
        }
    }
}
