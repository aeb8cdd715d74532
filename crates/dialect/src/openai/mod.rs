//! OpenAI's chat completions, which many other providers and servers speak too.

mod endings;
mod envelope;
mod error;
mod members;
mod messages;
mod rewrite;
mod stream;
mod template;
mod translate;
mod usage;

pub use crate::progress::Progress;
pub use crate::request_error::RequestError;
pub use crate::upstream_error::{UpstreamError, classify};
pub use crate::usage::Usage;
pub use endings::is_cut;
pub use envelope::Envelope;
pub use error::{ErrorOut, error_body, error_event};
pub use stream::{ChatStream, UsageChunk};
pub use template::Template;
pub(crate) use translate::fits_strict;
pub use translate::{
    StreamReader, StreamWriter, field_of, read_answer, read_request, write_answer, write_error,
    write_request,
};
