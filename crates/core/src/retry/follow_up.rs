//! What may be done after a failure, and why.

use crate::Timestamp;

/// What to do after a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FollowUp {
    /// Try there again, at or after that instant. The retry is taken from the target's budget.
    SameTarget {
        /// The provider's hint, or a random time; never after the lane's time is over.
        not_before: Timestamp,
    },
    /// Try another target, at once.
    AnotherTarget(Reason),
    /// The failure is the answer.
    GiveUp(Reason),
}

/// Why the target that failed is not tried again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// The client has seen a part of the answer.
    ContentSent,
    /// The request fails everywhere alike.
    FailsEverywhere,
    /// The same would happen there again.
    FailsThereAgain,
    /// As many attempts as the lane allows were made.
    AttemptsUsed,
    /// The lane's time is over.
    TimeUsed,
    /// The target could be tried again only after the lane's time is over.
    TooLate,
    /// As many retries as such a failure is worth were made there.
    RetriesUsed,
    /// Retries to the target would add too much to its traffic.
    BudgetUsed,
    /// Another target is the better choice after such a failure.
    OtherFirst,
    /// It is the last attempt, and another target has not been tried.
    LastAttempt,
}

impl Reason {
    /// The name in metrics and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ContentSent => "content_sent",
            Self::FailsEverywhere => "fails_everywhere",
            Self::FailsThereAgain => "fails_there_again",
            Self::AttemptsUsed => "attempts_used",
            Self::TimeUsed => "time_used",
            Self::TooLate => "too_late",
            Self::RetriesUsed => "retries_used",
            Self::BudgetUsed => "budget_used",
            Self::OtherFirst => "other_first",
            Self::LastAttempt => "last_attempt",
        }
    }
}
