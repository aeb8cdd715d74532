//! Another client of the same account: when it takes how much of which limit.
//!
//! It knows nothing of what else arrives. Its takes are drawn one after the other for each limit, so that a seed gives the
//! same ones however often it is asked.

use super::rule::{Part, Rule};
use super::settings::{Scope, Settings};
use crate::random::Random;

/// The number of its calls, which no other call has.
pub(super) const CALL: u64 = 0;

/// Takes in each length of a window, on average.
const TAKES: u64 = 200;

/// The other client.
#[derive(Clone, Debug)]
pub(super) struct Others {
    share: f64,
    seed: u64,
    /// By rule; `None` where it takes nothing.
    streams: Vec<Option<Stream>>,
}

#[derive(Clone, Debug)]
struct Stream {
    random: Random,
    at: u64,
    /// What was drawn but was not a whole unit yet.
    carried: f64,
}

/// It wants so much, at this time, of a limit and of its quantum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Take {
    pub(super) at: u64,
    pub(super) amount: u64,
    index: usize,
    quantum: bool,
}

impl Take {
    /// The rules that it is taken from.
    pub(super) fn parts(&self) -> impl Iterator<Item = usize> + use<> {
        let quantum = self.quantum.then_some(self.index + 1);
        std::iter::once(self.index).chain(quantum)
    }
}

impl Others {
    pub(super) fn new(settings: &Settings, rules: usize) -> Self {
        let traffic = settings.other_traffic.unwrap_or_default();
        Self {
            share: traffic.share.get(),
            seed: traffic.seed,
            streams: vec![None; rules],
        }
    }

    /// It comes to work at `at`.
    pub(super) fn begin(&mut self, rules: &[Rule], at: u64) {
        if self.share == 0.0 {
            return;
        }
        for (index, rule) in rules.iter().enumerate() {
            if rule.part == Part::Whole && rule.scope == Scope::All {
                let mut stream = Stream {
                    random: Random::new(self.seed ^ (index as u64).wrapping_mul(0x9e37_79b9)),
                    at,
                    carried: 0.0,
                };
                stream.pause(rule);
                self.streams[index] = Some(stream);
            }
        }
    }

    /// Its next take up to `until`, in the order of time.
    pub(super) fn next(&mut self, rules: &[Rule], until: u64) -> Option<Take> {
        loop {
            let (index, stream) = self
                .streams
                .iter_mut()
                .enumerate()
                .filter_map(|(index, stream)| Some((index, stream.as_mut()?)))
                .min_by_key(|(_, stream)| stream.at)?;
            if stream.at > until {
                return None;
            }
            let rule = &rules[index];
            // After a long silence what lies further back than a window and its reset matters to nobody.
            let forgotten = until.saturating_sub(rule.per.as_nanos().saturating_mul(2));
            let at = stream.at;
            stream.at = at.max(forgotten);
            let amount = stream.draw(rule, self.share);
            stream.pause(rule);
            if amount > 0 {
                return Some(Take {
                    at,
                    amount,
                    index,
                    quantum: rule.quantum.is_some(),
                });
            }
        }
    }

    /// Slots of `limit` that it holds all the time.
    pub(super) fn slots(&self, limit: u64) -> u64 {
        whole(self.share * as_double(limit))
    }
}

impl Stream {
    /// How much it wants: on average its share, from half to one and a half times as much.
    fn draw(&mut self, rule: &Rule, share: f64) -> u64 {
        let mean = share * as_double(rule.amount) / as_double(TAKES);
        self.carried += mean * (0.5 + self.random.fraction());
        let amount = whole(self.carried);
        self.carried -= as_double(amount);
        amount
    }

    /// Until its next take: on average a two-hundredth of the window, unevenly.
    fn pause(&mut self, rule: &Rule) {
        let mean = as_double(rule.per.as_nanos()) / as_double(TAKES);
        let pause = whole(mean * (0.5 + self.random.fraction()));
        self.at = self.at.saturating_add(pause.max(1));
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "amounts that draw nobody's attention to their last digits"
)]
fn as_double(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative, and saturates"
)]
fn whole(number: f64) -> u64 {
    number as u64
}
