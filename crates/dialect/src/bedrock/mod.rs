//! Amazon Bedrock's Converse, which only providers speak: requests are written, answers are read.
//!
//! Which model is asked for and whether the answer is streamed stand in the address, not in the body.

mod endings;
mod event_stream;
mod exception;
mod translate;
mod usage;

pub use endings::is_cut;
pub(crate) use endings::spoilt;
pub use translate::{StreamReader, read_answer, write_request};
