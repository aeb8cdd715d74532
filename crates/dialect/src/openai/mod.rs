//! OpenAI's chat completions, which many other providers and servers speak too.

mod completion;
mod embedding;
mod endings;
mod envelope;
mod error;
mod inputs;
mod members;
mod messages;
mod rewrite;
mod stream;
mod stream_options;
mod template;
mod translate;
mod usage;

pub use completion::CompletionEnvelope;
pub use embedding::EmbeddingEnvelope;
pub use endings::is_cut;
pub(crate) use endings::{CHOICE_FAILED, failed_choice};
pub use envelope::Envelope;
pub use error::{ErrorOut, error_body, error_event};
pub use stream::{ChatStream, UsageChunk};
pub use template::Template;
pub use translate::{
    StreamReader, StreamWriter, read_answer, read_request, write_answer, write_error, write_request,
};
pub(crate) use translate::{
    call_id, effort, error_out, fits_strict, logprobs, members_of, sampling,
};
