//! A virtual world: the core against the fake provider's model in virtual time.
//!
//! What the core promises (nobody is answered 429, everybody starts as early as the rules let him,
//! in the order of arrival) is a promise about minutes and days and about thousands of calls. A test
//! on real sockets can show a few seconds of it, and differently each time. Here time is a number
//! that jumps to the next thing that happens: an hour of traffic takes a second, an instant can be
//! told to the nanosecond, and a seed gives the same bytes on every machine. The core is not
//! modelled: it is the same code that the gateway drives, through the same doors.
//!
//! Three parties stand apart so that agreement between them means something. The *core* decides;
//! the *provider* is the fake's model, which shares no code with the core; what came of it is judged
//! by [`check`] and [`oracle`], which know neither of the two.
//!
//! Nothing here reads a clock, a file or the environment, and nothing is drawn but from
//! [`random`]. No floating point, so no platform's rounding.
//!
//! ```
//! use sluicegate_core::{Amounts, Meter};
//! use sluicegate_sim::{Scenario, World, check};
//!
//! let scenario = Scenario::from_yaml(
//!     "provider: { charge: sum, limits: [{ meter: tokens, amount: 1000, per: 60s, window: fixed }] }
//! jobs: [{ count: 3, turns: 1, prompt_tokens: 300, output_max: 100, answer_tokens: 20 }]",
//! )?;
//! let run = World::new(&scenario, |turn| {
//!     Amounts::one_request().with(Meter::Tokens, turn.prompt_tokens + turn.output_max)
//! })?
//! .run()?;
//! assert_eq!(check::rejections(&run), 0);
//! assert_eq!(check::unanswered(&run), []);
//! // The third does not fit beside the two others: it starts with the next minute.
//! assert_eq!(run.calls[2].started.map(|at| at.as_nanos()), Some(60_000_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod lanes;
mod queue;
mod run;
mod scenario;
mod trace;
mod upstream;
mod world;

pub mod check;
pub mod demand;
pub mod mirror;
pub mod oracle;
pub mod random;
pub mod workload;

pub use lanes::LaneSetting;
pub use run::{Call, Run, Served, Stall};
pub use scenario::{ClockJump, Scenario, ScenarioError};
pub use trace::{CallName, Line, Trace, TraceEvent};
pub use upstream::{Answering, Transit};
pub use world::{BEGIN_UNIX_NANOS, World};
