//! What a failure says about the deployment that failed.

use crate::{ErrorClass, FailureKind};

/// What it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// Nothing: it is the request's fault, or one key's, or the model's, whose answers are whole.
    Nothing,
    /// It is well and wants fewer requests.
    Limits,
    /// It has nothing left to give; a time when it will is no failure.
    Short,
    /// It failed.
    Fails,
    /// The account as a whole is of no use.
    Useless,
}

impl Verdict {
    pub(super) const fn of(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Answered(class) => match class {
                ErrorClass::Rate | ErrorClass::Ramp | ErrorClass::Daily => Self::Limits,
                ErrorClass::Billing => Self::Useless,
                ErrorClass::Overload => Self::Short,
                ErrorClass::Server | ErrorClass::Timeout => Self::Fails,
                ErrorClass::TooLargeForLimit
                | ErrorClass::Context
                | ErrorClass::Policy
                | ErrorClass::Auth
                | ErrorClass::Invalid => Self::Nothing,
            },
            FailureKind::Misshapen => Self::Nothing,
            FailureKind::Connect
            | FailureKind::ConnectTimeout
            | FailureKind::ConnectionLost
            | FailureKind::HeadTimeout
            | FailureKind::CutBeforeContent
            | FailureKind::Unreadable
            | FailureKind::CutAfterContent => Self::Fails,
        }
    }
}
