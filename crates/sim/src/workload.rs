//! Who calls, and when: jobs of turns, and calls that come by themselves.
//!
//! A job is what an agent does: one call after the other, each sent when the one before was
//! answered, with a prompt that grows. A call that comes by itself is a job of one turn. Everything
//! is drawn before the world begins, so that what the core decides cannot change what is asked of
//! it.

use std::time::Duration;

use serde::Deserialize;
use sluicegate_core::{Lane, TenantId};

use crate::lanes;
use crate::random::Random;

const MINUTE_NANOS: u64 = 60_000_000_000;

/// One call to come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Tokens of prompt, four bytes each.
    pub prompt_tokens: u64,
    /// The maximum of output that the call names, in tokens.
    pub output_max: u64,
    /// Tokens that the answer will have.
    pub answer_tokens: u64,
}

/// Calls that follow each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// From the beginning of the world to the first call.
    pub begins: Duration,
    /// How long each call may wait for its start; for ever, where none is named.
    pub patience: Option<Duration>,
    /// The lane of each call.
    pub lane: Lane,
    /// Who makes them.
    pub tenant: TenantId,
    /// The calls, at least one.
    pub turns: Vec<Turn>,
}

/// Equal jobs that begin together.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jobs {
    /// How many.
    pub count: u64,
    /// Milliseconds from the beginning of the world.
    #[serde(default)]
    pub begin_ms: u64,
    /// Calls of each.
    pub turns: u64,
    /// Prompt of the first call, in tokens.
    pub prompt_tokens: u64,
    /// By how many tokens each prompt is longer than the one before.
    #[serde(default)]
    pub prompt_growth: u64,
    /// Maximum of output that each call names.
    pub output_max: u64,
    /// Tokens of each answer.
    pub answer_tokens: u64,
    /// The lane of each call.
    #[serde(default, deserialize_with = "lanes::lane")]
    pub lane: Lane,
    /// Who makes them, as a place among the weights of tenants; nobody in particular where none is named.
    #[serde(default)]
    pub tenant: Option<usize>,
}

/// Calls that come by themselves.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// How many.
    pub count: u64,
    /// Milliseconds from the beginning of the world to that from which the first gap counts.
    #[serde(default)]
    pub begin_ms: u64,
    /// The average gap in microseconds.
    pub gap_us: u64,
    /// How gaps differ.
    #[serde(default)]
    pub gaps: Gaps,
    /// The shortest and the longest prompt in tokens; what is between is equally likely.
    pub prompt_tokens: (u64, u64),
    /// Maximum of output that each call names.
    pub output_max: u64,
    /// Tokens of each answer.
    pub answer_tokens: u64,
    /// Milliseconds that each call may wait for its start.
    pub patience_ms: Option<u64>,
    /// The lane of each call.
    #[serde(default, deserialize_with = "lanes::lane")]
    pub lane: Lane,
    /// Who makes them, as a place among the weights of tenants; nobody in particular where none is named.
    #[serde(default)]
    pub tenant: Option<usize>,
}

/// How gaps between calls differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gaps {
    /// Each is drawn from zero to twice the average.
    #[default]
    Uneven,
    /// Calls know nothing of each other: a Poisson process.
    Poisson,
    /// All are the same.
    Steady,
    /// Each minute has as many calls as it has on average, at instants that know nothing of each other: a Poisson process that
    /// is known to keep to a budget.
    Scattered,
}

impl Jobs {
    /// The jobs in full.
    pub fn all(&self) -> Vec<Job> {
        let turn = |index: u64| Turn {
            prompt_tokens: self
                .prompt_tokens
                .saturating_add(index.saturating_mul(self.prompt_growth)),
            output_max: self.output_max,
            answer_tokens: self.answer_tokens,
        };
        let job = Job {
            begins: Duration::from_millis(self.begin_ms),
            patience: None,
            lane: self.lane,
            tenant: lanes::tenant(self.tenant),
            turns: (0..self.turns).map(turn).collect(),
        };
        (0..self.count).map(|_| job.clone()).collect()
    }
}

impl Arrivals {
    /// The calls in full, drawn.
    pub fn all(&self, random: &mut Random) -> Vec<Job> {
        let mut begins = Duration::from_millis(self.begin_ms);
        let gap = self.gap_us.saturating_mul(1_000);
        let mut scattered = self.scattered(random).into_iter();
        let mut call = || {
            begins = match self.gaps {
                Gaps::Uneven => begins + Duration::from_nanos(random.between(0, 2 * gap)),
                Gaps::Poisson => begins + Duration::from_nanos(random.exponential(gap)),
                Gaps::Steady => begins + Duration::from_nanos(gap),
                Gaps::Scattered => scattered.next().unwrap_or(begins),
            };
            let (shortest, longest) = self.prompt_tokens;
            Job {
                begins,
                patience: self.patience_ms.map(Duration::from_millis),
                lane: self.lane,
                tenant: lanes::tenant(self.tenant),
                turns: vec![Turn {
                    prompt_tokens: random.between(shortest, longest),
                    output_max: self.output_max,
                    answer_tokens: self.answer_tokens,
                }],
            }
        };
        (0..self.count).map(|_| call()).collect()
    }

    /// The instants of scattered calls, in order; none of others.
    fn scattered(&self, random: &mut Random) -> Vec<Duration> {
        if self.gaps != Gaps::Scattered {
            return Vec::new();
        }
        let a_minute = (60_000_000 / self.gap_us.max(1)).max(1);
        let begin = Duration::from_millis(self.begin_ms);
        let within = |index: u64| {
            let minute = Duration::from_secs(60 * (index / a_minute));
            begin + minute + Duration::from_nanos(random.between(0, MINUTE_NANOS - 1))
        };
        let mut instants: Vec<Duration> = (0..self.count).map(within).collect();
        instants.sort_unstable();
        instants
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn prompts_of_a_job_grow() {
        let jobs = Jobs {
            count: 2,
            begin_ms: 30,
            turns: 3,
            prompt_tokens: 1_500,
            prompt_growth: 1_000,
            output_max: 512,
            answer_tokens: 300,
            lane: Lane::Batch,
            tenant: Some(1),
        };
        let all = jobs.all();
        assert_eq!(all.len(), 2);
        assert_eq!(all[1].begins, Duration::from_millis(30));
        assert_eq!(
            (all[1].lane, all[1].tenant),
            (Lane::Batch, TenantId::new(1))
        );
        let prompts: Vec<u64> = all[1].turns.iter().map(|turn| turn.prompt_tokens).collect();
        assert_eq!(prompts, [1_500, 2_500, 3_500]);
    }

    #[test]
    fn calls_come_at_the_rate_that_was_asked_for() {
        for (gaps, uneven) in [
            (Gaps::Uneven, 9_800..10_200),
            // The sum of ten thousand varies by a hundredth.
            (Gaps::Poisson, 9_700..10_300),
            (Gaps::Steady, 10_000..10_001),
            // All of them are of the first minute.
            (Gaps::Scattered, 59_900..60_000),
        ] {
            let arrivals = Arrivals {
                count: 10_000,
                begin_ms: 500,
                gap_us: 1_000,
                gaps,
                prompt_tokens: (10, 20),
                output_max: 5,
                answer_tokens: 5,
                patience_ms: None,
                lane: Lane::Api,
                tenant: None,
            };
            let all = arrivals.all(&mut Random::new(1, Purpose::Workload));
            assert!(all.is_sorted_by_key(|job| job.begins));
            let last = all.last().map(|job| job.begins.as_millis() - 500);
            assert!(
                last.is_some_and(|last| uneven.contains(&last)),
                "{gaps:?}: {last:?}"
            );
            let in_bounds = |job: &Job| (10..=20).contains(&job.turns[0].prompt_tokens);
            assert!(all.iter().all(in_bounds));
        }
    }
}
