//! The real binary over real sockets, with the fake upstream behind it and clients of every manner in front of it.
//!
//! One test binary, so that it is linked once. Each test starts processes of its own on ports of its own.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on says where and why"
)]

mod agents;
mod answer_lengths;
mod arrival;
mod breakers;
mod chaos;
mod charge_drift;
mod clients;
mod commands;
mod deadlines;
mod dialects;
mod fallback_with_json;
mod harness;
mod lanes;
mod learned_limits;
mod leaving;
mod load;
mod providers;
mod refusals;
mod reload;
mod retries;
mod routes;
mod same_answers;
mod sdks;
mod shutdown;
mod slots;
mod transport;
mod untold_fallback;
mod upstream_failures;
