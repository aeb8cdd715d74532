//! When something will be possible: a start on a target's limits, a passage through its breaker.

use core::fmt;

use crate::{Core, Now, Submission, Timestamp};

/// When something is possible, if nothing changes. The sooner one is the smaller, so that of two which are both needed the greater
/// one counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Prospect {
    /// From that instant on. One that is past means now.
    At(Timestamp),
    /// When something ends that is in flight: nobody knows when that is.
    OnRelease,
    /// Never: no wait helps.
    Never,
}

impl Prospect {
    /// Whether waiting until `deadline` may be enough. Of what hangs on something in flight only the line can tell, so it may.
    pub fn makes(self, deadline: Timestamp) -> bool {
        match self {
            Self::At(at) => at <= deadline,
            Self::OnRelease => true,
            Self::Never => false,
        }
    }
}

impl fmt::Display for Prospect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => write!(f, "at {at}"),
            Self::OnRelease => f.write_str("when something in flight ends"),
            Self::Never => f.write_str("never"),
        }
    }
}

impl Core {
    /// When `submission` could start behind everything that goes before it there.
    pub fn prospect(&mut self, submission: &Submission, now: Now) -> Prospect {
        let Some(place) = self.policy.target(submission.target) else {
            return Prospect::Never;
        };
        let too_large = self.ledger.never_fits(&place.limits, submission.demand);
        if too_large.is_some() {
            return Prospect::Never;
        }
        self.earliest(submission, now)
            .map_or(Prospect::OnRelease, Prospect::At)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_comes_back_is_later_than_everything() {
        let soon = Prospect::At(Timestamp::from_nanos(5));
        assert!(soon < Prospect::OnRelease && Prospect::OnRelease < Prospect::Never);
        assert!(soon < Prospect::At(Timestamp::from_nanos(9)));
    }

    #[test]
    fn a_start_at_the_deadline_itself_makes_it() {
        let at = Prospect::At(Timestamp::from_nanos(5));
        assert!(at.makes(Timestamp::from_nanos(5)));
        assert!(!at.makes(Timestamp::from_nanos(4)));
        assert!(Prospect::OnRelease.makes(Timestamp::ZERO));
        assert!(!Prospect::Never.makes(Timestamp::MAX));
    }
}
