//! The attempts of one request, over all its targets.
//!
//! One value for each request counts them, whoever tries and wherever: layers that count for themselves multiply. What it says is
//! only what may be done; whether the target has room, and when, is asked of the breaker and the ledger afterwards as for any
//! attempt.

use super::follow_up::{FollowUp, Reason};
use super::pause::drawn;
use super::table::{self, Order};
use crate::{
    BackoffRule, Elsewhere, Failure, FailureKind, RetryBudget, RetryRule, TargetId, Timestamp,
};
use alloc::vec::Vec;

/// The attempts of one request.
#[derive(Clone, Debug)]
pub struct Attempts {
    rule: RetryRule,
    backoff: BackoffRule,
    made: u32,
    /// When the first one began.
    began: Option<Timestamp>,
    /// Each target once, the one that is tried now last; no more than attempts.
    tried: Vec<TargetId>,
    retries_here: u32,
}

impl Attempts {
    /// None was made yet.
    pub const fn new(rule: RetryRule, backoff: BackoffRule) -> Self {
        Self {
            rule,
            backoff,
            made: 0,
            began: None,
            tried: Vec::new(),
            retries_here: 0,
        }
    }

    /// An attempt at `target` begins, whose budget is `budget`: it is sent now, after all waiting. Beyond what
    /// [`next`](Self::next) allowed it is counted all the same.
    pub fn begins(&mut self, target: TargetId, budget: &mut RetryBudget, now: Timestamp) {
        self.began.get_or_insert(now);
        self.made = self.made.saturating_add(1);
        if self.tried.last() == Some(&target) {
            self.retries_here = self.retries_here.saturating_add(1);
            return;
        }
        self.retries_here = 0;
        if !self.has_tried(target) {
            budget.first(now);
        }
        self.tried.retain(|tried| *tried != target);
        self.tried.push(target);
    }

    /// What to do after the last attempt failed, where the request could go `elsewhere`: to a target that was not
    /// [tried](Self::has_tried), and that the route opens for what [`FailureKind::opens`]. `budget` is that of the target that
    /// failed, `random` any number, drawn anew for each question.
    ///
    /// Changes nothing but the budget, so it can be asked again with [`Elsewhere::Impossible`] where the other target has no
    /// room.
    pub fn next(
        &self,
        failure: &Failure,
        elsewhere: Elsewhere,
        budget: &mut RetryBudget,
        random: u64,
        now: Timestamp,
    ) -> FollowUp {
        if let Some(reason) = self.ends(failure.kind, now) {
            return FollowUp::GiveUp(reason);
        }
        match (
            self.again(failure, elsewhere, budget, random, now),
            elsewhere,
        ) {
            (Ok(not_before), _) => FollowUp::SameTarget { not_before },
            (Err(reason), Elsewhere::Possible) => FollowUp::AnotherTarget(reason),
            (Err(reason), Elsewhere::Impossible) => FollowUp::GiveUp(reason),
        }
    }

    /// How many were made.
    pub const fn made(&self) -> u32 {
        self.made
    }

    /// Whether one was made at `target`.
    pub fn has_tried(&self, target: TargetId) -> bool {
        self.tried.contains(&target)
    }

    /// No attempt begins after that instant; `None` before the first one began.
    pub fn deadline(&self) -> Option<Timestamp> {
        let began = self.began?;
        Some(began.saturating_add(self.rule.total_max))
    }

    /// Why no attempt is made anywhere.
    fn ends(&self, kind: FailureKind, now: Timestamp) -> Option<Reason> {
        if kind == FailureKind::CutAfterContent {
            Some(Reason::ContentSent)
        } else if kind.opens().is_empty() {
            Some(Reason::FailsEverywhere)
        } else if self.left() == 0 {
            Some(Reason::AttemptsUsed)
        } else if self.deadline().is_some_and(|deadline| now > deadline) {
            Some(Reason::TimeUsed)
        } else {
            None
        }
    }

    /// When the target that failed may be tried again. The budget is asked last, as only it keeps account of the answer.
    fn again(
        &self,
        failure: &Failure,
        elsewhere: Elsewhere,
        budget: &mut RetryBudget,
        random: u64,
        now: Timestamp,
    ) -> Result<Timestamp, Reason> {
        let again = table::again(failure.kind).ok_or(Reason::FailsThereAgain)?;
        if elsewhere == Elsewhere::Possible {
            if again.order == Order::OtherFirst {
                return Err(Reason::OtherFirst);
            }
            if self.left() == 1 {
                return Err(Reason::LastAttempt);
            }
        }
        if self.retries_here >= again.retries_max {
            return Err(Reason::RetriesUsed);
        }
        let left = self.deadline().unwrap_or(now).saturating_since(now);
        let (floor, spread) = again.pause.of(failure.wait(), self.backoff, self.made);
        let room = left.checked_sub(floor).ok_or(Reason::TooLate)?;
        if !budget.take(now) {
            return Err(Reason::BudgetUsed);
        }
        let wait = floor.saturating_add(drawn(spread.min(room), random));
        Ok(now.saturating_add(wait))
    }

    const fn left(&self) -> u32 {
        self.rule.attempts_max.saturating_sub(self.made)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::{BasisPoints, ErrorClass, RetryBudgetRule};

    const SERVER: Failure = Failure::answered(ErrorClass::Server);
    const RATE: Failure = Failure::answered(ErrorClass::Rate);
    const ELSEWHERE: Elsewhere = Elsewhere::Possible;
    const NOWHERE: Elsewhere = Elsewhere::Impossible;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_nanos(millis * 1_000_000)
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// One request, and the budget of all its targets.
    struct Request {
        attempts: Attempts,
        budget: RetryBudget,
    }

    impl Request {
        /// `made` attempts at one target failed at 0, and so many are `left`, within 8 s.
        fn failed(made: u32, left: u32) -> Self {
            let rule = RetryRule {
                attempts_max: made + left,
                total_max: millis(8_000),
            };
            let mut request = Self {
                attempts: Attempts::new(rule, BackoffRule::default()),
                budget: RetryBudget::new(RetryBudgetRule::default()),
            };
            for _ in 0..made {
                request.begins(0, at(0));
            }
            request
        }

        fn begins(&mut self, target: usize, now: Timestamp) {
            self.attempts
                .begins(TargetId::new(target), &mut self.budget, now);
        }

        fn next(&mut self, failure: Failure, elsewhere: Elsewhere, now: Timestamp) -> FollowUp {
            self.attempts
                .next(&failure, elsewhere, &mut self.budget, 0, now)
        }

        /// The earliest and the latest instant of a retry after `failure`.
        fn retries(&mut self, failure: Failure, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
            let mut drawn = |random| {
                let budget = &mut self.budget;
                match self.attempts.next(&failure, NOWHERE, budget, random, now) {
                    FollowUp::SameTarget { not_before } => Some(not_before),
                    FollowUp::AnotherTarget(_) | FollowUp::GiveUp(_) => None,
                }
            };
            Some((drawn(0)?, drawn(u64::MAX)?))
        }
    }

    fn nearly(instant: Timestamp) -> Timestamp {
        Timestamp::from_nanos(instant.as_nanos() - 1)
    }

    #[test]
    fn a_hint_longer_than_the_lane_waits_is_no_retry_there_but_a_fallback_at_once() {
        let mut request = Request::failed(1, 2);
        let hour = RATE.with_hint(Duration::from_secs(3_600));
        let next = request.next(hour, NOWHERE, at(100));
        assert_eq!(next, FollowUp::GiveUp(Reason::TooLate));
        let next = request.next(hour, ELSEWHERE, at(100));
        assert_eq!(next, FollowUp::AnotherTarget(Reason::TooLate));
    }

    #[test]
    fn no_attempt_begins_after_the_lanes_time() {
        let mut request = Request::failed(1, 2);
        let hint = RATE.with_hint(millis(2_000));
        assert_eq!(
            request.retries(hint, at(6_000)),
            Some((at(8_000), at(8_000)))
        );
        assert_eq!(
            request.next(hint, NOWHERE, at(6_001)),
            FollowUp::GiveUp(Reason::TooLate)
        );
        let (_, latest) = request.retries(SERVER, at(7_900)).expect("a little time");
        assert!(latest <= at(8_000));
        let next = request.next(SERVER, ELSEWHERE, at(8_001));
        assert_eq!(next, FollowUp::GiveUp(Reason::TimeUsed));
    }

    #[test]
    fn what_is_retried_where_there_is_no_other_target() {
        for kind in FailureKind::ALL {
            let mut request = Request::failed(1, 10);
            request.attempts.rule.total_max = millis(600_000);
            let mut retries = 0;
            while retries < 5
                && let FollowUp::SameTarget { not_before } =
                    request.next(Failure::of(kind), NOWHERE, at(retries * 1_000))
            {
                request.begins(0, not_before);
                retries += 1;
            }
            let expected = match kind {
                FailureKind::Answered(ErrorClass::Rate | ErrorClass::Ramp) => 5,
                FailureKind::Answered(ErrorClass::Server)
                | FailureKind::ConnectionLost
                | FailureKind::Connect => 2,
                FailureKind::Answered(ErrorClass::Overload | ErrorClass::Timeout)
                | FailureKind::CutBeforeContent
                | FailureKind::Unreadable
                | FailureKind::Misshapen
                | FailureKind::ConnectTimeout
                | FailureKind::HeadTimeout => 1,
                _ => 0,
            };
            assert_eq!(retries, expected, "{}", kind.name());
        }
    }

    #[test]
    fn an_overloaded_target_is_left_for_another_or_for_a_second_or_two() {
        let overload = Failure::answered(ErrorClass::Overload);
        let mut request = Request::failed(1, 2);
        let next = request.next(overload, ELSEWHERE, at(0));
        assert_eq!(next, FollowUp::AnotherTarget(Reason::OtherFirst));
        assert_eq!(
            request.retries(overload, at(0)),
            Some((at(1_000), nearly(at(2_000))))
        );
        let ramp = Failure::answered(ErrorClass::Ramp);
        assert_eq!(
            request.next(ramp, NOWHERE, at(0)),
            FollowUp::GiveUp(Reason::TooLate)
        );
    }

    #[test]
    fn the_last_attempt_is_for_a_target_that_was_not_tried() {
        let mut request = Request::failed(1, 2);
        assert!(matches!(
            request.next(SERVER, ELSEWHERE, at(0)),
            FollowUp::SameTarget { .. }
        ));
        let mut request = Request::failed(2, 1);
        let next = request.next(SERVER, ELSEWHERE, at(0));
        assert_eq!(next, FollowUp::AnotherTarget(Reason::LastAttempt));
        assert!(matches!(
            request.next(SERVER, NOWHERE, at(0)),
            FollowUp::SameTarget { .. }
        ));
    }

    #[test]
    fn another_target_begins_with_retries_of_its_own_but_not_with_attempts() {
        let mut request = Request::failed(3, 3);
        assert_eq!(
            request.next(SERVER, NOWHERE, at(0)),
            FollowUp::GiveUp(Reason::RetriesUsed)
        );
        request.begins(1, at(10));
        assert!(matches!(
            request.next(SERVER, NOWHERE, at(20)),
            FollowUp::SameTarget { .. }
        ));
        request.begins(1, at(30));
        request.begins(1, at(40));
        assert_eq!(
            request.next(SERVER, NOWHERE, at(50)),
            FollowUp::GiveUp(Reason::AttemptsUsed)
        );
        assert_eq!(request.attempts.made(), 6);
    }

    #[test]
    fn after_the_first_content_and_for_the_callers_fault_nothing_is_tried_anywhere() {
        let mut request = Request::failed(1, 5);
        let cut = Failure::of(FailureKind::CutAfterContent);
        assert_eq!(
            request.next(cut, ELSEWHERE, at(0)),
            FollowUp::GiveUp(Reason::ContentSent)
        );
        let invalid = Failure::answered(ErrorClass::Invalid);
        assert_eq!(
            request.next(invalid, ELSEWHERE, at(0)),
            FollowUp::GiveUp(Reason::FailsEverywhere)
        );
        let billing = Failure::answered(ErrorClass::Billing);
        let next = request.next(billing, ELSEWHERE, at(0));
        assert_eq!(next, FollowUp::AnotherTarget(Reason::FailsThereAgain));
    }

    #[test]
    fn a_used_budget_leaves_only_other_targets() {
        let mut request = Request::failed(1, 5);
        request.budget = RetryBudget::new(RetryBudgetRule {
            share: BasisPoints::ZERO,
            floor_per_second: 1,
        });
        assert!(matches!(
            request.next(SERVER, NOWHERE, at(0)),
            FollowUp::SameTarget { .. }
        ));
        assert_eq!(
            request.next(SERVER, NOWHERE, at(0)),
            FollowUp::GiveUp(Reason::BudgetUsed)
        );
        let next = request.next(SERVER, ELSEWHERE, at(0));
        assert_eq!(next, FollowUp::AnotherTarget(Reason::BudgetUsed));
    }
}
