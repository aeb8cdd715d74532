//! A provider-faithful fake upstream: a pure model of how providers count, and a server with a fault player around it.

mod period;

pub mod model;

pub use period::{Period, PeriodError};
