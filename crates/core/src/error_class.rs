//! What a provider's error answer means for what we do next.
//!
//! A status alone does not say: 429 stands for a full window, a ramp that is too fast, a provider short of capacity, an unpaid
//! bill and a request that will never fit. How an answer is told to be of a class is known elsewhere; the core decides by class.

use core::fmt;

/// What a failure means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ErrorClass {
    /// A window is full: the same target will do after the hint or the refill.
    Rate,
    /// Traffic grew too fast though no window is full: the same target will do, more slowly.
    Ramp,
    /// A day's limit is used up: no retry before it refills.
    Daily,
    /// The account is out of money or over its spend limit: no retry will help, another account may.
    Billing,
    /// This one request is larger than the whole limit: it never fits here.
    TooLargeForLimit,
    /// The provider is short of capacity: another target first.
    Overload,
    /// The provider failed.
    Server,
    /// No answer in time: the request may have run and may be billed.
    Timeout,
    /// Too long for the model's context: only a model with a larger one helps.
    Context,
    /// Refused for its content.
    Policy,
    /// Our credential was refused: another one may do.
    Auth,
    /// The request is wrong: it fails everywhere alike.
    Invalid,
}

impl ErrorClass {
    /// Every class.
    pub const ALL: [Self; 12] = [
        Self::Rate,
        Self::Ramp,
        Self::Daily,
        Self::Billing,
        Self::TooLargeForLimit,
        Self::Overload,
        Self::Server,
        Self::Timeout,
        Self::Context,
        Self::Policy,
        Self::Auth,
        Self::Invalid,
    ];

    /// The name in rows, metrics and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Ramp => "ramp",
            Self::Daily => "daily",
            Self::Billing => "billing",
            Self::TooLargeForLimit => "too_large_for_limit",
            Self::Overload => "overload",
            Self::Server => "server",
            Self::Timeout => "timeout",
            Self::Context => "context",
            Self::Policy => "policy",
            Self::Auth => "auth",
            Self::Invalid => "invalid",
        }
    }
    /// The class of that [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for class in ErrorClass::ALL {
            assert_eq!(ErrorClass::from_name(class.name()), Some(class));
        }
        assert_eq!(ErrorClass::from_name("teapot"), None);
    }
}
