//! OpenAI's responses.

mod content;
mod endings;
mod envelope;
mod error;
mod members;
mod rewrite;
mod stream;
mod translate;
mod usage;

pub use endings::is_cut;
pub use envelope::Envelope;
pub use error::error_event;
pub use stream::ResponseStream;
pub(crate) use translate::members_of;
pub use translate::{
    StreamReader, StreamWriter, read_answer, read_request, write_answer, write_request,
};
