//! Cohere's chat, version 2, which only providers speak: requests are written, answers are read.

pub(crate) mod endings;
mod translate;
mod usage;

pub use endings::is_cut;
pub use translate::{StreamReader, read_answer, write_request};
