//! A provider-faithful fake upstream: a pure model of how providers count, and a server with a fault player around it.
//!
//! It owns the provider's side: what is charged when a call arrives, when it is turned away and in which words, what an
//! answer looks like and how it can go wrong. It knows nothing of the gateway that it tests and shares no code with it, not
//! even types: a mistake in the gateway's counting must not be repeated here. Hence also the naive counting, in [`model`],
//! where every arrival is kept and summed again for each call.
//!
//! [`bind`] serves it over real sockets; a simulation drives [`model::Model`] with its own time.

mod answer;
mod ask;
mod dialect;
mod estimate;
mod fault;
mod millis;
mod period;
mod random;
mod seal;
mod server;
mod settings;

pub mod model;

pub use fault::{
    BeforeHead, Cut, Eol, ErrorKind, Fault, HeaderName, Sent, Statuses, Text, UsageFault,
};
pub use millis::Millis;
pub use period::{Period, PeriodError};
pub use server::{Server, bind};
pub use settings::{Answer, Memory, Sampling, Settings, SettingsError};
