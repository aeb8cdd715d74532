//! Anthropic's messages.

mod content;
mod endings;
mod envelope;
mod error;
mod members;
mod rewrite;
mod stream;
mod token_count;
mod translate;
mod usage;

pub use endings::is_cut;
pub use envelope::{Call, Envelope};
pub use error::{ErrorOut, error_body, error_event, error_kind};
pub use stream::MessageStream;
pub use token_count::token_count_body;
pub use translate::{
    StreamReader, StreamWriter, read_answer, read_request, write_answer, write_error, write_request,
};
pub(crate) use translate::{Thinking, call, members_of, thinking, thinking_budget};
