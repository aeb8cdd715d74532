//! A provider-faithful fake upstream: a pure model of how providers count, and a server with a fault player around it.

mod answer;
mod ask;
mod estimate;
mod fault;
mod millis;
mod period;
mod random;
mod server;
mod settings;

pub mod model;

pub use fault::{
    BeforeHead, Cut, Eol, ErrorKind, Fault, HeaderName, Sent, Statuses, Text, UsageFault,
};
pub use millis::Millis;
pub use period::{Period, PeriodError};
pub use server::{Server, bind};
pub use settings::{Answer, Memory, Settings, SettingsError};
