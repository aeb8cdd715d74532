//! Admission and accounting for calls to upstreams that limit them.
//!
//! The crate is a value: events and the time go in, decisions and the next instant at which it wants to be asked come out.
//! It holds no clock, lock, thread, socket or source of randomness, which `no_std` lets the compiler prove. A gateway drives
//! it with real time, a simulator drives the same code with virtual time.
#![no_std]

extern crate alloc;

mod advance;
mod breaker;
mod budgets;
mod calendar;
mod counter;
mod decision;
mod error_class;
mod failure;
mod forecast;
mod gate;
mod group;
mod lane;
mod lanes;
mod ledger;
mod lengths;
mod limit;
mod line;
mod load;
mod policy;
mod promise;
mod recent;
mod retry;
mod retry_budget;
mod route;
mod signal;
mod slab;
mod slots;
mod time;
mod units;
mod wanted;
mod window;

pub use breaker::{Breaker, BreakerRule, BreakerState, Elsewhere, Pass, Passage};
pub use calendar::Calendar;
pub use decision::{Decision, Event, Grant, Refusal, Submission};
pub use error_class::ErrorClass;
pub use failure::{Failure, FailureKind};
pub use gate::{Core, EVENTS_MAX, LimitState};
pub use lane::{Lane, LaneRule, LaneRules};
pub use lanes::Held;
pub use ledger::{Outcome, ReservationId, Resolution};
pub use lengths::AnswerLengths;
pub use limit::{Authority, Book, Failures, Headroom, Limit, Mode, Settlement, Start, Window};
pub use line::TicketId;
pub use load::{Budget, Load, LoadCause, LoadEffects, LoadLevel, LoadRule, LoadRules, Strain};
pub use policy::{LimitId, Policy, PolicyError, Target, TargetId, Tenant, TenantId};
pub use retry::{Attempts, BackoffRule, FollowUp, Reason, RetryRule};
pub use retry_budget::{RetryBudget, RetryBudgetRule};
pub use route::{
    Asking, Balance, Candidates, Choice, Condition, Facts, Fallback, Obstacle, Prospect, Role,
    Route,
};
pub use signal::{Reception, Signal};
pub use slots::{AdaptiveSlots, Answered};
pub use time::{Now, Timestamp, WallTime};
pub use units::{Amounts, BasisPoints, Meter};
