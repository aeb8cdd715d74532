//! Who waits for the core's word: where each one wants to go, and what their waits say of load.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use sluicegate_core::{Core, Lane, TargetId, TicketId, Timestamp};
use tokio::sync::oneshot;

use super::{Place, Verdict};
use crate::load::LoadWatch;
use crate::snapshot::Snapshot;

/// Lanes whose waits are load: all but the last.
const URGENT: usize = Lane::ALL.len() - 1;

/// The policy that the core holds to, who waits for its word, and how loaded everything is.
#[derive(Debug)]
pub(super) struct Waiters {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) load: LoadWatch,
    waiting: BTreeMap<TicketId, Waiting>,
    depth: BTreeMap<(Lane, Arc<str>), usize>,
    /// By urgent lane: who waits, the longest first.
    since: [BTreeSet<(Timestamp, TicketId)>; URGENT],
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) place: Place,
    pub(super) tell: oneshot::Sender<Verdict>,
    pub(super) lane: Lane,
    pub(super) task: Arc<str>,
    pub(super) since: Timestamp,
    /// When it was promised to start, where that could be told.
    pub(super) start: Option<Timestamp>,
}

impl Waiters {
    pub(super) fn new(snapshot: Arc<Snapshot>) -> Self {
        Self {
            snapshot,
            load: LoadWatch::default(),
            waiting: BTreeMap::new(),
            depth: BTreeMap::new(),
            since: <[BTreeSet<_>; URGENT]>::default(),
        }
    }

    pub(super) fn join(&mut self, ticket: TicketId, waiting: Waiting) {
        let key = (waiting.lane, Arc::clone(&waiting.task));
        *self.depth.entry(key).or_default() += 1;
        if let Some(since) = self.since.get_mut(waiting.lane.index()) {
            since.insert((waiting.since, ticket));
        }
        self.waiting.insert(ticket, waiting);
    }

    /// Takes one out; `None` where it has left before.
    pub(super) fn leave(&mut self, ticket: TicketId) -> Option<Waiting> {
        let waiting = self.waiting.remove(&ticket)?;
        let key = (waiting.lane, Arc::clone(&waiting.task));
        if let Some(depth) = self.depth.get_mut(&key) {
            *depth -= 1;
            if *depth == 0 {
                self.depth.remove(&key);
            }
        }
        if let Some(since) = self.since.get_mut(waiting.lane.index()) {
            since.remove(&(waiting.since, ticket));
        }
        Some(waiting)
    }

    /// How many wait, by lane and task.
    pub(super) fn depth(&self) -> Vec<(Lane, Arc<str>, usize)> {
        let depth = self.depth.iter();
        let depth = depth.map(|((lane, task), depth)| (*lane, Arc::clone(task), *depth));
        depth.collect()
    }

    /// The wait that was promised to the newest one of a lane above batch, or the longest so far where none could be; that of the
    /// lane where it is longer. Zero while none of them waits.
    pub(super) fn wait(&self, now: Timestamp) -> Duration {
        let waits = self.since.iter().filter_map(|since| {
            let (oldest, _) = since.first()?;
            let (newest, ticket) = since.last()?;
            let start = self.waiting.get(ticket)?.start;
            Some(match start {
                Some(start) => start.saturating_since(*newest),
                None => now.saturating_since(*oldest),
            })
        });
        waits.max().unwrap_or_default()
    }

    /// The target that `place` means in the policy in force.
    pub(super) fn target(&self, core: &Core, place: &Place) -> Option<TargetId> {
        if Arc::ptr_eq(&self.snapshot, &place.snapshot) {
            return Some(place.target);
        }
        let name = &place.snapshot.limits.targets()[place.target.index()].name;
        core.policy().target_named(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_core::{Amounts, Decision, Meter, Now, Submission, WallTime};

    const POLICY: &str = "
accounts: { a: { provider: openai, base_url: http://127.0.0.1:9, limits: { concurrent: 1 } } }
deployments: { m: { account: a } }
";

    fn second(second: u64) -> Timestamp {
        Timestamp::ZERO.saturating_add(Duration::from_secs(second))
    }

    /// A core whose only slot is taken, and nobody in line.
    fn line() -> (Core, Waiters) {
        let policy = sluicegate_config::parse("a.yaml", POLICY, &|_| None).expect("a valid policy");
        let snapshot = Snapshot::new(policy, None).expect("a policy that can be served");
        let mut core = Core::new(snapshot.limits.clone(), Now::default());
        let decision = core.submit(asking(Lane::Batch), Now::default());
        assert!(matches!(decision, Decision::Admitted(_)));
        (core, Waiters::new(Arc::new(snapshot)))
    }

    fn asking(lane: Lane) -> Submission {
        let demand = Amounts::one_request().with(Meter::Tokens, 1);
        Submission {
            lane,
            ..Submission::new(TargetId::new(0), demand, Timestamp::MAX)
        }
    }

    /// Lets one join that was promised a start after `promised` seconds.
    fn join(
        (core, line): &mut (Core, Waiters),
        lane: Lane,
        since: u64,
        promised: Option<u64>,
    ) -> TicketId {
        let now = Now::new(second(since), WallTime::from_unix_nanos(0));
        let Decision::Waiting { ticket, .. } = core.submit(asking(lane), now) else {
            panic!("the slot is taken");
        };
        let place = Place {
            snapshot: Arc::clone(&line.snapshot),
            target: TargetId::new(0),
        };
        let (tell, _) = oneshot::channel();
        let waiting = Waiting {
            place,
            tell,
            lane,
            task: "other".into(),
            since: second(since),
            start: promised.map(|promised| second(since + promised)),
        };
        line.join(ticket, waiting);
        ticket
    }

    #[test]
    fn the_newest_promise_above_batch_is_the_wait() {
        let mut line = line();
        join(&mut line, Lane::Batch, 0, Some(1_000));
        assert_eq!(line.1.wait(second(1)), Duration::ZERO);
        join(&mut line, Lane::Api, 1, Some(30));
        let newest = join(&mut line, Lane::Api, 2, Some(20));
        join(&mut line, Lane::Interactive, 3, Some(4));
        assert_eq!(line.1.wait(second(9)), Duration::from_secs(20));
        assert!(line.1.leave(newest).is_some());
        assert!(line.1.leave(newest).is_none());
        assert_eq!(line.1.wait(second(9)), Duration::from_secs(30));
    }

    #[test]
    fn without_a_promise_the_longest_wait_so_far_counts() {
        let mut line = line();
        let oldest = join(&mut line, Lane::Interactive, 1, Some(4));
        join(&mut line, Lane::Interactive, 3, None);
        assert_eq!(line.1.wait(second(9)), Duration::from_secs(8));
        line.1.leave(oldest);
        assert_eq!(line.1.wait(second(9)), Duration::from_secs(6));
    }

    #[test]
    fn depth_is_told_by_lane_while_somebody_waits() {
        let mut line = line();
        let first = join(&mut line, Lane::Batch, 0, None);
        join(&mut line, Lane::Batch, 0, None);
        join(&mut line, Lane::Api, 0, None);
        line.1.leave(first);
        let other: Arc<str> = "other".into();
        assert_eq!(
            line.1.depth(),
            [
                (Lane::Api, Arc::clone(&other), 1),
                (Lane::Batch, Arc::clone(&other), 1)
            ]
        );
    }
}
