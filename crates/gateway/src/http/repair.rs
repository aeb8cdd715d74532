//! One more attempt at a place that answered with what is not of the form that was asked for: with that answer, and with what is wrong
//! with it.
//!
//! It is an attempt like any other, which waits for room, reserves what it is charged, settles and counts; only that the number of
//! attempts does not keep it from being made, since it is what makes a fallback worth having. Of each place it is asked once.

use sluicegate_dialect::{Misshapen, Outbound, RequestFacts};

use super::UpstreamFailureKind;
use super::calling::{Called, Ended, Sent};
use super::sending::Sending;

/// Turns that are added: the answer, and what is wrong with it.
const TURNS: u64 = 2;

impl Sending<'_> {
    /// Whether the attempt at `place` that `ended` is followed by one that has its answer mended.
    pub(super) fn mends(&mut self, place: usize, ended: &Ended) -> bool {
        let Ended::Failure(failure) = ended else {
            return false;
        };
        let UpstreamFailureKind::Misshapen(wrong) = &failure.kind else {
            return false;
        };
        let now = self.now();
        let deadline = self.attempts.deadline();
        if self.repaired.contains(&place) || deadline.is_some_and(|deadline| deadline <= now) {
            return false;
        }
        self.repaired.push(place);
        self.repair = self.repair_of(place, wrong);
        self.repair.is_some()
    }

    fn repair_of(&self, place: usize, wrong: &Misshapen) -> Option<Sent> {
        let outbound = self.candidates.outbound(place).ok()?;
        let route = self.candidates.at(place).route;
        let crossing = outbound.crossing;
        let body = crossing.repair(self.envelope, wrong, &route.account.provider, route.model)?;
        let facts = longer(self.envelope.facts(), wrong);
        Some(Sent {
            demand: self.candidates.demand_of(place, &facts),
            outbound: Outbound {
                body,
                ..outbound.clone()
            },
        })
    }
}

/// The facts of a request to which what is `wrong` was added.
fn longer(facts: &RequestFacts, wrong: &Misshapen) -> RequestFacts {
    let mut facts = facts.clone();
    facts.text.add(wrong.said.as_bytes());
    facts.text.add(wrong.problem.as_bytes());
    facts.messages += TURNS;
    facts
}

impl Called {
    /// What became of an attempt that was to mend an answer.
    pub(super) const fn repair_outcome(&self) -> &'static str {
        match self {
            Self::Answered(_) => "repaired",
            Self::Failed(_) => "failed",
            Self::Refused(_) | Self::LeftAlone(_) | Self::Unsayable(_) => "unsent",
        }
    }
}
