//! How loaded everything is, kept up to date beside the core, and what that changes there.
//!
//! One level for the whole gateway: the effects that matter most, short answers and a batch that is held, are of use only where
//! everybody bears them. It is weighed at most every tenth of a second, when somebody asks something of the core anyway, and
//! while it is above normal once a second also when nobody does, so that what is held is let go. It must not log: it is used
//! under the core's lock.

use std::sync::Arc;
use std::time::Duration;

use sluicegate_core::{
    Core, Held, Lane, Load, LoadCause, LoadLevel, LoadRules, Now, Strain, Timestamp,
};

/// No more often than that.
const WEIGHED_EVERY: Duration = Duration::from_millis(100);
/// So often while it is above normal, whatever happens.
const LOOKED_AT_EVERY: Duration = Duration::from_secs(1);

/// The load, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct LoadWatch {
    load: Load,
    weighed: Option<Timestamp>,
    holds_batch: bool,
    /// When batch is let go if nothing weighs until then.
    lets_go: Option<Timestamp>,
    change: Option<Change>,
}

/// Another level than before, for the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    from: LoadLevel,
    to: LoadLevel,
    cause: String,
}

impl LoadWatch {
    /// Weighs anew where that is due, with the longest `wait` of lanes above batch and whether upstreams are `left_alone`, and
    /// holds batch or lets it go.
    pub(crate) fn look(
        &mut self,
        core: &mut Core,
        rules: &LoadRules,
        wait: Duration,
        left_alone: impl FnOnce() -> bool,
        now: Now,
    ) {
        let due = self.weighed.map(|at| at.saturating_add(WEIGHED_EVERY));
        if due.is_some_and(|due| now.mono < due) {
            return;
        }
        self.weighed = Some(now.mono);
        let before = self.load.level();
        let strain = Strain {
            budgets: &core.budgets(now),
            wait,
            breaker_open: left_alone(),
        };
        let level = self.load.weigh(rules, &strain, now.mono);
        let holds_batch = rules.effects(level).holds_batch;
        self.lets_go = self.load.ends(rules, |effects| effects.holds_batch);
        if holds_batch != self.holds_batch {
            self.holds_batch = holds_batch;
            let held = if holds_batch { Held::Yes } else { Held::No };
            core.hold(Lane::Batch, held, now);
        }
        if level != before {
            let cause = told(self.load.cause(), core, wait);
            self.change = Some(Change {
                from: self.change.take().map_or(before, |change| change.from),
                to: level,
                cause,
            });
        }
    }

    pub(crate) fn level(&self) -> LoadLevel {
        self.load.level()
    }

    /// The level at which nothing of `lane` starts, while that is so.
    pub(crate) fn holds(&self, lane: Lane) -> Option<LoadLevel> {
        (self.holds_batch && lane == Lane::Batch).then(|| self.level())
    }

    /// When what is held starts again if nothing weighs until then; the level may fall before, to one that holds it too.
    pub(crate) fn lets_go(&self) -> Option<Timestamp> {
        self.lets_go.filter(|_| self.holds_batch)
    }

    /// When to look again, whatever happens until then.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        let is_loaded = self.level() > LoadLevel::Normal;
        let at = self.weighed.filter(|_| is_loaded)?;
        let again = at.saturating_add(LOOKED_AT_EVERY);
        let soonest = at.saturating_add(WEIGHED_EVERY);
        let falls = self.load.falls().map(|falls| falls.max(soonest));
        Some(falls.map_or(again, |falls| falls.min(again)))
    }

    /// How the level changed since this was asked last.
    pub(crate) fn changed(&mut self) -> Option<Change> {
        self.change.take().filter(|change| change.from != change.to)
    }
}

impl Change {
    /// Tells the operator.
    pub(crate) fn log(&self) {
        let Self { from, to, cause } = self;
        if to > from {
            tracing::info!(level = to.name(), was = from.name(), cause, "load rises");
        } else {
            tracing::info!(level = to.name(), was = from.name(), "load falls");
        }
    }
}

fn told(cause: Option<LoadCause>, core: &Core, wait: Duration) -> String {
    match cause {
        Some(LoadCause::Budget(limit)) => {
            let limit = core.policy().limits().get(limit.index());
            let name = limit.map_or_else(|| Arc::from("a limit"), |limit| Arc::clone(&limit.name));
            format!("little is left of {name}, and more is wanted")
        }
        Some(LoadCause::Wait) => format!("requests wait for {:.1} s", wait.as_secs_f64()),
        Some(LoadCause::Breaker) => "half of the upstreams or more are left alone".to_owned(),
        None => "nothing any more".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_core::{Amounts, Decision, Event, Meter, Submission, TargetId, WallTime};

    fn at(millis: u64) -> Now {
        let nanos = millis * 1_000_000;
        Now::new(
            Timestamp::from_nanos(nanos),
            WallTime::from_unix_nanos(1_800_000_000_000_000_000 + nanos),
        )
    }

    /// No upstream is left alone.
    fn none() -> bool {
        false
    }

    /// A core with a bucket of a thousand tokens a minute, which is full.
    fn core() -> Core {
        let text = "
accounts: { a: { provider: openai, base_url: http://127.0.0.1:9, headroom: 1,
  limits: [{ meter: tokens, amount: 1000, per: 60s, window: bucket, start: full }] } }
deployments: { m: { account: a } }
";
        let policy = sluicegate_config::parse("a.yaml", text, &|_| None).expect("a valid policy");
        let snapshot = crate::snapshot::Snapshot::new(policy, None);
        Core::new(snapshot.expect("a policy that can be served").limits, at(0))
    }

    fn asking(lane: Lane, tokens: u64) -> Submission {
        let demand = Amounts::one_request().with(Meter::Tokens, tokens);
        Submission {
            lane,
            ..Submission::new(TargetId::new(0), demand, Timestamp::MAX)
        }
    }

    const NO_WAIT: Duration = Duration::ZERO;

    #[test]
    fn batch_is_held_while_load_is_high_and_let_go_when_it_has_fallen() {
        let (mut core, mut load, rules) = (core(), LoadWatch::default(), LoadRules::default());
        load.look(&mut core, &rules, NO_WAIT, none, at(0));
        assert_eq!((load.level(), load.due()), (LoadLevel::Normal, None));
        load.look(&mut core, &rules, Duration::from_secs(11), none, at(100));
        assert_eq!(load.holds(Lane::Batch), Some(LoadLevel::High));
        assert_eq!(load.holds(Lane::Api), None);
        let change = load.changed().expect("it rose");
        assert_eq!(
            (change.from, change.to),
            (LoadLevel::Normal, LoadLevel::High)
        );
        assert_eq!(change.cause, "requests wait for 11.0 s");
        assert_eq!(load.changed(), None);
        let decision = core.submit(asking(Lane::Batch, 10), at(100));
        assert!(matches!(decision, Decision::Waiting { start: None, .. }));

        // Whoever drives it wakes up for it, and nobody else need ask anything.
        let mut now = 0;
        while load.level() == LoadLevel::High {
            now = load.due().expect("it is above normal").as_nanos() / 1_000_000;
            load.look(&mut core, &rules, NO_WAIT, none, at(now));
        }
        assert_eq!(now, 11_100);
        assert!(matches!(core.poll_event(), Some(Event::Admitted { .. })));
    }

    #[test]
    fn the_time_that_is_told_is_when_batch_starts_and_not_when_the_level_falls_to_another_that_holds_it()
     {
        let (mut core, mut load, rules) = (core(), LoadWatch::default(), LoadRules::default());
        load.look(&mut core, &rules, Duration::from_secs(61), none, at(0));
        load.look(&mut core, &rules, NO_WAIT, none, at(100));
        assert_eq!(load.level(), LoadLevel::Critical);
        let told = load.lets_go().expect("nothing weighs");
        assert_eq!(told, at(20_100).mono);

        let mut now = 0;
        while load.holds(Lane::Batch).is_some() {
            assert_eq!(load.lets_go(), Some(told));
            now = load.due().expect("it is above normal").as_nanos() / 1_000_000;
            load.look(&mut core, &rules, NO_WAIT, none, at(now));
        }
        assert_eq!((now, load.lets_go()), (20_100, None));
    }

    #[test]
    fn it_is_weighed_no_more_often_than_is_of_use() {
        let (mut core, mut load, rules) = (core(), LoadWatch::default(), LoadRules::default());
        load.look(&mut core, &rules, NO_WAIT, none, at(0));
        load.look(&mut core, &rules, Duration::from_secs(61), none, at(99));
        assert_eq!(load.level(), LoadLevel::Normal);
        load.look(&mut core, &rules, Duration::from_secs(61), none, at(100));
        assert_eq!(load.level(), LoadLevel::Critical);
    }

    #[test]
    fn the_limit_that_is_short_is_named() {
        let (mut core, mut load, rules) = (core(), LoadWatch::default(), LoadRules::default());
        let first = core.submit(asking(Lane::Api, 990), at(0));
        assert!(matches!(first, Decision::Admitted(_)));
        let second = core.submit(asking(Lane::Api, 500), at(0));
        assert!(matches!(second, Decision::Waiting { .. }));
        load.look(&mut core, &rules, NO_WAIT, none, at(0));
        assert_eq!(load.level(), LoadLevel::Critical);
        let change = load.changed().expect("it rose");
        assert_eq!(
            change.cause,
            "little is left of account a tokens/60s, and more is wanted"
        );
    }

    #[test]
    fn upstreams_that_are_left_alone_are_load() {
        let (mut core, mut load, rules) = (core(), LoadWatch::default(), LoadRules::default());
        load.look(&mut core, &rules, NO_WAIT, || true, at(0));
        assert_eq!(load.level(), LoadLevel::High);
    }
}
