//! The provider at the other end of a network: the fake's model, the way to it, the time of
//! answers.
//!
//! What is drawn (each call's time on the way, each answer's length of time) comes from sequences
//! of their own. Answers travel back in no time; what a network adds there is part of the answer's
//! duration.

use std::time::Duration;

use serde::Deserialize;
use sluicegate_fake::model::{Call, Header, Model, Outcome, Tally, Ticket, Usage, Verdict};

use crate::random::{Purpose, Random};
use crate::run::Served;
use crate::scenario::Scenario;
use crate::workload::Turn;

/// How long a call is on its way to the provider. Even between the two; calls may overtake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Transit {
    /// At least, in milliseconds.
    pub min_ms: u64,
    /// At most, in milliseconds.
    pub max_ms: u64,
}

/// How long an answer takes, from the arrival of its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answering {
    /// Until it begins, in milliseconds.
    pub head_ms: u64,
    /// For each token of it, in milliseconds.
    pub ms_per_token: u64,
    /// And up to so many milliseconds more, drawn to the nanosecond.
    pub jitter_ms: u64,
}

impl Default for Answering {
    /// Half a second, then a hundred tokens a second.
    fn default() -> Self {
        Self {
            head_ms: 500,
            ms_per_token: 10,
            jitter_ms: 0,
        }
    }
}

/// The provider and the way to it.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    model: Model,
    model_name: String,
    transit: Transit,
    answering: Answering,
    transits: Random,
    answers: Random,
    calls: u64,
    /// When measuring began, and what had been taken of each limit until then.
    before: Option<(u64, Vec<Tally>)>,
}

/// What a call met on arrival.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Arrival {
    /// It is served; the answer ends after `takes`.
    Accepted {
        ticket: Ticket,
        charged: u64,
        /// When the answer begins and ends, after the arrival.
        begins: Duration,
        takes: Duration,
        headers: Vec<Header>,
    },
    /// A 429 of `limit`, which says to wait so long where it can tell.
    Rejected {
        limit: String,
        wait: Option<Duration>,
        status: u16,
        headers: Vec<Header>,
        body: Vec<u8>,
    },
}

impl Upstream {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            model: Model::new(scenario.provider.clone()),
            model_name: scenario.model.clone(),
            transit: scenario.transit,
            answering: scenario.answering,
            transits: Random::new(scenario.seed, Purpose::Transit),
            answers: Random::new(scenario.seed, Purpose::Answer),
            calls: 0,
            before: None,
        }
    }

    /// How long the next call will be on its way.
    pub(crate) fn draw_transit(&mut self) -> Duration {
        let Transit { min_ms, max_ms } = self.transit;
        let (shortest, longest) = (nanos(min_ms), nanos(max_ms));
        Duration::from_nanos(self.transits.between(shortest, longest))
    }

    /// A call for `turn` arrives at `unix_nanos` of the provider's clock. Calls arrive in the order
    /// of time.
    pub(crate) fn arrive(&mut self, unix_nanos: u64, turn: &Turn) -> Arrival {
        self.calls += 1;
        let call = Call {
            model: &self.model_name,
            key: "key",
            prompt_bytes: turn.prompt_tokens.saturating_mul(4),
            // What is estimated wrongly is so for each call in its own way.
            content_id: self.calls,
            output_max: Some(turn.output_max),
            ..Call::default()
        };
        match self.model.arrive(unix_nanos, &call) {
            Verdict::Accepted(accepted) => Arrival::Accepted {
                ticket: accepted.ticket,
                charged: accepted.charge.tokens,
                begins: Duration::from_millis(self.answering.head_ms),
                takes: self.draw_answer(turn),
                headers: accepted.headers,
            },
            Verdict::Rejected(rejected) => Arrival::Rejected {
                limit: rejected.limit,
                wait: rejected.wait.map(Duration::from_nanos),
                status: rejected.status,
                headers: rejected.headers,
                body: rejected.body.to_string().into_bytes(),
            },
        }
    }

    /// The answer to `turn` has ended at `unix_nanos` of the provider's clock.
    pub(crate) fn finish(&mut self, unix_nanos: u64, turn: &Turn, ticket: Ticket) {
        let usage = Usage {
            input: turn.prompt_tokens,
            cached: 0,
            output: turn.answer_tokens,
        };
        self.model
            .finish(unix_nanos, ticket, Outcome::Served(usage));
    }

    /// What is taken from `unix_nanos` of the provider's clock on is measured.
    pub(crate) fn measure_from(&mut self, unix_nanos: u64) {
        self.before = Some((unix_nanos, self.model.tallies()));
    }

    /// What each limit gave since measuring began, and for how many nanoseconds that was.
    pub(crate) fn served(&self, unix_nanos: u64) -> (Vec<Served>, u64) {
        let Some((from, before)) = &self.before else {
            return (Vec::new(), 0);
        };
        let flows = self.model.theoretical(*from, unix_nanos);
        let now = self.model.tallies();
        let served = flows.into_iter().zip(before.iter().zip(now));
        let served = served.map(|(flow, (before, now))| Served {
            limit: flow.name,
            possible: flow.amount.saturating_sub(now.others - before.others),
            taken: now.calls.saturating_sub(before.calls),
        });
        (served.collect(), unix_nanos.saturating_sub(*from))
    }

    fn draw_answer(&mut self, turn: &Turn) -> Duration {
        let Answering {
            head_ms,
            ms_per_token,
            jitter_ms,
        } = self.answering;
        let even = head_ms.saturating_add(ms_per_token.saturating_mul(turn.answer_tokens));
        let jitter = self.answers.between(0, nanos(jitter_ms));
        Duration::from_millis(even) + Duration::from_nanos(jitter)
    }
}

fn nanos(millis: u64) -> u64 {
    millis.saturating_mul(1_000_000)
}
