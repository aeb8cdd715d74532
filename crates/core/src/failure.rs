//! How one attempt failed, and which fallbacks that opens.
//!
//! What a provider answered has an [`ErrorClass`]. Where it did not answer, what matters is how far the attempt came: whether
//! anything was sent, whether it may have run, and whether the client has seen a part of the answer. These are classes of their
//! own: a connection that was never made is retried without a thought, one that fell silent may have run and be billed, and
//! after the first content nothing is sent again anywhere.

use core::time::Duration;

use crate::{Condition, ErrorClass};

/// A failed attempt, as far as deciding needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// How it failed.
    pub kind: FailureKind,
    /// How long the provider asked to be left alone; `None` or zero where it named no time.
    pub hint: Option<Duration>,
}

/// How an attempt failed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FailureKind {
    /// The provider said so, with a status or with an error event before the first content.
    Answered(ErrorClass),
    /// No connection: refused, unreachable, no TLS. Nothing was sent.
    Connect,
    /// No connection in time. Nothing was sent.
    ConnectTimeout,
    /// The connection ended before the answer's head.
    ConnectionLost,
    /// No head, or nothing more before the first content, in time: the request may run on and may be billed.
    HeadTimeout,
    /// The answer broke off before its first content reached the client.
    CutBeforeContent,
    /// The answer made no sense, and none of it reached the client.
    Unreadable,
    /// The answer is whole, but not of the form that was asked for, and none of it reached the client.
    Misshapen,
    /// Anything after the first content reached the client.
    CutAfterContent,
}

impl Failure {
    /// A failure without a hint.
    pub const fn of(kind: FailureKind) -> Self {
        Self { kind, hint: None }
    }

    /// What the provider answered, without a hint.
    pub const fn answered(class: ErrorClass) -> Self {
        Self::of(FailureKind::Answered(class))
    }

    /// The same failure with the provider's wish to be left alone for `hint`.
    #[must_use]
    pub const fn with_hint(mut self, hint: Duration) -> Self {
        self.hint = Some(hint);
        self
    }

    /// The hint, where it names any time at all.
    pub(crate) fn wait(&self) -> Option<Duration> {
        self.hint.filter(|hint| !hint.is_zero())
    }
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 20] = [
        Self::Answered(ErrorClass::Rate),
        Self::Answered(ErrorClass::Ramp),
        Self::Answered(ErrorClass::Daily),
        Self::Answered(ErrorClass::Billing),
        Self::Answered(ErrorClass::TooLargeForLimit),
        Self::Answered(ErrorClass::Overload),
        Self::Answered(ErrorClass::Server),
        Self::Answered(ErrorClass::Timeout),
        Self::Answered(ErrorClass::Context),
        Self::Answered(ErrorClass::Policy),
        Self::Answered(ErrorClass::Auth),
        Self::Answered(ErrorClass::Invalid),
        Self::Connect,
        Self::ConnectTimeout,
        Self::ConnectionLost,
        Self::HeadTimeout,
        Self::CutBeforeContent,
        Self::Unreadable,
        Self::Misshapen,
        Self::CutAfterContent,
    ];

    /// The name in metrics and messages: the class that the provider gave, or what became of the connection.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered(class) => class.name(),
            Self::Connect => "connect",
            Self::ConnectTimeout => "connect_timeout",
            Self::ConnectionLost => "connection",
            Self::HeadTimeout => "head_timeout",
            Self::CutBeforeContent => "cut_before_content",
            Self::Unreadable => "unreadable",
            Self::Misshapen => "misshapen",
            Self::CutAfterContent => "cut_after_content",
        }
    }

    /// The conditions that it meets: a fallback that names any of them may be used. None where no other target helps.
    ///
    /// [`Condition::RateLimitAfterRetryBudget`] is met once [`Attempts::next`](crate::Attempts::next) sees no retry in time on the
    /// target that limits; it never names another target before.
    pub const fn opens(self) -> &'static [Condition] {
        match self {
            Self::Answered(class) => match class {
                ErrorClass::Rate | ErrorClass::Ramp | ErrorClass::Daily => {
                    &[Condition::RateLimitAfterRetryBudget]
                }
                ErrorClass::Billing | ErrorClass::Auth => &[Condition::PrimaryUnavailable],
                ErrorClass::TooLargeForLimit => &[Condition::Capacity],
                ErrorClass::Overload | ErrorClass::Server => &[Condition::Provider5xx],
                // Its status is mostly a 504.
                ErrorClass::Timeout => &[Condition::Timeout, Condition::Provider5xx],
                ErrorClass::Context => &[Condition::ContextLengthNeeded],
                ErrorClass::Policy => &[Condition::ContentFilter],
                ErrorClass::Invalid => &[],
            },
            Self::Connect => &[Condition::PrimaryUnavailable, Condition::Provider5xx],
            Self::ConnectTimeout => &[
                Condition::PrimaryUnavailable,
                Condition::Provider5xx,
                Condition::Timeout,
            ],
            Self::HeadTimeout => &[Condition::Timeout],
            Self::ConnectionLost | Self::CutBeforeContent | Self::Unreadable | Self::Misshapen => {
                &[Condition::Provider5xx]
            }
            Self::CutAfterContent => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        for (index, kind) in FailureKind::ALL.iter().enumerate() {
            for other in &FailureKind::ALL[index + 1..] {
                assert_ne!(kind.name(), other.name());
            }
        }
        for class in ErrorClass::ALL {
            assert!(FailureKind::ALL.contains(&FailureKind::Answered(class)));
        }
    }

    #[test]
    fn the_callers_fault_and_what_was_seen_open_nothing() {
        let opens_nothing = |kind: &FailureKind| kind.opens().is_empty();
        let closed: alloc::vec::Vec<_> =
            FailureKind::ALL.into_iter().filter(opens_nothing).collect();
        let expected = [
            FailureKind::Answered(ErrorClass::Invalid),
            FailureKind::CutAfterContent,
        ];
        assert_eq!(closed, expected);
    }

    #[test]
    fn silence_opens_only_what_allows_that_it_runs_twice() {
        assert_eq!(FailureKind::HeadTimeout.opens(), [Condition::Timeout]);
        assert!(
            !FailureKind::ConnectionLost
                .opens()
                .contains(&Condition::Timeout)
        );
        assert!(!FailureKind::Connect.opens().contains(&Condition::Timeout));
    }
}
