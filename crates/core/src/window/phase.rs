//! Where the windows of a provider end, as far as its answers tell: somewhere between two instants, and whole lengths of
//! a window before and after that.
//!
//! Windows that began before counting did are known too, so instants may be negative here.

use crate::Timestamp;

/// An edge of a window: it lies after `after`, and not after `until`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    after: Moment,
    until: Moment,
}

/// How sure an edge is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Certainty {
    /// The provider named it as one.
    Told,
    /// It follows from how long a refusal holds, which may have another reason.
    Likely,
}

/// Nanoseconds of the monotonic clock, which may lie before its beginning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Moment(i64);

impl Moment {
    pub(super) fn of(instant: Timestamp) -> Self {
        Self(signed(instant.as_nanos()))
    }

    pub(super) fn plus(self, nanos: u64) -> Self {
        Self(self.0.saturating_add(signed(nanos)))
    }

    pub(super) fn minus(self, nanos: u64) -> Self {
        Self(self.0.saturating_sub(signed(nanos)))
    }

    pub(super) fn instant(self) -> Timestamp {
        Timestamp::from_nanos(u64::try_from(self.0).unwrap_or(0))
    }
}

impl Edge {
    /// An edge between the two.
    pub(crate) fn between(after: Timestamp, until: Timestamp) -> Self {
        Self {
            after: Moment::of(after),
            until: Moment::of(until),
        }
    }

    /// What is known once this edge was told, where `known` was before. What is told again and again narrows it down; what
    /// contradicts that holds instead if it is certain. What leaves more than a quarter of `per` open says nothing.
    pub(super) fn following(
        self,
        known: Option<Self>,
        certainty: Certainty,
        per: u64,
    ) -> Option<Self> {
        let length = self.until.0.saturating_sub(self.after.0);
        if length > signed(per / 4) {
            return known;
        }
        let narrowed = known.map(|known| known.narrowed(self, per));
        match (narrowed, certainty) {
            (None, _) | (Some(None), Certainty::Told) => Some(self),
            (Some(None), Certainty::Likely) => known,
            (Some(narrowed), _) => narrowed,
        }
    }

    /// When the window of length `per` that runs at `now` has begun at the latest.
    pub(super) fn last_begun(self, now: Moment, per: u64) -> Moment {
        let per = signed(per).max(1);
        let lengths = (now.0 - self.after.0).div_euclid(per);
        self.moved(lengths, per)
    }

    /// When the first window is over for certain before whose end `arrived` was for certain.
    pub(super) fn first_over(self, arrived: Moment, per: u64) -> Moment {
        let per = signed(per).max(1);
        let lengths = (arrived.0 - self.after.0 + per - 1).div_euclid(per);
        self.moved(lengths, per)
    }

    fn moved(self, lengths: i64, per: i64) -> Moment {
        Moment(self.until.0.saturating_add(lengths.saturating_mul(per)))
    }

    /// What is in both, `other` moved by whole lengths next to this one; `None` where nothing is.
    fn narrowed(self, other: Self, per: u64) -> Option<Self> {
        let per = signed(per).max(1);
        let apart = other.until.0.saturating_sub(self.until.0);
        let by = (apart + per / 2).div_euclid(per) * per;
        let narrowed = Self {
            after: self.after.max(Moment(other.after.0 - by)),
            until: self.until.min(Moment(other.until.0 - by)),
        };
        (narrowed.after < narrowed.until).then_some(narrowed)
    }
}

/// A clock that has run for three centuries stands still.
fn signed(nanos: u64) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::at_millis;
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn edge(after: u64, until: u64) -> Edge {
        Edge::between(at_millis(after).mono, at_millis(until).mono)
    }

    #[test]
    fn an_edge_is_narrowed_down_and_a_new_one_replaces_what_it_contradicts() {
        let mut known = None;
        let mut follow = |edge: Edge, certainty| {
            known = edge.following(known, certainty, SECOND);
            known
        };
        follow(edge(1_100, 1_200), Certainty::Likely);
        let narrowed = follow(edge(7_150, 7_300), Certainty::Likely);
        assert_eq!(narrowed, Some(edge(1_150, 1_200)));
        let unsure = follow(edge(8_500, 8_600), Certainty::Likely);
        assert_eq!(unsure, narrowed);
        let certain = follow(edge(8_500, 8_600), Certainty::Told);
        assert_eq!(certain, Some(edge(8_500, 8_600)));
        let vague = follow(edge(8_000, 8_400), Certainty::Told);
        assert_eq!(vague, certain);
    }
}
