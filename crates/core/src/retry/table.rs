//! What a failure says about another attempt at the same target.
//!
//! A match without a rest: a new class of failure is decided here or does not compile. Whether another target helps is said by
//! [`FailureKind::opens`].

use core::time::Duration;

use super::pause::Pause;
use crate::{ErrorClass, FailureKind};

/// Another attempt at the same target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Again {
    /// So many retries on one target, whatever they fail of.
    pub(super) retries_max: u32,
    pub(super) pause: Pause,
    pub(super) order: Order,
}

/// Where another target would do as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    SameFirst,
    OtherFirst,
}

/// `None` where no retry there helps.
pub(super) const fn again(kind: FailureKind) -> Option<Again> {
    match kind {
        FailureKind::Answered(class) => answered(class),
        // Mostly a kept connection that the other side had given up.
        FailureKind::ConnectionLost => SERVER,
        FailureKind::Connect => UNREACHABLE,
        FailureKind::ConnectTimeout | FailureKind::HeadTimeout => SILENT,
        FailureKind::CutBeforeContent | FailureKind::Unreadable | FailureKind::Misshapen => {
            OVERLOAD
        }
        FailureKind::CutAfterContent => None,
    }
}

const fn answered(class: ErrorClass) -> Option<Again> {
    match class {
        ErrorClass::Rate => RATE,
        ErrorClass::Ramp => RAMP,
        ErrorClass::Overload => OVERLOAD,
        ErrorClass::Server => SERVER,
        ErrorClass::Timeout => SILENT,
        ErrorClass::Daily
        | ErrorClass::Billing
        | ErrorClass::TooLargeForLimit
        | ErrorClass::Context
        | ErrorClass::Policy
        | ErrorClass::Auth
        | ErrorClass::Invalid => None,
    }
}

/// The limit is ours to count, and the ledger lets nothing start before it fits: no number of its own.
const RATE: Option<Again> = Some(Again {
    retries_max: u32::MAX,
    pause: Pause::Backoff,
    order: Order::SameFirst,
});

/// Traffic that grew too fast is measured over tens of seconds.
const RAMP: Option<Again> = Some(Again {
    retries_max: u32::MAX,
    pause: Pause::AtLeast(Duration::from_secs(10)),
    order: Order::SameFirst,
});

const OVERLOAD: Option<Again> = Some(Again {
    retries_max: 1,
    pause: Pause::AtLeast(Duration::from_secs(1)),
    order: Order::OtherFirst,
});

const SERVER: Option<Again> = Some(Again {
    retries_max: 2,
    pause: Pause::Backoff,
    order: Order::SameFirst,
});

const UNREACHABLE: Option<Again> = Some(Again {
    retries_max: 2,
    pause: Pause::Backoff,
    order: Order::OtherFirst,
});

/// Most of the time there is has been waited away already.
const SILENT: Option<Again> = Some(Again {
    retries_max: 1,
    pause: Pause::Backoff,
    order: Order::OtherFirst,
});
