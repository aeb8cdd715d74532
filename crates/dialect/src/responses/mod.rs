//! OpenAI's responses.

mod content;
mod endings;
mod envelope;
mod error;
mod members;
mod rewrite;
mod stream;
mod usage;

pub use endings::is_cut;
pub use envelope::Envelope;
pub use error::error_event;
pub use stream::ResponseStream;
