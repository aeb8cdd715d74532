//! What happened, line by line: time, job, turn, event.
//!
//! A trace is compared as text. It names calls by the job and the turn that a reader of the
//! scenario knows, and nothing that is only inside the core.

use std::fmt;
use std::time::Duration;

use sluicegate_core::Timestamp;

/// Every event of a run, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace(Vec<Line>);

/// One event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// When.
    pub at: Timestamp,
    /// Which call: its place in [`Run::calls`](crate::Run::calls), with its job and turn. `None`
    /// for what concerns all.
    pub call: Option<CallName>,
    /// What.
    pub event: TraceEvent,
}

/// Names a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallName {
    /// Its place in the order in which calls came to the gateway.
    pub index: usize,
    /// Its job, counted from zero.
    pub job: usize,
    /// Its turn in the job, counted from zero.
    pub turn: usize,
}

/// What happened to a call, or to the clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceEvent {
    /// It came to the gateway, which expects it to be charged so many tokens.
    Came {
        /// The tokens.
        tokens: u64,
    },
    /// The core gave it a place in the line.
    Waits {
        /// When it will start at the latest, where that is known.
        until: Option<Timestamp>,
    },
    /// The core let it start.
    Starts,
    /// The core will not let it start.
    Refused {
        /// When it would have started, where that is known.
        until: Option<Timestamp>,
    },
    /// The provider took it and charged so many tokens.
    Accepted {
        /// The tokens.
        charged: u64,
    },
    /// The provider answered 429.
    Rejected {
        /// The provider's limit.
        limit: String,
        /// The wait that the provider named.
        wait: Option<Duration>,
    },
    /// Its answer ended.
    Answered,
    /// The gateway's wall clock was set.
    ClockJumps {
        /// By how much, in nanoseconds.
        nanos: i64,
    },
}

impl Trace {
    /// The events, in order.
    pub fn lines(&self) -> &[Line] {
        &self.0
    }

    pub(crate) fn note(&mut self, at: Timestamp, call: Option<CallName>, event: TraceEvent) {
        self.0.push(Line { at, call, event });
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.to_string();
        match self.call {
            Some(CallName { job, turn, .. }) => {
                write!(f, "{at:>15}  job {job} turn {turn}  {}", self.event)
            }
            None => write!(f, "{at:>15}  {}", self.event),
        }
    }
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Came { tokens } => write!(f, "comes with {tokens} tokens"),
            Self::Waits { until: Some(until) } => write!(f, "waits until {until}"),
            Self::Waits { until: None } => write!(f, "waits"),
            Self::Starts => write!(f, "starts"),
            Self::Refused { until: Some(until) } => write!(f, "is refused until {until}"),
            Self::Refused { until: None } => write!(f, "is refused"),
            Self::Accepted { charged } => write!(f, "is accepted for {charged} tokens"),
            Self::Rejected { limit, wait } => match wait {
                Some(wait) => write!(f, "is rejected by {limit}, wait {wait:?}"),
                None => write!(f, "is rejected by {limit}"),
            },
            Self::Answered => write!(f, "is answered"),
            Self::ClockJumps { nanos } => {
                let sign = if *nanos < 0 { '-' } else { '+' };
                let by = Duration::from_nanos(nanos.unsigned_abs());
                write!(f, "the wall clock jumps by {sign}{by:?}")
            }
        }
    }
}
