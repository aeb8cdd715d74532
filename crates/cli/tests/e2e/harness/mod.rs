//! What the tests drive: the built binary as child processes, and clients of our own that see every byte.
//!
//! A process tells its address in the first line that it prints, so nothing waits for a start by the clock. Everything that a
//! test started ends with it: processes are killed and folders removed when dropped, and a failed test shows what its
//! processes said.

mod client;
mod error_shape;
mod fake;
mod folder;
mod front;
mod gateway;
mod metrics;
mod process;
mod proxy;
mod script;
mod slow_line;
mod wait;

pub(crate) use client::{Answer, CHAT, Client, chat, chat_bytes};
pub(crate) use error_shape::{Expected, check as check_error, invalid};
pub(crate) use fake::Fake;
pub(crate) use folder::Folder;
pub(crate) use front::{Certificate, Front};
pub(crate) use gateway::Gateway;
pub(crate) use metrics::Metrics;
pub(crate) use process::{Output, Process, sluicegate};
pub(crate) use proxy::Proxy;
pub(crate) use script::{node, python};
pub(crate) use slow_line::SlowLine;
pub(crate) use wait::{eventually, within};
