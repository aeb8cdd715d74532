//! Requests from the canonical form, answers and streams into it.

mod family;
mod read_answer;
mod read_stream;
mod wire;
mod write_media;
mod write_request;
mod write_turns;

pub use read_answer::read_answer;
pub use read_stream::StreamReader;
pub use write_request::write_request;
