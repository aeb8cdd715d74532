//! Google's Gemini: `generateContent` and what goes with it.
//!
//! The model stands in the path and not in the body, and whether the answer is streamed too, so both
//! come to [`Envelope::decode`] from the caller. Google's servers take every member in two spellings,
//! `maxOutputTokens` and `max_output_tokens`, and so does whatever reads a request here; answers and
//! what is written for a provider are in the first.

mod content;
mod endings;
mod envelope;
mod error;
mod framing;
mod members;
mod rewrite;
mod stream;
mod token_count;
mod translate;
mod usage;

pub use endings::is_cut;
pub(crate) use endings::spoilt;
pub use envelope::{Call, Envelope};
pub use error::{ErrorOut, error_body, error_event, error_status};
pub use framing::Framing;
pub use stream::ContentStream;
pub use token_count::token_count_body;
pub(crate) use translate::members_of;
pub use translate::{
    StreamReader, StreamWriter, read_answer, read_request, write_answer, write_error, write_request,
};
