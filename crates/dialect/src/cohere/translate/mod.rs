//! Requests from the canonical form, answers and streams into it.

mod read_answer;
mod read_stream;
mod wire;
mod write_messages;
mod write_request;

pub use read_answer::read_answer;
pub use read_stream::StreamReader;
pub use write_request::write_request;
