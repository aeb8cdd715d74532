//! The fake over real sockets.

#![expect(
    clippy::unwrap_used,
    reason = "in a test that is a failure, also in what tests share"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "bodies are built in place, where they are sent"
)]

mod answers;
mod cohere;
mod converse;
mod faults;
mod gemini;
mod messages;
mod providers;
mod responses;
mod support;
