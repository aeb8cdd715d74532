//! Candidates in order: where one request goes next, asked again after each failure.
//!
//! What is known of a target changes while a request is tried elsewhere, so the order is not made once: each question looks at
//! the targets anew, through facts that the caller hands in, and answers with one of them. A pool comes first, then the
//! fallbacks that what has happened so far allows. Each candidate is measured by its own facts, the limits of the target
//! where the request ends up among them; so targets that share the limits of one account are worth no more than one.
//!
//! When nothing is left, the wait that is named is the shortest after which some candidate could take this very request.

use alloc::vec::Vec;

use super::conditions::Conditions;
use super::{Asking, Condition, Facts, Fallback, Prospect, Route};
use crate::{Lane, LoadLevel, TargetId, Timestamp};

/// What stands in a request's way. Where several things do, the first one in this order is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Obstacle {
    /// A limit of the tenant.
    TenantLimits,
    /// It is shed.
    Shed,
    /// A breaker is open, or no key works.
    Breaker,
    /// Its lane is held, or the line is full.
    Lane,
    /// A target's limits.
    Ledger,
    /// It is longer than a target's context.
    Context,
    /// It says what a target's dialect cannot say, or wants what the target does not have.
    Dialect,
}

/// Where a request goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// There.
    Try {
        /// The target.
        target: TargetId,
        /// What it is to the route.
        role: Role,
    },
    /// Nowhere yet: every target that it may go to is left alone for now. To be asked again then, which is before the deadline.
    Wait {
        /// When. What is in flight is a probe, whose end somebody else will notice.
        until: Prospect,
    },
    /// Nowhere.
    Nowhere {
        /// What stands in the way of a candidate that was not sent it; `None` where all were, so that the last failure is the
        /// answer.
        obstacle: Option<Obstacle>,
        /// When some candidate could take this very request.
        opens: Prospect,
    },
}

/// What a candidate is to its route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The primary, or one of its pool.
    Primary,
    /// Another target, because of that.
    Fallback(Condition),
    /// Where a request goes that need not have the best.
    Degraded,
}

/// The candidates of one request.
///
/// ```
/// use core::time::Duration;
/// use sluicegate_core::*;
///
/// let second = |second| Timestamp::ZERO.saturating_add(Duration::from_secs(second));
/// let route = Route {
///     name: "chat".into(),
///     primary: vec![TargetId::new(0)],
///     balance: Balance::Earliest,
///     fallbacks: vec![Fallback { to: TargetId::new(1), when: vec![Condition::PrimaryUnavailable] }],
///     degrade_to: None,
/// };
/// let asking = Asking {
///     lane: Lane::Interactive,
///     deadline: second(5),
///     simple: false,
///     load: LoadLevel::Normal,
///     effects: LoadEffects::NONE,
/// };
/// // Two targets cool down for 20 s and 45 s; asked at 5 s, and waiting is not allowed.
/// let cooling = |target: TargetId| Facts {
///     passes: Prospect::At(second([20, 45][target.index()])),
///     speaks: true,
///     fits_context: true,
///     start: Prospect::At(second(5)),
///     price: 0,
///     latency: None,
/// };
/// let next = Candidates::new(&route, asking).next(cooling, second(5));
/// assert_eq!(
///     next,
///     Choice::Nowhere { obstacle: Some(Obstacle::Breaker), opens: Prospect::At(second(20)) },
///     "in 15 s",
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Candidates<'r> {
    route: &'r Route,
    asking: Asking,
    tried: Vec<Tried>,
    happened: Conditions,
}

#[derive(Clone, Copy, Debug)]
struct Tried {
    target: TargetId,
    /// Why it would not have it, where it was never sent there.
    refused: Option<Blocked>,
}

/// Why a target cannot have the request.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    by: Obstacle,
    opens: Prospect,
}

/// What was seen of the targets while looking for the next one.
struct Seen {
    obstacle: Option<Obstacle>,
    opens: Prospect,
    wait: Option<Prospect>,
}

impl<'r> Candidates<'r> {
    /// The candidates of `route` for a request that was sent nowhere yet.
    pub fn new(route: &'r Route, asking: Asking) -> Self {
        let mut happened = Conditions::default();
        if asking.lane == Lane::Batch && asking.load >= LoadLevel::High {
            happened.add(Condition::BatchLowPriority);
        }
        Self {
            route,
            asking,
            tried: Vec::new(),
            happened,
        }
    }

    /// Where to go now. Each target is named once, unless a breaker was in its way the first time; `facts` is asked about those that matter, perhaps more than once.
    pub fn next(&mut self, mut facts: impl FnMut(TargetId) -> Facts, now: Timestamp) -> Choice {
        let mut seen = Seen::nothing();
        let chosen = self
            .degraded(&mut facts, &mut seen, now)
            .or_else(|| self.of_pool(&mut facts, &mut seen, now))
            .or_else(|| self.fallback(&mut facts, &mut seen, now));
        if let Some((target, role)) = chosen {
            self.tried.retain(|tried| tried.target != target);
            self.tried.push(Tried {
                target,
                refused: None,
            });
            return Choice::Try { target, role };
        }
        match seen.wait {
            Some(until) => Choice::Wait { until },
            None => Choice::Nowhere {
                obstacle: seen.obstacle,
                opens: seen.opens,
            },
        }
    }

    /// The target named last was sent the request and failed for good, retries there included.
    pub fn failed(&mut self, condition: Condition) {
        self.happened.add(condition);
    }

    /// The target named last would not have it, so that nothing was sent: something was in its way that its facts did not
    /// tell, until `opens`. Where that is a breaker, another call being its probe say, it may be named again from then on.
    pub fn refused(&mut self, by: Obstacle, opens: Prospect) {
        if let Some(last) = self.tried.last_mut() {
            last.refused = Some(Blocked { by, opens });
        }
        self.happened.add(condition(by));
    }

    /// The smaller model, where the request goes there first.
    fn degraded(
        &mut self,
        facts: &mut impl FnMut(TargetId) -> Facts,
        seen: &mut Seen,
        now: Timestamp,
    ) -> Option<(TargetId, Role)> {
        let smaller = self.route.degrade_to.as_ref()?;
        let low = smaller.when.contains(&Condition::BatchLowPriority)
            && self.happened.hold(Condition::BatchLowPriority);
        let simple = self.asking.simple && self.asking.effects.degrades_simple;
        if !(low || simple) || !self.happened.let_another_try() {
            return None;
        }
        // That it cannot says nothing of the primary.
        let (able, _) = self.look(smaller.to, facts(smaller.to), seen, now);
        able.map(|_| (smaller.to, Role::Degraded))
    }

    /// The best of the pool.
    fn of_pool(
        &mut self,
        facts: &mut impl FnMut(TargetId) -> Facts,
        seen: &mut Seen,
        now: Timestamp,
    ) -> Option<(TargetId, Role)> {
        if !self.happened.let_another_try() {
            return None;
        }
        let mut in_the_way = Conditions::default();
        let mut best = None;
        for &target in &self.route.primary {
            let facts = facts(target);
            let (able, blocked) = self.look(target, facts, seen, now);
            if let Some(blocked) = blocked {
                in_the_way.add(condition(blocked));
            }
            let Some(start) = able else { continue };
            let rank = facts.rank(self.route.balance, start);
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, target));
            }
        }
        if best.is_none() {
            // Only now: while one of a pool can, the pool can.
            self.happened.join(in_the_way);
        }
        best.map(|(_, target)| (target, Role::Primary))
    }

    /// The first fallback that may be used and can. One that cannot may be what another one waits for.
    fn fallback(
        &mut self,
        facts: &mut impl FnMut(TargetId) -> Facts,
        seen: &mut Seen,
        now: Timestamp,
    ) -> Option<(TargetId, Role)> {
        loop {
            let before = self.happened;
            for (fallback, degrades) in others(self.route) {
                let Some(because) = self.happened.allow(fallback) else {
                    continue;
                };
                let (able, blocked) = self.look(fallback.to, facts(fallback.to), seen, now);
                if able.is_some() {
                    let role = if degrades {
                        Role::Degraded
                    } else {
                        Role::Fallback(because)
                    };
                    return Some((fallback.to, role));
                }
                if let Some(blocked) = blocked {
                    self.happened.add(condition(blocked));
                }
            }
            if self.happened == before {
                return None;
            }
        }
    }

    /// When the request can start at `target`, where it can and was not tried; and what is in its way there, tried or not.
    fn look(
        &self,
        target: TargetId,
        facts: Facts,
        seen: &mut Seen,
        now: Timestamp,
    ) -> (Option<Prospect>, Option<Obstacle>) {
        let tried = self.tried.iter().find(|tried| tried.target == target);
        let tried = tried.filter(|tried| !tried.comes_back(now));
        let start = facts.start(now);
        let blocked = tried
            .and_then(|tried| tried.refused)
            .or_else(|| self.blocked(&facts, start, now));
        seen.opens = seen.opens.min(blocked.map_or(start, |it| it.opens));
        let Some(Blocked { by, opens }) = blocked else {
            return (tried.is_none().then_some(start), None);
        };
        let sent = tried.is_some_and(|tried| tried.refused.is_none());
        if !sent {
            seen.obstacle = Some(seen.obstacle.map_or(by, |first| first.min(by)));
        }
        let deadline = self.asking.deadline;
        let waits = now < deadline && opens.makes(deadline);
        if !sent && by == Obstacle::Breaker && waits {
            let refused = tried.and_then(|tried| tried.refused);
            let back = refused.map_or(facts.passes, |it| it.opens.max(facts.passes));
            let in_time = back.makes(deadline).then_some(back);
            seen.wait = seen.wait.into_iter().chain(in_time).min();
        }
        (None, Some(by))
    }

    fn blocked(&self, facts: &Facts, start: Prospect, now: Timestamp) -> Option<Blocked> {
        let closed = facts.passes > Prospect::At(now);
        let (by, opens) = if !facts.speaks {
            (Obstacle::Dialect, Prospect::Never)
        } else if !facts.fits_context {
            (Obstacle::Context, Prospect::Never)
        } else if closed {
            (Obstacle::Breaker, start)
        } else if !start.makes(self.asking.deadline) {
            (Obstacle::Ledger, start)
        } else {
            return None;
        };
        Some(Blocked { by, opens })
    }
}

impl Tried {
    /// Whether it is as if it had not been tried: a breaker would not have it, and what it named is over, or is something that
    /// only the target's facts tell.
    fn comes_back(&self, now: Timestamp) -> bool {
        let until = self.refused.filter(|it| it.by == Obstacle::Breaker);
        until.is_some_and(|it| match it.opens {
            Prospect::At(until) => until <= now,
            Prospect::OnRelease => true,
            Prospect::Never => false,
        })
    }
}

impl Seen {
    fn nothing() -> Self {
        Self {
            obstacle: None,
            opens: Prospect::Never,
            wait: None,
        }
    }
}

/// The fallbacks, and last the smaller model, which may be one too.
fn others(route: &Route) -> impl Iterator<Item = (&Fallback, bool)> {
    let fallbacks = route.fallbacks.iter().map(|fallback| (fallback, false));
    fallbacks.chain(route.degrade_to.iter().map(|smaller| (smaller, true)))
}

/// What a fallback calls it.
fn condition(by: Obstacle) -> Condition {
    match by {
        Obstacle::Breaker | Obstacle::Dialect => Condition::PrimaryUnavailable,
        Obstacle::Context => Condition::ContextLengthNeeded,
        Obstacle::TenantLimits | Obstacle::Shed | Obstacle::Lane | Obstacle::Ledger => {
            Condition::Capacity
        }
    }
}
