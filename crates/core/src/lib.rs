//! Admission and accounting for calls to upstreams that limit them.
//!
//! The crate is a value: events and the time go in, decisions and the next instant at which it wants to be asked come out.
//! It holds no clock, lock, thread, socket or source of randomness, which `no_std` lets the compiler prove. A gateway drives
//! it with real time, a simulator drives the same code with virtual time.
#![no_std]

extern crate alloc;

mod advance;
mod breaker;
mod calendar;
mod counter;
mod decision;
mod forecast;
mod gate;
mod group;
mod lane;
mod ledger;
mod lengths;
mod limit;
mod line;
mod load;
mod policy;
mod retry;
mod route;
mod signal;
mod slab;
mod time;
mod units;
mod window;

pub use breaker::BreakerRule;
pub use calendar::Calendar;
pub use decision::{Decision, Event, Grant, Refusal, Submission};
pub use gate::{Core, EVENTS_MAX, LimitState};
pub use lane::{Lane, LaneRule, LaneRules};
pub use ledger::{Outcome, ReservationId, Resolution};
pub use lengths::AnswerLengths;
pub use limit::{Authority, Book, Failures, Headroom, Limit, Mode, Settlement, Start, Window};
pub use line::TicketId;
pub use load::{LoadEffects, LoadLevel};
pub use policy::{LimitId, Policy, PolicyError, Target, TargetId};
pub use retry::{BackoffRule, RetryBudgetRule, RetryRule};
pub use route::{Balance, Condition, Fallback, Route};
pub use signal::{Reception, Signal};
pub use time::{Now, Timestamp, WallTime};
pub use units::{Amounts, BasisPoints, Meter};
